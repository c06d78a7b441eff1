//! The language of a response.

use std::cell::Cell;
use std::cmp::Ordering;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;

use crate::language::Language;

thread_local! {
    /// Set while a request's future is polled, so that an error finds its language without access to the
    /// request: a refused claim pays two writes to a cell.
    static SPOKEN: Cell<Language> = const { Cell::new(Language::Zh) };
    /// The code of the last refusal written, on its way to the metrics; passed like the language, in the
    /// opposite direction.
    static LAST_CODE: Cell<&'static str> = const { Cell::new("") };
}

/// Stores the code of a refusal just written.
pub(in crate::http) fn note_code(code: &'static str) {
    LAST_CODE.set(code);
}

/// Takes the stored code; `""` if none was stored since the last call.
pub(in crate::http) fn take_code() -> &'static str {
    LAST_CODE.replace("")
}

impl Language {
    /// Returns the request's preferred language; `otherwise` without an `Accept-Language` header.
    #[must_use]
    pub fn of(headers: &HeaderMap, otherwise: Self) -> Self {
        let mut values = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
        match values.next() {
            None => otherwise,
            Some(first) => {
                Self::preferred(std::iter::once(first).chain(values).flat_map(|list| list.split(',')))
            }
        }
    }

    /// Returns the language with the higher weight, or the first named of equal weights. `*` stands for
    /// unnamed languages.
    pub(in crate::http) fn preferred<'a>(items: impl Iterator<Item = &'a str>) -> Self {
        let (mut zh, mut en, mut rest) = (None, None, None);
        let mut first = None;
        for item in items {
            let mut parts = item.split(';').map(str::trim);
            let primary = parts.next().unwrap_or_default().split(['-', '_']).next().unwrap_or_default();
            let (named, language) = match primary {
                "*" => (&mut rest, None),
                zh_tag if zh_tag.eq_ignore_ascii_case("zh") => (&mut zh, Some(Self::Zh)),
                en_tag if en_tag.eq_ignore_ascii_case("en") => (&mut en, Some(Self::En)),
                _ => continue,
            };
            let weight = parts.find_map(weight).unwrap_or(1000);
            // For `en-GB, en;q=0.5`, the higher weight counts.
            *named = (*named).max(Some(weight));
            first = first.or(language);
        }
        let (zh, en) = (zh.or(rest).unwrap_or(0), en.or(rest).unwrap_or(0));
        match zh.cmp(&en) {
            Ordering::Less => Self::En,
            Ordering::Greater => Self::Zh,
            Ordering::Equal if zh == 0 => Self::Zh,
            Ordering::Equal => first.unwrap_or_default(),
        }
    }

    /// Returns the language of the request being polled on this thread.
    #[must_use]
    pub fn current() -> Self {
        SPOKEN.get()
    }

    /// Runs one poll of a request's future with this language set.
    pub(in crate::http) fn while_spoken<T>(self, poll: impl FnOnce() -> T) -> T {
        /// Restores the previous language, even if the poll panics.
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

/// Parses a weight: `q=0.8` → 800. An invalid weight counts as 0; `None` for other parameters.
fn weight(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let weight: f32 = value.trim().parse().unwrap_or(0.0);
    // Between 0 and 1000 after the clamp; NaN becomes 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
    let thousandths = (weight.clamp(0.0, 1.0) * 1000.0) as u16;
    Some(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_weight_wins_and_chinese_is_the_default() {
        use Language::{En, Zh};
        for (list, want) in [
            ("", Zh),
            ("fr", Zh),
            ("en", En),
            ("en-GB,en;q=0.9", En),
            ("en_US", En),
            ("english", Zh),
            ("zh-CN,zh;q=0.9,en;q=0.8", Zh),
            ("fr-FR, en;q=0.8, zh;q=0.7", En),
            ("en;q=0.1, ZH-hant;q=0.2", Zh),
            ("en;q=0.5, zh;q=0.5", En),
            ("zh;q=0.5, en;q=0.5", Zh),
            ("en;q=0.5, zh;q=0.6, en-GB", En),
            ("en;q=0", Zh),
            ("en;q=0, zh;q=0", Zh),
            ("en;q=nonsense", Zh),
            ("en;q=NaN, zh;q=0.001", Zh),
            ("en;q=7, zh", En),
            ("EN ; Q = 0.5", En),
            ("EN; Q=0.2 , zh;Q=0.1", En),
            ("en;level=1;q=0.2, zh;q=0.1", En),
            ("*", Zh),
            ("fr, *;q=0.5", Zh),
            ("zh;q=0, *", En),
            ("*, zh;q=0.5", En),
            ("en;q=0.5, *;q=0.8", Zh),
            ("en, *;q=0.8", En),
            (",;,;q=1,-,_,=", Zh),
        ] {
            assert_eq!(Language::preferred(list.split(',')), want, "{list}");
        }
    }

    #[test]
    fn several_headers_are_one_list_and_broken_ones_are_none() {
        let spoken = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT_LANGUAGE, axum::http::HeaderValue::from_bytes(value).unwrap());
            }
            Language::of(&headers, Language::default())
        };
        assert_eq!(spoken(&[]), Language::Zh);
        assert_eq!(spoken(&[b"zh;q=0.3", b"en"]), Language::En);
        assert_eq!(spoken(&[b"\xff\xfe", b"en"]), Language::En);
        assert_eq!(spoken(&[b"\xe4\xb8\xad\xe6\x96\x87"]), Language::Zh);
    }

    #[test]
    fn the_former_language_comes_back_even_after_a_panic() {
        let caught = std::panic::catch_unwind(|| Language::En.while_spoken(|| panic!("in the middle")));
        assert!(caught.is_err());
        assert_eq!(Language::current(), Language::Zh);
        assert_eq!(Language::En.while_spoken(Language::current), Language::En);
    }
}
