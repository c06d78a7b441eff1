//! Checks of visitors by an external service: hCaptcha, Turnstile, GeeTest.
//!
//! The service's script shows a widget on the storefront and returns a response token. The mall has the
//! token verified by the service within a second. While the service is away a circuit is open, and sales use
//! the mall's own challenges.
//!
//! Reasons: `src/decisions/0063-external-challenge.md`.

mod circuit;
mod page;
mod provider;
pub(super) mod watched;
mod wire;

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use hyper::Uri;

use self::wire::{ServiceFailure, Verdict};
use crate::mall::base::outbound::{Endpoint, OutboundRequest, form_text};

pub use self::page::{PageSources, Widget};
pub use self::provider::ChallengeProvider;
pub use self::watched::{ServiceCounts, WatchedService};
pub use self::wire::{GeeTestResponse, ServiceResponse};

/// Time limit of a verification in real time: connection, request and response together.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest response body: a state and a few details.
const RESPONSE_MAX_BYTES: usize = 16 << 10;

/// Site key and secret that the service gave to the operator, and URLs instead of the service's own.
#[derive(Clone, Copy, Debug)]
pub struct ServiceKeys<'a> {
    /// Public key of the site: `sitekey`, or `captchaId` of GeeTest.
    pub site_key: &'a str,
    /// Secret for the calls of the mall.
    pub secret: &'a str,
    /// URL that verifies response tokens; default: the service's own.
    pub verify_url: Option<&'a str>,
    /// URL of the widget's script; default: the service's own.
    pub script_url: Option<&'a str>,
}

/// Why a service cannot be set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServiceSetupError {
    /// The site key cannot be used.
    #[error("expected 1 to 128 letters, digits, '-' and '_'")]
    SiteKey,
    /// The secret is empty.
    #[error("must not be empty")]
    Secret,
    /// The URL of the verification cannot be used, for this reason.
    #[error("{0}")]
    VerifyUrl(&'static str),
    /// The URL of the script cannot be used, for this reason.
    #[error("{0}")]
    ScriptUrl(&'static str),
}

/// The client of an external service. Cheap enough to clone. `Debug` hides secret and URLs.
#[derive(Clone)]
pub struct ChallengeService {
    provider: ChallengeProvider,
    site_key: String,
    secret: String,
    endpoint: Endpoint,
    /// Path and query of a verification.
    path: String,
    script_url: String,
    sources: PageSources,
}

impl fmt::Debug for ChallengeService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChallengeService").field(&self.provider).finish_non_exhaustive()
    }
}

impl ChallengeService {
    /// Creates a client. URLs begin with `https://`, or with `http://` for this machine. No connection is
    /// made yet.
    ///
    /// # Errors
    /// [`ServiceSetupError`] naming the setting that cannot be used.
    pub fn new(provider: ChallengeProvider, keys: &ServiceKeys<'_>) -> Result<Self, ServiceSetupError> {
        let is_key_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if !(1..=128).contains(&keys.site_key.len()) || !keys.site_key.bytes().all(is_key_byte) {
            return Err(ServiceSetupError::SiteKey);
        }
        if keys.secret.is_empty() {
            return Err(ServiceSetupError::Secret);
        }
        let endpoint = Endpoint::new(keys.verify_url.unwrap_or(provider.verify_url()))
            .map_err(|error| ServiceSetupError::VerifyUrl(error.0))?;
        let script_url = keys.script_url.unwrap_or(provider.script_url());
        let script_origin = origin(script_url).map_err(ServiceSetupError::ScriptUrl)?;
        let path = match provider {
            ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile => endpoint.path().to_owned(),
            ChallengeProvider::GeeTest => {
                let joint = if endpoint.path().contains('?') { '&' } else { '?' };
                format!("{}{joint}{}", endpoint.path(), form_text(&[("captcha_id", keys.site_key)]))
            }
        };
        Ok(Self {
            provider,
            site_key: keys.site_key.to_owned(),
            secret: keys.secret.to_owned(),
            endpoint,
            path,
            script_url: script_url.to_owned(),
            sources: match keys.script_url {
                Some(_) => PageSources::of_origin(&script_origin),
                None => PageSources::of_provider(provider),
            },
        })
    }

    /// Returns the name of the service.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// Returns what a page loads and shows.
    #[must_use]
    pub fn widget(&self) -> Widget {
        Widget {
            service: self.provider.name(),
            site_key: self.site_key.clone(),
            script_url: self.script_url.clone(),
        }
    }

    /// Returns the sources that the content security policy of the storefront has to allow.
    #[must_use]
    pub fn sources(&self) -> &PageSources {
        &self.sources
    }

    /// Has a response token verified, in at most `limit`.
    async fn verify(
        &self,
        response: &ServiceResponse,
        address: Option<IpAddr>,
        limit: Duration,
    ) -> Result<Verdict, ServiceFailure> {
        let Some(fields) = wire::fields(self.provider, (&self.site_key, &self.secret), response, address)
        else {
            return Ok(Verdict::Refused { reason: "a response of another service".to_owned() });
        };
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let call = self.endpoint.send(OutboundRequest::form(&self.path, &fields), RESPONSE_MAX_BYTES);
        let answer = match tokio::time::timeout(limit, call).await {
            Ok(answer) => answer.map_err(|error| ServiceFailure::Away(error.to_string()))?,
            Err(_) => return Err(ServiceFailure::Away("no response within a second".to_owned())),
        };
        wire::verdict(self.provider, answer.status, &answer.body)
    }

    /// Calls the service without a visitor: any verdict means that the service is there.
    async fn probe(&self) -> Result<(), ServiceFailure> {
        self.verify(&wire::probe(self.provider), None, CALL_TIMEOUT).await.map(|_| ())
    }
}

/// Returns scheme, host and port of a URL, which may stand in a content security policy.
fn origin(url: &str) -> Result<String, &'static str> {
    Endpoint::new(url).map_err(|error| error.0)?;
    let uri: Uri = url.parse().map_err(|_| "not a URL")?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err("not a URL");
    };
    // Other characters that authorities may have end a source, or a directive.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    if !authority.as_str().bytes().all(is_plain) {
        return Err("the host has characters other than letters, digits, '-' and '.'");
    }
    Ok(format!("{scheme}://{authority}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: ServiceKeys<'_> =
        ServiceKeys { site_key: "site-key_1", secret: "s3cr3t", verify_url: None, script_url: None };

    #[cfg(feature = "https")]
    #[test]
    fn each_service_has_its_own_urls_and_documented_sources() {
        for provider in ChallengeProvider::ALL {
            let service = ChallengeService::new(provider, &KEYS).unwrap();
            let Widget { service: name, site_key, script_url } = service.widget();
            assert_eq!((name, site_key.as_str()), (provider.name(), "site-key_1"));
            assert!(script_url.starts_with("https://") && script_url.ends_with(".js"), "{script_url}");
            assert!(!service.sources().script.is_empty(), "{provider:?}");
        }
    }

    #[test]
    fn the_origin_of_another_script_is_the_only_source() {
        let keys = ServiceKeys {
            verify_url: Some("http://127.0.0.1:9/verify"),
            script_url: Some("http://127.0.0.1:9/widget.js?v=1"),
            ..KEYS
        };
        for provider in ChallengeProvider::ALL {
            let service = ChallengeService::new(provider, &keys).unwrap();
            assert_eq!(*service.sources(), PageSources::of_origin("http://127.0.0.1:9"), "{provider:?}");
        }
        let geetest = ChallengeService::new(ChallengeProvider::GeeTest, &keys).unwrap();
        assert_eq!(geetest.path, "/verify?captcha_id=site-key_1");
        let keys = ServiceKeys { verify_url: Some("http://127.0.0.1:9/?a=1"), ..keys };
        let geetest = ChallengeService::new(ChallengeProvider::GeeTest, &keys).unwrap();
        assert_eq!(geetest.path, "/?a=1&captcha_id=site-key_1");
    }

    fn is_about_site_key(error: ServiceSetupError) -> bool {
        error == ServiceSetupError::SiteKey
    }

    fn is_about_verify_url(error: ServiceSetupError) -> bool {
        matches!(error, ServiceSetupError::VerifyUrl(_))
    }

    fn is_about_script_url(error: ServiceSetupError) -> bool {
        matches!(error, ServiceSetupError::ScriptUrl(_))
    }

    #[test]
    fn what_cannot_be_used_is_named_and_no_secret_is_shown() {
        let (verify_url, script_url) =
            (Some("http://127.0.0.1:9/verify"), Some("http://127.0.0.1:9/widget.js"));
        let good = ServiceKeys { verify_url, script_url, ..KEYS };
        let long = "a".repeat(129);
        for (keys, is_named) in [
            (ServiceKeys { site_key: "", ..good }, is_about_site_key as fn(_) -> bool),
            (ServiceKeys { site_key: "a b", ..good }, is_about_site_key),
            (ServiceKeys { site_key: &long, ..good }, is_about_site_key),
            (ServiceKeys { secret: "", ..good }, |error| error == ServiceSetupError::Secret),
            (ServiceKeys { verify_url: Some("http://a.example/"), ..good }, is_about_verify_url),
            (ServiceKeys { script_url: Some("http://a.example/"), ..good }, is_about_script_url),
            (ServiceKeys { script_url: Some("//a.example/a.js"), ..good }, is_about_script_url),
            (ServiceKeys { script_url: Some("http://localhost;script-src/"), ..good }, is_about_script_url),
        ] {
            let error = ChallengeService::new(ChallengeProvider::HCaptcha, &keys).unwrap_err();
            assert!(is_named(error), "{keys:?}: {error:?}");
        }
        let keys = ServiceKeys { verify_url: Some("http://127.0.0.1:9/k3p9"), ..good };
        let shown = format!("{:?}", ChallengeService::new(ChallengeProvider::HCaptcha, &keys).unwrap());
        assert!(!shown.contains("s3cr3t") && !shown.contains("k3p9"), "{shown}");
    }
}
