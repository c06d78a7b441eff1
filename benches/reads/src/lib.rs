//! Ways to read what others wrote, compared by measurement on real components: [`feeds`] (push, pull,
//! hybrid) and [`caches`] (strategies, and what each does in a stampede).
//!
//! A way is a file in `ways/`. Experiments hold, kill and overtake calls at named points and reach verdicts,
//! which are compared with the table in `expected.rs`; costs are measured without any trick.
//!
//! To add a way: a file in `ways/`, a line in `ways/mod.rs`, and its verdicts in `expected.rs`.

pub mod caches;
pub mod feeds;
mod held_loads;
mod servers;
mod stage;
mod way;

pub use held_loads::HeldLoads;
pub use servers::Servers;
pub use stage::Stage;
pub use way::Way;
