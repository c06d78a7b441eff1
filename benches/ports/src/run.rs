//! Runs a part in a process of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::measurement::Measurement;
use crate::part::Part;
use crate::servers::ServerAddresses;
use crate::settings::{Settings, Side};
use crate::worker::{Line, Task};

/// Times its estimate that a part may take, and the time that it may take anyway.
const PATIENCE: f64 = 10.0;
const PATIENCE_MIN: Duration = Duration::from_secs(60);
/// Characters of the process' last words in a failed measurement.
const LAST_WORDS: usize = 300;

/// Measures a part in a process that `command` starts, with its files below `dir`. `on_measured` gets each
/// measurement as soon as it is made. A process that dies, or takes many times its estimate, is a failed
/// measurement.
///
/// # Errors
/// [`BenchError::Io`]: the process cannot be started.
pub fn measure_part(
    mut command: Command,
    (part, settings): (&Part, &Settings),
    (dir, servers): (&Path, Option<&ServerAddresses>),
    mut on_measured: impl FnMut(&Measurement),
) -> Result<Vec<Measurement>, BenchError> {
    let task = Task {
        settings: settings.clone(),
        part: part.clone(),
        dir: dir.to_owned(),
        servers: servers.cloned(),
    };
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Kept open until the process ends: its end means that this process is gone.
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        writeln!(input, "{}", serde_json::to_string(&task)?)?;
    }
    let mut measured = Vec::new();
    let outcome = lines(&mut child, patience(part), |measurement| {
        on_measured(&measurement);
        measured.push(measurement);
    });
    let _ = child.kill();
    child.wait()?;
    drop(input);
    if let Err(why) = outcome {
        let back_end = part.side.map_or("both", Side::back_end);
        let failed =
            Measurement { size: Some(part.size), ..Measurement::failed(part.port.clone(), back_end, why) };
        on_measured(&failed);
        measured.push(failed);
    }
    Ok(measured)
}

fn patience(part: &Part) -> Duration {
    Duration::from_secs_f64(part.seconds * PATIENCE).max(PATIENCE_MIN)
}

/// Reads the lines of a process until its part is complete. Returns why the part is not.
fn lines(
    child: &mut Child,
    patience: Duration,
    mut on_measured: impl FnMut(Measurement),
) -> Result<(), String> {
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    let words = child.stderr.take().map(|mut errors| {
        std::thread::spawn(move || {
            let mut words = Vec::new();
            let _ = errors.read_to_end(&mut words);
            String::from_utf8_lossy(&words).into_owned()
        })
    });
    let until = Instant::now() + patience;
    loop {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(Line::Measured(measurement)) => on_measured(measurement),
                Ok(Line::End) => return Ok(()),
                Err(error) => return Err(format!("the process of the part wrote nonsense: {error}")),
            },
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("the part takes longer than {} s", patience.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let words = words.and_then(|words| words.join().ok()).unwrap_or_default();
                let from = words.trim_end().len().saturating_sub(LAST_WORDS);
                let last = &words.trim_end()[words.ceil_char_boundary(from)..];
                return Err(format!("the process of the part ended early: {last}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> Part {
        Part { port: "claim".to_owned(), side: Some(Side::Directory), size: 7, measurements: 1, seconds: 1.0 }
    }

    fn measured(script: &str) -> Vec<Measurement> {
        let settings = Settings { effort: crate::Effort::Quick, threads: 1, sides: vec![Side::Directory] };
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut seen = Vec::new();
        let on_measured = |measurement: &Measurement| seen.push(measurement.clone());
        let all = measure_part(command, (&part(), &settings), (Path::new("."), None), on_measured).unwrap();
        assert_eq!(all, seen);
        all
    }

    #[test]
    fn measurements_of_a_process_that_dies_are_kept_and_its_death_is_one() {
        let line = serde_json::to_string(&Line::Measured(Measurement::new("claim: accepted", "directory")));
        let line = line.unwrap();
        let all = measured(&format!("read task; echo '{line}'; echo '\"End\"'"));
        assert_eq!(all, [Measurement::new("claim: accepted", "directory")]);
        let all = measured(&format!("read task; echo '{line}'; echo 'out of memory' >&2; exit 3"));
        assert_eq!(all.len(), 2);
        assert!(all[1].is_failed && all[1].note.as_deref().unwrap().ends_with("out of memory"), "{all:?}");
        assert_eq!((all[1].size, all[1].per_s), (Some(7), None));
    }
}
