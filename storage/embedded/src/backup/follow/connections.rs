//! Connections of a follower to the database: one counts frames, two take turns at a read transaction.

use std::path::Path;

use rusqlite::Connection;

use crate::backup::copy::source;

/// Connections that read alone.
pub(super) struct Connections {
    /// Has no transaction: in one, SQLite refuses to count.
    counter: Connection,
    guards: [Connection; 2],
}

/// A read transaction of one of the connections, which restricts restarts of the `-wal` file.
///
/// SQLite begins the file anew only when all frames are copied to the database file and no reader needs a
/// frame. Two kinds of readers:
///
/// - Some frames were not copied when the transaction began: no restart until the transaction ends.
/// - All frames were copied: the reader needs the database file alone, and blocks the copying of later
///   frames. If a commit is appended behind, not all frames are copied, and no restart follows. Otherwise a
///   restart may follow, and the new generation is never begun anew, for its first commit cannot be copied.
///
/// So a restart under a guard means: the guard's last commit was the last one of its generation, and only the
/// newest generation has commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guard(usize);

/// Frames in the `-wal` file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Frames {
    /// Up to the last commit. Without a failed commit, whose frames may all be in the file.
    pub(super) committed: u32,
    /// Copied to the database file.
    pub(super) copied: u32,
}

impl Connections {
    pub(super) fn open(database: &Path) -> rusqlite::Result<Self> {
        let open = || source(database, false);
        let connections = Self { counter: open()?, guards: [open()?, open()?] };
        // SQLite opens the files at the first call.
        connections.counter.query_row("PRAGMA user_version", [], |_| Ok(()))?;
        Ok(connections)
    }

    /// Begins a read transaction beside `former`, which goes on.
    pub(super) fn guard(&self, former: Option<Guard>) -> rusqlite::Result<Guard> {
        let guard = Guard(former.map_or(0, |former| 1 - former.0));
        let connection = &self.guards[guard.0];
        if !connection.is_autocommit() {
            // Of a call that failed.
            self.release(guard)?;
        }
        connection.prepare_cached("BEGIN")?.execute([])?;
        // The first query takes the lock.
        connection.prepare_cached("PRAGMA user_version")?.query_row([], |_| Ok(()))?;
        Ok(guard)
    }

    /// Ends a read transaction.
    pub(super) fn release(&self, guard: Guard) -> rusqlite::Result<()> {
        self.guards[guard.0].prepare_cached("ROLLBACK")?.execute([]).map(drop)
    }

    /// Counts the frames, without copying any.
    pub(super) fn frames(&self) -> rusqlite::Result<Frames> {
        let mut count = self.counter.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
        count.query_row([], |row| {
            let frames = |column| row.get(column).map(|frames: i64| u32::try_from(frames).unwrap_or(0));
            Ok(Frames { committed: frames(1)?, copied: frames(2)? })
        })
    }
}
