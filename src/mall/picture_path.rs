//! Paths of pictures that people put into what they write.

/// Whether it is a path on this mall. Not an address elsewhere: every reader's browser would call there.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    let elsewhere = text.starts_with("//") || !text.starts_with('/');
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\');
    !elsewhere && !text.contains(odd) && text.len() <= 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_paths_on_this_mall() {
        for good in ["/imgs/icons/a.jpg", "/imgs//types/ms.png"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in [
            "",
            "//evil.example/a.png",
            "http://evil.example/a.png",
            "a.png",
            "/a b.png",
            "/a\"onerror=x",
            "javascript:x",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
        assert!(is_plain(&format!("/{}", "x".repeat(254))));
        assert!(!is_plain(&format!("/{}", "x".repeat(255))));
    }
}
