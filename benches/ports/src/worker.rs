//! The process of a part: gets a task on its standard input, and writes measurements to its standard output.

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::catalogue;
use crate::error::BenchError;
use crate::measurement::Measurement;
use crate::part::Part;
use crate::servers::ServerAddresses;
use crate::settings::{Settings, Side};

/// What a process measures.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) settings: Settings,
    pub(crate) part: Part,
    pub(crate) dir: PathBuf,
    pub(crate) servers: Option<ServerAddresses>,
}

/// A line of the process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Line {
    /// A measurement.
    Measured(Measurement),
    /// The part is complete.
    End,
}

/// Measures the part that standard input names. Ends early when standard input does: the run is gone then.
///
/// # Errors
/// [`BenchError::Io`], [`BenchError::Json`]: the task cannot be read.
pub fn run_part() -> Result<(), BenchError> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let Task { settings, part, dir, servers } = serde_json::from_str(&line)?;
    std::thread::spawn(move || {
        let _ = std::io::stdin().lock().read(&mut [0]);
        std::process::exit(1);
    });
    let back_end = part.side.map_or("both", Side::back_end);
    let name = part.port.clone();
    let size = part.size;
    let emit = Box::new(|measurement| write(&Line::Measured(measurement)));
    let mut bench = Bench { settings, part, dir, servers, emit };
    let runtime = tokio::runtime::Runtime::new()?;
    if let Err(error) = runtime.block_on(catalogue::measure(&mut bench)) {
        let failed = Measurement::failed(name, back_end, error.to_string());
        write(&Line::Measured(Measurement { size: Some(size), ..failed }));
    }
    write(&Line::End);
    // Tasks of a failed measurement may hold the runtime.
    runtime.shutdown_background();
    Ok(())
}

fn write(line: &Line) {
    if let Ok(text) = serde_json::to_string(line) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}
