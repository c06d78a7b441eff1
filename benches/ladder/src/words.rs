//! Sentences in both languages of the mall.

use serde::Serialize;

/// A sentence in Chinese and in English.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Words {
    /// Chinese.
    pub zh: &'static str,
    /// English.
    pub en: &'static str,
}

/// Returns a sentence in both languages.
pub(crate) const fn words(zh: &'static str, en: &'static str) -> Words {
    Words { zh, en }
}
