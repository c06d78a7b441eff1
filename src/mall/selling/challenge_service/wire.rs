//! The protocols of external services: fields of a verification, and verdicts.
//!
//! Written from the documents of the services, as of 2026-11: <https://docs.hcaptcha.com/>,
//! <https://developers.cloudflare.com/turnstile/get-started/server-side-validation/>,
//! <https://docs.geetest.com/BehaviorVerification/apirefer/api/server>.

use std::net::IpAddr;

use hyper::StatusCode;
use serde::Deserialize;

use super::provider::ChallengeProvider;
use crate::mall::base::hmac::hmac_sha256;

/// Codes of hCaptcha and Turnstile about the mall's secret. `sitekey-secret-mismatch` is not among them: a
/// visitor can cause it with a token of another site.
const BAD_SECRET: [&str; 4] =
    ["missing-input-secret", "invalid-input-secret", "invalid-widget-id", "invalid-parsed-secret"];
/// Numbers of GeeTest about the captcha id: missing, invalid, unknown, deleted, paused.
const BAD_CAPTCHA_ID: std::ops::RangeInclusive<u32> = 50_101..=50_105;
/// Number of GeeTest for an error of its own.
const OWN_ERROR: u32 = 50_000;
/// Longest part of a service's message in the log.
const REASON_MAX_CHARS: usize = 100;
/// A response token that no visitor has.
const PROBE: &str = "probe";

/// What a widget gave to the visitor's page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServiceResponse {
    /// A response token of hCaptcha or Turnstile.
    Token(String),
    /// The result of GeeTest.
    GeeTest(GeeTestResponse),
}

/// The result of GeeTest's `getValidate`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GeeTestResponse {
    /// Number of the check.
    pub lot_number: String,
    /// Output of the check.
    pub captcha_output: String,
    /// Token of the passed check.
    pub pass_token: String,
    /// Time of the check.
    pub gen_time: String,
}

impl ServiceResponse {
    /// Longest text of a response, in bytes. Tokens of Turnstile have at most 2,048 characters.
    pub const MAX_BYTES: usize = 8 << 10;

    /// Returns whether the texts may be sent to a service: short, and without a character that a widget never
    /// gives.
    fn is_plausible(&self) -> bool {
        let is_text = |text: &String| {
            (1..=Self::MAX_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        match self {
            Self::Token(token) => is_text(token),
            Self::GeeTest(GeeTestResponse { lot_number, captcha_output, pass_token, gen_time }) => {
                [lot_number, captcha_output, pass_token, gen_time].into_iter().all(is_text)
            }
        }
    }
}

/// What a service says about a response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// The visitor passed the check.
    Accepted,
    /// The response is wrong, expired, used, or of another site.
    Refused {
        /// The service's reason, for the log.
        reason: String,
    },
}

/// No verdict about a visitor. The text is for the log: it contains neither secret nor token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ServiceFailure {
    /// The service is unreachable, slow, or responds with an error or something else than its protocol.
    Away(String),
    /// The service does not accept the mall's keys: an error of the operator.
    BadKeys(String),
}

/// Returns the fields of a verification; `None` for a response that this service never gives.
pub(super) fn fields(
    provider: ChallengeProvider,
    (site_key, secret): (&str, &str),
    response: &ServiceResponse,
    address: Option<IpAddr>,
) -> Option<Vec<(&'static str, String)>> {
    if !response.is_plausible() {
        return None;
    }
    match (provider, response) {
        (ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile, ServiceResponse::Token(token)) => {
            let mut fields = vec![("secret", secret.to_owned()), ("response", token.clone())];
            // The address of a proxy on this machine is not the visitor's.
            if let Some(address) = address.filter(|address| !address.is_loopback()) {
                fields.push(("remoteip", address.to_string()));
            }
            if provider == ChallengeProvider::HCaptcha {
                fields.push(("sitekey", site_key.to_owned()));
            }
            Some(fields)
        }
        (ChallengeProvider::GeeTest, ServiceResponse::GeeTest(result)) => {
            let GeeTestResponse { lot_number, captcha_output, pass_token, gen_time } = result.clone();
            let signature = hmac_sha256(secret.as_bytes(), &[lot_number.as_bytes()]);
            Some(vec![
                ("lot_number", lot_number),
                ("captcha_output", captcha_output),
                ("pass_token", pass_token),
                ("gen_time", gen_time),
                ("sign_token", mallbox_storage::hex(&signature)),
            ])
        }
        _ => None,
    }
}

/// Returns a response that no visitor has.
pub(super) fn probe(provider: ChallengeProvider) -> ServiceResponse {
    let text = || PROBE.to_owned();
    match provider {
        ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile => ServiceResponse::Token(text()),
        ChallengeProvider::GeeTest => ServiceResponse::GeeTest(GeeTestResponse {
            lot_number: text(),
            captcha_output: text(),
            pass_token: text(),
            gen_time: text(),
        }),
    }
}

/// Reads the service's answer to a verification. Only what no visitor can cause is a failure.
pub(super) fn verdict(
    provider: ChallengeProvider,
    status: StatusCode,
    body: &[u8],
) -> Result<Verdict, ServiceFailure> {
    // Services report a bad request with 400, and their verdict in the body.
    let is_verdict = status.is_success() || matches!(status.as_u16(), 400 | 401 | 403 | 422);
    if !is_verdict {
        return Err(ServiceFailure::Away(format!("responded with {status}")));
    }
    let read = match provider {
        ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile => {
            serde_json::from_slice(body).ok().map(SiteVerify::verdict)
        }
        ChallengeProvider::GeeTest => serde_json::from_slice(body).ok().and_then(Validate::verdict),
    };
    read.unwrap_or_else(|| {
        Err(ServiceFailure::Away(format!("responded with {status} and something else than its protocol")))
    })
}

/// The answer of hCaptcha and Turnstile.
#[derive(Deserialize)]
struct SiteVerify {
    success: bool,
    #[serde(rename = "error-codes", default)]
    error_codes: Vec<String>,
}

impl SiteVerify {
    fn verdict(self) -> Result<Verdict, ServiceFailure> {
        let has = |code: &str| self.error_codes.iter().any(|own| own == code);
        let reason = || shortened(&self.error_codes.join(" "));
        if self.success {
            Ok(Verdict::Accepted)
        } else if BAD_SECRET.into_iter().any(has) {
            Err(ServiceFailure::BadKeys(reason()))
        } else if has("internal-error") {
            Err(ServiceFailure::Away(reason()))
        } else {
            Ok(Verdict::Refused { reason: reason() })
        }
    }
}

/// The answer of GeeTest: a result, or a status `error` with a code.
#[derive(Deserialize)]
struct Validate {
    #[serde(default)]
    status: String,
    #[serde(default)]
    result: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    code: serde_json::Value,
    #[serde(default)]
    msg: serde_json::Value,
}

impl Validate {
    /// `None` for what is no answer of GeeTest.
    fn verdict(self) -> Option<Result<Verdict, ServiceFailure>> {
        if self.status == "error" {
            let code = self.code.as_str().map_or_else(|| self.code.to_string(), str::to_owned);
            let message = self.msg.as_str().unwrap_or_default();
            let reason = shortened(&format!("{code} {message}"));
            let number = code.trim_start_matches('-').parse::<u32>().unwrap_or_default();
            let is_about_keys = BAD_CAPTCHA_ID.contains(&number) || is_about_signature(message);
            return Some(if is_about_keys {
                Err(ServiceFailure::BadKeys(reason))
            } else if number == OWN_ERROR {
                Err(ServiceFailure::Away(reason))
            } else {
                Ok(Verdict::Refused { reason })
            });
        }
        let reason = shortened(&self.reason);
        match self.result.as_str() {
            "success" => Some(Ok(Verdict::Accepted)),
            "fail" if is_about_signature(&reason) => Some(Err(ServiceFailure::BadKeys(reason))),
            "fail" => Some(Ok(Verdict::Refused { reason })),
            _ => None,
        }
    }
}

/// Returns whether a message is about the signature, which the mall makes from any number of a visitor.
fn is_about_signature(message: &str) -> bool {
    message.contains("sign_token")
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(REASON_MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChallengeProvider::{GeeTest, HCaptcha, Turnstile};

    const KEYS: (&str, &str) = ("site", "s3cr3t");

    fn token(text: &str) -> ServiceResponse {
        ServiceResponse::Token(text.to_owned())
    }

    fn geetest(lot_number: &str) -> ServiceResponse {
        let text = str::to_owned;
        ServiceResponse::GeeTest(GeeTestResponse {
            lot_number: text(lot_number),
            captcha_output: text("out=="),
            pass_token: text("pass"),
            gen_time: text("1795262400"),
        })
    }

    fn shown(fields: Option<Vec<(&'static str, String)>>) -> Vec<String> {
        fields.unwrap().into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn each_service_gets_its_fields() {
        let address = Some("203.0.113.7".parse().unwrap());
        let (common, ip) = (["secret=s3cr3t", "response=t"], "remoteip=203.0.113.7");
        let own = |provider, address| shown(fields(provider, KEYS, &token("t"), address));
        assert_eq!(own(HCaptcha, address), [&common[..], &[ip, "sitekey=site"]].concat());
        assert_eq!(own(Turnstile, address), [&common[..], &[ip]].concat());
        assert_eq!(own(Turnstile, None), common);
        assert_eq!(own(Turnstile, Some("::1".parse().unwrap())), common, "a proxy of this machine");
        // printf lot7 | openssl dgst -sha256 -hmac s3cr3t
        let sign = "sign_token=3d7cbd6750eb295b6feabe218b9d4bed36a9ae4340bc0088f0025254081f45f4";
        let want =
            ["lot_number=lot7", "captcha_output=out==", "pass_token=pass", "gen_time=1795262400", sign];
        assert_eq!(shown(fields(GeeTest, KEYS, &geetest("lot7"), address)), want);
    }

    #[test]
    fn a_response_that_the_service_never_gives_is_not_sent() {
        let long = "a".repeat(ServiceResponse::MAX_BYTES + 1);
        for text in ["", " ", "a b", "a\n", "验证", &long] {
            assert_eq!(fields(HCaptcha, KEYS, &token(text), None), None, "{text}");
            assert_eq!(fields(GeeTest, KEYS, &geetest(text), None), None, "{text}");
        }
        assert!(fields(HCaptcha, KEYS, &token(&long[1..]), None).is_some());
        assert_eq!(fields(GeeTest, KEYS, &token("t"), None), None);
        assert_eq!(fields(Turnstile, KEYS, &geetest("lot7"), None), None);
        for provider in ChallengeProvider::ALL {
            assert!(fields(provider, KEYS, &probe(provider), None).is_some());
        }
    }

    /// `+` accepted, `-` refused, `?` away, `!` bad keys.
    fn outcome(provider: ChallengeProvider, status: u16, body: &str) -> char {
        match verdict(provider, StatusCode::from_u16(status).unwrap(), body.as_bytes()) {
            Ok(Verdict::Accepted) => '+',
            Ok(Verdict::Refused { .. }) => '-',
            Err(ServiceFailure::Away(_)) => '?',
            Err(ServiceFailure::BadKeys(_)) => '!',
        }
    }

    #[test]
    fn verdicts_of_hcaptcha_and_turnstile_are_read() {
        let codes = |codes: &str| format!(r#"{{"success":false,"error-codes":[{codes}]}}"#);
        for provider in [HCaptcha, Turnstile] {
            for (status, body, want) in [
                (200, r#"{"success":true,"hostname":"mall.example","credit":true}"#.to_owned(), '+'),
                (200, r#"{"success":false}"#.to_owned(), '-'),
                (200, codes(r#""invalid-or-already-seen-response""#), '-'),
                (200, codes(r#""timeout-or-duplicate""#), '-'),
                (400, codes(r#""invalid-input-response","bad-request""#), '-'),
                (200, codes(r#""sitekey-secret-mismatch""#), '-'),
                (200, codes(r#""invalid-input-secret""#), '!'),
                (400, codes(r#""invalid-input-response","invalid-parsed-secret""#), '!'),
                (200, codes(r#""internal-error""#), '?'),
                (200, r#"{"success":"true"}"#.to_owned(), '?'),
                (200, "{}".to_owned(), '?'),
                (200, "<html>".to_owned(), '?'),
                (200, String::new(), '?'),
                (500, r#"{"success":true}"#.to_owned(), '?'),
                (429, codes(r#""rate-limited""#), '?'),
                (302, r#"{"success":true}"#.to_owned(), '?'),
                (404, r#"{"success":true}"#.to_owned(), '?'),
            ] {
                assert_eq!(outcome(provider, status, &body), want, "{status} {body}");
            }
        }
    }

    #[test]
    fn verdicts_of_geetest_are_read() {
        for (status, body, want) in [
            (200, r#"{"status":"success","result":"success","reason":"","captcha_args":{}}"#, '+'),
            (200, r#"{"result":"success"}"#, '+'),
            (200, r#"{"status":"success","result":"fail","reason":"pass_token expire"}"#, '-'),
            (200, r#"{"status":"success","result":"fail","reason":"sign_token error"}"#, '!'),
            (
                200,
                r#"{"status":"error","code":"-50005","msg":"illegal gen_time","desc":{"type":"defined error"}}"#,
                '-',
            ),
            (200, r#"{"status":"error","code":"-50303","msg":"illegal lot_number"}"#, '-'),
            (200, r#"{"status":"error","code":"-50102","msg":"invalid captcha_id"}"#, '!'),
            (200, r#"{"status":"error","code":50105,"msg":""}"#, '!'),
            (200, r#"{"status":"error","code":"-50000","msg":{}}"#, '?'),
            (200, r#"{"status":"error","result":"success"}"#, '-'),
            (200, r#"{"status":"success"}"#, '?'),
            (200, "[]", '?'),
            (503, r#"{"result":"success"}"#, '?'),
        ] {
            assert_eq!(outcome(GeeTest, status, body), want, "{status} {body}");
        }
    }

    #[test]
    fn a_reason_in_the_log_is_short_and_one_line() {
        assert_eq!(shortened("a\nb\u{1b}[c"), "ab[c");
        assert_eq!(shortened(&"验".repeat(500)).chars().count(), REASON_MAX_CHARS);
    }
}
