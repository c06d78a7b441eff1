//! The bench's side: servers, instances as processes, and what is known about them.

mod location;
mod process;
mod stage;

pub use location::Location;
pub use process::Launch;
pub(crate) use stage::{SentRequest, Stage};
