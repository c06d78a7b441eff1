//! Pictures that people upload: drawn anew here, kept for as long as something shows them.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod redraw;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    NewPicture, Picture, PictureKind, PicturePut, PictureRemoval, PictureRoom, StoreError, Timestamp, UserId,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::redraw::{Drawn, redraw};
use super::chores::{Chore, Every};
use super::{Context, Failure, Mistake, Random, Refusal};

/// The largest file that is taken: what a phone's camera makes of a photograph.
pub const LARGEST: usize = 5 << 20;
/// Uploads on hand at once, each of which has its file in memory: 160 MB. With the limit that is usual, one user alone never has
/// all of them.
const PLACES: usize = 32;
/// Pictures drawn at once: each keeps a core busy, and up to 160 MB.
const TURNS: usize = 2;
/// How long an upload waits for its turn. A photograph of 12 megapixels then takes 0.4 s, and pages give up after 2 s.
const PATIENCE: Duration = Duration::from_millis(900);
/// Names that are tried. A mall that is told its seed again meets names that it gave before.
const NAMES: usize = 100;
/// A picture that nothing shows is kept for so long after its upload: somebody may still be writing about it.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps people's pictures. Cheap to clone.
#[derive(Clone)]
pub struct PictureAlbum {
    context: Context,
    random: Arc<Random>,
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// Room for one upload's file in memory.
#[must_use]
pub struct UploadPlace(
    #[expect(dead_code, reason = "it is given back when this is dropped")] OwnedSemaphorePermit,
);

impl PictureAlbum {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context, random: Arc<Random>) -> Self {
        let [places, turns] = [PLACES, TURNS].map(|many| Arc::new(Semaphore::new(many)));
        Self { context, random, places, turns }
    }

    /// Lets a user upload a picture: to be asked before its file is read.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`]; [`Refusal::Busy`] if too many upload at this moment.
    pub async fn admit(&self, user: UserId, now: Timestamp) -> Result<UploadPlace, Failure> {
        self.context.within(self.context.settings.upload_limit, "upload", user, now).await?;
        Ok(UploadPlace(Arc::clone(&self.places).try_acquire_owned().map_err(|_| Refusal::Busy)?))
    }

    /// Takes a file, whatever it calls itself, draws its picture anew and keeps that. Answers its name, `/blogs/…`: pages ask
    /// for it below `/imgs`.
    ///
    /// # Errors
    /// [`Mistake::NoPicture`], [`Mistake::TooManyPixels`]; [`Refusal::PicturesFull`], [`Refusal::PictureBytesFull`];
    /// [`Refusal::Busy`] if its turn does not come.
    pub async fn put(
        &self,
        _place: UploadPlace,
        user: UserId,
        file: Vec<u8>,
        now: Timestamp,
    ) -> Result<String, Failure> {
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(Refusal::Busy.into()) };
        // The turn goes with the work, which nobody can break off; and ends with the storing, so that no commit has many.
        let drawn = tokio::task::spawn_blocking(move || (redraw(&file), turn)).await;
        let (drawn, _turn) = drawn.map_err(|broken| {
            tracing::error!(%broken, "a picture could not be read");
            Mistake::NoPicture
        })?;
        self.keep_new(user, drawn?, now).await
    }

    async fn keep_new(&self, owner: UserId, drawn: Drawn, now: Timestamp) -> Result<String, Failure> {
        let most = self.context.settings.picture_room;
        let Drawn { kind, content } = drawn;
        for _ in 0..NAMES {
            let name = name(&self.random.uuid(), kind);
            let picture = NewPicture { name: name.clone(), owner, kind, content: content.clone() };
            match self.context.storage.pictures.put(picture, most, now).await? {
                PicturePut::Put => return Ok(name),
                PicturePut::NoRoom(has) => return Err(full(has, most).into()),
                PicturePut::NameTaken => {}
            }
        }
        Err(Failure::Bug("every name for a picture is taken".to_owned()))
    }

    /// The upload at this path, with or without `/imgs` before it.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn get(&self, path: &str) -> Result<Option<Picture>, StoreError> {
        match name_in(path) {
            Some(name) => self.context.storage.pictures.get(&name).await,
            None => Ok(None),
        }
    }

    /// Keeps pictures that a user is about to show for as long as new ones. Answers which of these paths, with or without
    /// `/imgs` before them, are not of pictures that they uploaded.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn keep(
        &self,
        owner: UserId,
        paths: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, Failure> {
        let named: Vec<Option<String>> = paths.iter().map(|path| name_in(path)).collect();
        let names: Vec<String> = named.iter().flatten().cloned().collect();
        // Most of what is written shows none, and is not to wait for a commit.
        let others = match &*names {
            [] => Vec::new(),
            names => self.context.storage.pictures.keep(owner, names, now).await?,
        };
        let is_theirs = |name: &Option<String>| name.as_ref().is_some_and(|name| !others.contains(name));
        let paths = paths.iter().zip(&named).filter(|(_, name)| !is_theirs(name));
        Ok(paths.map(|(path, _)| path.clone()).collect())
    }

    /// Removes a picture that a user uploaded, now or, if something shows it, when nothing shows it any more: so a picture can
    /// be taken out of a note that is being written anew.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if there is none of theirs at this path.
    pub async fn remove(&self, user: UserId, path: &str) -> Result<(), Failure> {
        let name = name_in(path).ok_or(Refusal::NotFound("picture"))?;
        match self.context.storage.pictures.remove(user, &name).await? {
            PictureRemoval::Removed | PictureRemoval::Shown => Ok(()),
            PictureRemoval::NotTheirs => Err(Refusal::NotFound("picture").into()),
        }
    }

    /// The chore that removes what nothing shows.
    pub(super) fn sweeper(&self) -> Arc<dyn Chore> {
        Arc::new(SweepPictures { every: Every::new(Duration::from_secs(60)), context: self.context.clone() })
    }
}

/// Draws whatever picture is in a file anew, as [`PictureAlbum::put`] does; `None` if there is none, or one that is too large.
///
/// Takes some tenths of a second and up to 160 MB.
pub(crate) fn draw_anew(file: &[u8]) -> Option<(PictureKind, Vec<u8>)> {
    redraw(file).ok().map(|Drawn { kind, content }| (kind, content))
}

/// What the name of a picture ends with.
pub(crate) fn ending(kind: PictureKind) -> &'static str {
    match kind {
        PictureKind::Jpeg => "jpg",
        PictureKind::Webp => "webp",
    }
}

/// `/blogs/7/14/4771fefb-….jpg`: hm-dianping's form, whose folders keep any one of them short.
fn name(uuid: &str, kind: PictureKind) -> String {
    let folder = |at: usize| u8::from_str_radix(&uuid[at..=at], 16).unwrap_or_default();
    format!("/blogs/{}/{}/{uuid}.{}", folder(0), folder(1), ending(kind))
}

/// The name in a path as pages and people write it; `None` if no upload can have it.
fn name_in(path: &str) -> Option<String> {
    const LONGEST: usize = 100;
    let rest = path.strip_prefix("/imgs").unwrap_or(path).trim_start_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-.".contains(&byte);
    (rest.starts_with("blogs/") && rest.len() <= LONGEST && rest.bytes().all(is_plain))
        .then(|| format!("/{rest}"))
}

fn full(has: PictureRoom, most: PictureRoom) -> Refusal {
    if has.pictures >= most.pictures {
        Refusal::PicturesFull(most.pictures)
    } else {
        Refusal::PictureBytesFull(most.bytes)
    }
}

/// Removes pictures that nothing shows.
struct SweepPictures {
    every: Every,
    context: Context,
}

impl SweepPictures {
    /// Pictures looked at in one transaction, of which nobody who writes is to notice anything.
    const AT_ONCE: u32 = 16;
    /// Transactions of a run. So a mall looks at a million and a half pictures a day.
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
            match self.context.storage.pictures.sweep(now - IDLE, Self::AT_ONCE, now).await {
                Ok(swept) if swept.has_more => {}
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "pictures that nothing shows are still to be removed");
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
            assert_eq!(name_in(&path).as_ref(), Some(&made), "{path}");
        }
        let long = format!("/blogs/{}", "a".repeat(100));
        for path in
            ["", "/", "/imgs", "/types/ms.png", "/blogs/a b", "/blogs/茶", "/imgs/imgs/blogs/a", &long]
        {
            assert_eq!(name_in(path), None, "{path}");
        }
    }

    #[test]
    fn the_limit_that_is_met_is_told() {
        let room = |pictures, bytes| PictureRoom { pictures, bytes };
        assert_eq!(full(room(5, 10), room(5, 100)), Refusal::PicturesFull(5));
        assert_eq!(full(room(4, 99), room(5, 100)), Refusal::PictureBytesFull(100));
    }
}
