//! Pictures that a note or review shows.

use std::collections::BTreeSet;

use mallbox_storage::{Timestamp, UserId};

use super::Pictures;
use crate::mall::base::{Failure, InputError, Refusal, picture_path};

/// Maximum number of pictures per note or review.
const PICTURES: usize = 9;

/// Rejects pictures uploaded by others, who could delete them. The author's own uploads are protected from
/// the sweep until the note or review refers to them.
pub(super) async fn check_uploads(
    pictures: &Pictures,
    author: UserId,
    names: BTreeSet<String>,
    now: Timestamp,
) -> Result<(), Failure> {
    let uploads: Vec<String> = names.into_iter().filter(|name| name.starts_with("/blogs/")).collect();
    match &*pictures.keep(author, &uploads, now).await? {
        [] => Ok(()),
        _ => Err(Refusal::NotFound("picture").into()),
    }
}

/// Validates the picture paths of a note or review.
pub(super) fn check_paths(images: &str) -> Result<String, InputError> {
    let paths: Vec<&str> = images.split(',').map(str::trim).filter(|path| !path.is_empty()).collect();
    let is_below = |path: &&str| path.starts_with("/imgs/") && !path.split('/').any(|part| part == "..");
    let fit = paths.iter().all(|path| picture_path::is_plain(path) && is_below(path));
    if fit && paths.len() <= PICTURES {
        Ok(paths.join(","))
    } else {
        Err(InputError::OutOfRange("note images"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_paths_below_imgs_and_no_more_than_nine() {
        for (images, kept) in [
            ("", ""),
            (" , ,", ""),
            ("/imgs/blogs/1/a.jpg", "/imgs/blogs/1/a.jpg"),
            (" /imgs//blogs/1/a.jpg , /imgs/b.png,", "/imgs//blogs/1/a.jpg,/imgs/b.png"),
        ] {
            assert_eq!(check_paths(images).as_deref(), Ok(kept), "{images}");
        }
        for images in [
            "/blogs/1/a.jpg",
            "/imgs/../secret",
            "/imgs/a b.jpg",
            "/imgs/a\"onerror=x",
            "https://evil.example/imgs/a.jpg",
            "//imgs/a.jpg",
            "/imgs/a.jpg,javascript:x",
        ] {
            assert_eq!(check_paths(images), Err(InputError::OutOfRange("note images")), "{images}");
        }
        let many = |count: usize| vec!["/imgs/a.jpg"; count].join(",");
        assert!(check_paths(&many(9)).is_ok());
        assert!(check_paths(&many(10)).is_err());
    }
}
