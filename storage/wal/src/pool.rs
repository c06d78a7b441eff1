//! The segment files of a log: which exist, which are unused, and the manifest that names them.

use std::io;

use super::manifest::Manifest;
use super::medium::Medium;

/// Name of the manifest.
pub(crate) const MANIFEST: &str = "manifest";
/// Name of a manifest before the manifest replaces the former one.
const MANIFEST_NEXT: &str = "manifest.next";
const PREFIX: &str = "segment-";

/// Returns the number of a segment file; `None` for any other name.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// The segment files of a log.
#[derive(Debug)]
pub(crate) struct Pool {
    manifest: Manifest,
    /// Whether the manifest on the medium is this one.
    is_stored: bool,
    /// Number of the next new file.
    next: u64,
    unused: Vec<String>,
    /// Files that are no longer in the manifest, and not yet removed.
    retired: Vec<String>,
}

impl Pool {
    /// Makes a pool of existing files, of which some are unused. The manifest is not yet stored.
    pub(crate) fn new(manifest: Manifest, unused: Vec<String>) -> Self {
        let last = manifest.segments.iter().filter_map(|name| segment_number(name)).max();
        Self { manifest, is_stored: false, next: last.unwrap_or(0) + 1, unused, retired: Vec::new() }
    }

    pub(crate) fn log_id(&self) -> u64 {
        self.manifest.log_id
    }

    /// Takes the unused segment that was added last, or a new one of `bytes`.
    pub(crate) fn take<M: Medium>(&mut self, medium: &M, bytes: u64) -> io::Result<(String, M::Segment)> {
        self.prepare(medium, bytes)?;
        let name = self.unused.last().expect("prepared").clone();
        let segment = medium.open_segment(&name)?;
        self.unused.pop();
        Ok((name, segment))
    }

    /// Creates a segment of `bytes` if none is unused, and stores the manifest if it changed.
    pub(crate) fn prepare<M: Medium>(&mut self, medium: &M, bytes: u64) -> io::Result<()> {
        if self.unused.is_empty() {
            self.create(medium, bytes)?;
        }
        self.store(medium)
    }

    /// Creates an unused segment of `bytes`, not yet in the stored manifest.
    pub(crate) fn create<M: Medium>(&mut self, medium: &M, bytes: u64) -> io::Result<()> {
        let name = format!("{PREFIX}{}", self.next);
        medium.create_segment(&name, bytes)?;
        medium.sync_dir()?;
        self.next += 1;
        self.manifest.segments.push(name.clone());
        self.is_stored = false;
        self.unused.push(name);
        Ok(())
    }

    /// Keeps a segment for reuse.
    pub(crate) fn reuse(&mut self, name: String) {
        // The segment used longest ago comes next: wear spreads over all of them.
        self.unused.insert(0, name);
    }

    /// Removes a segment from the log.
    pub(crate) fn retire<M: Medium>(&mut self, medium: &M, name: String) -> io::Result<()> {
        self.manifest.segments.retain(|listed| *listed != name);
        self.is_stored = false;
        self.retired.push(name);
        self.store(medium)
    }

    /// Removes unused segments beyond `spare`.
    pub(crate) fn shrink<M: Medium>(&mut self, medium: &M, spare: usize) -> io::Result<()> {
        while self.unused.len() > spare {
            let name = self.unused.remove(0);
            self.retire(medium, name)?;
        }
        Ok(())
    }

    /// Stores a changed manifest, and then removes retired files.
    fn store<M: Medium>(&mut self, medium: &M) -> io::Result<()> {
        if !self.is_stored {
            medium.write(MANIFEST_NEXT, self.manifest.encode().as_bytes())?;
            medium.rename(MANIFEST_NEXT, MANIFEST)?;
            medium.sync_dir()?;
            self.is_stored = true;
        }
        while let Some(name) = self.retired.last() {
            medium.remove(name)?;
            self.retired.pop();
        }
        Ok(())
    }
}
