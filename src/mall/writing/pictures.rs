//! Uploaded pictures: re-encoded on upload, kept for as long as something refers to them.
//!
//! Reasons and figures: `src/decisions/0016-pictures-are-redrawn.md`.

mod files;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod places;
mod redraw;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    NewPicture, Picture, PictureKind, PictureUsage, PutOutcome, RemoveOutcome, StoreError, Timestamp, UserId,
};

use self::files::RemoveFiles;
use self::places::UploadPlaces;
use self::redraw::{Encoded, reencode};
use self::turns::FairTurns;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::picture_path::upload_name;
use crate::mall::base::{Context, Failure, InputError, Random, Refusal};

pub(in crate::mall) use self::files::{file_name, remove_file};
pub use self::places::UploadPermit;

/// Maximum size of an upload in bytes (5 MiB): a photograph from a phone's camera.
pub const UPLOAD_MAX_BYTES: usize = 5 << 20;
/// Longest wait of an upload for re-encoding. A photograph of 12 megapixels then takes 0.4 s, and pages time
/// out after 2 s.
const ENCODING_WAIT_MAX: Duration = Duration::from_millis(900);
/// Attempts to find a free name. After a reseed with an earlier seed, the mall generates earlier names again.
const NAME_ATTEMPTS_MAX: usize = 100;
/// How long a picture without references is kept after its upload: the user may still be writing the text
/// that will show the picture.
const UNREFERENCED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The service for uploaded pictures. Cheap to clone.
#[derive(Clone)]
pub struct Pictures {
    context: Context,
    random: Arc<Random>,
    places: Arc<UploadPlaces>,
    turns: Arc<FairTurns>,
}

impl Pictures {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, random: Arc<Random>) -> Self {
        let memory = context.settings.memory;
        let uploads = memory.uploads(UPLOAD_MAX_BYTES);
        // A note has nine pictures, and one user must not occupy all places, unless there is a single one.
        let places = UploadPlaces::new(uploads, uploads.div_ceil(2));
        Self { places, turns: FairTurns::new(memory.encodings()), context, random }
    }

    /// Admits an upload by a user. Call before the file is read.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`]; [`Refusal::Busy`] if too many uploads, of the user or in total, are in
    /// progress.
    pub async fn admit(&self, user: UserId, now: Timestamp) -> Result<UploadPermit, Failure> {
        self.context.within(self.context.settings.upload_limit, "upload", user, now).await?;
        Ok(self.places.take(user).ok_or(Refusal::Busy)?)
    }

    /// Re-encodes and stores the picture in `file`, whatever type the file claims to be. Returns the
    /// picture's name, `/blogs/…`; pages request the picture below `/imgs`.
    ///
    /// # Errors
    /// [`InputError::NoPicture`], [`InputError::TooManyPixels`]; [`Refusal::PicturesFull`],
    /// [`Refusal::PictureBytesFull`]; [`Refusal::Busy`] if the wait for re-encoding takes too long.
    pub async fn put(
        &self,
        _place: UploadPermit,
        user: UserId,
        file: Vec<u8>,
        now: Timestamp,
    ) -> Result<String, Failure> {
        let turn = tokio::time::timeout(ENCODING_WAIT_MAX, self.turns.acquire(user)).await;
        let turn = turn.map_err(|_| Refusal::Busy)?;
        // The turn moves into the work, which cannot be cancelled, and is released only after storing. So
        // few pictures share a commit.
        let megapixels = self.context.settings.memory.megapixels();
        let drawn = tokio::task::spawn_blocking(move || (reencode(&file, megapixels), turn)).await;
        let (drawn, _turn) = drawn.map_err(|broken| {
            tracing::error!(%broken, "the re-encoding of a picture panicked");
            InputError::NoPicture
        })?;
        self.keep_new(user, drawn?, now).await
    }

    async fn keep_new(&self, owner: UserId, drawn: Encoded, now: Timestamp) -> Result<String, Failure> {
        let most = self.context.settings.picture_room;
        let Encoded { kind, content } = drawn;
        for _ in 0..NAME_ATTEMPTS_MAX {
            let name = name(&self.random.uuid(), kind);
            let picture = NewPicture { name: name.clone(), owner, kind, content: content.clone() };
            match self.context.storage.writing.pictures.put(picture, most, now).await? {
                PutOutcome::Put => return Ok(name),
                PutOutcome::NoRoom(has) => return Err(full(has, most).into()),
                PutOutcome::NameTaken => {}
            }
        }
        Err(Failure::Bug("every name for a picture is taken".to_owned()))
    }

    /// Returns the upload at a path, with or without a leading `/imgs`; `None` while only hidden notes show
    /// it.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub async fn get(&self, path: &str) -> Result<Option<Picture>, StoreError> {
        match upload_name(path) {
            Some(name) => self.context.storage.writing.pictures.get(&name).await,
            None => Ok(None),
        }
    }

    /// Returns whether the file at a path, with or without a leading `/imgs`, must not be shown: only hidden
    /// notes show it, its note or user is gone, or an operator erased it.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub async fn is_file_withheld(&self, path: &str) -> Result<bool, StoreError> {
        match file_name(path) {
            Some(name) => self.context.storage.writing.pictures.is_file_withheld(&name).await,
            None => Ok(false),
        }
    }

    /// Protects pictures that a user is about to refer to from the sweep, as if newly uploaded. Returns the
    /// paths that are not uploads of this user. Paths may have a leading `/imgs`.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn keep(
        &self,
        owner: UserId,
        paths: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, Failure> {
        let named: Vec<Option<String>> = paths.iter().map(|path| upload_name(path)).collect();
        let names: Vec<String> = named.iter().flatten().cloned().collect();
        // Most texts have no pictures and should not wait for a commit.
        let others = match &*names {
            [] => Vec::new(),
            names => self.context.storage.writing.pictures.keep(owner, names, now).await?,
        };
        let is_theirs = |name: &Option<String>| name.as_ref().is_some_and(|name| !others.contains(name));
        let paths = paths.iter().zip(&named).filter(|(_, name)| !is_theirs(name));
        Ok(paths.map(|(path, _)| path.clone()).collect())
    }

    /// Removes a picture uploaded by a user: at once, or once nothing refers to the picture any more. So a
    /// picture can be taken out of a note during editing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the user has no upload at this path.
    pub async fn remove(&self, user: UserId, path: &str) -> Result<(), Failure> {
        let name = upload_name(path).ok_or(Refusal::NotFound("picture"))?;
        match self.context.storage.writing.pictures.remove(user, &name).await? {
            RemoveOutcome::Removed | RemoveOutcome::Shown => Ok(()),
            RemoveOutcome::NotTheirs => Err(Refusal::NotFound("picture").into()),
        }
    }

    /// Returns the background jobs that remove unreferenced pictures, and files of an import.
    pub(in crate::mall) fn sweepers(&self) -> Vec<Arc<dyn Chore>> {
        let (every, context) = (Every::new(Duration::from_secs(60)), self.context.clone());
        let mut sweepers: Vec<Arc<dyn Chore>> = vec![Arc::new(SweepPictures { every, context })];
        if let Some(folder) = &self.context.settings.picture_files {
            sweepers.push(Arc::new(RemoveFiles::new(self.context.clone(), folder.clone())));
        }
        sweepers
    }
}

/// Re-encodes the picture in a file, as [`Pictures::put`] does; `None` without a picture, or if the
/// picture is too large.
///
/// Takes some tenths of a second and up to 160 MB.
#[cfg(feature = "https")]
pub(crate) fn reencode_picture(file: &[u8]) -> Option<(PictureKind, Vec<u8>)> {
    redraw::reencode(file, crate::mall::base::MemoryBudget::FULL.megapixels())
        .ok()
        .map(|Encoded { kind, content }| (kind, content))
}

/// Returns the name of the upload given by its path, or by its file name alone.
pub(in crate::mall) fn full_name(text: &str) -> Option<String> {
    if text.contains('/') {
        return upload_name(text);
    }
    let folders: Vec<u32> = text.chars().take(2).filter_map(|digit| digit.to_digit(16)).collect();
    match *folders {
        [one, two] => upload_name(&format!("/blogs/{one}/{two}/{text}")),
        _ => None,
    }
}

/// Returns the file extension of a picture.
pub(crate) fn ending(kind: PictureKind) -> &'static str {
    match kind {
        PictureKind::Jpeg => "jpg",
        PictureKind::Webp => "webp",
    }
}

/// Builds a name such as `/blogs/7/14/4771fefb-….jpg`: hm-dianping's format, in which nested folders keep
/// each folder small.
fn name(uuid: &str, kind: PictureKind) -> String {
    let folder = |at: usize| u8::from_str_radix(&uuid[at..=at], 16).unwrap_or_default();
    format!("/blogs/{}/{}/{uuid}.{}", folder(0), folder(1), ending(kind))
}

fn full(has: PictureUsage, most: PictureUsage) -> Refusal {
    if has.pictures >= most.pictures {
        Refusal::PicturesFull(most.pictures)
    } else {
        Refusal::PictureBytesFull(most.bytes)
    }
}

/// The sweep of unreferenced pictures.
struct SweepPictures {
    every: Every,
    context: Context,
}

impl SweepPictures {
    /// Pictures checked per transaction: few enough that no other writer notices the delay.
    const AT_ONCE: u32 = 16;
    /// Transactions per run. At this rate, the sweep checks a million and a half pictures a day.
    const ROUNDS: usize = 64;
}

#[async_trait]
impl Chore for SweepPictures {
    fn name(&self) -> &'static str {
        "sweep pictures"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        for _ in 0..Self::ROUNDS {
            match self
                .context
                .storage
                .writing
                .pictures
                .sweep(now - UNREFERENCED_KEPT, Self::AT_ONCE, now)
                .await
            {
                Ok(swept) if swept.has_more => {}
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "could not remove unreferenced pictures");
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_however_its_path_is_written() {
        let made = name(&Random::seeded(7).uuid(), PictureKind::Webp);
        assert!(made.starts_with("/blogs/") && made.ends_with(".webp"), "{made}");
        for path in [made.clone(), format!("/imgs{made}"), format!("/imgs/{made}"), made[1..].to_owned()] {
            assert_eq!(upload_name(&path).as_ref(), Some(&made), "{path}");
        }
        let long = format!("/blogs/{}", "a".repeat(100));
        for path in
            ["", "/", "/imgs", "/types/ms.png", "/blogs/a b", "/blogs/茶", "/imgs/imgs/blogs/a", &long]
        {
            assert_eq!(upload_name(path), None, "{path}");
        }
    }

    #[test]
    fn a_file_name_alone_names_an_upload() {
        let made = name(&Random::seeded(7).uuid(), PictureKind::Jpeg);
        let file = made.rsplit('/').next().unwrap();
        for text in [file.to_owned(), made.clone(), format!("/imgs{made}")] {
            assert_eq!(full_name(&text).as_ref(), Some(&made), "{text}");
        }
        for text in ["", "a", "xy.jpg", "茶茶.jpg", "/types/ms.png"] {
            assert_eq!(full_name(text), None, "{text}");
        }
    }

    #[test]
    fn the_limit_that_is_met_is_told() {
        let room = |pictures, bytes| PictureUsage { pictures, bytes };
        assert_eq!(full(room(5, 10), room(5, 100)), Refusal::PicturesFull(5));
        assert_eq!(full(room(4, 99), room(5, 100)), Refusal::PictureBytesFull(100));
    }
}
