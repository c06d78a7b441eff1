//! The callers whom a listener serves.

/// The callers whom a listener serves.
///
/// Reasons: `src/decisions/0046-listener-for-operators.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Audience {
    /// Customers and operators: every call and page.
    #[default]
    Everybody,
    /// Customers: without the calls of operators, the console, the metrics and the details of `/readyz`.
    Customers,
}
