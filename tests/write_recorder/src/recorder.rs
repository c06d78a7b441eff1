//! A mounted file system in memory, and the trace of its changes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use fuser::{BackgroundSession, Config, MountOption};
use parking_lot::Mutex;

use crate::file_system::FileSystem;
use crate::image::Image;
use crate::recording::Recording;
use crate::trace::Trace;
use crate::volume::Volume;

/// A file system in memory that records its changes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    start: Image,
    recording: Arc<Mutex<Recording>>,
}

impl Recorder {
    /// Makes a file system with the files of an image.
    #[must_use]
    pub fn new(start: Image) -> Self {
        let recording = Recording { volume: Volume::of(&start), events: Vec::new() };
        Self { start, recording: Arc::new(Mutex::new(recording)) }
    }

    /// Mounts the file system at an existing directory. Needs root and `/dev/fuse`.
    ///
    /// # Errors
    /// The system refuses the mount.
    pub fn mount(&self, at: &Path) -> io::Result<Mount> {
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("write-recorder".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoAtime,
        ];
        let session = fuser::spawn_mount(FileSystem::new(Arc::clone(&self.recording)), at, &config)?;
        Ok(Mount { session: Some(session), at: at.to_owned() })
    }

    /// Returns the number of events so far. Everything that a finished call changed is before.
    #[must_use]
    pub fn position(&self) -> usize {
        self.recording.lock().events.len()
    }

    /// Returns a copy of the trace.
    #[must_use]
    pub fn trace(&self) -> Trace {
        Trace { start: self.start.clone(), events: self.recording.lock().events.clone() }
    }
}

/// A mounted file system, unmounted on drop.
#[derive(Debug)]
pub struct Mount {
    session: Option<BackgroundSession>,
    at: PathBuf,
}

impl Mount {
    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Removes a mount that a killed process left behind, if any.
    pub fn remove_leftover(at: &Path) {
        let _ = Command::new("umount").arg("-l").arg(at).output();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Some(session) = self.session.take()
            && session.umount_and_join().is_err()
        {
            // Still in use: detached at once, and gone with the last user.
            Self::remove_leftover(&self.at);
        }
    }
}
