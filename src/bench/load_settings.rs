//! Settings of `bench load`, `bench export` and their users.

use std::path::PathBuf;
use std::time::Duration;

use mallbox_storage::VoucherId;

use super::agent::AgentAddress;
use super::foreign::{Dialect, Target};
use super::generator::Generator;
use super::load::Shape;
use super::preset::Preset;

/// Settings of a run of `bench load`.
#[derive(Clone, Debug)]
pub struct LoadBench {
    /// The server.
    pub target: Target,
    /// Its dialect.
    pub dialect: Dialect,
    /// The users who claim.
    pub users: UserSource,
    /// The sales to claim from, one after another.
    pub sales: Vec<VoucherId>,
    /// The published load that users, connections and units are from.
    pub preset: Option<Preset>,
    /// Units of each sale at the start, if known.
    pub units: Option<u64>,
    /// Claims of each user in a sale.
    pub claims_per_user: usize,
    /// The load generator.
    pub generator: Generator,
    /// Arrivals of the claims; `None` = closed loop.
    pub shape: Option<Shape>,
    /// URL of the mall's Redis, for the login codes.
    pub redis: Option<String>,
    /// URL of the mall's MySQL, for the count of orders.
    pub mysql: Option<String>,
    /// Longest time until all orders are written.
    pub settle: Duration,
    /// Agents that make the claims instead of this process, each with the generator's connections and
    /// threads.
    pub agents: Vec<AgentAddress>,
    /// The URL of the target as agents know it.
    pub target_url: String,
    /// Name of the dialect, for the result.
    pub dialect_name: String,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}

/// Where the session tokens of the users come from.
#[derive(Clone, Debug)]
pub enum UserSource {
    /// Known tokens.
    Tokens(Vec<String>),
    /// So many users log in first; the file for their tokens, if any.
    LogIn {
        /// Number of users.
        users: usize,
        /// A file to create, one token a line.
        save: Option<PathBuf>,
    },
}
