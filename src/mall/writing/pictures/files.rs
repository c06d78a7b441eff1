//! Picture files of an import: removed from the disk once nothing shows them.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Page, StoreError, Timestamp, is_picture_file, picture_name};
use parking_lot::Mutex;

use crate::mall::base::Context;
use crate::mall::base::chores::{Chore, Every};

/// Time from the end of the last reference to the removal, as for uploads.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Files per query.
const PAGE: u32 = 200;

/// Returns the canonical name of a picture file in a path, with or without a leading `/imgs`; `None` if no
/// file of the mall can have the name.
pub(in crate::mall) fn file_name(path: &str) -> Option<String> {
    let name = picture_name(&format!("/{}", path.trim_end_matches('/')));
    let is_plain = |part: &str| !part.starts_with('.') && !part.contains(['\\', '\0']);
    (is_picture_file(&name) && name.split('/').all(is_plain)).then_some(name)
}

/// Removes a picture file below `folder`. A missing file is no error.
///
/// # Errors
/// [`io::Error`] if the file may still exist.
pub(in crate::mall) async fn remove_file(folder: &Path, name: &str) -> io::Result<()> {
    let Some(name) = file_name(name) else { return Ok(()) };
    match tokio::fs::remove_file(folder.join(name.trim_start_matches('/'))).await {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Err(error),
        _ => Ok(()),
    }
}

/// Removes picture files that are erased, or that nothing has shown for a day. Every process removes the
/// files of its own folder: a name whose file is gone costs one call of the file system.
pub(super) struct RemoveFiles {
    every: Every,
    context: Context,
    folder: PathBuf,
    /// Changes up to here are done. A start begins anew.
    done_until: Mutex<Timestamp>,
}

impl RemoveFiles {
    pub(super) fn new(context: Context, folder: PathBuf) -> Self {
        let (every, done_until) =
            (Every::new(Duration::from_secs(60 * 60)), Mutex::new(Timestamp::from_millis(0)));
        Self { every, context, folder, done_until }
    }

    /// Removes the files given up until `until`. Returns whether all of them are removed.
    async fn remove(&self, until: Timestamp) -> Result<bool, StoreError> {
        let since = *self.done_until.lock();
        let mut are_removed = true;
        for page in 1.. {
            let pictures = &self.context.storage.writing.pictures;
            let names = pictures.gone_files(since, until, Page::new(page, PAGE)).await?;
            for name in &names {
                if let Err(error) = remove_file(&self.folder, name).await {
                    tracing::warn!(name, %error, "could not remove a picture file");
                    are_removed = false;
                }
            }
            if names.len() < PAGE as usize {
                break;
            }
        }
        Ok(are_removed)
    }
}

#[async_trait]
impl Chore for RemoveFiles {
    fn name(&self) -> &'static str {
        "remove picture files"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        let until = now - KEPT;
        match self.remove(until).await {
            Ok(true) => *self.done_until.lock() = until,
            // The next run tries again.
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "could not find picture files to remove"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_below_the_folder() {
        for (path, name) in [
            ("/imgs/blogs/7/a_b.jpg", "/blogs/7/a_b.jpg"),
            ("icons//茶.png", "/icons/茶.png"),
            ("//imgs/icons/a.png", "/icons/a.png"),
            ("/imgs/icons/a.png//", "/icons/a.png"),
        ] {
            assert_eq!(file_name(path).as_deref(), Some(name), "{path}");
        }
        let long = "a".repeat(255);
        for path in ["", "/", "/a/../b", "/.git/x", "a\\b", "a\0", &long] {
            assert_eq!(file_name(path), None, "{path}");
        }
    }

    #[tokio::test]
    async fn only_a_file_of_the_folder_is_removed() {
        let dir = tempfile::TempDir::new().unwrap();
        let folder = dir.path().join("uploads");
        std::fs::create_dir_all(folder.join("blogs")).unwrap();
        for file in ["kept.png", "uploads/blogs/a.png", "uploads/blogs/b.png"] {
            std::fs::write(dir.path().join(file), "a picture").unwrap();
        }
        for name in ["/blogs/a.png", "/blogs/a.png", "/../kept.png", "/blogs/none.png", "/blogs/b.png/c"] {
            remove_file(&folder, name).await.unwrap();
        }
        assert!(!folder.join("blogs/a.png").exists());
        assert!(folder.join("blogs/b.png").exists() && dir.path().join("kept.png").exists());
        remove_file(&folder, "/blogs").await.unwrap_err();
    }
}
