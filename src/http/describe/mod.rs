//! The API's description, made of the code that answers it.
//!
//! A route is added with its description or not at all ([`Calls`]). What it takes is read off the handler's arguments
//! ([`Input`]), what it answers off the handler's result ([`Output`]), and the schemas off the types that are read and
//! written there. So nothing is written twice, and a description cannot fall behind.

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
