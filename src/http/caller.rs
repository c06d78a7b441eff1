//! Who calls the API, and how that caller is answered: mallbox's own pages, or another client.

use std::cell::Cell;

use axum::http::{HeaderMap, HeaderName};

/// The header by which mallbox's own pages are known, whatever its value.
pub const CLIENT: HeaderName = HeaderName::from_static("x-mallbox-client");

/// How clients are answered that are not mallbox's own pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// As the pages of hm-dianping expect: refusals and limits are 200 with a sentence, requests are read as leniently as
    /// Spring reads them.
    Original,
    /// As the API's document says.
    #[default]
    Strict,
}

impl Profile {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Strict => "strict",
        }
    }
}

/// Who made the request that this thread is working on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Caller {
    /// One of mallbox's own pages: answered strictly, shows text as text, and asks this mall for every picture.
    OwnPage,
    /// Any other client.
    Foreign(Profile),
}

thread_local! {
    /// Set while a request's future is polled, like its language.
    static CALLER: Cell<Caller> = const { Cell::new(Caller::Foreign(Profile::Strict)) };
}

impl Caller {
    /// Who sent these headers; a client without the header gets the mall's `profile`.
    pub(super) fn of(headers: &HeaderMap, profile: Profile) -> Self {
        if headers.contains_key(CLIENT) { Self::OwnPage } else { Self::Foreign(profile) }
    }

    /// Who made the request that this thread is working on.
    pub(super) fn current() -> Self {
        CALLER.get()
    }

    /// Whether one of mallbox's own pages made the current request.
    pub(super) fn is_own_page() -> bool {
        Self::current() == Self::OwnPage
    }

    /// Whether the current request is answered, and read, in the original profile.
    pub(super) fn is_original() -> bool {
        Self::current() == Self::Foreign(Profile::Original)
    }

    /// Runs one poll of a request's future for this caller.
    pub(super) fn while_answered<T>(self, poll: impl FnOnce() -> T) -> T {
        /// Puts the former caller back, even if the poll panics.
        struct Former(Caller);
        impl Drop for Former {
            fn drop(&mut self) {
                CALLER.set(self.0);
            }
        }
        let _former = Former(CALLER.replace(self));
        poll()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn own_pages_are_known_by_their_header_and_others_get_the_malls_profile() {
        let mut headers = HeaderMap::new();
        assert_eq!(Caller::of(&headers, Profile::Original), Caller::Foreign(Profile::Original));
        headers.insert(CLIENT, HeaderValue::from_static(""));
        assert_eq!(Caller::of(&headers, Profile::Original), Caller::OwnPage);
    }

    #[test]
    fn the_former_caller_comes_back_even_after_a_panic() {
        let caught = std::panic::catch_unwind(|| Caller::OwnPage.while_answered(|| panic!("in the middle")));
        assert!(caught.is_err());
        assert!(!Caller::is_own_page() && !Caller::is_original());
        assert!(Caller::Foreign(Profile::Original).while_answered(Caller::is_original));
    }
}
