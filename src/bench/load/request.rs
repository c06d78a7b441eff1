//! Requests as raw bytes, built once or per call.

/// Returns a POST of `body`, with `content-length`.
///
/// `headers` are sent as given, in order. `host` and `content-length` are added and must not be among them.
/// Nothing is escaped: names and values must come from the caller's own code.
#[must_use]
pub fn post(path: &str, host: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut request = head("POST", path, host, headers);
    request.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(body);
    request
}

/// Returns a GET; `headers` as in [`post`].
#[must_use]
pub fn get(path: &str, host: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut request = head("GET", path, host, headers);
    request.extend_from_slice(b"\r\n");
    request
}

/// Returns the request without the final empty line.
fn head(method: &str, path: &str, host: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n");
    for (name, value) in headers {
        debug_assert!(
            !name.contains(['\r', '\n', ':']) && !value.contains(['\r', '\n']),
            "line break in header {name}"
        );
        for piece in [name, ": ", value, "\r\n"] {
            head.push_str(piece);
        }
    }
    head.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_is_a_whole_request() {
        let request = post("/sales/1", "mall", &[("authorization", "t")], b"{}");
        let expected = "POST /sales/1 HTTP/1.1\r\nhost: mall\r\nauthorization: t\r\n\
                        content-length: 2\r\n\r\n{}";
        assert_eq!(String::from_utf8(request).unwrap(), expected);
    }

    #[test]
    fn get_ends_with_an_empty_line() {
        let expected = b"GET / HTTP/1.1\r\nhost: mall\r\n\r\n";
        assert_eq!(get("/", "mall", &[]), expected);
    }
}
