//! A real directory as the medium of a log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::FileExt as _;
#[cfg(target_os = "linux")]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use rustix::fs::OFlags;

use super::blocks::{BLOCK_BYTES, Blocks};
use super::medium::{Medium, SegmentFile};

/// Length of a write of zeros in bytes.
const ZEROS_BYTES: usize = 256 << 10;

/// How records reach the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteMode {
    /// Through the page cache, with `fdatasync`.
    Buffered,
    /// Through the page cache, and never synced: what is written survives the end of the process, and no
    /// power cut.
    Unsynced,
    /// Past the page cache (`O_DIRECT`), each write durable when it returns (`O_DSYNC`): one call instead of
    /// two, and one flush of the disk. On Linux only.
    Direct,
}

/// A directory on a file system.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    mode: WriteMode,
}

impl Directory {
    /// Uses an existing directory.
    #[must_use]
    pub fn new(path: &Path, mode: WriteMode) -> Self {
        Self { path: path.to_owned(), mode }
    }

    /// Returns whether the file system takes direct writes, by trying one in a file that is removed again.
    ///
    /// # Errors
    /// The file cannot be created or removed.
    pub fn takes_direct_writes(path: &Path) -> io::Result<bool> {
        if !cfg!(target_os = "linux") {
            return Ok(false);
        }
        let name = "direct.probe";
        let directory = Self::new(path, WriteMode::Direct);
        directory.create_segment(name, BLOCK_BYTES as u64)?;
        let written = directory
            .open_segment(name)
            .and_then(|mut segment| segment.write_at(0, Blocks::default().zeroed(BLOCK_BYTES)));
        directory.remove(name)?;
        match written {
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(false),
            written => written.map(|()| true),
        }
    }
}

impl Medium for Directory {
    type Segment = RealSegment;

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(name))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(self.path.join(name))?;
        file.write_all(bytes)?;
        self.sync_all(&file)
    }

    fn create_segment(&self, name: &str, bytes: u64) -> io::Result<()> {
        let mut file = File::create(self.path.join(name))?;
        let zeros = vec![0; ZEROS_BYTES];
        let mut left = bytes;
        while left > 0 {
            let length = usize::try_from(left).map_or(ZEROS_BYTES, |left| left.min(ZEROS_BYTES));
            file.write_all(&zeros[..length])?;
            left -= length as u64;
        }
        self.sync_all(&file)
    }

    fn open_segment(&self, name: &str) -> io::Result<RealSegment> {
        let mut options = OpenOptions::new();
        options.write(true);
        #[cfg(target_os = "linux")]
        if self.mode == WriteMode::Direct {
            let flags = (OFlags::DIRECT | OFlags::DSYNC).bits();
            options.custom_flags(i32::try_from(flags).expect("flags of open are ints"));
        }
        Ok(RealSegment { file: options.open(self.path.join(name))?, mode: self.mode })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.sync_all(&File::open(&self.path)?)
    }
}

impl Directory {
    fn sync_all(&self, file: &File) -> io::Result<()> {
        if self.mode == WriteMode::Unsynced { Ok(()) } else { file.sync_all() }
    }
}

/// A segment file of a [`Directory`].
#[derive(Debug)]
pub struct RealSegment {
    file: File,
    mode: WriteMode,
}

impl SegmentFile for RealSegment {
    fn write_at(&mut self, offset: u64, blocks: &[u8]) -> io::Result<()> {
        self.file.write_all_at(blocks, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.mode {
            WriteMode::Buffered => self.file.sync_data(),
            WriteMode::Unsynced | WriteMode::Direct => Ok(()),
        }
    }
}
