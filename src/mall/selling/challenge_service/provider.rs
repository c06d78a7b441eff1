//! The known external services.

/// A known external service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChallengeProvider {
    /// hCaptcha.
    HCaptcha,
    /// Turnstile of Cloudflare.
    Turnstile,
    /// GeeTest CAPTCHA v4.
    GeeTest,
}

impl ChallengeProvider {
    /// Every service.
    pub const ALL: [Self; 3] = [Self::HCaptcha, Self::Turnstile, Self::GeeTest];

    /// Returns the name in settings and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HCaptcha => "hcaptcha",
            Self::Turnstile => "turnstile",
            Self::GeeTest => "geetest",
        }
    }

    /// Returns the URL that verifies response tokens.
    pub(super) fn verify_url(self) -> &'static str {
        match self {
            Self::HCaptcha => "https://api.hcaptcha.com/siteverify",
            Self::Turnstile => "https://challenges.cloudflare.com/turnstile/v0/siteverify",
            Self::GeeTest => "https://gcaptcha4.geetest.com/validate",
        }
    }

    /// Returns the URL of the widget's script.
    pub(super) fn script_url(self) -> &'static str {
        match self {
            Self::HCaptcha => "https://js.hcaptcha.com/1/api.js",
            Self::Turnstile => "https://challenges.cloudflare.com/turnstile/v0/api.js",
            Self::GeeTest => "https://static.geetest.com/v4/gt4.js",
        }
    }
}
