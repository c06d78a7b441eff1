//! The manifest: a text file with the id of the log, the number of the last start, and the names of the
//! segments.
//!
//! A manifest is replaced by renaming a complete one over it. A segment is listed before its first record is
//! written, and is no longer listed before the file is removed: a listed file that is missing is damage.
//!
//! Each start stores its number before the first record: its epochs are above those of every earlier start,
//! also of one whose records cannot be read now and appear after a power cut. Version 1 has no such number.

use std::fmt::Write as _;

const FIRST_LINE: &str = "mallbox write-ahead log 2";
const FIRST_LINE_1: &str = "mallbox write-ahead log 1";

/// Id of a log, its last start, and the names of its segments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Manifest {
    pub(crate) log_id: u64,
    /// Number of the last start; 0 if none was stored.
    pub(crate) start: u32,
    pub(crate) segments: Vec<String>,
}

impl Manifest {
    pub(crate) fn encode(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nlog {:016x}\nstart {}\n", self.log_id, self.start);
        for segment in &self.segments {
            text.push_str(segment);
            text.push('\n');
        }
        let checksum = crc32c::crc32c(text.as_bytes());
        writeln!(text, "crc32c {checksum:08x}").expect("a String takes everything");
        text
    }

    /// Decodes a manifest. `None` if the text is not a whole one of a known version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let (checked, checksum) = text.strip_suffix('\n')?.rsplit_once("crc32c ")?;
        if format!("{:08x}", crc32c::crc32c(checked.as_bytes())) != checksum {
            return None;
        }
        let mut lines = checked.lines();
        let version = lines.next()?;
        let log_id = u64::from_str_radix(lines.next()?.strip_prefix("log ")?, 16).ok()?;
        let start = match version {
            FIRST_LINE => lines.next()?.strip_prefix("start ")?.parse().ok()?,
            FIRST_LINE_1 => 0,
            _ => return None,
        };
        Some(Self { log_id, start, segments: lines.map(str::to_owned).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_reads_as_it_was_written() {
        for segments in [vec![], vec!["segment-1".to_owned(), "segment-12".to_owned()]] {
            let manifest = Manifest { log_id: 0xabc, start: 7, segments };
            assert_eq!(Manifest::decode(manifest.encode().as_bytes()), Some(manifest));
        }
    }

    #[test]
    fn manifest_of_version_1_names_no_start() {
        let text = "mallbox write-ahead log 1\nlog 0000000000000abc\nsegment-1\ncrc32c 9a3e5707\n";
        let manifest = Manifest { log_id: 0xabc, start: 0, segments: vec!["segment-1".to_owned()] };
        assert_eq!(Manifest::decode(text.as_bytes()), Some(manifest));
    }

    #[test]
    fn each_flipped_bit_and_each_truncation_is_noticed() {
        let manifest = Manifest { log_id: 1, start: 1, segments: vec!["segment-3".to_owned()] };
        let bytes = manifest.encode().into_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Manifest::decode(&damaged), None, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert_eq!(Manifest::decode(&bytes[..length]), None, "{length} bytes");
        }
    }
}
