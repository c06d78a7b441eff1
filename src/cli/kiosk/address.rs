//! The address of the kiosk's page.

use std::net::IpAddr;

use clap::{Args, ValueEnum};

use crate::cli::messages::{KioskMisuse, UsageError};
use crate::language::Language;

/// Most seconds of `--idle` and `--attract`: an hour.
const SECONDS_MAX: u64 = 3_600;

/// The flags that name the page.
#[derive(Args)]
pub(super) struct PageFlags {
    /// The address of the mall.
    #[arg(long, default_value = "http://127.0.0.1:8080", value_name = "URL")]
    url: String,
    /// Sells the vouchers of this shop alone.
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
    shop: Option<u64>,
    /// Logs out after these seconds without a touch; default: 60.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
    idle: Option<u64>,
    /// Begins with the offers after these seconds without a touch; default: 30, and 0 for none.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=SECONDS_MAX))]
    attract: Option<u64>,
    /// Shows the counter, where staff log in by PIN, in place of the storefront.
    #[arg(long, conflicts_with_all = ["shop", "attract"])]
    counter: bool,
    /// Prints receipts on the default printer of the computer, without a dialog. Without this flag, the
    /// browser prints nothing.
    #[arg(long)]
    print: bool,
    /// The language of the page until a customer chooses another; default: the language of this command.
    #[arg(long, value_name = "zh|en")]
    page_lang: Option<PageLanguage>,
}

/// Languages of the page.
#[derive(Clone, Copy, ValueEnum)]
enum PageLanguage {
    Zh,
    En,
}

/// The page that the kiosk shows.
pub(super) struct Page {
    /// The whole address.
    pub(super) address: String,
    /// Scheme, host and port of the mall.
    pub(super) origin: String,
    /// Tag of the browser's preferred language, such as `zh-CN`.
    pub(super) language: &'static str,
    /// Whether the mall is on this computer.
    pub(super) is_local: bool,
    /// Whether the browser prints.
    pub(super) prints: bool,
}

impl PageFlags {
    /// Returns the page.
    ///
    /// # Errors
    /// [`KioskMisuse::Address`]: `--url` is no address of a mall.
    pub(super) fn page(&self, l: Language) -> Result<Page, UsageError> {
        let wrong = || UsageError::Kiosk(KioskMisuse::Address(self.url.clone()));
        let mall = self.url.trim_end_matches('/');
        let (scheme, rest) = mall.split_once("://").ok_or_else(wrong)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = host_of(authority).ok_or_else(wrong)?;
        // Nothing that a unit, a shell or a policy would read as something else.
        let is_plain = path.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._~-".contains(&b));
        if !["http", "https"].contains(&scheme) || !is_plain {
            return Err(wrong());
        }
        let language = match (self.page_lang, l) {
            (Some(PageLanguage::Zh), _) | (None, Language::Zh) => "zh-CN",
            (Some(PageLanguage::En), _) | (None, Language::En) => "en-US",
        };
        Ok(Page {
            address: format!("{mall}{}", self.query()),
            origin: format!("{scheme}://{authority}"),
            language,
            is_local: host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
            prints: self.print,
        })
    }

    /// Returns the part of the address behind that of the mall.
    fn query(&self) -> String {
        let page = if self.counter { "/console" } else { "/" };
        let mut query = format!("{page}?kiosk");
        if let Some(seconds) = self.idle {
            query += &format!("={seconds}");
        }
        if let Some(shop) = self.shop {
            query += &format!("&shop={shop}");
        }
        if let Some(seconds) = self.attract {
            query += &format!("&attract={seconds}");
        }
        query
    }
}

/// Returns the host of `HOST` or `HOST:PORT`, an IPv6 address without brackets; `None` if there is no valid
/// one.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, port)
        }
        None => {
            let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            let is_name = host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
            (!host.is_empty() && is_name).then_some((host, port))?
        }
    };
    let is_port = |text: &str| text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (port.is_empty() || is_port(port)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(url: &str) -> PageFlags {
        PageFlags {
            url: url.to_owned(),
            shop: None,
            idle: None,
            attract: None,
            counter: false,
            print: false,
            page_lang: None,
        }
    }

    #[test]
    fn an_address_has_the_parameters_that_the_page_knows() {
        let all =
            PageFlags { shop: Some(3), idle: Some(90), attract: Some(0), ..flags("http://localhost:80/") };
        let page = all.page(Language::Zh).unwrap();
        assert_eq!(page.address, "http://localhost:80/?kiosk=90&shop=3&attract=0");
        assert_eq!(
            (page.origin.as_str(), page.language, page.is_local),
            ("http://localhost:80", "zh-CN", true)
        );
        let counter = PageFlags { counter: true, ..flags("https://mall.example.com/mall") };
        let page = counter.page(Language::En).unwrap();
        assert_eq!(page.address, "https://mall.example.com/mall/console?kiosk");
        assert_eq!((page.origin.as_str(), page.is_local), ("https://mall.example.com", false));
        assert!(flags("http://[::1]:8080").page(Language::En).unwrap().is_local);
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for wrong in [
            "",
            "mall",
            "ftp://mall",
            "http://",
            "http://me@mall",
            "http://mall:99999",
            "http://mall:",
            "http://mall?kiosk",
            "http://mall/%h",
            "http://mall/a b",
            "http://mall/$HOME",
            "http://[::1",
            "http://[mall]:80",
            "http://商城",
        ] {
            assert!(flags(wrong).page(Language::En).is_err(), "{wrong}");
        }
    }
}
