//! The path of a request: merged slashes, without the prefix of the API.

use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_merged() {
        assert_eq!(without_doubles("/imgs//types///ms.png"), "/imgs/types/ms.png");
        assert_eq!(without_doubles("//"), "/");
    }
}
