//! The language in which a request is answered.

use std::cell::Cell;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;

/// A language the mall speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Language {
    /// Chinese: spoken unless asked otherwise.
    #[default]
    Zh,
    /// English.
    En,
}

thread_local! {
    /// Set while a request's future is being polled, so that an error knows its words without carrying a request:
    /// a claim that is refused pays for two writes to a cell.
    static SPOKEN: Cell<Language> = const { Cell::new(Language::Zh) };
    /// The code of the refusal that was written last, on its way to the counters; the same trick the other way round.
    static TOLD: Cell<&'static str> = const { Cell::new("") };
}

/// Notes the code of a refusal that has just been written.
pub(super) fn note_code(code: &'static str) {
    TOLD.set(code);
}

/// The code noted since the last call, `""` if none was.
pub(super) fn take_code() -> &'static str {
    TOLD.replace("")
}

impl Language {
    /// What the request prefers among what the mall speaks.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).map_or(Self::Zh, Self::preferred)
    }

    /// The first of those with the highest weight; a tag the mall does not speak counts for nothing.
    pub(super) fn preferred(list: &str) -> Self {
        let mut best = (Self::Zh, 0);
        for item in list.split(',') {
            let mut parts = item.split(';');
            let tag = parts.next().unwrap_or_default().trim();
            let language = match tag.split('-').next() {
                Some(primary) if primary.eq_ignore_ascii_case("zh") => Self::Zh,
                Some(primary) if primary.eq_ignore_ascii_case("en") => Self::En,
                _ => continue,
            };
            let weight = parts.find_map(|part| {
                let (name, weight) = part.split_once('=')?;
                name.trim().eq_ignore_ascii_case("q").then(|| thousandths(weight))
            });
            let weight = weight.unwrap_or(1000);
            if weight > best.1 {
                best = (language, weight);
            }
        }
        best.0
    }

    /// What the request that this thread is working on is answered in.
    #[must_use]
    pub fn spoken() -> Self {
        SPOKEN.get()
    }

    /// Runs one poll of a request's future in this language.
    pub(super) fn while_spoken<T>(self, poll: impl FnOnce() -> T) -> T {
        /// Puts the former language back, even if the poll panics.
        struct Former(Language);
        impl Drop for Former {
            fn drop(&mut self) {
                SPOKEN.set(self.0);
            }
        }
        let _former = Former(SPOKEN.replace(self));
        poll()
    }
}

/// `0.8` → 800; what is no weight counts as the least.
fn thousandths(weight: &str) -> u16 {
    let weight: f32 = weight.trim().parse().unwrap_or(0.0);
    // Within 0 and 1000 after the clamp; NaN becomes 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
    let thousandths = (weight.clamp(0.0, 1.0) * 1000.0) as u16;
    thousandths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_weight_wins_and_chinese_is_the_default() {
        for (list, want) in [
            ("", Language::Zh),
            ("fr", Language::Zh),
            ("en", Language::En),
            ("en-GB,en;q=0.9", Language::En),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Zh),
            ("fr-FR, en;q=0.8, zh;q=0.7", Language::En),
            ("en;q=0.1, ZH-hant;q=0.2", Language::Zh),
            ("en;q=0", Language::Zh),
            ("EN; Q=0.2 , zh;Q=0.1", Language::En),
            ("en;q=nonsense", Language::Zh),
            ("*", Language::Zh),
        ] {
            assert_eq!(Language::preferred(list), want, "{list}");
        }
    }

    #[test]
    fn the_former_language_comes_back_even_after_a_panic() {
        let caught = std::panic::catch_unwind(|| Language::En.while_spoken(|| panic!("in the middle")));
        assert!(caught.is_err());
        assert_eq!(Language::spoken(), Language::Zh);
        assert_eq!(Language::En.while_spoken(Language::spoken), Language::En);
    }
}
