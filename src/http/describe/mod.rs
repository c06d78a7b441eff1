//! The API's OpenAPI description, generated from the code of the calls.
//!
//! A route cannot be added without a description ([`Calls`]). Parameters come from the handler's arguments
//! ([`Input`]), responses from the handler's result ([`Output`]), and schemas from the deserialized and
//! serialized types. Nothing is written twice, and the description cannot become outdated.
//!
//! Reasons and figures: `src/decisions/0003-routes-with-descriptions.md`.

mod calls;
mod document;
mod inputs;
mod operation;
mod outputs;
mod schemas;

pub use calls::{Calls, Described};
pub use document::Document;
pub use inputs::Input;
pub use operation::Operation;
pub use outputs::{Output, Shape};
pub use schemas::Schemas;
