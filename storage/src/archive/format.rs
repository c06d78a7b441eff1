//! The file of an archived day: lines of JSON in gzip members, readable with `zcat`.
//!
//! The first line names format, version, ledger and day; the last has the number of lines between the two and
//! the SHA-256 of all text before it. Each part of the file is a gzip member: a reader may begin at any part.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ArchiveLedger, ArchivedDay, PART_MAX_BYTES};
use crate::{Day, Timestamp, hex};

const FORMAT: &str = "mallbox-archive";
/// Version of the format. A changed meaning raises it; readers refuse higher versions.
const VERSION: u32 = 1;
/// Upper bound on the text of a part: a damaged or foreign part must not fill the memory.
const PART_TEXT_MAX_BYTES: u64 = 4 << 20;

/// First line of a file.
#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    ledger: String,
    day: String,
}

/// Last line of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trailer {
    lines: u64,
    sha256: String,
}

/// Difference between the file of an archived day and the file that the mall wrote.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArchiveFault {
    /// There is no file.
    #[error("no file")]
    Missing,
    /// The file ends early, or goes on behind its end.
    #[error("{found} bytes instead of {expected}")]
    Length {
        /// Bytes written.
        expected: u64,
        /// Bytes found: at least this number.
        found: u64,
    },
    /// The file has the right length and other contents.
    #[error("other contents: SHA-256 {found}")]
    Hash {
        /// SHA-256 of the file, in hexadecimal digits.
        found: String,
    },
    /// The file is none of this format, or of a later version.
    #[error("unreadable from byte {at}: {detail}")]
    Unreadable {
        /// Offset of the part.
        at: u64,
        /// Description.
        detail: String,
    },
    /// The file is that of another ledger or day, or holds a line of another day.
    #[error("contents of {found}")]
    Foreign {
        /// Ledger and day, or time of the line.
        found: String,
    },
}

/// Writes the file of a day, part by part.
pub struct DayWriter {
    ledger: ArchiveLedger,
    day: Day,
    lines: u64,
    bytes: u64,
    text_bytes: u64,
    text: Sha256,
    file: Sha256,
}

impl DayWriter {
    /// Begins a file.
    #[must_use]
    pub fn new(ledger: ArchiveLedger, day: Day) -> Self {
        Self { ledger, day, lines: 0, bytes: 0, text_bytes: 0, text: Sha256::new(), file: Sha256::new() }
    }

    /// Returns the offset of the next part.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Compresses lines, each without its line feed, to the next part. The last part ends the file.
    ///
    /// # Errors
    /// The lines do not fit a part.
    pub fn part(&mut self, lines: &[String], is_last: bool) -> io::Result<Vec<u8>> {
        let mut text = String::new();
        if self.bytes == 0 {
            let header = Header {
                format: FORMAT.to_owned(),
                version: VERSION,
                ledger: self.ledger.name().to_owned(),
                day: self.day.to_string(),
            };
            push(&mut text, &serde_json::to_string(&header)?);
        }
        lines.iter().for_each(|line| push(&mut text, line));
        self.lines += lines.len() as u64;
        self.text.update(&text);
        if is_last {
            let sha256 = hex(&self.text.clone().finalize());
            push(&mut text, &serde_json::to_string(&Trailer { lines: self.lines, sha256 })?);
        }
        // No time and no name in the member's header: the same lines make the same bytes.
        let mut member = GzEncoder::new(Vec::new(), Compression::default());
        member.write_all(text.as_bytes())?;
        let part = member.finish()?;
        if part.len() > PART_MAX_BYTES || text.len() as u64 > PART_TEXT_MAX_BYTES {
            return Err(io::Error::other(format!("a part of {} bytes is too long", part.len())));
        }
        self.file.update(&part);
        self.bytes += part.len() as u64;
        self.text_bytes += text.len() as u64;
        Ok(part)
    }

    /// Describes the file written.
    #[must_use]
    pub fn finish(self, archived: Timestamp) -> ArchivedDay {
        let Self { ledger, day, lines, bytes, text_bytes, .. } = self;
        ArchivedDay { ledger, day, lines, bytes, text_bytes, sha256: self.file.finalize().into(), archived }
    }
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A part of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Lines of the ledger, without their line feeds.
    pub lines: Vec<String>,
    /// Bytes of the part in the file.
    pub length: usize,
    /// Whether the last line of the file was read.
    pub is_last: bool,
}

/// Decodes the part at the start of `bytes`, and trusts its contents. `at` is the part's offset.
///
/// # Errors
/// [`ArchiveFault::Unreadable`].
pub fn decode_part(bytes: &[u8], at: u64) -> Result<Part, ArchiveFault> {
    let (text, length) = inflate(bytes, at)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if at == 0 {
        if lines.is_empty() {
            return Err(unreadable(at, "no first line"));
        }
        lines.remove(0);
    }
    let is_last = lines.last().is_some_and(|line| serde_json::from_str::<Trailer>(line).is_ok());
    if is_last {
        lines.pop();
    }
    Ok(Part { lines, length, is_last })
}

fn inflate(bytes: &[u8], at: u64) -> Result<(String, usize), ArchiveFault> {
    inflated(bytes).map_err(|error| unreadable(at, &error.to_string()))
}

/// Returns the text of the first member, and the member's length.
fn inflated(bytes: &[u8]) -> io::Result<(String, usize)> {
    let mut member = GzDecoder::new(bytes);
    let mut text = String::new();
    member.by_ref().take(PART_TEXT_MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > PART_TEXT_MAX_BYTES {
        return Err(io::Error::other("the part is too long"));
    }
    Ok((text, bytes.len() - member.into_inner().len()))
}

fn unreadable(at: u64, detail: &str) -> ArchiveFault {
    ArchiveFault::Unreadable { at, detail: detail.to_owned() }
}

/// Reads and checks the file of a day, part by part.
pub struct DayReader {
    expected: ArchivedDay,
    at: u64,
    lines: u64,
    text: Sha256,
    file: Sha256,
    is_over: bool,
}

impl DayReader {
    /// Begins to read the file of an archived day.
    #[must_use]
    pub fn new(expected: ArchivedDay) -> Self {
        Self { expected, at: 0, lines: 0, text: Sha256::new(), file: Sha256::new(), is_over: false }
    }

    /// Returns the offset of the next part.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Reads the next part from bytes that begin at [`at`](Self::at). Returns the part's lines; `None` behind
    /// the last part of a file without fault. Lines are to be trusted only then.
    ///
    /// # Errors
    /// The first fault found.
    pub fn part(&mut self, bytes: Option<&[u8]>) -> Result<Option<Vec<String>>, ArchiveFault> {
        let bytes = bytes.ok_or(ArchiveFault::Missing)?;
        if bytes.is_empty() {
            return self.end().map(|()| None);
        }
        if self.is_over || self.at + bytes.len() as u64 > self.expected.bytes + PART_MAX_BYTES as u64 {
            return Err(self.length(bytes.len()));
        }
        let (text, length) = inflated(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof if bytes.len() < PART_MAX_BYTES => self.length(bytes.len()),
            _ => unreadable(self.at, &error.to_string()),
        })?;
        self.file.update(&bytes[..length]);
        let lines = self.lines_in(&text)?;
        self.at += length as u64;
        Ok(Some(lines))
    }

    fn lines_in(&mut self, text: &str) -> Result<Vec<String>, ArchiveFault> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if self.is_over {
                return Err(unreadable(self.at, "lines behind the last line"));
            }
            if self.at == 0 && index == 0 {
                self.check_header(line)?;
            } else if let Ok(trailer) = serde_json::from_str::<Trailer>(line) {
                self.check_trailer(&trailer)?;
                continue;
            } else {
                self.lines += 1;
                lines.push(line.to_owned());
            }
            self.text.update(line);
            self.text.update("\n");
        }
        Ok(lines)
    }

    fn check_header(&self, line: &str) -> Result<(), ArchiveFault> {
        let header: Header =
            serde_json::from_str(line).map_err(|_| unreadable(0, "not a file of the archive"))?;
        if header.format != FORMAT || header.version > VERSION {
            return Err(unreadable(0, &format!("format {} {}", header.format, header.version)));
        }
        let (ledger, day) = (self.expected.ledger.name(), self.expected.day.to_string());
        if header.ledger != ledger || header.day != day {
            return Err(ArchiveFault::Foreign { found: format!("{} {}", header.ledger, header.day) });
        }
        Ok(())
    }

    fn check_trailer(&mut self, trailer: &Trailer) -> Result<(), ArchiveFault> {
        self.is_over = true;
        let found = hex(&self.text.clone().finalize());
        if trailer.sha256 != found || trailer.lines != self.lines {
            return Err(unreadable(self.at, "the last line does not fit the lines before"));
        }
        Ok(())
    }

    fn end(&self) -> Result<(), ArchiveFault> {
        if self.at != self.expected.bytes || !self.is_over {
            return Err(self.length(0));
        }
        let found: [u8; 32] = self.file.clone().finalize().into();
        if found != self.expected.sha256 {
            return Err(ArchiveFault::Hash { found: hex(&found) });
        }
        if self.lines != self.expected.lines {
            return Err(unreadable(self.at, &format!("{} lines", self.lines)));
        }
        Ok(())
    }

    fn length(&self, rest: usize) -> ArchiveFault {
        ArchiveFault::Length { expected: self.expected.bytes, found: self.at + rest as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEDGER: ArchiveLedger = ArchiveLedger::Votes;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    /// Returns a file of three parts with its description.
    fn file(of: &str) -> (Vec<u8>, ArchivedDay) {
        let mut writer = DayWriter::new(LEDGER, day(of));
        let mut bytes = Vec::new();
        for (part, is_last) in [(0, false), (1, false), (2, true)] {
            let lines: Vec<String> = (0..40).map(|n| format!("{{\"number\":{}}}", part * 40 + n)).collect();
            bytes.extend(writer.part(&lines, is_last).unwrap());
        }
        (bytes, writer.finish(Timestamp::from_millis(7)))
    }

    /// Reads a file as a store returns it: everything from the next part on.
    fn read(bytes: &[u8], expected: ArchivedDay) -> Result<Vec<String>, ArchiveFault> {
        let mut reader = DayReader::new(expected);
        let mut lines = Vec::new();
        loop {
            let rest = bytes.get(usize::try_from(reader.at()).unwrap()..).unwrap_or_default();
            match reader.part(Some(rest))? {
                Some(part) => lines.extend(part),
                None => return Ok(lines),
            }
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written_whole_or_from_any_part() {
        let (bytes, described) = file("2026-11-24");
        let lines = read(&bytes, described).unwrap();
        assert_eq!((lines.len(), described.lines, described.bytes), (120, 120, bytes.len() as u64));
        let (mut at, mut found) = (0, Vec::new());
        loop {
            let part = decode_part(&bytes[at..], at as u64).unwrap();
            at += part.length;
            found.extend(part.lines);
            if part.is_last {
                break;
            }
        }
        assert_eq!((found, at), (lines, bytes.len()));
        assert_eq!(file("2026-11-24"), (bytes, described), "the same lines make the same bytes");
    }

    #[test]
    fn the_text_checks_itself_without_the_mall() {
        let (bytes, _) = file("2026-11-24");
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        let start = r#"{"format":"mallbox-archive","version":1,"ledger":"votes","day":"2026-11-24"}"#;
        assert!(text.starts_with(start), "{text}");
        let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
        let sha256 = hex(&Sha256::digest(format!("{before}\n")));
        assert_eq!(last, format!(r#"{{"lines":120,"sha256":"{sha256}"}}"#));
    }

    #[test]
    fn every_flipped_bit_and_every_length_is_found() {
        let (bytes, described) = file("2026-11-24");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert!(read(&other, described).is_err(), "byte {at} bit {bit}");
            }
            let short = read(&bytes[..at], described).unwrap_err();
            assert!(matches!(short, ArchiveFault::Length { .. }), "{at}: {short:?}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(matches!(read(&longer, described), Err(ArchiveFault::Length { .. })));
        longer.splice(bytes.len().., bytes.iter().copied());
        assert!(read(&longer, described).is_err());
    }

    #[test]
    fn a_file_of_another_day_is_foreign_and_no_file_is_missing() {
        let (bytes, _) = file("2026-11-23");
        let (_, described) = file("2026-11-24");
        let expected = ArchiveFault::Foreign { found: "votes 2026-11-23".to_owned() };
        assert_eq!(read(&bytes, described), Err(expected));
        assert_eq!(DayReader::new(described).part(None), Err(ArchiveFault::Missing));
        let later = ArchivedDay { sha256: [0; 32], ..file("2026-11-23").1 };
        assert!(matches!(read(&bytes, later), Err(ArchiveFault::Hash { .. })));
    }

    #[test]
    fn arbitrary_bytes_are_a_fault_and_no_panic() {
        let (_, described) = file("2026-11-24");
        for seed in 0..2_000_u32 {
            let mut state = seed.wrapping_mul(2_654_435_761).max(1);
            let bytes: Vec<u8> = (0..seed % 97)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    state.to_le_bytes()[0]
                })
                .collect();
            assert!(read(&bytes, described).is_err());
            assert!(bytes.is_empty() || decode_part(&bytes, 0).is_err());
        }
    }
}
