//! Merges of runs, in steps. A step moves the lowest entries of all inputs to the end of the output, so that
//! between any two steps each entry is in one run, and a merge may be interrupted for ever.

use rusqlite::{Connection, Error, ErrorCode, params};

use super::entry::{self, CHUNK_MAX, Entry};
use super::runs::{self, FANOUT, Run, place};
use super::tail;

/// Entries that a step reads.
const STEP: usize = if cfg!(test) { 4 * CHUNK_MAX } else { 16_384 };
/// Entries moved per full tail. Each entry is moved once per level, and six levels hold two billion orders.
const MOVED_PER_TAIL: usize = 6 * tail::ENTRIES_MAX;

/// Merges while any level has enough runs, for a bounded number of entries. Damage ends the merges, and is no
/// error: the index must not keep a mall from selling.
pub(super) fn advance(conn: &Connection) -> rusqlite::Result<()> {
    let mut moved = 0;
    while moved < MOVED_PER_TAIL
        && let Some(merge) = next(conn)?
    {
        conn.prepare_cached("SAVEPOINT merge")?.execute([])?;
        let done = match merge.step(conn) {
            Err(error) if !is_damage(&error) => return Err(error),
            done => done.ok().flatten(),
        };
        if done.is_none() {
            tracing::error!(
                run = merge.output,
                "damaged index of orders by user; suspended its merges: run mallbox verify"
            );
            conn.prepare_cached("ROLLBACK TO merge")?.execute([])?;
        }
        conn.prepare_cached("RELEASE merge")?.execute([])?;
        moved += done.unwrap_or(MOVED_PER_TAIL);
    }
    Ok(())
}

/// Returns whether an error of a merge is due to the contents of the tables.
fn is_damage(error: &Error) -> bool {
    let of_contents = [ErrorCode::ConstraintViolation, ErrorCode::DatabaseCorrupt];
    error.sqlite_error_code().is_some_and(|code| of_contents.contains(&code))
        || matches!(error, Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..))
}

/// A merge under way.
struct Merge {
    inputs: Vec<i64>,
    output: i64,
}

/// Returns the merge of the lowest level that has one under way, or enough runs to begin one.
fn next(conn: &Connection) -> rusqlite::Result<Option<Merge>> {
    let runs = runs::directory(conn)?;
    let highest = runs.iter().map(|run| run.level).max().unwrap_or(0);
    for level in 0..=highest {
        let of_level = || runs.iter().filter(|run| run.level == level);
        if let Some(output) = of_level().find_map(|run| run.merged_into) {
            let inputs = runs.iter().filter(|run| run.merged_into == Some(output));
            return Ok(Some(Merge { inputs: inputs.map(|run| run.number).collect(), output }));
        }
        let is_output = |run: &Run| runs.iter().any(|input| input.merged_into == Some(run.number));
        let idle: Vec<i64> = of_level().filter(|run| !is_output(run)).map(|run| run.number).collect();
        if idle.len() >= FANOUT {
            return begin(conn, idle, level + 1).map(Some);
        }
    }
    Ok(None)
}

fn begin(conn: &Connection, inputs: Vec<i64>, level: u32) -> rusqlite::Result<Merge> {
    let output = runs::create(conn, level)?;
    let mut mark = conn.prepare_cached("UPDATE order_runs SET merged_into = ?2 WHERE run = ?1")?;
    for input in &inputs {
        mark.execute([*input, output])?;
    }
    Ok(Merge { inputs, output })
}

/// Chunks of an input from its beginning.
struct Head {
    run: i64,
    chunks: Vec<(i64, Vec<Entry>)>,
    /// Whether the run has no further chunks.
    is_all: bool,
}

impl Merge {
    /// Moves the entries of a step. Returns their number, at least 1 unless the inputs are empty. `None` if a
    /// run is damaged.
    fn step(&self, conn: &Connection) -> rusqlite::Result<Option<usize>> {
        let chunks = (STEP / CHUNK_MAX / self.inputs.len()).max(1);
        let mut heads =
            self.inputs.iter().map(|run| head(conn, *run, chunks)).collect::<rusqlite::Result<Vec<_>>>()?;
        if !heads.iter().all(Head::is_whole) {
            return Ok(None);
        }
        // Up to the least of the last slots read, the inputs' entries are known: no slot is split.
        let limit = heads.iter().filter(|head| !head.is_all).filter_map(Head::last_slot).min();
        let mut moved = Vec::with_capacity(STEP);
        for head in &mut heads {
            head.move_through(conn, limit.unwrap_or(i64::MAX), &mut moved)?;
        }
        // A stable sort merges the sorted inputs.
        moved.sort();
        runs::append(conn, self.output, &moved)?;
        Ok(Some(moved.len()))
    }
}

/// Reads up to `max` chunks.
fn head(conn: &Connection, run: i64, max: usize) -> rusqlite::Result<Head> {
    let chunks: Vec<(i64, Vec<Entry>)> = conn
        .prepare_cached(
            "SELECT place, entries FROM order_chunks WHERE place BETWEEN ?1 AND ?2 ORDER BY place LIMIT ?3",
        )?
        .query_map(params![place(run, 0), place(run + 1, 0) - 1, max as i64], |row| {
            Ok((row.get(0)?, entry::decode(row.get_ref(1)?.as_blob()?).collect()))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Head { run, is_all: chunks.len() < max, chunks })
}

impl Head {
    /// Returns whether the chunks are as written: sorted, in place, and one after another.
    fn is_whole(&self) -> bool {
        let ends_before = |entries: &[Entry], next: i64| {
            entries.last().is_some_and(|last| place(self.run, last.slot()) < next)
        };
        self.chunks.iter().all(|(place, entries)| runs::is_whole(*place, entries))
            && self.chunks.windows(2).all(|pair| ends_before(&pair[0].1, pair[1].0))
    }

    fn last_slot(&self) -> Option<i64> {
        self.chunks.last().and_then(|(_, entries)| entries.last()).map(|last| last.slot())
    }

    /// Removes the entries with slots up to `limit` from the run, and appends them to `moved`. Removes the
    /// run itself if nothing is left.
    fn move_through(
        &mut self,
        conn: &Connection,
        limit: i64,
        moved: &mut Vec<Entry>,
    ) -> rusqlite::Result<()> {
        let mut delete = conn.prepare_cached("DELETE FROM order_chunks WHERE place = ?1")?;
        let mut left = false;
        for (place, entries) in &self.chunks {
            let (below, above) = entries.split_at(entries.partition_point(|entry| entry.slot() <= limit));
            moved.extend_from_slice(below);
            if !below.is_empty() || above.is_empty() {
                delete.execute([place])?;
                runs::append(conn, self.run, above)?;
            }
            left |= !above.is_empty();
        }
        if self.is_all && !left {
            conn.prepare_cached("DELETE FROM order_runs WHERE run = ?1")?.execute([self.run])?;
        }
        Ok(())
    }
}
