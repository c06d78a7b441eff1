//! Notes: what people write about shops, and who may take it away again.

mod comments;
mod removal;
mod writers;

use mallbox_storage::{
    FeedEntry, Note, NoteId, NoteText, Page, Post, ReportAnswer, ShopId, Timestamp, UserId,
};

use self::removal::{Removal, remove};
use self::writers::Writers;
use super::accounts::Brief;
use super::likes::liked;
use super::operator::AuditLog;
use super::{Context, Failure, Mistake, PictureAlbum, Refusal, clean_text, picture_path};

pub use comments::{CommentBook, CommentView, ThreadView};

/// Notes on a page.
const PAGE: u32 = 10;
/// Pictures of a note, at the most.
const PICTURES: usize = 9;

/// What somebody writes, stored as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoteForm {
    /// About which shop, if about one.
    pub shop: Option<ShopId>,
    /// 1 to 255 characters.
    pub title: String,
    /// At most 2,048 characters.
    pub content: String,
    /// Comma-separated paths below `/imgs/`, at most nine.
    pub images: String,
}

/// A note as somebody sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteView {
    /// The note.
    pub note: Note,
    /// Who wrote it.
    pub author: Brief,
    /// Whether who reads it likes it.
    pub is_liked: bool,
}

/// Keeps what people write about shops.
pub struct NoteBook {
    context: Context,
    audit: AuditLog,
    pictures: PictureAlbum,
}

impl NoteBook {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, pictures: PictureAlbum) -> Self {
        Self { context, audit, pictures }
    }

    /// Writes a note, and brings it into the feeds of those who follow its author.
    ///
    /// # Errors
    /// [`Mistake::Missing`] for its title, [`Mistake::OutOfRange`] with the value's name; [`Refusal::NotFound`] for a shop
    /// that is named and not there, and for a picture below `/imgs/blogs/` that is no upload of theirs;
    /// [`Refusal::RateLimited`].
    pub async fn write(&self, author: UserId, form: &NoteForm, now: Timestamp) -> Result<NoteId, Failure> {
        let text = form.text()?;
        let storage = &self.context.storage;
        if form.shop.is_some() {
            storage.shops.get(text.shop).await?.ok_or(Refusal::NotFound("shop"))?;
        }
        within_limit(&self.context, author, now).await?;
        self.check_uploads(author, &text, now).await?;
        let note = storage.notes.insert(author, &text, now).await?;
        // Somebody may have asked for it too early.
        self.context.copies.notes.changed(&[note]).await;
        // It is written; a chore passes on what cannot be passed on now.
        if let Err(error) = storage.feeds.pass_on(FeedEntry { note, written: now }, author, now).await {
            tracing::warn!(%note, %error, "a note is not yet in all feeds");
        }
        Ok(note)
    }

    /// Nobody shows what somebody else uploaded, who may take it away. Theirs stay until the note is there to keep them.
    async fn check_uploads(&self, author: UserId, text: &NoteText, now: Timestamp) -> Result<(), Failure> {
        let uploads: Vec<String> =
            text.pictures().into_iter().filter(|name| name.starts_with("/blogs/")).collect();
        match &*self.pictures.keep(author, &uploads, now).await? {
            [] => Ok(()),
            _ => Err(Refusal::NotFound("picture").into()),
        }
    }

    /// A note that is seen.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], for one that is hidden or deleted too, whoever asks.
    pub async fn get(
        &self,
        note: NoteId,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<NoteView, Failure> {
        let found = self.context.copies.notes.get(note, now).await?;
        let note = found.filter(|note| note.visibility.is_seen()).ok_or(Refusal::NotFound("note"))?;
        let view = self.views(vec![note], reader).await?.pop();
        Ok(view.ok_or(Refusal::NotFound("note"))?)
    }

    /// The most liked notes, the newest first among equals.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn hot(&self, page: u32, reader: Option<UserId>) -> Result<Vec<NoteView>, Failure> {
        let notes = self.context.storage.notes.hot(Page::new(page, PAGE)).await?;
        self.views(notes, reader).await
    }

    /// Somebody's notes, the newest first.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn of_author(
        &self,
        author: UserId,
        page: u32,
        reader: Option<UserId>,
    ) -> Result<Vec<NoteView>, Failure> {
        let notes = self.context.storage.notes.of_author(author, Page::new(page, PAGE)).await?;
        self.views(notes, reader).await
    }

    /// Deletes a note for ever: its author, or an operator, whose deed is written down. Again is no error.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Forbidden`] for anybody else.
    pub async fn remove(&self, note: NoteId, by: UserId, now: Timestamp) -> Result<(), Failure> {
        let found = self.context.storage.notes.get(note).await?.ok_or(Refusal::NotFound("note"))?;
        let removal =
            Removal { target: Post::Note(note), author: found.author, visibility: found.visibility };
        remove(&self.context, &self.audit, removal, by, now).await
    }

    /// Tells the operators of a note or a comment that should not be there. Again by the same person changes nothing.
    ///
    /// # Errors
    /// [`Mistake::OutOfRange`] for a reason of more than 255 characters; [`Refusal::NotFound`], [`Refusal::RateLimited`].
    pub async fn report(
        &self,
        user: UserId,
        target: Post,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let reason = clean_text::line(reason);
        if reason.chars().count() > 255 {
            return Err(Mistake::OutOfRange("report reason").into());
        }
        within_limit(&self.context, user, now).await?;
        let answer = self.context.storage.reports.report(user, target, &reason, now).await;
        self.context.copies.changed(target).await;
        match answer? {
            ReportAnswer::Taken | ReportAnswer::Repeat => Ok(()),
            ReportAnswer::NotThere => Err(not_there(target).into()),
        }
    }

    /// With their authors, and whether the reader likes them.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn views(&self, notes: Vec<Note>, reader: Option<UserId>) -> Result<Vec<NoteView>, Failure> {
        let writers = Writers::of(&self.context, notes.iter().map(|note| note.author)).await?;
        let liked = liked(&self.context, reader, notes.iter().map(|note| Post::Note(note.id))).await?;
        let view = |note: Note| NoteView {
            author: writers.brief(note.author),
            is_liked: liked.contains(&Post::Note(note.id)),
            note,
        };
        Ok(notes.into_iter().map(view).collect())
    }
}

impl NoteForm {
    /// What is kept of it.
    fn text(&self) -> Result<NoteText, Mistake> {
        let title = clean_text::within("title", clean_text::line(&self.title), 255)?;
        if title.is_empty() {
            return Err(Mistake::Missing("title"));
        }
        let content = clean_text::within("content", clean_text::lines(&self.content), 2_048)?;
        let images = check_pictures(&self.images)?;
        Ok(NoteText { shop: self.shop.unwrap_or(ShopId::new(0)), title, images, content })
    }
}

/// The pictures of a note, if they are some that a note may show.
fn check_pictures(images: &str) -> Result<String, Mistake> {
    let paths: Vec<&str> = images.split(',').map(str::trim).filter(|path| !path.is_empty()).collect();
    let is_below = |path: &&str| path.starts_with("/imgs/") && !path.split('/').any(|part| part == "..");
    let fit = paths.iter().all(|path| picture_path::is_plain(path) && is_below(path));
    if fit && paths.len() <= PICTURES { Ok(paths.join(",")) } else { Err(Mistake::OutOfRange("note images")) }
}

/// Notes, comments and reports are counted together.
async fn within_limit(context: &Context, user: UserId, now: Timestamp) -> Result<(), Failure> {
    context.within(context.settings.writing_limit, "write", user, now).await
}

/// There is no such thing, or nobody sees it.
fn not_there(target: Post) -> Refusal {
    match target {
        Post::Note(_) => Refusal::NotFound("note"),
        Post::Comment(_) => Refusal::NotFound("comment"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> NoteForm {
        NoteForm { title: "一碗面".into(), content: "好吃".into(), ..NoteForm::default() }
    }

    #[test]
    fn a_note_needs_a_title_and_every_text_has_its_length() {
        let text = form().text().unwrap();
        assert_eq!(
            (&*text.title, &*text.content, &*text.images, text.shop),
            ("一碗面", "好吃", "", ShopId::new(0))
        );
        for title in ["", "  ", "\n\t"] {
            let form = NoteForm { title: title.into(), ..form() };
            assert_eq!(form.text(), Err(Mistake::Missing("title")), "{title}");
        }
        let long = |title: usize, content: usize| {
            NoteForm { title: "字".repeat(title), content: "字".repeat(content), ..form() }.text()
        };
        assert!(long(255, 2_048).is_ok() && long(1, 0).is_ok());
        assert_eq!(long(256, 1), Err(Mistake::OutOfRange("title")));
        assert_eq!(long(1, 2_049), Err(Mistake::OutOfRange("content")));
    }

    #[test]
    fn texts_are_kept_as_they_were_written() {
        let (title, content) = ("<i>茶</i> < 餐厅", "<p>one<br>two</p>\n1 < 2 && 3 > 2");
        let text = NoteForm { title: title.into(), content: content.into(), ..form() }.text().unwrap();
        assert_eq!((&*text.title, &*text.content), (title, content));
    }

    #[test]
    fn pictures_are_paths_below_imgs_and_no_more_than_nine() {
        for (images, kept) in [
            ("", ""),
            (" , ,", ""),
            ("/imgs/blogs/1/a.jpg", "/imgs/blogs/1/a.jpg"),
            (" /imgs//blogs/1/a.jpg , /imgs/b.png,", "/imgs//blogs/1/a.jpg,/imgs/b.png"),
        ] {
            assert_eq!(check_pictures(images).as_deref(), Ok(kept), "{images}");
        }
        for images in [
            "/blogs/1/a.jpg",
            "/imgs/../secret",
            "/imgs/a b.jpg",
            "/imgs/a\"onerror=x",
            "https://evil.example/imgs/a.jpg",
            "//imgs/a.jpg",
            "/imgs/a.jpg,javascript:x",
        ] {
            assert_eq!(check_pictures(images), Err(Mistake::OutOfRange("note images")), "{images}");
        }
        let many = |count: usize| vec!["/imgs/a.jpg"; count].join(",");
        assert!(check_pictures(&many(9)).is_ok());
        assert!(check_pictures(&many(10)).is_err());
    }
}
