//! A load generator: HTTP/1.1 over keep-alive connections, on one thread or several.
//!
//! Low cost per request is the purpose. On a machine whose cores the generator shares with the server, each
//! microsecond spent on a request lowers the reported rate. A request costs one write, one read and a share
//! of an `epoll_wait`. Buffers are reused, so nothing is allocated once they have grown.
//!
//! - Closed loop (`shape: None`): a connection sends the next request after the response to the last.
//! - Open loop (`shape: Some(..)`): requests are due at instants that do not depend on the server, and a
//!   latency counts from the due instant. A stalled server cannot hide the requests due during the stall
//!   (coordinated omission).
//!
//! Reasons and figures: `src/decisions/0066-load-generator.md`.
//!
//! One request is in flight per connection. Responses need a `content-length` or chunks; others are
//! counted as unreadable. HEAD and CONNECT are not supported.

mod chunked;
mod connection;
mod crew;
mod dispatch;
mod driver;
mod error;
mod exchange;
mod pace;
mod ready_set;
mod report;
mod request;
mod response;
mod response_error;
mod run;
mod schedule;
mod script;
mod shape;
mod shape_text;
mod share;
mod start_line;
mod tally;
#[cfg(test)]
mod tests;

pub use self::response_error::ResponseError;
pub use error::{Fault, LoadError};
pub use exchange::{Exchanged, exchange};
pub use report::{Errors, Report};
pub use request::{get, post};
pub use run::{run, run_on_threads};
pub use script::{Answer, Load, Progress, Script};
pub use shape::{Piece, Shape, ShapeError};
pub use shape_text::ShapeTextError;
pub use share::Share;
