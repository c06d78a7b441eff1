//! Malls of others: servers that speak a dialect of their own.
//!
//! A dialect says how to claim, how its answers are told apart, how users log in and where the orders are
//! counted. Reasons: `src/decisions/0067-dialects.md`.

mod answers;
mod dialect;
mod faults;
mod log_in;
mod orders;
mod target;
mod template;

pub use answers::RuleFault;
pub(super) use answers::{AnswerKind, PreparedRules, Rule};
pub(super) use dialect::CutRequest;
pub use dialect::{Dialect, error_line};
pub use faults::DialectError;
pub(super) use orders::OrderCount;
pub(super) use target::REQUEST_TIMEOUT;
pub use target::{Target, TargetError};
pub(super) use template::is_header_value;
