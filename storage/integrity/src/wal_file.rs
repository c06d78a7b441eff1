//! Inspection of a `-wal` file before SQLite opens it: damage, or a torn end.
//!
//! SQLite ends recovery at the first frame that does not continue the chain of checksums, without an error.
//! A power cut leaves such a frame, too: frames of the last transaction, which nobody was told of, reach the
//! disk in any order, or not at all. A broken frame is damage if it cannot be of that transaction:
//!
//! - The [witness](Witness) has noted a commit at or behind the frame.
//! - Behind it, a run of frames that continue each other has two commits. The first of them was synced, and
//!   so was all in front of it, before a frame of the second was written. Remains of several torn
//!   transactions form no such run: a later one overwrites the beginning of the one before.
//!
//! Both count only if commits are synced; otherwise a power cut may take any number of them.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::bits::distance;
use crate::wal_frames::{
    FRAME_HEADER, HEADER, Sum, WalHeader, is_commit, page_of, read_at, salts_of, sum_of,
};
use crate::wal_repair::{self, Behind};
use crate::witness::Witness;

/// Limit of broken frames that are tried to be repaired.
const REPAIRS_MAX: usize = 16;

/// What a `-wal` file has, and what it lost.
#[derive(Debug)]
pub struct Inspection {
    file: File,
    header: Option<WalHeader>,
    /// Pages in frames of complete transactions. Of these the database file may have any version.
    pub pages: HashSet<u32>,
    /// Complete transactions up to the first broken frame.
    pub commits: u64,
    /// Bytes up to the end of the last of them.
    pub valid_bytes: u64,
    /// Whether frames of a torn or given up transaction are behind.
    pub has_remains: bool,
    /// Whether all repairs are in the last transaction, which no witness notes: a power cut may have torn it,
    /// and no acknowledgement rests on it for certain.
    pub is_maybe_torn: bool,
    /// Offset and new content of what can be repaired.
    repairs: Vec<(u64, Vec<u8>)>,
    /// Damage that cannot be repaired.
    pub damage: Option<WalDamage>,
}

/// Damage of a `-wal` file that cannot be repaired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WalDamage {
    /// What is wrong, and where.
    pub detail: String,
    /// Commits that SQLite would leave out, at least.
    pub lost_commits: u64,
    /// Whether those commits had been synced: then it is damage for certain. If not, a power cut may have
    /// taken them.
    pub was_synced: bool,
}

/// Reads the `-wal` file of `database`, which no connection has open. An empty or missing file has nothing.
///
/// # Errors
/// The system refuses a call.
pub fn inspect(wal: &Path, database: &Path, witness: Option<&Witness>) -> io::Result<Option<Inspection>> {
    let file = match File::options().read(true).write(true).open(wal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if file.metadata()?.len() == 0 {
        return Ok(None);
    }
    let witness = witness.filter(|witness| !witness.is_closed && witness.frames > 0);
    let mut found = Inspection {
        file,
        header: None,
        pages: HashSet::new(),
        commits: 0,
        valid_bytes: 0,
        has_remains: false,
        is_maybe_torn: false,
        repairs: Vec::new(),
        damage: None,
    };
    found.read_header(witness)?;
    match found.header {
        Some(header) => found.read_frames(&header, database, witness)?,
        None => {
            found.damage = witness.map(|witness| WalDamage {
                detail: "the header of its -wal file is unreadable".into(),
                lost_commits: witness.commits,
                was_synced: witness.is_synced,
            });
        }
    }
    Ok(Some(found))
}

impl Inspection {
    /// Returns the number of repaired places.
    #[must_use]
    pub fn repairs(&self) -> usize {
        self.repairs.len()
    }

    /// Writes the repairs to the file, and syncs them.
    ///
    /// # Errors
    /// The system refuses a call.
    pub fn repair(&self) -> io::Result<()> {
        for (offset, bytes) in &self.repairs {
            self.file.write_all_at(bytes, *offset)?;
        }
        self.file.sync_data()
    }

    /// Cuts off all behind the last complete transaction, which SQLite would not read either: remains of torn
    /// transactions might look like damage later.
    ///
    /// # Errors
    /// The system refuses a call.
    pub fn cut(&self) -> io::Result<()> {
        self.file.set_len(self.valid_bytes)?;
        self.file.sync_all()
    }

    fn read_header(&mut self, witness: Option<&Witness>) -> io::Result<()> {
        let mut bytes = [0; HEADER];
        if !read_at(&self.file, &mut bytes, 0)? {
            return Ok(());
        }
        self.header = WalHeader::parse(&bytes);
        if self.header.is_some() {
            return Ok(());
        }
        // The page size may be the flipped bit: both neighbours of a power of two are tried by the repair.
        let sizes = (9..=16).map(|bits| FRAME_HEADER + (1 << bits));
        for size in sizes {
            let mut first = vec![0; size];
            if read_at(&self.file, &mut first, HEADER as u64)?
                && let Some(header) = wal_repair::header(&bytes, &first)
            {
                self.repaired_header(header);
                return Ok(());
            }
        }
        // A new beginning is synced before its first frame. Until then the frames of the former one are
        // whole, and all of them are in the database file: reading them once more changes nothing.
        if let Some(header) = witness.and_then(|witness| WalHeader::parse(&witness.header)) {
            let mut first = vec![0; header.frame_len()];
            if read_at(&self.file, &mut first, HEADER as u64)? && header.is_next(header.sum(), &first) {
                self.repaired_header(header);
            }
        }
        Ok(())
    }

    fn repaired_header(&mut self, header: WalHeader) {
        self.repairs.push((0, header.bytes.to_vec()));
        self.header = Some(header);
    }

    fn read_frames(
        &mut self,
        header: &WalHeader,
        database: &Path,
        witness: Option<&Witness>,
    ) -> io::Result<()> {
        self.valid_bytes = HEADER as u64;
        let (mut frame, mut next) = (vec![0; header.frame_len()], vec![0; header.frame_len()]);
        let (mut chain, mut number, mut pages) = (header.sum(), 1, Vec::new());
        let (mut committed, mut last_begin) = ((0, header.sum()), 1);
        let mut noted = None;
        let (mut repairs, mut tried) = (Vec::new(), 0);
        while read_at(&self.file, &mut frame, header.offset(number))? {
            if !header.is_next(chain, &frame) {
                let is_of_this = distance(salts_of(&frame), header.salts()) <= 1;
                if !is_of_this || tried == REPAIRS_MAX {
                    break;
                }
                tried += 1;
                let page = |page| page_of_database(database, page, header.page_size());
                let next = read_at(&self.file, &mut next, header.offset(number + 1))?.then_some(&next[..]);
                if !wal_repair::frame(header, chain, &mut frame, next, page) {
                    break;
                }
                repairs.push((header.offset(number), frame.clone()));
            }
            chain = sum_of(&frame);
            pages.push(page_of(&frame));
            if is_commit(&frame) {
                last_begin = committed.0 + 1;
                committed = (number, chain);
                self.commits += 1;
                self.pages.extend(pages.drain(..));
                self.repairs.append(&mut repairs);
            }
            if witness.is_some_and(|witness| witness.frames == number) {
                noted = Some(chain);
            }
            number += 1;
        }
        self.valid_bytes = header.offset(committed.0 + 1);
        let behind = self.read_behind(header, number)?;
        let noted_frames =
            witness.filter(|noted| noted.header == header.bytes).map_or(0, |noted| noted.frames);
        let is_last = |(offset, _): &(u64, Vec<u8>)| *offset >= header.offset(last_begin);
        self.is_maybe_torn =
            noted_frames < committed.0 && behind.commits == 0 && self.repairs.iter().all(is_last);
        let damage = self.judge(header, committed.0, noted, &behind, witness);
        self.damage = damage;
        Ok(())
    }

    /// Reads the frames behind the complete transactions; `broken` is the first that continues nothing.
    fn read_behind(&mut self, header: &WalHeader, broken: u32) -> io::Result<Behind> {
        let (mut behind, mut former) = (Behind::default(), (0, 0));
        let mut frame = vec![0; header.frame_len()];
        let mut number = broken;
        self.has_remains = header.offset(broken) > self.valid_bytes;
        while read_at(&self.file, &mut frame, header.offset(number))? {
            self.has_remains |= salts_of(&frame) == header.salts();
            if number > broken {
                behind.add(header, former, &frame);
            }
            former = sum_of(&frame);
            number += 1;
        }
        Ok(behind)
    }

    fn judge(
        &self,
        header: &WalHeader,
        committed: u32,
        noted: Option<Sum>,
        behind: &Behind,
        witness: Option<&Witness>,
    ) -> Option<WalDamage> {
        let witness = witness?;
        let is_synced = witness.is_synced;
        let damage = |detail: String, lost: u64| {
            Some(WalDamage { detail, lost_commits: lost.max(1), was_synced: is_synced })
        };
        let offset = self.valid_bytes;
        if header.bytes == witness.header {
            let missing = witness.commits.saturating_sub(self.commits).max(behind.commits);
            if witness.frames > committed {
                return damage(
                    format!(
                        "its -wal file is unreadable from byte {offset} on, inside commits that were acknowledged"
                    ),
                    missing,
                );
            }
            let sum = [
                noted.map_or([0; 4], |sum| sum.0.to_be_bytes()),
                noted.map_or([0; 4], |sum| sum.1.to_be_bytes()),
            ];
            if sum.concat() != witness.sum {
                return damage("its -wal file was replaced by another one".into(), missing);
            }
        } else if !is_later(header, witness) {
            return damage(
                "its -wal file is older than the last acknowledged commit".into(),
                witness.commits,
            );
        }
        if behind.longest >= 2 {
            return damage(
                format!("its -wal file is unreadable at byte {offset}, with readable commits behind"),
                behind.commits,
            );
        }
        None
    }
}

/// Returns whether the file was begun anew after the witness.
fn is_later(header: &WalHeader, witness: &Witness) -> bool {
    let Some(former) = WalHeader::parse(&witness.header) else { return false };
    let later = header.sequence().wrapping_sub(former.sequence());
    later > 0 && later < u32::MAX / 2 && header.first_salt().wrapping_sub(former.first_salt()) == later
}

fn page_of_database(database: &Path, page: u32, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    let offset = u64::from(page.checked_sub(1)?) * size as u64;
    // An unreadable copy is no copy.
    read_at(&File::open(database).ok()?, &mut bytes, offset).ok()?.then_some(bytes)
}
