//! Texts with placeholders, and requests made of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A placeholder in a dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Placeholder {
    Sale,
    Token,
    Phone,
    Code,
}

impl Placeholder {
    const ALL: [Self; 4] = [Self::Sale, Self::Token, Self::Phone, Self::Code];

    /// Returns the word as written, with its braces.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Sale => "{sale}",
            Self::Token => "{token}",
            Self::Phone => "{phone}",
            Self::Code => "{code}",
        }
    }

    /// Returns the first of all placeholders in a text that is not among the allowed ones.
    pub(super) fn stranger_in(text: &str, allowed: &[Self]) -> Option<Self> {
        Self::ALL.into_iter().find(|word| !allowed.contains(word) && text.contains(word.word()))
    }
}

/// Fills placeholders; other braces stay.
pub(super) fn filled(text: &str, values: &[(Placeholder, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word.word(), value))
}

/// A request as written in a dialect.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::bench) struct RequestTemplate {
    #[serde(default = "post")]
    pub(in crate::bench) method: String,
    /// Begins with `/`; the dialect's prefix comes before it.
    pub(in crate::bench) path: String,
    #[serde(default)]
    pub(in crate::bench) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(in crate::bench) body: String,
}

fn post() -> String {
    "POST".to_owned()
}

impl RequestTemplate {
    /// Returns what cannot be sent: the name of the field, and its text.
    pub(super) fn fault(&self) -> Option<(&'static str, &str)> {
        let is_token = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        if !is_token(&self.method) {
            return Some(("method", &self.method));
        }
        if !(self.path.starts_with('/') && self.path.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Some(("path", &self.path));
        }
        let own = ["host", "content-length", "transfer-encoding", "connection"];
        let name = self
            .headers
            .keys()
            .find(|name| !is_token(name) || own.iter().any(|own| own.eq_ignore_ascii_case(name)));
        if let Some(name) = name {
            return Some(("headers", name));
        }
        let value = self.headers.values().find(|value| !is_header_value(value));
        value.map(|value| ("headers", value.as_str()))
    }

    /// Returns all texts that may hold placeholders.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        [self.path.as_str(), self.body.as_str()].into_iter().chain(self.headers.values().map(String::as_str))
    }

    /// Returns the whole request.
    pub(super) fn request(&self, host: &str, prefix: &str, values: &[(Placeholder, &str)]) -> Vec<u8> {
        let body = filled(&self.body, values);
        let mut text =
            format!("{} {prefix}{} HTTP/1.1\r\nhost: {host}\r\n", self.method, filled(&self.path, values));
        for (name, value) in &self.headers {
            text += &format!("{name}: {}\r\n", filled(value, values));
        }
        if !(body.is_empty() && self.method == "GET") {
            text += &format!("content-length: {}\r\n", body.len());
        }
        text += "\r\n";
        text += &body;
        text.into_bytes()
    }
}

/// Returns whether a text can be the value of a header, or part of one.
pub(in crate::bench) fn is_header_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> RequestTemplate {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_request_is_filled_in() {
        let log_in = template(
            "path = '/login?at={phone}'\nheaders = { b = '{code}', a = 'x' }\nbody = '{\"phone\":\"{phone}\"}'",
        );
        let values = [(Placeholder::Phone, "199"), (Placeholder::Code, "42")];
        let want = "POST /api/login?at=199 HTTP/1.1\r\nhost: mall:81\r\na: x\r\nb: 42\r\ncontent-length: 15\r\n\r\n\
                    {\"phone\":\"199\"}";
        assert_eq!(String::from_utf8(log_in.request("mall:81", "/api", &values)).unwrap(), want);
        let get = template("method = 'GET'\npath = '/orders'");
        assert_eq!(get.request("mall", "", &[]), b"GET /orders HTTP/1.1\r\nhost: mall\r\n\r\n");
    }

    #[test]
    fn what_would_break_a_request_is_found() {
        for (text, field) in [
            ("path = '/a'", None),
            ("path = 'a'", Some("path")),
            ("path = '/a b'", Some("path")),
            ("path = '/店'", Some("path")),
            ("path = '/a'\nmethod = 'GET /b'", Some("method")),
            ("path = '/a'\nheaders = { Host = 'b' }", Some("headers")),
            ("path = '/a'\nheaders = { 'a:b' = 'c' }", Some("headers")),
            ("path = '/a'\nheaders = { a = \"b\\r\\nc: d\" }", Some("headers")),
        ] {
            assert_eq!(template(text).fault().map(|(field, _)| field), field, "{text}");
        }
    }
}
