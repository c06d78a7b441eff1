//! URLs of pictures in responses.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::caller::Caller;
use crate::mall::base::picture_path;

/// Pictures, separated by commas: paths on this mall, and URLs elsewhere from an imported dump.
///
/// Another front end shows the URLs as hm-dianping does. mallbox's own pages request pictures from this mall
/// only: each URL becomes a path here, with a drawn placeholder for a picture not stored.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub(in crate::http) struct PictureList(pub(in crate::http) String);

impl Serialize for PictureList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if Caller::is_own_page() {
            to.serialize_str(&picture_path::to_local_paths(&self.0))
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
