//! The client of a call, and the profile of the response: mallbox's own pages, or another client.

use std::cell::Cell;

use axum::http::{HeaderMap, HeaderName};

/// The header that identifies mallbox's own pages, with any value.
pub const CLIENT: HeaderName = HeaderName::from_static("x-mallbox-client");

/// Responses to clients other than mallbox's own pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// As the pages of hm-dianping expect: refusals and limits are 200 with a sentence, and requests are read
    /// as leniently as Spring reads them.
    Original,
    /// As the API document describes.
    #[default]
    Strict,
}

impl Profile {
    /// Returns the profile's name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Strict => "strict",
        }
    }
}

/// The client of the request being polled on the current thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http) enum Caller {
    /// One of mallbox's own pages: gets strict responses, shows text as text, and requests every picture from
    /// this mall.
    OwnPage,
    /// Any other client.
    Foreign(Profile),
}

thread_local! {
    /// Set while a request's future is polled, like the language.
    static CALLER: Cell<Caller> = const { Cell::new(Caller::Foreign(Profile::Strict)) };
}

impl Caller {
    /// Returns the caller for the headers; a client without the header gets the mall's `profile`.
    pub(in crate::http) fn of(headers: &HeaderMap, profile: Profile) -> Self {
        if headers.contains_key(CLIENT) { Self::OwnPage } else { Self::Foreign(profile) }
    }

    /// Returns the caller of the request being polled on the current thread.
    pub(in crate::http) fn current() -> Self {
        CALLER.get()
    }

    /// Returns whether one of mallbox's own pages made the current request.
    pub(in crate::http) fn is_own_page() -> bool {
        Self::current() == Self::OwnPage
    }

    /// Returns whether the original profile applies to the current request, for reading and responding.
    pub(in crate::http) fn is_original() -> bool {
        Self::current() == Self::Foreign(Profile::Original)
    }

    /// Runs a poll of a request's future with the caller set.
    pub(in crate::http) fn with_current<T>(self, poll: impl FnOnce() -> T) -> T {
        /// Restores the previous caller, even if the poll panics.
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
        let caught = std::panic::catch_unwind(|| Caller::OwnPage.with_current(|| panic!("in the middle")));
        assert!(caught.is_err());
        assert!(!Caller::is_own_page() && !Caller::is_original());
        assert!(Caller::Foreign(Profile::Original).with_current(Caller::is_original));
    }
}
