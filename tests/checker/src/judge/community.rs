//! Notes, likes, sign-ins, follows and sessions.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Call, History, Request, Response};
use crate::state::{ClientState, State};

use super::{Promise, Verdict};

pub(super) fn judge(history: &History, state: &State, verdict: &mut Verdict) {
    for (client, found) in state.clients.iter().filter(|(_, found)| found.is_logged_in) {
        let user = history.clients[*client].user;
        for call in history.calls_of(*client) {
            if let Some((promise, what)) = lost(call, found) {
                verdict.add(promise, format!("{what} of user {user} is not there"));
            }
        }
        notes(history, *client, found, verdict);
    }
    likes(history, state, verdict);
    sessions(history, state, verdict);
}

/// Returns the violation if an acknowledged effect is missing.
fn lost(call: &Call, found: &ClientState) -> Option<(Promise, String)> {
    match (&call.request, &call.response) {
        (Request::Like { note }, Response::Done) if !found.likes.contains(note) => {
            Some((Promise::LikesLast, format!("the like of note {note}")))
        }
        (Request::SignIn, Response::Done) if !found.has_signed => {
            Some((Promise::SignInsLast, "the sign-in".to_owned()))
        }
        (Request::Follow { user }, Response::Done) if !found.follows.contains(user) => {
            Some((Promise::FollowsLast, format!("the follow of user {user}")))
        }
        _ => None,
    }
}

/// Checks notes. A note exists exactly once if the request got a response, at most once if not, and never
/// without a request.
fn notes(history: &History, client: usize, found: &ClientState, verdict: &mut Verdict) {
    let user = history.clients[client].user;
    let mut asked = BTreeMap::<&str, Option<u64>>::new();
    for call in history.calls_of(client) {
        if let Request::PublishNote { title } = &call.request {
            let id = if let Response::Note(id) = call.response { Some(id) } else { None };
            asked.insert(title, id);
        }
    }
    let mut titles = BTreeSet::new();
    for (id, title) in &found.notes {
        match asked.get(title.as_str()) {
            None => verdict.add(
                Promise::NothingIsInvented,
                format!("note {id} of user {user}, \"{title}\", was never sent"),
            ),
            Some(Some(promised)) if promised != id => verdict.add(
                Promise::NotesLast,
                format!("the note \"{title}\" of user {user} is {id} and was called {promised}"),
            ),
            Some(_) => {}
        }
        if !titles.insert(title.as_str()) {
            verdict.add(Promise::NotesLast, format!("the note \"{title}\" of user {user} is there twice"));
        }
    }
    for (title, id) in asked {
        if let (Some(id), false) = (id, titles.contains(title)) {
            verdict.add(
                Promise::NotesLast,
                format!("note {id} of user {user}, \"{title}\", is not in the own list"),
            );
        }
    }
}

/// Checks likes: exactly the users who requested a like and have it are counted.
fn likes(history: &History, state: &State, verdict: &mut Verdict) {
    for (id, note) in &state.notes {
        let Some(note) = note else {
            verdict.add(Promise::NotesLast, format!("note {id} is not there"));
            continue;
        };
        let liked = state.clients.values().filter(|found| found.likes.contains(id)).count() as u64;
        if note.liked != liked {
            let detail =
                format!("note {id} has {} likes, and {liked} clients who asked for it like it", note.liked);
            verdict.add(Promise::LikesLast, detail);
        }
        let author = history.calls().iter().find(|call| call.response == Response::Note(*id));
        let author = author.map(|call| history.clients[call.client].user);
        if author != Some(note.author) {
            let detail = format!("note {id} of user {author:?} is shown as user {}'s", note.author);
            verdict.add(Promise::NotesLast, detail);
        }
    }
}

/// Checks log-ins: a session once begun persists; phone numbers and users match one to one.
fn sessions(history: &History, state: &State, verdict: &mut Verdict) {
    let (mut by_phone, mut by_user) = (BTreeMap::<&str, u64>::new(), BTreeMap::<u64, &str>::new());
    for call in history.calls() {
        let (Request::LogIn { phone, .. }, Response::Session(token)) = (&call.request, &call.response) else {
            continue;
        };
        let Some(user) = state.sessions.get(token).copied().flatten() else {
            verdict.add(Promise::SessionsLast, format!("the session of {phone} is unknown"));
            continue;
        };
        let (known, owner) = (*by_phone.entry(phone).or_insert(user), *by_user.entry(user).or_insert(phone));
        if known != user || owner != phone {
            let detail = format!("{phone} is user {user} and user {known}, who is {owner}");
            verdict.add(Promise::SessionsLast, detail);
        }
    }
}
