//! The client of a log-in: its address, and a short name of its browser.
//!
//! The address limits log-ins. The name is for people, who look for their own devices in a list. It says
//! nothing that a client could not invent, and decides nothing.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;

use super::client_address::ClientAddress;
use crate::mall::people::accounts::Client;

/// The client of a request, by whom log-ins are limited, and as kept with a session.
#[derive(Clone, Debug)]
pub(in crate::http) struct FromClient(pub(in crate::http) Client);

impl<S: Send + Sync> FromRequestParts<S> for FromClient {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let address = parts.extensions.get::<ClientAddress>().map(|client| client.0);
        let agent = parts.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        Ok(Self(Client { address, browser: agent.map(browser_name).unwrap_or_default() }))
    }
}

/// Marks of browsers and apps in a `User-Agent`, and their names. The first match counts: most browsers name
/// the browsers that they resemble as well.
const BROWSERS: &[(&str, &str)] = &[
    ("MicroMessenger/", "WeChat"),
    ("AlipayClient/", "Alipay"),
    ("QQ/", "QQ"),
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("HuaweiBrowser/", "Huawei Browser"),
    ("MiuiBrowser/", "Mi Browser"),
    ("MQQBrowser/", "QQ Browser"),
    ("QQBrowser/", "QQ Browser"),
    ("UCBrowser/", "UC Browser"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Version/", "Safari"),
];

/// Marks of systems, and their names. The first match counts.
const SYSTEMS: &[(&str, &str)] = &[
    ("OpenHarmony", "HarmonyOS"),
    ("HarmonyOS", "HarmonyOS"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// Maximum length of a name that is taken from the client, in characters.
const FOREIGN_NAME_MAX_CHARS: usize = 32;

/// Returns a name such as `Chrome 138 · Windows` for a `User-Agent`. An unknown client gets the first word of
/// its own name, without anything but letters, digits and `.-_/`; `""` if nothing is left.
fn browser_name(agent: &str) -> String {
    let known = BROWSERS.iter().find_map(|(mark, name)| {
        let version = &agent[agent.find(mark)? + mark.len()..];
        let major: String = version.chars().take_while(char::is_ascii_digit).take(4).collect();
        Some(if major.is_empty() { (*name).to_owned() } else { format!("{name} {major}") })
    });
    let system = SYSTEMS.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    match (known, system) {
        (Some(browser), Some(system)) => format!("{browser} · {system}"),
        (Some(browser), None) => browser,
        (None, _) => {
            let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_/".contains(*c);
            let word = agent.split_ascii_whitespace().next().unwrap_or_default();
            word.chars().filter(is_plain).take(FOREIGN_NAME_MAX_CHARS).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::sessions::BROWSER_MAX_BYTES;

    use super::*;

    #[test]
    fn usual_browsers_have_short_names() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        let safari = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
        for (agent, want) in [
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/138.0.0.0 Safari/537.36"),
                "Chrome 138 · Windows",
            ),
            (
                format!(
                    "Mozilla/5.0 (Windows NT 10.0) {webkit} Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0"
                ),
                "Edge 138 · Windows",
            ),
            (
                format!("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) {safari}"),
                "Safari 18 · iPhone",
            ),
            (
                format!(
                    "Mozilla/5.0 (Linux; Android 15; V2366A) {webkit} Version/4.0 Chrome/130.0 Mobile \
                     Safari/537.36 XWEB/1300 MMWEBSDK/2025 MicroMessenger/8.0.60 NetType/WIFI"
                ),
                "WeChat 8 · Android",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0".to_owned(),
                "Firefox 140 · Linux",
            ),
            ("Mozilla/5.0 (Macintosh) Chrome/x Safari/537.36".to_owned(), "Chrome · macOS"),
            ("Chrome/12345678901234567890".to_owned(), "Chrome 1234"),
            ("curl/8.14.1".to_owned(), "curl/8.14.1"),
            ("okhttp/4.12 (Linux)".to_owned(), "okhttp/4.12"),
            ("<script>alert(1)</script> x".to_owned(), "scriptalert1/script"),
            ("\"'\u{7f}".to_owned(), ""),
            (String::new(), ""),
        ] {
            assert_eq!(browser_name(&agent), want, "{agent}");
        }
    }

    #[test]
    fn every_name_fits_into_a_session() {
        for (browser, _) in BROWSERS {
            for (system, _) in SYSTEMS {
                let name = browser_name(&format!("{browser}9999 {system}"));
                assert!(name.len() <= BROWSER_MAX_BYTES && name.contains(" 9999 · "), "{name}");
            }
        }
        assert_eq!(browser_name(&"é x".repeat(1_000)), "");
        assert_eq!(browser_name(&"x".repeat(100_000)).len(), FOREIGN_NAME_MAX_CHARS);
    }
}
