//! Room on the disk.

use std::path::Path;

/// Below this much free space nothing is written any more: sled must never meet the end of the disk.
const LEAST_FREE_BYTES: u64 = 64 << 20;

/// Bytes that this user may still write where `path` is; `None` if the system does not say.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// What to tell when there is too little room.
pub(crate) fn shortage(path: &Path) -> Option<String> {
    let free = free_bytes(path)?;
    (free < LEAST_FREE_BYTES).then(|| {
        format!(
            "{} MiB free at {}, and {} MiB are needed",
            free >> 20,
            path.display(),
            LEAST_FREE_BYTES >> 20
        )
    })
}
