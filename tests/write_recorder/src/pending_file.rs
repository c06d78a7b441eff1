//! A file with changes that no sync covers.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng as _, RngExt as _};

use crate::contents::{
    BLOCK_BYTES, Contents, SECTOR_BYTES, Shared, bytes_of, cut_block, is_same, place, share,
};

/// Probability of a torn block, in percent.
const TORN_PERCENT: u32 = 15;

/// A change of a file.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write { offset: u64, bytes: Arc<[u8]> },
    Resize { length: u64 },
}

/// A file: what is durable, what reads return, and the changes between.
#[derive(Clone, Default, Debug)]
pub(crate) struct PendingFile {
    durable: Contents,
    latest: Contents,
    /// Changes with their positions in the trace.
    changes: Vec<(usize, Change)>,
}

impl PendingFile {
    /// Makes a file whose contents are durable.
    pub(crate) fn durable(contents: Contents) -> Self {
        Self { durable: contents.clone(), latest: contents, changes: Vec::new() }
    }

    pub(crate) fn change(&mut self, position: usize, change: Change) {
        apply(&mut self.latest, &change);
        self.changes.push((position, change));
    }

    pub(crate) fn sync(&mut self) {
        if !self.changes.is_empty() {
            self.durable = self.latest.clone();
            self.changes.clear();
        }
    }

    /// Returns whether a power cut could lose something.
    pub(crate) fn is_pending(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Returns what a sync made durable.
    pub(crate) fn without_pending(&self) -> Contents {
        self.durable.clone()
    }

    /// Returns what reads return.
    pub(crate) fn with_all(&self) -> Contents {
        self.latest.clone()
    }

    /// Returns the contents with the changes before a position of the trace.
    pub(crate) fn up_to(&self, position: usize) -> Contents {
        let mut contents = self.durable.clone();
        for (_, change) in self.changes.iter().take_while(|(at, _)| *at < position) {
            apply(&mut contents, change);
        }
        contents
    }

    /// Returns the durable data with the latest length: the length reached the disk, and no data did.
    pub(crate) fn length_alone(&self) -> Contents {
        let mut contents = self.durable.clone();
        for (_, change) in &self.changes {
            match change {
                Change::Resize { length } => contents.resize(*length),
                Change::Write { offset, bytes } => {
                    contents.resize(contents.length().max(offset + bytes.len() as u64));
                }
            }
        }
        contents
    }

    /// Returns contents of any blocks and of any length since the last sync.
    pub(crate) fn any(&self, random: &mut StdRng) -> Contents {
        let mut versions = Versions::new(&self.durable);
        let cuts = self.changes.iter().scan(self.durable.length(), |length, (_, change)| {
            let before = *length;
            *length = match change {
                Change::Resize { length } => *length,
                Change::Write { offset, bytes } => before.max(offset + bytes.len() as u64),
            };
            Some(*length < before)
        });
        let cuts: Vec<bool> = cuts.collect();
        let count = cuts.iter().filter(|is_cut| **is_cut).count();
        let present = random.random_range(0..=count);
        let mut seen = 0;
        for ((_, change), is_cut) in self.changes.iter().zip(cuts) {
            seen += usize::from(is_cut);
            if seen > present {
                break;
            }
            versions.add(change, is_cut);
        }
        versions.choose(random)
    }
}

fn apply(contents: &mut Contents, change: &Change) {
    match change {
        Change::Write { offset, bytes } => drop(contents.write(*offset, bytes)),
        Change::Resize { length } => contents.resize(*length),
    }
}

/// All contents of each block, and all lengths, since the last sync or truncation.
struct Versions {
    /// Contents of blocks that did not change since.
    base: Contents,
    /// Contents after all changes so far.
    current: Contents,
    blocks: BTreeMap<usize, Vec<Shared>>,
    lengths: Vec<u64>,
}

impl Versions {
    fn new(durable: &Contents) -> Self {
        let (base, current) = (durable.clone(), durable.clone());
        Self { base, current, blocks: BTreeMap::new(), lengths: vec![durable.length()] }
    }

    fn add(&mut self, change: &Change, is_cut: bool) {
        match change {
            Change::Write { offset, bytes } => {
                for block in self.current.write(*offset, bytes) {
                    let first = || vec![self.base.block(block).clone()];
                    let versions = self.blocks.entry(block).or_insert_with(first);
                    let new = self.current.block(block);
                    if versions.last().is_none_or(|last| !is_same(last, new)) {
                        versions.push(new.clone());
                    }
                }
            }
            Change::Resize { length } => {
                self.current.resize(*length);
                if is_cut {
                    self.cut(*length);
                }
            }
        }
        let length = self.current.length();
        if self.lengths.last() != Some(&length) {
            self.lengths.push(length);
        }
    }

    /// A truncation that is present cuts off every version, and no former length is possible.
    fn cut(&mut self, length: u64) {
        self.base.resize(length);
        self.lengths.clear();
        let (last, within) = place(length);
        self.blocks.retain(|block, _| *block < last || (*block == last && within > 0));
        if let Some(versions) = self.blocks.get_mut(&last) {
            for version in versions {
                *version = cut_block(version, within);
            }
        }
    }

    fn choose(self, random: &mut StdRng) -> Contents {
        let lengths = self.lengths.len();
        let length = if random.random_bool(0.5) { lengths - 1 } else { random.random_range(0..lengths) };
        let mut contents = self.base;
        // Some files are nearly complete, others nearly unchanged.
        let newest_percent = [5, 50, 95][random.random_range(0..3)];
        for (index, versions) in self.blocks {
            let pick = |random: &mut StdRng| {
                let chosen = if random.random_ratio(newest_percent, 100) {
                    versions.len() - 1
                } else {
                    random.random_range(0..versions.len())
                };
                versions[chosen].clone()
            };
            let mut block = pick(random);
            if versions.len() > 1 && random.random_ratio(TORN_PERCENT, 100) {
                block = torn(&block, &pick(random), random);
            }
            contents.put_block(index, block);
        }
        contents.resize(self.lengths[length]);
        contents
    }
}

/// Mixes two contents of a block by sectors.
fn torn(one: &Shared, other: &Shared, random: &mut StdRng) -> Shared {
    let mut bytes = *bytes_of(one);
    let sectors = random.next_u32();
    for sector in (0..BLOCK_BYTES / SECTOR_BYTES).filter(|sector| sectors >> sector & 1 == 1) {
        let range = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
        bytes[range.clone()].copy_from_slice(&bytes_of(other)[range]);
    }
    share(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng as _;

    use super::*;

    fn write(offset: u64, byte: u8, length: usize) -> Change {
        Change::Write { offset, bytes: vec![byte; length].into() }
    }

    fn file(durable: &[u8], changes: &[Change]) -> PendingFile {
        let mut file = PendingFile::durable(Contents::of(durable));
        for (position, change) in changes.iter().enumerate() {
            file.change(position, change.clone());
        }
        file
    }

    /// Returns all states in 3,000 tries.
    fn states(file: &PendingFile) -> BTreeSet<Vec<u8>> {
        let mut random = StdRng::seed_from_u64(1);
        (0..3_000).map(|_| file.any(&mut random).to_vec()).collect()
    }

    #[test]
    fn synced_file_has_one_state() {
        let mut file = file(b"old", &[write(1, 7, 5_000), Change::Resize { length: 20 }]);
        assert!(file.is_pending() && states(&file).len() > 1);
        file.sync();
        assert!(!file.is_pending());
        assert_eq!(states(&file), [file.with_all().to_vec()].into());
    }

    #[test]
    fn each_block_is_old_or_new_and_torn_at_sectors() {
        let old = vec![1; 2 * BLOCK_BYTES];
        let states = states(&file(&old, &[write(0, 2, 2 * BLOCK_BYTES)]));
        for wanted in [[1, 1], [1, 2], [2, 1], [2, 2]] {
            let state = [vec![wanted[0]; BLOCK_BYTES], vec![wanted[1]; BLOCK_BYTES]].concat();
            assert!(states.contains(&state), "{wanted:?}");
        }
        let mut torn = 0;
        for state in &states {
            assert_eq!(state.len(), old.len());
            for sector in state.chunks(SECTOR_BYTES) {
                assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is written at once");
            }
            torn += usize::from(state[..BLOCK_BYTES].iter().any(|byte| *byte != state[0]));
        }
        assert!(torn > 0);
    }

    #[test]
    fn length_and_data_of_an_appended_block_are_independent() {
        let states = states(&file(&[], &[write(0, 5, 100), write(100, 6, 100)]));
        let whole = [vec![5; 100], vec![6; 100]].concat();
        for wanted in [vec![], vec![0; 100], vec![0; 200], vec![5; 100], whole] {
            assert!(states.contains(&wanted), "{} bytes", wanted.len());
        }
        assert_eq!(states.len(), 6, "the other one has the first write and the second length");
    }

    #[test]
    fn nothing_behind_an_absent_truncation_is_there_and_nothing_before_a_present_one_survives() {
        let changes = [write(0, 2, 4), Change::Resize { length: 0 }, write(0, 3, 2)];
        let states = states(&file(&[1; 4], &changes));
        let wanted: [&[u8]; 6] = [&[1; 4], &[2; 4], &[], &[0; 2], &[3; 2], &[]];
        assert_eq!(states, wanted.iter().map(|state| state.to_vec()).collect());
    }

    #[test]
    fn overwritten_block_may_have_each_of_its_contents() {
        let states = states(&file(&[1; 512], &[write(0, 2, 512), write(0, 3, 512)]));
        assert_eq!(states, [vec![1; 512], vec![2; 512], vec![3; 512]].into());
    }

    #[test]
    fn simple_states_are_among_all_states() {
        let file = file(&vec![1; 6_000], &[write(0, 2, 10), write(5_000, 3, 4_000)]);
        let states = states(&file);
        for simple in [file.without_pending(), file.with_all(), file.up_to(1), file.length_alone()] {
            assert!(states.contains(&simple.to_vec()));
        }
        assert_eq!(file.length_alone().length(), 9_000);
    }
}
