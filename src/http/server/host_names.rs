//! Calls that a browser makes for somebody else: by a name that is not the mall's, or from another site.
//!
//! A page may make its own name lead to the mall's address (DNS rebinding), and then reads and writes as if
//! it were the mall's own page: the name in `Host` tells. A page may also send forms and simple requests to
//! any address: `Sec-Fetch-Site` tells, or `Origin` from browsers without it.
//!
//! Reasons and figures: `src/decisions/0036-hosts-and-origins.md`.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, Version};

use crate::http::request::extract::token;
use crate::http::response::error::ApiError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names by which clients may call the mall.
#[derive(Clone, Debug, Default)]
pub enum HostNames {
    /// Any name: a proxy in front may pass on any.
    #[default]
    Any,
    /// IP addresses, `localhost`, and these names in lower case.
    Known(Arc<[String]>),
}

impl HostNames {
    /// Allows IP addresses, `localhost`, and `names`.
    #[must_use]
    pub fn known(names: &[String]) -> Self {
        Self::Known(names.iter().map(|name| normalized(name)).collect())
    }

    /// Checks a request that came over a network.
    ///
    /// # Errors
    /// 400 without exactly one `Host`, 421 for a name of another host, 403 for a change by another site.
    pub(super) fn check(&self, parts: &Parts) -> Result<(), ApiError> {
        let host = self.host(parts)?;
        let is_read = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
        // Another site's page cannot send a token: browsers ask first, and the mall permits no other site.
        if is_read || has_token(&parts.headers) || self.is_from_own_page(&parts.headers, host) {
            return Ok(());
        }
        Err(ApiError::cross_site())
    }

    /// Returns the request's one host.
    fn host<'a>(&self, parts: &'a Parts) -> Result<&'a str, ApiError> {
        let mut hosts = parts.headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().map_err(|_| ApiError::bad_host())?,
            // HTTP/1.0 has no such header; monitors of a load balancer often speak it.
            (None, _) if parts.version < Version::HTTP_11 && matches!(self, Self::Any) => "",
            _ => return Err(ApiError::bad_host()),
        };
        let Self::Known(names) = self else { return Ok(host) };
        for named in [Some(host), parts.uri.authority().map(Authority::as_str)].into_iter().flatten() {
            let name = host_name(named).ok_or_else(ApiError::bad_host)?;
            if !is_literal(&name) && !names.contains(&name) {
                return Err(ApiError::unknown_host(name));
            }
        }
        Ok(host)
    }

    /// Returns whether no page of another site made the request. Programs other than browsers send neither
    /// header.
    fn is_from_own_page(&self, headers: &HeaderMap, host: &str) -> bool {
        match headers.get(SEC_FETCH_SITE).map(|site| site.as_bytes()) {
            Some(b"same-origin" | b"none") => return true,
            Some(b"cross-site") => return false,
            // Sites span names and ports; a browser without the header says even less.
            Some(_) | None => {}
        }
        // Behind a proxy that rewrites `Host`, an origin has nothing to be compared with.
        let (Self::Known(names), Some(origin)) = (self, headers.get(ORIGIN)) else { return true };
        let Some((_, origin)) = origin.to_str().ok().and_then(|origin| origin.split_once("://")) else {
            return false;
        };
        origin.eq_ignore_ascii_case(host)
            || host_name(origin).is_some_and(|name| !is_literal(&name) && names.contains(&name))
    }
}

/// Returns whether the request has a token, which only a page of the mall can send. Credentials with a
/// scheme, such as `Basic`, are for a proxy: browsers add them to calls of any page.
fn has_token(headers: &HeaderMap) -> bool {
    token(headers).is_some_and(|token| !token.contains(' '))
}

/// Returns the name in `name:port`, in lower case. `None` for anything else, such as an empty text.
fn host_name(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    let is_bare = !authority.as_str().contains('@') && !authority.host().is_empty();
    is_bare.then(|| normalized(authority.host()))
}

fn normalized(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Returns whether the name is `localhost` or an IP address, which no foreign page can be called by.
fn is_literal(name: &str) -> bool {
    let v6 = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name == "localhost"
        || v6.map_or(name.parse::<IpAddr>().is_ok(), |address| address.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use axum::http::{Request, StatusCode};
    use axum::response::IntoResponse as _;

    use super::*;

    fn known() -> HostNames {
        HostNames::known(&["Mall.example.com".to_owned()])
    }

    /// Returns the status of a refusal, or 200.
    fn status(names: &HostNames, method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let refused = names.check(&parts).err().map(|error| error.into_response().status());
        refused.unwrap_or(StatusCode::OK).as_u16()
    }

    #[test]
    fn a_mall_with_names_answers_to_them_to_localhost_and_to_addresses() {
        for host in [
            "mall.example.com",
            "MALL.example.com:8080",
            "mall.example.com.",
            "localhost",
            "LocalHost:8080",
            "127.0.0.1:8080",
            "192.0.2.7",
            "[::1]",
            "[2001:db8::1]:8080",
        ] {
            assert_eq!(status(&known(), "GET", "/", &[("host", host)]), 200, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "mall.example.com.evil.example",
            "xmall.example.com",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "1234",
        ] {
            assert_eq!(status(&known(), "GET", "/", &[("host", host)]), 421, "{host}");
            assert_eq!(status(&HostNames::Any, "GET", "/", &[("host", host)]), 200, "{host}");
        }
        let own = [("host", "localhost")];
        assert_eq!(status(&known(), "GET", "http://evil.example/", &own), 421, "the other name of a request");
        assert_eq!(status(&known(), "GET", "http://localhost/", &own), 200);
    }

    #[test]
    fn a_request_has_exactly_one_host() {
        for names in [known(), HostNames::Any] {
            assert_eq!(status(&names, "GET", "/", &[]), 400);
            assert_eq!(status(&names, "GET", "/", &[("host", "localhost"), ("host", "localhost")]), 400);
            assert_eq!(status(&names, "GET", "/", &[("host", "localhost"), ("host", "evil.example")]), 400);
        }
        for host in ["", "a b", "user@localhost", "localhost/", "[::1"] {
            assert_eq!(status(&known(), "GET", "/", &[("host", host)]), 400, "{host}");
        }
        let (mut old, ()) = Request::get("/").body(()).unwrap().into_parts();
        old.version = Version::HTTP_10;
        assert!(HostNames::Any.check(&old).is_ok() && known().check(&old).is_err());
    }

    #[test]
    fn another_site_changes_nothing_without_a_token() {
        for names in [known(), HostNames::Any] {
            let call = |method: &str, site: &str, token: &str| {
                let headers = [("host", "localhost"), ("sec-fetch-site", site), ("authorization", token)];
                status(&names, method, "/", &headers)
            };
            for method in ["POST", "PUT", "DELETE", "PATCH"] {
                assert_eq!(call(method, "cross-site", ""), 403, "{method}");
                assert_eq!(call(method, "cross-site", "secret"), 200, "{method}");
                assert_eq!(call(method, "cross-site", "Bearer secret"), 200, "{method}");
                // The browser adds the password for a proxy to calls of any page.
                assert_eq!(call(method, "cross-site", "Basic dXNlcjpwYXNz"), 403, "{method}");
                assert_eq!(call(method, "same-origin", ""), 200, "{method}");
                assert_eq!(call(method, "none", ""), 200, "{method}");
            }
            for method in ["GET", "HEAD", "OPTIONS"] {
                assert_eq!(call(method, "cross-site", ""), 200, "{method}");
            }
        }
    }

    #[test]
    fn an_origin_counts_without_the_newer_header_and_with_known_names_only() {
        let call = |names: &HostNames, host: &str, more: &[(&str, &str)]| {
            let headers: Vec<_> = [("host", host)].iter().chain(more).copied().collect();
            status(names, "POST", "/", &headers)
        };
        for (host, origin, want) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080", 200),
            ("localhost:8080", "HTTP://LOCALHOST:8080", 200),
            ("mall.example.com", "https://mall.example.com", 200),
            // A proxy has a port of its own.
            ("127.0.0.1:8080", "https://mall.example.com:8443", 200),
            ("127.0.0.1:8080", "http://127.0.0.1:9090", 403),
            ("127.0.0.1:8080", "http://localhost:8080", 403),
            ("127.0.0.1:8080", "http://evil.example", 403),
            ("127.0.0.1:8080", "null", 403),
        ] {
            for more in [&[("origin", origin)][..], &[("origin", origin), ("sec-fetch-site", "same-site")]] {
                assert_eq!(call(&known(), host, more), want, "{host} {more:?}");
                assert_eq!(call(&HostNames::Any, host, more), 200, "{host} {more:?}");
            }
            let own = [("origin", origin), ("sec-fetch-site", "same-origin")];
            assert_eq!(call(&known(), host, &own), 200, "{host} {origin}: the newer header decides");
        }
        assert_eq!(call(&known(), "localhost", &[]), 200, "a program that is no browser");
    }
}
