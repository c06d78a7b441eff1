//! What the storefront loads and shows for an external service.

use super::provider::ChallengeProvider;

/// The widget of the service on a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Widget {
    /// Name of the service.
    pub service: &'static str,
    /// Public key of the site.
    pub site_key: String,
    /// URL of the script that shows the widget.
    pub script_url: String,
}

/// Sources that a page has to allow besides its own, by directive of the content security policy: source
/// expressions separated by spaces, or nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PageSources {
    /// `script-src`.
    pub script: String,
    /// `style-src`.
    pub style: String,
    /// `img-src`.
    pub img: String,
    /// `connect-src`.
    pub connect: String,
    /// `frame-src`.
    pub frame: String,
}

impl PageSources {
    /// Returns the sources that the service's documents name. GeeTest names domains for scripts and calls but
    /// no directives: its widget has pictures and styles on the page, without a frame.
    pub(super) fn of_provider(provider: ChallengeProvider) -> Self {
        match provider {
            ChallengeProvider::HCaptcha => {
                let all = "https://hcaptcha.com https://*.hcaptcha.com".to_owned();
                Self { img: String::new(), ..Self::of_origin(&all) }
            }
            ChallengeProvider::Turnstile => {
                let all = "https://challenges.cloudflare.com".to_owned();
                Self { script: all.clone(), frame: all, ..Self::default() }
            }
            ChallengeProvider::GeeTest => {
                let all = "https://*.geetest.com https://*.geevisit.com https://*.gsensebot.com";
                Self { frame: String::new(), ..Self::of_origin(all) }
            }
        }
    }

    /// Returns sources with a single origin, for a script from elsewhere.
    pub(super) fn of_origin(origin: &str) -> Self {
        let all = origin.to_owned();
        Self { script: all.clone(), style: all.clone(), img: all.clone(), connect: all.clone(), frame: all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_those_of_the_documents() {
        let of = |provider| {
            let PageSources { script, style, img, connect, frame } = PageSources::of_provider(provider);
            [script, style, img, connect, frame]
        };
        let hcaptcha = "https://hcaptcha.com https://*.hcaptcha.com";
        assert_eq!(of(ChallengeProvider::HCaptcha), [hcaptcha, hcaptcha, "", hcaptcha, hcaptcha]);
        let turnstile = "https://challenges.cloudflare.com";
        assert_eq!(of(ChallengeProvider::Turnstile), [turnstile, "", "", "", turnstile]);
        let geetest = "https://*.geetest.com https://*.geevisit.com https://*.gsensebot.com";
        assert_eq!(of(ChallengeProvider::GeeTest), [geetest, geetest, geetest, geetest, ""]);
    }
}
