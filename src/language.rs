//! The languages that the mall speaks, over HTTP and on the command line.

/// A language the mall speaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Language {
    /// Chinese: spoken over HTTP unless asked otherwise.
    #[default]
    Zh,
    /// English.
    En,
}

impl Language {
    /// Its name in a header: `zh`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }
}

/// One text in every language: it cannot be written in one alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Both {
    /// In Chinese.
    pub zh: &'static str,
    /// In English.
    pub en: &'static str,
}

/// A text in every language.
#[must_use]
pub const fn both(zh: &'static str, en: &'static str) -> Both {
    Both { zh, en }
}

impl Both {
    /// The text in this language.
    #[must_use]
    pub const fn spoken(self, language: Language) -> &'static str {
        match language {
            Language::Zh => self.zh,
            Language::En => self.en,
        }
    }
}

/// A text in every language that was made for the occasion: [`told!`] makes it, or a text that is always the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    zh: String,
    en: String,
}

impl Told {
    /// Of [`told!`], which leaves no language out.
    #[must_use]
    pub const fn new(zh: String, en: String) -> Self {
        Self { zh, en }
    }

    /// The text in this language.
    #[must_use]
    pub fn spoken(&self, language: Language) -> &str {
        match language {
            Language::Zh => &self.zh,
            Language::En => &self.en,
        }
    }
}

impl From<Both> for Told {
    fn from(both: Both) -> Self {
        Self::new(both.zh.to_owned(), both.en.to_owned())
    }
}

/// Formats a text in every language, for one that is not known yet; as [`sentence!`] otherwise.
macro_rules! told {
    ($zh:literal, $en:literal $(,)?) => {
        $crate::language::Told::new(format!($zh), format!($en))
    };
}
pub(crate) use told;

/// Formats a sentence in the language asked for; what is captured is written between braces, as in `format!`.
/// A sentence in one language alone does not compile.
macro_rules! sentence {
    ($language:expr, $zh:literal, $en:literal $(,)?) => {
        match $language {
            $crate::language::Language::Zh => format!($zh),
            $crate::language::Language::En => format!($en),
        }
    };
}
pub(crate) use sentence;

/// Filled up with blanks behind it to a width on a terminal.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", missing(text, width))
}

/// The same with the blanks before it, as numbers stand in a column.
pub(crate) fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", missing(text, width))
}

/// On a terminal a Chinese character takes two places.
fn missing(text: &str, width: usize) -> String {
    let taken: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    " ".repeat(width.saturating_sub(taken))
}
