//! The calls of FUSE on a file system in memory.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use parking_lot::Mutex;

use crate::contents::BLOCK_BYTES;
use crate::event::{Event, Kind, NodeId};
use crate::recording::Recording;
use crate::volume::now;

/// Time for which the kernel may keep names and attributes: nobody else changes them.
const CACHE_TTL: Duration = Duration::from_secs(3_600);
/// Free space shown to programs, in blocks: 16 GiB.
const FREE_BLOCKS: u64 = 4 << 20;
const FREE_FILES: u64 = 1 << 20;
/// File type bits of a mode, and those of a socket and of a regular file.
const TYPE_BITS: u32 = 0o170_000;
const SOCKET_BITS: u32 = 0o140_000;
const FILE_BITS: u32 = 0o100_000;

/// A file system in memory, as FUSE calls it.
#[derive(Debug)]
pub(crate) struct FileSystem(Arc<Mutex<Recording>>);

impl FileSystem {
    pub(crate) fn new(recording: Arc<Mutex<Recording>>) -> Self {
        Self(recording)
    }

    /// Makes a node with a name.
    fn make(&self, parent: INodeNo, name: &OsStr, mode: u32, kind: Kind) -> Result<FileAttr, Errno> {
        let mut recording = self.0.lock();
        let name = text(name)?;
        if recording.volume.find(parent.0, &name).is_some() {
            return Err(Errno::EEXIST);
        }
        let node = recording.volume.next();
        recording.record(Event::Make { parent: parent.0, name, node, kind });
        recording.volume.node_mut(node).mode = bits(mode);
        attributes(&recording, node)
    }

    fn remove(&self, parent: INodeNo, name: &OsStr, is_directory: bool) -> Result<(), Errno> {
        let mut recording = self.0.lock();
        let name = text(name)?;
        let node = recording.volume.find(parent.0, &name).ok_or(Errno::ENOENT)?;
        if is_directory && !recording.volume.node_mut(node).names.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        recording.record(Event::Remove { parent: parent.0, name });
        Ok(())
    }

    fn rename(
        &self,
        from: (INodeNo, &OsStr),
        to: (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        let mut recording = self.0.lock();
        let (from, to) = ((from.0.0, text(from.1)?), (to.0.0, text(to.1)?));
        recording.volume.find(from.0, &from.1).ok_or(Errno::ENOENT)?;
        if flags.intersects(!RenameFlags::RENAME_NOREPLACE) {
            return Err(Errno::EINVAL);
        }
        if let Some(target) = recording.volume.find(to.0, &to.1) {
            if flags.contains(RenameFlags::RENAME_NOREPLACE) {
                return Err(Errno::EEXIST);
            }
            if !recording.volume.node_mut(target).names.is_empty() {
                return Err(Errno::ENOTEMPTY);
            }
        }
        recording.record(Event::Rename { from, to });
        Ok(())
    }

    fn attributes(&self, node: INodeNo) -> Result<FileAttr, Errno> {
        attributes(&self.0.lock(), node.0)
    }
}

impl Filesystem for FileSystem {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let recording = self.0.lock();
        let node = name.to_str().and_then(|name| recording.volume.find(parent.0, name));
        entry(node.ok_or(Errno::ENOENT).and_then(|node| attributes(&recording, node)), reply);
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Ok(found) => reply.attr(&CACHE_TTL, &found),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        node: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut recording = self.0.lock();
        if let Some(length) = size {
            recording.record(Event::Resize { node: node.0, length });
        }
        let found = recording.volume.node_mut(node.0);
        if let Some(mode) = mode {
            found.mode = bits(mode);
        }
        match modified {
            Some(TimeOrNow::SpecificTime(time)) => found.modified = time,
            Some(TimeOrNow::Now) => found.modified = now(),
            None => {}
        }
        drop(recording);
        self.getattr(request, node, handle, reply);
    }

    fn mknod(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let made = match mode & TYPE_BITS {
            SOCKET_BITS => self.make(parent, name, mode, Kind::Socket),
            FILE_BITS => self.make(parent, name, mode, Kind::File),
            _ => Err(Errno::EPERM),
        };
        entry(made, reply);
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        entry(self.make(parent, name, mode, Kind::Directory), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(self.remove(parent, name, false), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(self.remove(parent, name, true), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        done(Self::rename(self, (parent, name), (new_parent, new_name), flags), reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        // Through the kernel's cache: SQLite maps its shared memory.
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.make(parent, name, mode, Kind::File) {
            Ok(made) => {
                let flags = FopenFlags::FOPEN_KEEP_CACHE;
                reply.created(&CACHE_TTL, &made, Generation(0), FileHandle(0), flags);
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let recording = self.0.lock();
        match recording.volume.node(node.0) {
            Some(file) => {
                let bytes = file.contents.read(offset, size as usize);
                drop(recording);
                reply.data(&bytes);
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn write(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.0.lock().record(Event::Write { node: node.0, offset, bytes: data.into() });
        reply.written(u32::try_from(data.len()).expect("FUSE writes 16 MiB at most"));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, node: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.0.lock().record(Event::Sync { node: node.0 });
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, node: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.0.lock().record(Event::SyncDirectory { node: node.0 });
        reply.ok();
    }

    fn readdir(&self, _: &Request, node: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let recording = self.0.lock();
        let Some(directory) = recording.volume.node(node.0) else {
            reply.error(Errno::ENOENT);
            return;
        };
        let own = [(".", node.0), ("..", node.0)].into_iter();
        let names = own.chain(directory.names.iter().map(|(name, node)| (name.as_str(), *node)));
        for (at, (name, node)) in (1..).zip(names).skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            let kind = recording.volume.node(node).map_or(FileType::Directory, |node| file_type(node.kind));
            if reply.add(INodeNo(node), at, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let block = u32::try_from(BLOCK_BYTES).expect("small");
        reply.statfs(FREE_BLOCKS, FREE_BLOCKS, FREE_BLOCKS, FREE_FILES, FREE_FILES, block, 255, block);
    }
}

fn attributes(recording: &Recording, node: NodeId) -> Result<FileAttr, Errno> {
    let found = recording.volume.node(node).ok_or(Errno::ENOENT)?;
    let size = found.contents.length();
    Ok(FileAttr {
        ino: INodeNo(node),
        size,
        blocks: size.div_ceil(512),
        atime: found.modified,
        mtime: found.modified,
        ctime: found.modified,
        crtime: found.modified,
        kind: file_type(found.kind),
        perm: found.mode,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: u32::try_from(BLOCK_BYTES).expect("small"),
        flags: 0,
    })
}

fn file_type(kind: Kind) -> FileType {
    match kind {
        Kind::File => FileType::RegularFile,
        Kind::Directory => FileType::Directory,
        Kind::Socket => FileType::Socket,
    }
}

/// Returns the permission bits of a mode.
fn bits(mode: u32) -> u16 {
    u16::try_from(mode & 0o7777).expect("twelve bits")
}

fn text(name: &OsStr) -> Result<String, Errno> {
    name.to_str().map(str::to_owned).ok_or(Errno::EINVAL)
}

fn entry(made: Result<FileAttr, Errno>, reply: ReplyEntry) {
    match made {
        Ok(made) => reply.entry(&CACHE_TTL, &made, Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn done(outcome: Result<(), Errno>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}
