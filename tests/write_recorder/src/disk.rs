//! The crash model: durable and pending changes of a file system at a position of a trace.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt as _;
use rand::rngs::StdRng;

use crate::contents::Contents;
use crate::event::{Event, Kind, Names, NodeId};
use crate::image::Image;
use crate::pending_file::{Change, PendingFile};

/// Which pending data reached the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data {
    /// None.
    Nothing,
    /// All.
    All,
    /// The lengths of files, without the data.
    Lengths,
    /// Everything before a random position, and nothing behind.
    Prefix,
    /// Of each file nothing, everything, or any blocks and any length.
    Any,
}

/// Which pending names reached the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entries {
    /// None.
    Nothing,
    /// All.
    All,
    /// A prefix of all changes, at least up to the last sync of any file or directory.
    Journal,
    /// A prefix for each directory, at least up to its own last sync.
    EachDirectory,
}

/// How a disk is chosen among the possible ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Pending data.
    pub data: Data,
    /// Pending names.
    pub entries: Entries,
}

impl Plan {
    /// The plans without random choices.
    pub const EXTREMES: [Self; 5] = [
        Self { data: Data::Nothing, entries: Entries::Nothing },
        Self { data: Data::All, entries: Entries::All },
        Self { data: Data::Nothing, entries: Entries::All },
        Self { data: Data::All, entries: Entries::Nothing },
        Self { data: Data::Lengths, entries: Entries::All },
    ];

    /// Returns a plan with random choices.
    pub fn random(random: &mut StdRng) -> Self {
        let data = [Data::Any, Data::Any, Data::Any, Data::Prefix, Data::All, Data::Nothing];
        let entries = [Entries::All, Entries::Journal, Entries::EachDirectory, Entries::EachDirectory];
        Self {
            data: data[random.random_range(0..data.len())],
            entries: entries[random.random_range(0..entries.len())],
        }
    }
}

/// A change of names that is not durable.
#[derive(Clone, Debug)]
struct PendingEntry {
    position: usize,
    event: Event,
}

impl PendingEntry {
    /// Returns the directories whose names change.
    fn directories(&self) -> [NodeId; 2] {
        match &self.event {
            Event::Make { parent, .. } | Event::Remove { parent, .. } => [*parent; 2],
            Event::Rename { from, to } => [from.0, to.0],
            _ => unreachable!("changes no name"),
        }
    }
}

/// A file system at a position of its trace.
#[derive(Clone, Debug)]
pub struct Disk {
    files: BTreeMap<NodeId, PendingFile>,
    /// Kinds of all nodes ever made.
    kinds: BTreeMap<NodeId, Kind>,
    /// Durable names.
    directories: BTreeMap<NodeId, Names>,
    pending: Vec<PendingEntry>,
    /// Pending names before this position are in the journal.
    journalled: usize,
    position: usize,
}

impl Disk {
    /// Makes a disk on which everything is durable.
    #[must_use]
    pub fn of(image: &Image) -> Self {
        let file = |(node, contents): (NodeId, &Contents)| (node, PendingFile::durable(contents.clone()));
        Self {
            files: image.files().map(file).collect(),
            kinds: image.kinds().collect(),
            directories: image.directories().map(|(node, names)| (node, names.clone())).collect(),
            pending: Vec::new(),
            journalled: 0,
            position: 0,
        }
    }

    /// Returns the number of events so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Applies the next event of the trace.
    pub fn advance(&mut self, event: &Event) {
        match event {
            Event::Write { node, offset, bytes } => {
                self.change(*node, Change::Write { offset: *offset, bytes: bytes.clone() });
            }
            Event::Resize { node, length } => self.change(*node, Change::Resize { length: *length }),
            Event::Sync { node } => {
                if let Some(file) = self.files.get_mut(node) {
                    file.sync();
                }
                self.journalled = self.position;
            }
            Event::SyncDirectory { node } => {
                self.sync_directory(*node);
                self.journalled = self.position;
            }
            Event::Make { node, kind, .. } => {
                self.kinds.insert(*node, *kind);
                match kind {
                    Kind::File => drop(self.files.insert(*node, PendingFile::default())),
                    Kind::Directory => drop(self.directories.insert(*node, Names::new())),
                    Kind::Socket => {}
                }
                self.pend(event);
            }
            Event::Remove { .. } | Event::Rename { .. } => self.pend(event),
            Event::Nothing => {}
        }
        self.position += 1;
    }

    fn change(&mut self, node: NodeId, change: Change) {
        let position = self.position;
        self.files.entry(node).or_default().change(position, change);
    }

    fn pend(&mut self, event: &Event) {
        self.pending.push(PendingEntry { position: self.position, event: event.clone() });
    }

    fn sync_directory(&mut self, node: NodeId) {
        let pending = std::mem::take(&mut self.pending);
        for entry in pending {
            if entry.directories().contains(&node) {
                rename_in(&mut self.directories, &entry.event);
            } else {
                self.pending.push(entry);
            }
        }
    }

    /// Builds a disk that a power cut could leave at this position.
    pub fn cut(&self, plan: Plan, random: &mut StdRng) -> Image {
        let names = self.names(plan.entries, random);
        let prefix = random.random_range(0..=self.position.min(PREFIX_MAX));
        let mut image = Image::default();
        let mut open = vec![crate::event::ROOT];
        while let Some(directory) = open.pop() {
            for (name, node) in names.get(&directory).into_iter().flatten() {
                let kind = self.kinds[node];
                image.add_name(directory, name, *node, kind);
                match kind {
                    Kind::Directory => open.push(*node),
                    Kind::File => {
                        let contents = self.contents(*node, plan.data, self.position - prefix, random);
                        image.put_file(*node, contents);
                    }
                    Kind::Socket => {}
                }
            }
        }
        image
    }

    fn contents(&self, node: NodeId, data: Data, prefix: usize, random: &mut StdRng) -> Contents {
        let file = &self.files[&node];
        match data {
            Data::Nothing => file.without_pending(),
            Data::All => file.with_all(),
            Data::Lengths => file.length_alone(),
            Data::Prefix => file.up_to(prefix),
            Data::Any if !file.is_pending() => file.without_pending(),
            Data::Any => match random.random_range(0..4) {
                0 => file.without_pending(),
                1 => file.with_all(),
                _ => file.any(random),
            },
        }
    }

    /// Returns the names of all directories.
    fn names(&self, entries: Entries, random: &mut StdRng) -> BTreeMap<NodeId, Names> {
        let mut names = self.directories.clone();
        let end = match entries {
            Entries::Nothing => return names,
            Entries::All => usize::MAX,
            Entries::Journal => {
                let free = self.pending.iter().filter(|entry| entry.position >= self.journalled);
                let positions: Vec<usize> = free.map(|entry| entry.position).chain([usize::MAX]).collect();
                positions[random.random_range(0..positions.len())]
            }
            Entries::EachDirectory => return self.names_by_directory(names, random),
        };
        for entry in self.pending.iter().take_while(|entry| entry.position < end) {
            rename_in(&mut names, &entry.event);
        }
        names
    }

    fn names_by_directory(
        &self,
        mut names: BTreeMap<NodeId, Names>,
        random: &mut StdRng,
    ) -> BTreeMap<NodeId, Names> {
        let mut counts = BTreeMap::<NodeId, usize>::new();
        for directory in self.pending.iter().flat_map(PendingEntry::directories) {
            *counts.entry(directory).or_default() += 1;
        }
        let mut left: BTreeMap<NodeId, usize> =
            counts.iter().map(|(node, count)| (*node, random.random_range(0..=*count))).collect();
        let mut ended = BTreeSet::new();
        for entry in &self.pending {
            let directories = entry.directories();
            let is_present = directories.iter().all(|node| left[node] > 0 && !ended.contains(node));
            if is_present {
                rename_in(&mut names, &entry.event);
            } else {
                ended.extend(directories);
            }
            for directory in directories {
                left.entry(directory).and_modify(|left| *left = left.saturating_sub(1));
            }
        }
        names
    }
}

/// Maximum number of events that a prefix of the data leaves out.
const PREFIX_MAX: usize = 40;

/// Applies a change of names.
fn rename_in(directories: &mut BTreeMap<NodeId, Names>, event: &Event) {
    match event {
        Event::Make { parent, name, node, .. } => {
            directories.entry(*parent).or_default().insert(name.clone(), *node);
        }
        Event::Remove { parent, name } => {
            directories.entry(*parent).or_default().remove(name);
        }
        Event::Rename { from, to } => {
            if let Some(node) = directories.entry(from.0).or_default().remove(&from.1) {
                directories.entry(to.0).or_default().insert(to.1.clone(), node);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::event::ROOT;

    const A: NodeId = 10;
    const B: NodeId = 11;
    const BELOW: NodeId = 12;

    fn make(parent: NodeId, name: &str, node: NodeId, kind: Kind) -> Event {
        Event::Make { parent, name: name.to_owned(), node, kind }
    }

    fn write(node: NodeId, byte: u8) -> Event {
        Event::Write { node, offset: 0, bytes: vec![byte; 8].into() }
    }

    fn rename(from: &str, to: &str) -> Event {
        Event::Rename { from: (ROOT, from.to_owned()), to: (ROOT, to.to_owned()) }
    }

    fn disk(events: &[Event]) -> Disk {
        let mut disk = Disk::of(&Image::default());
        events.iter().for_each(|event| disk.advance(event));
        disk
    }

    /// Returns the states in 1,000 tries: paths with the first byte of each file, 0 if empty.
    fn states(disk: &Disk, entries: Entries) -> BTreeSet<Vec<(&'static str, u8)>> {
        let mut random = StdRng::seed_from_u64(1);
        let state = |_| {
            let image = disk.cut(Plan { data: Data::Any, entries }, &mut random);
            let first = |contents: &Contents| contents.read(0, 1).first().copied().unwrap_or(0);
            let paths = ["a", "b", "below/a"];
            paths.into_iter().filter_map(|path| Some((path, first(image.file(path)?)))).collect()
        };
        (0..1_000).map(state).collect()
    }

    #[test]
    fn name_is_durable_after_the_directory_and_data_after_the_file() {
        let mut events = vec![make(ROOT, "a", A, Kind::File), write(A, 7), Event::Sync { node: A }];
        let synced = states(&disk(&events), Entries::EachDirectory);
        assert_eq!(synced, [vec![], vec![("a", 7)]].into());
        assert_eq!(states(&disk(&events), Entries::Journal), [vec![("a", 7)]].into(), "as on ext4");
        events.swap(1, 2);
        events.push(Event::SyncDirectory { node: ROOT });
        let named = states(&disk(&events), Entries::EachDirectory);
        assert_eq!(named, [vec![("a", 0)], vec![("a", 7)]].into());
    }

    #[test]
    fn replaced_file_is_the_old_or_the_new_one() {
        let events = [
            make(ROOT, "a", A, Kind::File),
            write(A, 1),
            Event::Sync { node: A },
            Event::SyncDirectory { node: ROOT },
            make(ROOT, "b", B, Kind::File),
            write(B, 2),
            Event::Sync { node: B },
            rename("b", "a"),
        ];
        let replaced = states(&disk(&events), Entries::EachDirectory);
        assert_eq!(replaced, [vec![("a", 1)], vec![("a", 1), ("b", 2)], vec![("a", 2)]].into());
        let without_sync: Vec<Event> = [&events[..6], &events[7..]].concat();
        assert!(states(&disk(&without_sync), Entries::All).contains(&vec![("a", 0)]), "empty after a rename");
    }

    #[test]
    fn directory_without_a_name_has_no_files() {
        let events = [
            make(ROOT, "below", BELOW, Kind::Directory),
            make(BELOW, "a", A, Kind::File),
            Event::SyncDirectory { node: BELOW },
        ];
        let found = states(&disk(&events), Entries::EachDirectory);
        assert_eq!(found, [vec![], vec![("below/a", 0)]].into());
        assert_eq!(states(&disk(&events), Entries::Journal), [vec![("below/a", 0)]].into());
    }

    #[test]
    fn names_of_one_directory_keep_their_order() {
        let events = [make(ROOT, "a", A, Kind::File), make(ROOT, "b", B, Kind::File)];
        for entries in [Entries::EachDirectory, Entries::Journal] {
            let found = states(&disk(&events), entries);
            assert_eq!(found, [vec![], vec![("a", 0)], vec![("a", 0), ("b", 0)]].into());
        }
    }

    #[test]
    fn extremes_are_what_their_names_say() {
        let disk = disk(&[make(ROOT, "a", A, Kind::File), write(A, 7)]);
        let mut random = StdRng::seed_from_u64(1);
        let [nothing, all, names, data, lengths] = Plan::EXTREMES.map(|plan| disk.cut(plan, &mut random));
        assert!(nothing.file("a").is_none() && data.file("a").is_none());
        assert_eq!(all.file("a").map(Contents::to_vec), Some(vec![7; 8]));
        assert_eq!(names.file("a").map(Contents::to_vec), Some(vec![]));
        assert_eq!(lengths.file("a").map(Contents::to_vec), Some(vec![0; 8]));
    }
}
