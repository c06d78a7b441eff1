//! Addresses of pictures in answers.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::caller::Caller;
use crate::mall::picture_path;

/// Pictures, between commas: paths on this mall, and addresses elsewhere that moved in with a dump.
///
/// Another front end shows an address as its own mall did. mallbox's own pages ask nobody but this mall: each address is a
/// path here, where a drawn picture stands for one that is not at hand.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub(super) struct PictureList(pub(super) String);

impl Serialize for PictureList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if Caller::is_own_page() {
            to.serialize_str(&picture_path::on_this_mall(&self.0))
        } else {
            to.serialize_str(&self.0)
        }
    }
}

impl From<String> for PictureList {
    fn from(pictures: String) -> Self {
        Self(pictures)
    }
}
