//! The flags of the external challenge service.

use clap::{Args, ValueEnum};

use super::values::HiddenText;
use crate::language::{Language, sentence};
use crate::mall::selling::challenge_service::{
    ChallengeProvider, ChallengeService, ServiceKeys, ServiceSetupError,
};

/// The flags of the external challenge service.
#[derive(Args, Clone, Debug)]
pub struct ChallengeConfig {
    /// An external service whose check guarded sales may use; default: none. Needs --challenge-site-key and
    /// --challenge-secret.
    #[arg(long, env = "MALLBOX_CHALLENGE_SERVICE")]
    pub challenge_service: Option<ChallengeChoice>,
    /// The public key of the site at the service of --challenge-service; GeeTest calls it captcha id.
    #[arg(long, env = "MALLBOX_CHALLENGE_SITE_KEY", value_name = "KEY")]
    pub challenge_site_key: Option<String>,
    /// The secret of the site at the service of --challenge-service. Better put the secret into the
    /// environment variable than on the command line.
    #[arg(long, env = "MALLBOX_CHALLENGE_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub challenge_secret: Option<HiddenText>,
    /// The URL that verifies responses, instead of the service's own: https://, or http:// on this machine.
    #[arg(long, env = "MALLBOX_CHALLENGE_VERIFY_URL", hide_env_values = true, value_name = "URL")]
    pub challenge_verify_url: Option<HiddenText>,
    /// The URL of the script that shows the check, instead of the service's own. The storefront then allows
    /// the origin of this URL only.
    #[arg(long, env = "MALLBOX_CHALLENGE_SCRIPT_URL", value_name = "URL")]
    pub challenge_script_url: Option<String>,
}

/// An external challenge service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ChallengeChoice {
    /// hCaptcha.
    #[value(name = "hcaptcha")]
    HCaptcha,
    /// Turnstile of Cloudflare.
    #[value(name = "turnstile")]
    Turnstile,
    /// GeeTest CAPTCHA v4.
    #[value(name = "geetest")]
    GeeTest,
}

impl From<ChallengeChoice> for ChallengeProvider {
    fn from(choice: ChallengeChoice) -> Self {
        match choice {
            ChallengeChoice::HCaptcha => Self::HCaptcha,
            ChallengeChoice::Turnstile => Self::Turnstile,
            ChallengeChoice::GeeTest => Self::GeeTest,
        }
    }
}

/// The flags name no usable challenge service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChallengeConfigError {
    /// --challenge-service without this flag; flag and environment variable.
    Missing(&'static str, &'static str),
    /// The value of a flag cannot be used; the cause.
    Bad(ServiceSetupError),
}

impl ChallengeConfigError {
    /// Returns the message: the mistake, and the flag to use.
    #[must_use]
    pub fn words(self, l: Language) -> String {
        match self {
            Self::Missing(flag, variable) => sentence!(
                l,
                "--challenge-service还需要{flag}（或环境变量{variable}）",
                "--challenge-service needs {flag} (or the environment variable {variable})"
            ),
            Self::Bad(ServiceSetupError::SiteKey) => sentence!(
                l,
                "--challenge-site-key须为1到128个字母、数字、“-”或“_”",
                "--challenge-site-key: expected 1 to 128 letters, digits, '-' and '_'"
            ),
            Self::Bad(ServiceSetupError::Secret) => {
                sentence!(l, "--challenge-secret不能为空", "--challenge-secret must not be empty")
            }
            Self::Bad(ServiceSetupError::VerifyUrl(why)) => {
                sentence!(l, "--challenge-verify-url不合要求：{why}", "--challenge-verify-url: {why}")
            }
            Self::Bad(ServiceSetupError::ScriptUrl(why)) => {
                sentence!(l, "--challenge-script-url不合要求：{why}", "--challenge-script-url: {why}")
            }
        }
    }
}

impl ChallengeConfig {
    /// Returns the service that the flags name, if any.
    ///
    /// # Errors
    /// [`ChallengeConfigError`]: a flag is missing, or its value cannot be used.
    pub fn service(&self) -> Result<Option<ChallengeService>, ChallengeConfigError> {
        let Some(choice) = self.challenge_service else { return Ok(None) };
        let site_key = self
            .challenge_site_key
            .as_deref()
            .ok_or(ChallengeConfigError::Missing("--challenge-site-key", "MALLBOX_CHALLENGE_SITE_KEY"))?;
        let secret = self
            .challenge_secret
            .as_ref()
            .ok_or(ChallengeConfigError::Missing("--challenge-secret", "MALLBOX_CHALLENGE_SECRET"))?;
        let keys = ServiceKeys {
            site_key,
            secret: &secret.0,
            verify_url: self.challenge_verify_url.as_ref().map(|url| url.0.as_str()),
            script_url: self.challenge_script_url.as_deref(),
        };
        ChallengeService::new(choice.into(), &keys).map(Some).map_err(ChallengeConfigError::Bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_needs_a_site_key_and_a_secret() {
        let none = ChallengeConfig {
            challenge_service: None,
            challenge_site_key: None,
            challenge_secret: None,
            challenge_verify_url: Some("http://127.0.0.1:9/verify".into()),
            challenge_script_url: Some("http://127.0.0.1:9/widget.js".to_owned()),
        };
        assert!(none.service().unwrap().is_none());
        let chosen = ChallengeConfig { challenge_service: Some(ChallengeChoice::GeeTest), ..none };
        let keyed = ChallengeConfig { challenge_site_key: Some("site".to_owned()), ..chosen.clone() };
        let whole = ChallengeConfig { challenge_secret: Some("s3cr3t".into()), ..keyed.clone() };
        let empty = ChallengeConfig { challenge_secret: Some("".into()), ..keyed.clone() };
        let elsewhere = ChallengeConfig { challenge_verify_url: Some("http://a/".into()), ..whole.clone() };
        for (config, flag) in [
            (chosen, "--challenge-site-key (or the environment variable MALLBOX_CHALLENGE_SITE_KEY)"),
            (keyed, "--challenge-secret (or the environment variable MALLBOX_CHALLENGE_SECRET)"),
            (empty, "--challenge-secret must not be empty"),
            (elsewhere, "--challenge-verify-url: beyond this machine"),
        ] {
            let error = config.service().unwrap_err();
            let (en, zh) = (error.words(Language::En), error.words(Language::Zh));
            assert!(en.contains(flag) && zh.contains(flag.split([' ', ':']).next().unwrap()), "{en} {zh}");
        }
        assert_eq!(whole.service().unwrap().unwrap().name(), "geetest");
        assert!(!format!("{whole:?}").contains("s3cr3t"));
    }
}
