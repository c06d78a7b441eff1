//! What the handlers share.

use std::sync::Arc;

use super::access::Access;
use super::jobs::Jobs;
use crate::http::LearnPages;

/// What the handlers share.
pub(super) struct Learn {
    pub(super) access: Access,
    pub(super) jobs: Arc<Jobs>,
    pub(super) pages: LearnPages,
}
