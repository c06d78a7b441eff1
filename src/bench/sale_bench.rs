//! What `bench sale` is asked to measure.

use std::net::SocketAddr;
use std::time::Duration;

use mallbox_storage::VoucherId;

use super::site::Ground;

/// What to measure.
#[derive(Clone, Debug)]
pub struct SaleBench {
    /// People who press, each once a sale.
    pub users: usize,
    /// Units of each sale; `None` = unlimited.
    pub units: Option<u64>,
    /// Sales, one after another.
    pub sales: usize,
    /// Connections that the crowd shares.
    pub connections: usize,
    /// Claims per second over all connections; `None` = as fast as answers come.
    pub rate: Option<f64>,
    /// How long the ceiling and the refusals are measured.
    pub span: Duration,
    /// Whether every claim is held against its user's limit, which none reaches.
    pub limits: bool,
    /// Where the sales are, by turns.
    pub grounds: Vec<Ground>,
    /// Turns that each of these has.
    pub rounds: usize,
    /// A server that runs already, with the tokens of people who may press and the sales they press in.
    pub server: Option<(SocketAddr, Vec<String>, Vec<VoucherId>)>,
}
