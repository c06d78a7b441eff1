//! Classification of MySQL's errors, and their translation to the port's errors.

use std::fmt;
use std::time::Duration;

use mallbox_storage::StoreError;
use mysql_async::{DriverError, Error, ServerError};

use crate::breaker::CircuitOpenError;

/// Why a job failed.
#[derive(Debug)]
pub(super) enum MysqlError {
    /// An error of the driver or of the server.
    Driver(Error),
    /// No response within this time limit.
    Silence(Duration),
    /// No connection within this time limit.
    Unreachable(Duration),
    /// The circuit breaker rejected the call.
    NotCalled(CircuitOpenError),
    /// The database was closed.
    Closed,
    /// An assumption of the job does not hold, because of concurrent writes.
    Overtaken,
    /// The job found its input in violation of a rule of the database.
    Refused(String),
    /// The job found a value in the database that no mall writes.
    Corrupt(String),
}

impl From<Error> for MysqlError {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// A deadlock; a lock wait timeout; a row changed since the snapshot (MariaDB).
const RETRYABLE_CODES: [u16; 3] = [1213, 1205, 1020];
/// No space for a file, or for a table.
const DISK_FULL_CODES: [u16; 2] = [1021, 1114];
/// A failed write. Only the message tells whether the disk is full.
const FAILED_WRITE_CODES: [u16; 4] = [3, 1026, 1030, 1878];
/// The server's texts for `ENOSPC`.
const ENOSPC_TEXTS: [&str; 3] = ["No space left", "error 28", "errno: 28"];
/// The server shuts down, has ended the connection, or is read-only: perhaps after a failover to another
/// server.
const READ_ONLY_OR_CLOSED_CODES: [u16; 6] = [1053, 1290, 1792, 1836, 1927, 4031];
/// The server, or this user, has reached its connection limit.
const CONNECTION_LIMIT_CODES: [u16; 2] = [1040, 1203];
const DUPLICATE_KEY_CODE: u16 = 1062;
/// Violated rules without an SQLSTATE of the right class: wrong text for a column, a check (MySQL's number,
/// then MariaDB's), a number out of range, a packet too large.
const RULE_VIOLATION_CODES: [u16; 6] = [1366, 3819, 4025, 1690, 1264, 1153];
/// A damaged table or index.
const CORRUPTION_CODES: [u16; 5] = [1034, 1035, 1194, 1195, 1712];

impl MysqlError {
    /// Returns a fault for input in violation of `rule`.
    pub(super) fn refused(rule: impl Into<String>) -> Self {
        Self::Refused(rule.into())
    }

    /// Whether the server rolled back the transaction in favour of another. The job may be retried.
    pub(super) fn is_rolled_back(&self) -> bool {
        self.code().is_some_and(|code| RETRYABLE_CODES.contains(&code))
    }

    /// Whether the server has no free connection at present.
    pub(super) fn is_connection_limit(&self) -> bool {
        self.code().is_some_and(|code| CONNECTION_LIMIT_CODES.contains(&code))
    }

    /// Whether a unique key rejected a row.
    pub(super) fn is_duplicate_key(&self) -> bool {
        self.code() == Some(DUPLICATE_KEY_CODE)
    }

    /// Whether the input alone is at fault.
    pub(super) fn is_rule_violation(&self) -> bool {
        match self {
            Self::Refused(_) => true,
            Self::Driver(Error::Server(server_error)) => breaks_rule(server_error),
            _ => false,
        }
    }

    /// Whether the connection is unusable or in an unknown state.
    pub(super) fn leaves_connection_unusable(&self) -> bool {
        match self {
            Self::Driver(Error::Server(server_error)) => {
                READ_ONLY_OR_CLOSED_CODES.contains(&server_error.code)
            }
            Self::Driver(_) | Self::Silence(_) | Self::Unreachable(_) => true,
            Self::NotCalled(_) | Self::Closed | Self::Overtaken | Self::Refused(_) | Self::Corrupt(_) => {
                false
            }
        }
    }

    /// Whether the connection is lost, perhaps since long ago.
    pub(super) fn is_lost_connection(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Driver(Error::Io(_) | Error::Driver(DriverError::ConnectionClosed))
        )
    }

    /// Whether the database is at fault, and not the input.
    pub(super) fn is_server_failure(&self) -> bool {
        match self {
            Self::Driver(Error::Server(server_error)) => !breaks_rule(server_error),
            Self::Driver(_) | Self::Silence(_) | Self::Unreachable(_) | Self::NotCalled(_) | Self::Closed => {
                true
            }
            Self::Overtaken | Self::Refused(_) | Self::Corrupt(_) => false,
        }
    }

    /// Translates the fault to the error for the caller of `op`.
    pub(super) fn into_store_error(self, op: &'static str) -> StoreError {
        match self {
            Self::Driver(Error::Server(server_error)) => explain_server(op, server_error),
            Self::Driver(error @ Error::Driver(DriverError::PacketTooLarge)) => {
                StoreError::Refused { op, source: error.into() }
            }
            Self::Driver(error) => StoreError::Unavailable { op, source: error.into() },
            Self::Silence(_) | Self::Unreachable(_) | Self::NotCalled(_) | Self::Closed | Self::Overtaken => {
                StoreError::Unavailable { op, source: self.to_string().into() }
            }
            Self::Refused(rule) => StoreError::Refused { op, source: rule.into() },
            Self::Corrupt(key) => StoreError::Corrupt { op, key },
        }
    }

    fn code(&self) -> Option<u16> {
        match self {
            Self::Driver(Error::Server(server_error)) => Some(server_error.code),
            _ => None,
        }
    }
}

impl fmt::Display for MysqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(error) => error.fmt(f),
            Self::Silence(limit) => write!(f, "no response within {limit:?}"),
            Self::Unreachable(limit) => write!(f, "no connection within {limit:?}"),
            Self::NotCalled(refused) => refused.fmt(f),
            Self::Closed => f.write_str("the database is closed"),
            Self::Overtaken => f.write_str("repeated conflicts with concurrent transactions"),
            Self::Refused(rule) => f.write_str(rule),
            Self::Corrupt(key) => write!(f, "bad record at {key}"),
        }
    }
}

/// Any error other than a full disk, a violated rule or damage may be temporary (a server that shuts down, a
/// replica after a failover that is still read-only) or is a bug (a missing table). Both count as
/// unavailable. Even for a bug, a growing log and an alerted operator are better than dead-lettered claims.
fn explain_server(op: &'static str, server_error: ServerError) -> StoreError {
    let is_full = DISK_FULL_CODES.contains(&server_error.code)
        || FAILED_WRITE_CODES.contains(&server_error.code)
            && ENOSPC_TEXTS.iter().any(|words| server_error.message.contains(words));
    if is_full {
        StoreError::Full { op, detail: server_error.to_string() }
    } else if breaks_rule(&server_error) {
        StoreError::Refused { op, source: server_error.into() }
    } else if CORRUPTION_CODES.contains(&server_error.code) {
        StoreError::Corrupt { op, key: server_error.to_string() }
    } else {
        StoreError::Unavailable { op, source: server_error.into() }
    }
}

/// Decides by the error number or by the SQLSTATE class: invalid data, a violated constraint, a trigger's own
/// error.
fn breaks_rule(server_error: &ServerError) -> bool {
    RULE_VIOLATION_CODES.contains(&server_error.code)
        || ["22", "23", "45"].iter().any(|class| server_error.state.starts_with(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_error(code: u16, state: &str, message: &str) -> MysqlError {
        let (state, message) = (state.to_owned(), message.to_owned());
        MysqlError::Driver(Error::Server(ServerError { code, message, state }))
    }

    fn kind(fault: MysqlError) -> &'static str {
        match fault.into_store_error("op") {
            StoreError::Unavailable { .. } => "unavailable",
            StoreError::Full { .. } => "full",
            StoreError::Refused { .. } => "refused",
            StoreError::Corrupt { .. } => "corrupt",
            _ => "unknown to this test",
        }
    }

    #[test]
    fn each_word_of_the_server_has_its_meaning() {
        for (code, state, message, expected) in [
            (1213, "40001", "Deadlock found", "unavailable"),
            (1205, "HY000", "Lock wait timeout exceeded", "unavailable"),
            (1040, "08004", "Too many connections", "unavailable"),
            (1053, "08S01", "Server shutdown in progress", "unavailable"),
            (1045, "28000", "Access denied", "unavailable"),
            (1146, "42S02", "Table 'orders' doesn't exist", "unavailable"),
            (1290, "HY000", "running with the --read-only option", "unavailable"),
            (1030, "HY000", "Got error 168 from storage engine", "unavailable"),
            (1030, "HY000", "Got error 28 from storage engine", "full"),
            (1026, "HY000", "Error writing file 'a' (Errcode: 28 \"No space left on device\")", "full"),
            (1114, "HY000", "The table 'orders' is full", "full"),
            (1021, "HY000", "Disk full", "full"),
            (1062, "23000", "Duplicate entry", "refused"),
            (1048, "23000", "Column 'a' cannot be null", "refused"),
            (1406, "22001", "Data too long", "refused"),
            (1366, "HY000", "Incorrect string value", "refused"),
            (3819, "HY000", "Check constraint is violated", "refused"),
            (1644, "45000", "not for seven", "refused"),
            (1153, "08S01", "Got a packet bigger than 'max_allowed_packet'", "refused"),
            (1194, "HY000", "Table is marked as crashed", "corrupt"),
        ] {
            assert_eq!(kind(server_error(code, state, message)), expected, "{code} {message}");
        }
        assert_eq!(kind(MysqlError::Silence(Duration::ZERO)), "unavailable");
        assert_eq!(kind(MysqlError::refused("a rule")), "refused");
        assert_eq!(kind(MysqlError::Corrupt("status".into())), "corrupt");
    }

    #[test]
    fn a_collision_leaves_the_connection_as_it_was() {
        for code in RETRYABLE_CODES {
            let fault = server_error(code, "HY000", "");
            assert!(fault.is_rolled_back() && !fault.leaves_connection_unusable());
        }
        assert!(MysqlError::Silence(Duration::ZERO).leaves_connection_unusable());
        assert!(server_error(1290, "HY000", "--read-only").leaves_connection_unusable());
        assert!(MysqlError::Driver(DriverError::ConnectionClosed.into()).leaves_connection_unusable());
    }
}
