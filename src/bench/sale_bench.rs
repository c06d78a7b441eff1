//! Settings of `bench sale`.

use std::net::SocketAddr;
use std::time::Duration;

use mallbox_storage::VoucherId;

use super::site::BenchTarget;

/// Settings of a run of `bench sale`.
#[derive(Clone, Debug)]
pub struct SaleBench {
    /// Number of users; each sends one claim per sale.
    pub users: usize,
    /// Units of each sale; `None` = unlimited.
    pub units: Option<u64>,
    /// Number of sales, one after another.
    pub sales: usize,
    /// Connections shared by all users.
    pub connections: usize,
    /// Claims per second over all connections; `None` = closed loop.
    pub rate: Option<f64>,
    /// Duration of the measurements of the ceiling and of the refusals.
    pub span: Duration,
    /// Whether every claim is checked against the user's rate limit, which is never reached.
    pub limits: bool,
    /// Grounds to run on, in alternating order.
    pub grounds: Vec<BenchTarget>,
    /// Rounds on each ground.
    pub rounds: usize,
    /// A running server, with session tokens of its users and the sales to claim from.
    pub server: Option<(SocketAddr, Vec<String>, Vec<VoucherId>)>,
}
