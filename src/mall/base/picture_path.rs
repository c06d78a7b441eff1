//! Picture paths in user input, and external picture addresses from an import.

use std::borrow::Cow;

/// Path prefix under which pages request a picture from an external address; the host name follows.
const REMOTE_PREFIX: &str = "/imgs/remote/";

/// Returns whether `text` is a path on this mall. External addresses are rejected, because every reader's
/// browser would contact another host.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    let elsewhere = text.starts_with("//") || !text.starts_with('/');
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\');
    !elsewhere && !text.contains(odd) && text.len() <= 255
}

/// Returns an external address without scheme, query and fragment; `None` for a path on this mall.
#[must_use]
pub fn external_address(picture: &str) -> Option<&str> {
    let address = ["https://", "http://", "//"].iter().find_map(|scheme| picture.strip_prefix(scheme))?;
    address.split(['?', '#']).next()
}

/// Rewrites comma-separated pictures to paths on this mall. External addresses are mapped below
/// `/imgs/remote/`.
#[must_use]
pub fn to_local_paths(pictures: &str) -> Cow<'_, str> {
    if pictures.split(',').all(|picture| external_address(picture).is_none()) {
        return Cow::Borrowed(pictures);
    }
    let paths = pictures.split(',').map(|picture| match external_address(picture) {
        Some(address) => format!("{REMOTE_PREFIX}{address}"),
        None => picture.to_owned(),
    });
    Cow::Owned(paths.collect::<Vec<_>>().join(","))
}

/// Reverses [`to_local_paths`] for pictures sent back by one of the mall's own pages: a path derived from an
/// address in `stored` becomes the address again.
#[must_use]
pub fn restore_addresses(pictures: &str, stored: &str) -> String {
    let original = |picture: &str| {
        let is_it = |stored: &&str| external_address(stored).is_some() && to_local_paths(stored) == picture;
        stored.split(',').find(is_it).unwrap_or(picture).to_owned()
    };
    pictures.split(',').map(|picture| original(picture.trim())).collect::<Vec<_>>().join(",")
}

/// Extracts the name of an upload from a path in user input; `None` if no upload can have this name.
pub(in crate::mall) fn upload_name(path: &str) -> Option<String> {
    const LENGTH_MAX: usize = 100;
    let rest = path.strip_prefix("/imgs").unwrap_or(path).trim_start_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-.".contains(&byte);
    (rest.starts_with("blogs/") && rest.len() <= LENGTH_MAX && rest.bytes().all(is_plain))
        .then(|| format!("/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_elsewhere_is_a_path_here_and_comes_back_unchanged() {
        let stored = "https://p0.example/x/y.jpg?w=1#top,/imgs/a.png,//q.example/1.png";
        let here = "/imgs/remote/p0.example/x/y.jpg,/imgs/a.png,/imgs/remote/q.example/1.png";
        assert_eq!(to_local_paths(stored), here);
        assert_eq!(restore_addresses(here, stored), stored);
        assert_eq!(
            restore_addresses("/imgs/b.png, /imgs/remote/q.example/1.png", stored),
            "/imgs/b.png,//q.example/1.png"
        );
        assert_eq!(to_local_paths("/imgs/a.png,,b"), "/imgs/a.png,,b");
        assert_eq!(
            restore_addresses("/imgs/remote/p0.example/other.jpg", stored),
            "/imgs/remote/p0.example/other.jpg"
        );
    }

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
