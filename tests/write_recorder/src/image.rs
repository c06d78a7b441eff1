//! A directory tree in memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::contents::{BLOCK_BYTES, Contents};
use crate::event::{Kind, Names, NodeId, ROOT};

/// A directory tree. Copies share the contents of files.
#[derive(Clone, Debug)]
pub struct Image {
    files: BTreeMap<NodeId, Contents>,
    /// Every directory has an entry, empty or not.
    directories: BTreeMap<NodeId, Names>,
    sockets: Vec<NodeId>,
}

impl Default for Image {
    fn default() -> Self {
        Self { files: BTreeMap::new(), directories: [(ROOT, Names::new())].into(), sockets: Vec::new() }
    }
}

impl Image {
    /// Reads a directory. Special files are left out.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut image = Self::default();
        let mut next = ROOT + 1;
        image.read_into(path, ROOT, &mut next)?;
        Ok(image)
    }

    fn read_into(&mut self, path: &Path, parent: NodeId, next: &mut NodeId) -> io::Result<()> {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let (kind, node) = (entry.file_type()?, *next);
            let name = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidFilename)?;
            if kind.is_dir() {
                self.add_name(parent, &name, node, Kind::Directory);
                *next += 1;
                self.read_into(&entry.path(), node, next)?;
            } else if kind.is_file() {
                self.add_name(parent, &name, node, Kind::File);
                *next += 1;
                self.files.insert(node, Contents::of(&fs::read(entry.path())?));
            }
        }
        Ok(())
    }

    /// Adds a node with a name.
    pub(crate) fn add_name(&mut self, parent: NodeId, name: &str, node: NodeId, kind: Kind) {
        self.directories.entry(parent).or_default().insert(name.to_owned(), node);
        match kind {
            Kind::File => drop(self.files.entry(node).or_default()),
            Kind::Directory => drop(self.directories.entry(node).or_default()),
            Kind::Socket => self.sockets.push(node),
        }
    }

    /// Sets the contents of a file.
    pub(crate) fn put_file(&mut self, node: NodeId, contents: Contents) {
        self.files.insert(node, contents);
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = (NodeId, Kind)> {
        let files = self.files.keys().map(|node| (*node, Kind::File));
        let directories = self.directories.keys().map(|node| (*node, Kind::Directory));
        let sockets = self.sockets.iter().map(|node| (*node, Kind::Socket));
        files.chain(directories).chain(sockets)
    }

    pub(crate) fn directories(&self) -> impl Iterator<Item = (NodeId, &Names)> {
        self.directories.iter().map(|(node, names)| (*node, names))
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (NodeId, &Contents)> {
        self.files.iter().map(|(node, contents)| (*node, contents))
    }

    /// Returns the contents of a file; `None` without a file at this path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&Contents> {
        let mut node = ROOT;
        for name in path.split('/') {
            node = *self.directories.get(&node)?.get(name)?;
        }
        self.files.get(&node)
    }

    /// Returns a hash of names and contents. Files for which `is_ignored` returns true by their names do not
    /// count.
    #[must_use]
    pub fn hash(&self, is_ignored: impl Fn(&str) -> bool) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_below(ROOT, &is_ignored, &mut hasher);
        hasher.finish()
    }

    fn hash_below(&self, node: NodeId, is_ignored: &impl Fn(&str) -> bool, hasher: &mut DefaultHasher) {
        for (name, node) in &self.directories[&node] {
            if is_ignored(name) {
                continue;
            }
            name.hash(hasher);
            if let Some(contents) = self.files.get(node) {
                contents.hash(hasher);
            } else if self.directories.contains_key(node) {
                self.hash_below(*node, is_ignored, hasher);
            }
        }
        hasher.write_u8(0);
    }

    /// Writes the tree into an existing directory. Blocks of zeros become holes; sockets are left out.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        self.write_below(ROOT, path)
    }

    fn write_below(&self, node: NodeId, path: &Path) -> io::Result<()> {
        for (name, node) in &self.directories[&node] {
            let path = path.join(name);
            if let Some(contents) = self.files.get(node) {
                write_file(contents, &path)?;
            } else if self.directories.contains_key(node) {
                fs::create_dir(&path)?;
                self.write_below(*node, &path)?;
            }
        }
        Ok(())
    }
}

fn write_file(contents: &Contents, path: &Path) -> io::Result<()> {
    let file = File::create_new(path)?;
    file.set_len(contents.length())?;
    for (index, block) in contents.blocks().iter().enumerate() {
        if let Some(block) = block {
            let offset = (index * BLOCK_BYTES) as u64;
            let length =
                usize::try_from(contents.length() - offset).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
            file.write_all_at(&block.bytes[..length], offset)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_written_as_it_was_read() {
        let (from, to) = (tempfile::TempDir::new().unwrap(), tempfile::TempDir::new().unwrap());
        fs::create_dir(from.path().join("below")).unwrap();
        let bytes = [vec![7; 5_000], vec![0; 10_000], vec![8; 10]].concat();
        fs::write(from.path().join("below/file"), &bytes).unwrap();
        fs::write(from.path().join("empty"), "").unwrap();
        let image = Image::read(from.path()).unwrap();
        image.write_to(to.path()).unwrap();
        assert_eq!(fs::read(to.path().join("below/file")).unwrap(), bytes);
        let again = Image::read(to.path()).unwrap();
        assert_eq!(image.hash(|_| false), again.hash(|_| false));
        assert_ne!(image.hash(|_| false), again.hash(|name| name == "empty"));
        assert_eq!(image.file("below/file").unwrap().to_vec(), bytes);
        assert!(image.file("below/missing").is_none());
    }
}
