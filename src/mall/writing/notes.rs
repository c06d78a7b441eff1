//! Notes about shops: writing, reading, reporting and deletion.

mod comments;

use mallbox_storage::{
    FeedEntry, Note, NoteId, NoteText, Page, Post, ReportOutcome, ShopId, Timestamp, UserId,
};

use super::authors::Authors;
use super::likes::liked;
use super::post_pictures::{check_paths, check_uploads};
use super::removal::{Removal, Remover, not_found, remove};
use super::{Pictures, within_limit};
use crate::mall::base::caches::HotNotes;
use crate::mall::base::{AuditLog, Context, Failure, InputError, Refusal, SharedContext, clean_text};
use crate::mall::people::accounts::PublicUser;

pub use comments::{CommentView, Comments, ThreadView};

/// Notes per page.
const PAGE: u32 = 10;

/// User input for a new note, stored verbatim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoteForm {
    /// The shop that the note is about, if any.
    pub shop: Option<ShopId>,
    /// Title, 1 to 255 characters.
    pub title: String,
    /// Content, at most 2,048 characters.
    pub content: String,
    /// Comma-separated paths below `/imgs/`, at most nine.
    pub images: String,
}

/// A note as shown to a reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteView {
    /// The stored note.
    pub note: Note,
    /// The note's author.
    pub author: PublicUser,
    /// Whether the reader likes the note.
    pub is_liked: bool,
}

/// The service for notes.
pub struct Notes {
    context: Context,
    audit: AuditLog,
    pictures: Pictures,
}

impl Notes {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, pictures: Pictures) -> Self {
        Self { context, audit, pictures }
    }

    /// Stores a note and fans it out to the feeds of the author's followers. If the fan-out fails, a
    /// background job completes it.
    ///
    /// # Errors
    /// [`InputError::Missing`] for the title, [`InputError::OutOfRange`] with the field's name;
    /// [`Refusal::NotFound`] for an unknown shop, and for a picture below `/imgs/blogs/` that the author did
    /// not upload; [`Refusal::RateLimited`].
    pub async fn write(&self, author: UserId, form: &NoteForm, now: Timestamp) -> Result<NoteId, Failure> {
        let text = form.text()?;
        let storage = &self.context.storage;
        if form.shop.is_some() {
            storage.catalogue.shops.get(text.shop).await?.ok_or(Refusal::NotFound("shop"))?;
        }
        within_limit(&self.context, author, now).await?;
        check_uploads(&self.pictures, author, text.pictures(), now).await?;
        let note = storage.writing.notes.insert(author, &text, now).await?;
        // An earlier read of this id may have left a negative cache entry.
        self.context.copies.changed(Post::Note(note)).await;
        // The note is stored; a background job completes the fan-out if it fails now.
        if let Err(error) = storage.writing.feeds.pass_on(FeedEntry { note, written: now }, author, now).await
        {
            tracing::warn!(%note, %error, "could not fan out a note to all feeds");
        }
        Ok(note)
    }

    /// Returns a visible note.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], for hidden and deleted notes too, regardless of the reader.
    pub async fn get(
        &self,
        note: NoteId,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<NoteView, Failure> {
        let found = self.context.copies.notes.get(note, now).await?;
        let note = found.filter(|note| note.visibility.is_seen()).ok_or(Refusal::NotFound("note"))?;
        let writers = Authors::cached(&self.context, &[note.author], now).await?;
        let view = self.views_by(&writers, vec![note], reader).await?.pop();
        Ok(view.ok_or(Refusal::NotFound("note"))?)
    }

    /// Returns a page of the most liked notes; among equals, the newest first. The first pages come from the
    /// cache.
    ///
    /// # Errors
    /// [`Refusal::Busy`] while the database is slow and no copy exists; [`Failure::Store`] if the store
    /// fails.
    pub async fn hot(
        &self,
        page: u32,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<Vec<NoteView>, Failure> {
        let (SharedContext { storage, copies, .. }, page) = (&*self.context, Page::new(page, PAGE));
        if page.skipped() + u64::from(PAGE) > u64::from(HotNotes::MAX) {
            return self.views(storage.writing.notes.hot(page).await?, reader).await;
        }
        let hot = copies.hot.shared((), now).await?;
        let skipped = usize::try_from(page.skipped()).unwrap_or(usize::MAX);
        let ids = hot.map(|hot| hot.0.iter().copied().skip(skipped).take(PAGE as usize).collect::<Vec<_>>());
        let mut notes = Vec::with_capacity(PAGE as usize);
        for id in ids.unwrap_or_default() {
            let note = copies.notes.get(id, now).await?;
            notes.extend(note.filter(|note| note.visibility.is_seen()));
        }
        let authors: Vec<UserId> = notes.iter().map(|note| note.author).collect();
        let writers = Authors::cached(&self.context, &authors, now).await?;
        self.views_by(&writers, notes, reader).await
    }

    /// Returns a page of an author's visible notes, newest first.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_author(
        &self,
        author: UserId,
        page: u32,
        reader: Option<UserId>,
    ) -> Result<Vec<NoteView>, Failure> {
        let notes = self.context.storage.writing.notes.of_author(author, Page::new(page, PAGE)).await?;
        self.views(notes, reader).await
    }

    /// Deletes a note for good, on behalf of its author or of an operator. An operator's deletion goes to the
    /// audit log. A repeated call is no error.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Forbidden`] for any other user; [`Refusal::SecondFactor`] for an
    /// operator who has not given the second factor.
    pub async fn remove(&self, note: NoteId, by: Remover, now: Timestamp) -> Result<(), Failure> {
        let found = self.context.storage.writing.notes.get(note).await?.ok_or(Refusal::NotFound("note"))?;
        let removal =
            Removal { target: Post::Note(note), author: found.author, visibility: found.visibility };
        remove(&self.context, &self.audit, removal, by, now).await
    }

    /// Reports an objectionable note, comment or review to the operators. A repeated report by the same user
    /// changes nothing.
    ///
    /// # Errors
    /// [`InputError::OutOfRange`] for a reason of more than 255 characters; [`Refusal::NotFound`],
    /// [`Refusal::RateLimited`].
    pub async fn report(
        &self,
        user: UserId,
        target: Post,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let reason = clean_text::line(reason);
        if reason.chars().count() > 255 {
            return Err(InputError::OutOfRange("report reason").into());
        }
        within_limit(&self.context, user, now).await?;
        let answer = self.context.storage.writing.reports.report(user, target, &reason, now).await;
        self.context.copies.changed(target).await;
        match answer? {
            ReportOutcome::Taken | ReportOutcome::Repeat => Ok(()),
            ReportOutcome::NotThere => Err(not_found(target).into()),
        }
    }

    /// Adds authors, and whether the reader likes each note.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn views(&self, notes: Vec<Note>, reader: Option<UserId>) -> Result<Vec<NoteView>, Failure> {
        let writers = Authors::of(&self.context, notes.iter().map(|note| note.author)).await?;
        self.views_by(&writers, notes, reader).await
    }

    async fn views_by(
        &self,
        writers: &Authors,
        notes: Vec<Note>,
        reader: Option<UserId>,
    ) -> Result<Vec<NoteView>, Failure> {
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
    /// Validates the input and returns the text to store.
    fn text(&self) -> Result<NoteText, InputError> {
        let title = clean_text::within("title", clean_text::line(&self.title), 255)?;
        if title.is_empty() {
            return Err(InputError::Missing("title"));
        }
        let content = clean_text::within("content", clean_text::lines(&self.content), 2_048)?;
        let images = check_paths(&self.images)?;
        Ok(NoteText { shop: self.shop.unwrap_or(ShopId::new(0)), title, images, content })
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
            assert_eq!(form.text(), Err(InputError::Missing("title")), "{title}");
        }
        let long = |title: usize, content: usize| {
            NoteForm { title: "字".repeat(title), content: "字".repeat(content), ..form() }.text()
        };
        assert!(long(255, 2_048).is_ok() && long(1, 0).is_ok());
        assert_eq!(long(256, 1), Err(InputError::OutOfRange("title")));
        assert_eq!(long(1, 2_049), Err(InputError::OutOfRange("content")));
    }

    #[test]
    fn texts_are_kept_as_they_were_written() {
        let (title, content) = ("<i>茶</i> < 餐厅", "<p>one<br>two</p>\n1 < 2 && 3 > 2");
        let text = NoteForm { title: title.into(), content: content.into(), ..form() }.text().unwrap();
        assert_eq!((&*text.title, &*text.content), (title, content));
    }
}
