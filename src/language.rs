//! The languages that the mall speaks, over HTTP and on the command line.

/// A language the mall speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
