//! A VFS of SQLite over the system's: passes every call on, and checks the pages of registered databases.
//!
//! A file of ours is [`CheckedFile`] with the system's file behind. Only main databases of the
//! [registry](register) are ours; any other file is opened as the system's alone. Memory maps are left out
//! (methods of version 2), since SQLite would read pages without a call.
//!
//! Soundness: SQLite hands over the files that `open` has filled, each to one thread at a time, and buffers
//! of the length it names. `pAppData` of the VFS is the system's VFS, which lives as long as the process.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use crate::page_checksums::PageChecksums;

/// Checksums of the databases that may be opened.
static REGISTRY: Mutex<Vec<Weak<PageChecksums>>> = Mutex::new(Vec::new());

/// Has pages of this database checked by connections opened from now on through a [`vfs_name`], as long as
/// the value lives.
pub fn register(checksums: &Arc<PageChecksums>) {
    let mut registry = REGISTRY.lock();
    registry.retain(|other| other.upgrade().is_some_and(|other| other.database() != checksums.database()));
    registry.push(Arc::downgrade(checksums));
}

fn registered(path: &Path) -> Option<Arc<PageChecksums>> {
    let path = path.canonicalize().ok()?;
    REGISTRY.lock().iter().filter_map(Weak::upgrade).find(|checksums| checksums.database() == path)
}

/// Returns the name of a VFS that checks pages: over SQLite's `unix`, or over `unix-excl`, which keeps the
/// index of the `-wal` file in memory. Registers the VFS at the first call.
///
/// # Errors
/// SQLite does not know the system's VFS, or has no memory.
pub fn vfs_name(is_exclusive: bool) -> io::Result<&'static CStr> {
    static MADE: [OnceLock<bool>; 2] = [OnceLock::new(), OnceLock::new()];
    let (name, of_system) =
        if is_exclusive { (c"mallbox-excl", c"unix-excl") } else { (c"mallbox", c"unix") };
    if *MADE[usize::from(is_exclusive)].get_or_init(|| make(name, of_system)) {
        return Ok(name);
    }
    Err(io::Error::other("SQLite has no VFS to check pages with"))
}

fn make(name: &'static CStr, of_system: &CStr) -> bool {
    // SAFETY: the name ends in a zero byte. A VFS that is found is never freed.
    let real = unsafe { ffi::sqlite3_vfs_find(of_system.as_ptr()) };
    if real.is_null() {
        return false;
    }
    // SAFETY: `real` is valid, and its fields are plain values. Its functions but `xOpen` use nothing of the
    // VFS they are given but `mxPathname`.
    let copy = unsafe {
        sqlite3_vfs {
            szOsFile: (*real).szOsFile.saturating_add(16), // INNER_AT
            pNext: std::ptr::null_mut(),
            zName: name.as_ptr(),
            pAppData: real.cast(),
            xOpen: Some(open),
            ..*real
        }
    };
    // SAFETY: the VFS is never freed, and not the default.
    unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(copy)), 0) == ffi::SQLITE_OK }
}

/// A file of ours. The system's file lies [`INNER_AT`] bytes behind its beginning.
#[repr(C, align(8))]
struct CheckedFile {
    base: sqlite3_file,
    /// From [`Arc::into_raw`]; freed by `close`.
    checksums: *const PageChecksums,
}

const INNER_AT: usize = 16;
const _: () = assert!(size_of::<CheckedFile>() <= INNER_AT);

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Returns the system's file of one of ours.
///
/// # Safety
/// `file` is a [`CheckedFile`] that `open` has filled.
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes, of which the first `INNER_AT` are ours.
    unsafe { file.byte_add(INNER_AT) }
}

/// Returns the checksums of a file.
///
/// # Safety
/// As for [`inner`]; the result must not outlive the call of SQLite.
unsafe fn checksums<'a>(file: *mut sqlite3_file) -> &'a PageChecksums {
    // SAFETY: the pointer is from `Arc::into_raw` and freed by `close` only.
    unsafe { &*(*file.cast::<CheckedFile>()).checksums }
}

/// Calls a method of the system's file.
macro_rules! pass {
    ($file:ident, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: SQLite calls with a file that `open` has filled, and with valid arguments.
        unsafe {
            let inner = inner($file);
            match (*(*inner).pMethods).$method {
                Some(method) => method(inner $(, $argument)*),
                None => ffi::SQLITE_IOERR,
            }
        }
    }};
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: `make` has put the system's VFS there, which has an `xOpen`.
    let real: *mut sqlite3_vfs = unsafe { (*vfs).pAppData.cast() };
    // SAFETY: as above.
    let Some(open_real) = (unsafe { (*real).xOpen }) else { return ffi::SQLITE_CANTOPEN };
    let mut found = None;
    if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 && !name.is_null() {
        // SAFETY: SQLite's file names end in a zero byte.
        let name = unsafe { CStr::from_ptr(name) };
        found = registered(Path::new(OsStr::from_bytes(name.to_bytes())));
    }
    let Some(found) = found else {
        // SAFETY: `file` has room for the system's file, which is smaller than ours.
        return unsafe { open_real(real, name, file, flags, flags_out) };
    };
    // SAFETY: `file` has room for a file of ours with the system's behind.
    unsafe {
        (*file).pMethods = std::ptr::null();
        let inner = inner(file);
        (*inner).pMethods = std::ptr::null();
        let opened = open_real(real, name, inner, flags, flags_out);
        // A file with methods has to be closed, also after a failure.
        if !(*inner).pMethods.is_null() {
            let ours = CheckedFile {
                base: sqlite3_file { pMethods: &raw const METHODS },
                checksums: Arc::into_raw(found),
            };
            file.cast::<CheckedFile>().write(ours);
        }
        opened
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let closed = pass!(file, xClose);
    // SAFETY: `open` made the pointer, and SQLite calls `close` once and last.
    unsafe {
        drop(Arc::from_raw((*file.cast::<CheckedFile>()).checksums));
        (*file).pMethods = std::ptr::null();
    }
    closed
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    len: c_int,
    offset: sqlite3_int64,
) -> c_int {
    let result = pass!(file, xRead, buffer, len, offset);
    let (Ok(size), Ok(at), ffi::SQLITE_OK) = (usize::try_from(len), u64::try_from(offset), result) else {
        return result;
    };
    // SAFETY: the buffer has `len` bytes, which the read has filled.
    let (checksums, data) =
        unsafe { (checksums(file), std::slice::from_raw_parts_mut(buffer.cast::<u8>(), size)) };
    let reread = |data: &mut [u8]| {
        let _: c_int = pass!(file, xRead, data.as_mut_ptr().cast(), len, offset);
    };
    if checksums.is_right(at, data, reread) { result } else { ffi::SQLITE_IOERR_DATA }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    buffer: *const c_void,
    len: c_int,
    offset: sqlite3_int64,
) -> c_int {
    let (Ok(size), Ok(at)) = (usize::try_from(len), u64::try_from(offset)) else {
        return ffi::SQLITE_IOERR_WRITE;
    };
    // SAFETY: the buffer has `len` bytes.
    let (checksums, data) =
        unsafe { (checksums(file), std::slice::from_raw_parts(buffer.cast::<u8>(), size)) };
    let written = checksums.written(at, data, || match pass!(file, xWrite, buffer, len, offset) {
        ffi::SQLITE_OK => Ok(()),
        error => Err(error),
    });
    written.err().unwrap_or(ffi::SQLITE_OK)
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let result = pass!(file, xTruncate, size);
    if let (ffi::SQLITE_OK, Ok(size)) = (result, u64::try_from(size)) {
        // SAFETY: as for every method.
        unsafe { checksums(file) }.truncated(size);
    }
    result
}

/// Syncs the checksums first: once the database is synced, SQLite may discard the `-wal` file.
unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: as for every method.
    match unsafe { checksums(file) }.store(true) {
        Ok(()) => pass!(file, xSync, flags),
        Err(error) if error.kind() == io::ErrorKind::StorageFull => ffi::SQLITE_FULL,
        Err(error) => {
            tracing::error!(%error, "could not write the checksums of the database's pages");
            ffi::SQLITE_IOERR_FSYNC
        }
    }
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, op: c_int, argument: *mut c_void) -> c_int {
    // Without syncs, nothing else stores the checksums.
    if op == ffi::SQLITE_FCNTL_CKPT_DONE
        // SAFETY: as for every method.
        && let Err(error) = unsafe { checksums(file) }.store(false)
    {
        tracing::warn!(%error, "could not write the checksums of the database's pages yet");
    }
    pass!(file, xFileControl, op, argument)
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    pass!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, result: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, result)
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    memory: *mut *mut c_void,
) -> c_int {
    pass!(file, xShmMap, region, size, extend, memory)
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    pass!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: as for every method.
    unsafe {
        let inner = inner(file);
        if let Some(method) = (*(*inner).pMethods).xShmBarrier {
            method(inner);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}
