//! The path of a request: merged slashes, without the prefix of the API.

use std::borrow::Cow;

use mallbox_storage::Phone;

/// Merges the slashes of a path and strips the prefix. Returns the path, and whether the prefix was present.
pub(in crate::http) fn strip_prefix<'a>(path: &'a str, prefix: &str) -> (Cow<'a, str>, bool) {
    let merged = if path.contains("//") { Cow::Owned(without_doubles(path)) } else { Cow::Borrowed(path) };
    let is_below = merged.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
    if !is_below || prefix.is_empty() {
        return (merged, is_below);
    }
    let rest = match merged {
        Cow::Borrowed(path) => Cow::Borrowed(&path[prefix.len()..]),
        Cow::Owned(path) => Cow::Owned(path[prefix.len()..].to_owned()),
    };
    (rest, true)
}

/// Merges slashes: `/imgs//types/ms.png` → `/imgs/types/ms.png`.
fn without_doubles(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !merged.ends_with('/') {
            merged.push(c);
        }
    }
    merged
}

/// Returns a path for the log, without phone numbers: the command line names users by phone.
pub(in crate::http) fn without_phones(path: &str) -> Cow<'_, str> {
    let is_phone = |part: &str| Phone::parse(part).is_some();
    if !path.split('/').any(is_phone) {
        return Cow::Borrowed(path);
    }
    let parts: Vec<_> = path.split('/').map(|part| if is_phone(part) { "{phone}" } else { part }).collect();
    Cow::Owned(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_log_has_no_phones() {
        for (path, want) in [
            ("/control/users/13900000001/code", "/control/users/{phone}/code"),
            ("/control/users/13900000001", "/control/users/{phone}"),
            ("/user/13900000001x/139", "/user/13900000001x/139"),
            ("", ""),
        ] {
            assert_eq!(without_phones(path), want);
        }
    }

    #[test]
    fn slashes_are_merged() {
        assert_eq!(without_doubles("/imgs//types///ms.png"), "/imgs/types/ms.png");
        assert_eq!(without_doubles("//"), "/");
    }
}
