//! mallbox under a service manager: sockets that systemd passes, its notifications, and its watchdog.
//!
//! Each of them is off where its environment variable is missing: `LISTEN_FDS`, `NOTIFY_SOCKET`,
//! `WATCHDOG_USEC`. Reasons: `src/decisions/0079-service-manager.md`.

pub(super) mod journal;
mod notify;
mod sockets;
mod watchdog;

pub(super) use notify::{opening, ready, stopping};
pub(super) use sockets::{PassedSockets, SocketMisuse, passed_sockets};
pub(super) use watchdog::watch;
