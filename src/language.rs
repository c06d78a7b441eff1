//! The languages of the mall, over HTTP and on the command line.
//!
//! Reasons and figures: `src/decisions/0026-bilingual-messages.md`.

/// A language of the mall.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Language {
    /// Chinese: the default over HTTP.
    #[default]
    Zh,
    /// English, on request.
    En,
}

impl Language {
    /// Returns the language tag for headers, such as `zh`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }
}

/// A constant bilingual message: one language alone does not compile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bilingual {
    /// The Chinese text.
    pub zh: &'static str,
    /// The English text.
    pub en: &'static str,
}

/// Creates a constant bilingual message.
#[must_use]
pub const fn both(zh: &'static str, en: &'static str) -> Bilingual {
    Bilingual { zh, en }
}

impl Bilingual {
    /// Returns the text in this language.
    #[must_use]
    pub const fn spoken(self, language: Language) -> &'static str {
        match language {
            Language::Zh => self.zh,
            Language::En => self.en,
        }
    }
}

/// A bilingual message built at run time by `bilingual_text!`, or from a constant message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BilingualText {
    zh: String,
    en: String,
}

impl BilingualText {
    /// Creates a bilingual message; called by `bilingual_text!`, which requires both languages.
    #[must_use]
    pub const fn new(zh: String, en: String) -> Self {
        Self { zh, en }
    }

    /// Returns the text in this language.
    #[must_use]
    pub fn spoken(&self, language: Language) -> &str {
        match language {
            Language::Zh => &self.zh,
            Language::En => &self.en,
        }
    }
}

impl From<Bilingual> for BilingualText {
    fn from(both: Bilingual) -> Self {
        Self::new(both.zh.to_owned(), both.en.to_owned())
    }
}

/// Formats a bilingual message, for a language not known yet; otherwise use [`sentence!`].
macro_rules! bilingual_text {
    ($zh:literal, $en:literal $(,)?) => {
        $crate::language::BilingualText::new(format!($zh), format!($en))
    };
}
pub(crate) use bilingual_text;

/// Formats a message in one language; captured values are written between braces, as in `format!`. A message
/// in one language only does not compile.
macro_rules! sentence {
    ($language:expr, $zh:literal, $en:literal $(,)?) => {
        match $language {
            $crate::language::Language::Zh => format!($zh),
            $crate::language::Language::En => format!($en),
        }
    };
}
pub(crate) use sentence;

/// Pads a text with trailing spaces to a width on a terminal.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", missing(text, width))
}

/// Pads a text with leading spaces, as for numbers in a column.
pub(crate) fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", missing(text, width))
}

/// Returns the width of a text on a terminal. A Chinese character takes two columns.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// Returns the missing spaces.
fn missing(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}
