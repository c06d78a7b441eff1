//! A simulated disk as the medium of a log.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use mallbox_storage_wal::{Medium, SegmentFile};

use crate::disk::Disk;

/// The directory of a log on a simulated disk.
#[derive(Clone, Debug)]
pub struct Simulated(pub Rc<RefCell<Disk>>);

/// An open segment.
#[derive(Debug)]
pub struct Segment {
    disk: Rc<RefCell<Disk>>,
    file: usize,
}

impl Medium for Simulated {
    type Segment = Segment;

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.borrow_mut().list()
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.0.borrow_mut().read(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().write(name, bytes)
    }

    fn create_segment(&self, name: &str, bytes: u64) -> io::Result<()> {
        self.0.borrow_mut().write(name, &vec![0; usize::try_from(bytes).expect("small")])
    }

    fn open_segment(&self, name: &str) -> io::Result<Segment> {
        let file = self.0.borrow_mut().open(name)?;
        Ok(Segment { disk: Rc::clone(&self.0), file })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.borrow_mut().rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.borrow_mut().remove(name)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.0.borrow_mut().sync_dir()
    }
}

impl SegmentFile for Segment {
    fn write_at(&mut self, offset: u64, blocks: &[u8]) -> io::Result<()> {
        self.disk.borrow_mut().write_at(self.file, offset, blocks)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.borrow_mut().sync(self.file)
    }
}
