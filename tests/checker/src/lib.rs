//! A consistency checker for a mall, limited to what clients see.
//!
//! A test records each request of its simulated clients and each response in a [`History`]. After a crash, a
//! failover or a full disk, [`State::read`] reads the current state over HTTP, [`LedgerReport::of`] parses
//! the output of `mallbox verify`, and [`judge()`] compares both with the history:
//!
//! ```no_run
//! use mallbox_test_checker::{Client, History, LedgerReport, Request, State, judge};
//!
//! # fn main() -> anyhow::Result<()> {
//! # let (address, operator) = ("127.0.0.1:8080".parse()?, "token");
//! # let clients = vec![Client { user: 1, token: "token".to_owned() }];
//! let mut history = History::of(clients);
//! history.open_sale(7, Some(100));
//! let (call, bytes) = history.invoke(0, Request::Claim { sale: 7 });
//! // Send `bytes`. Without a response the call stays unknown: it took effect completely or not at all.
//! history.respond(call, 200, br#"{"success":true,"data":1,"dataText":"1"}"#);
//!
//! let state = State::read(address, &history, operator)?;
//! let verify = std::process::Command::new("mallbox").args(["verify", "--json"]).output()?;
//! judge(&history, &state, Some(&LedgerReport::of(&verify)?)).passed()?;
//! # Ok(())
//! # }
//! ```
//!
//! The crate depends on no other crate of the workspace: a bug of the mall cannot hide in shared code.
//!
//! Reasons and figures: `src/decisions/0029-consistency-checker.md`.

mod failover;
mod history;
mod http;
mod judge;
mod ledger_report;
mod standing;
mod state;
mod wire;

pub use history::{Call, CallId, Client, History, OrderView, Request, Response, Summary};
pub use http::{Connection, Reply};
pub use judge::{Promise, Verdict, Violation, judge};
pub use ledger_report::{LedgerReport, SaleLedger};
pub use standing::Standing;
pub use state::{ClientState, NoteState, SaleState, State};
