//! Reads a new password from standard input: never from the command line, which other accounts can read.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::messages::{CommandFailure, UsageError};
use crate::language::{Language, sentence};

/// Reads one line. At a terminal, prompts twice and shows nothing that is typed.
///
/// # Errors
/// [`CommandFailure::NoInput`] if standard input cannot be read; [`UsageError::PasswordsDiffer`].
pub(super) fn read(l: Language) -> anyhow::Result<String> {
    if !io::stdin().is_terminal() {
        return line().map_err(|error| CommandFailure::NoInput.with_cause(error));
    }
    let prompts =
        [sentence!(l, "新密码：", "New password: "), sentence!(l, "再输一次：", "The same again: ")];
    let [first, second] = prompts.map(|prompt| hidden_line(&prompt));
    let no_input = |error| CommandFailure::NoInput.with_cause(error);
    let (first, second) = (first.map_err(no_input)?, second.map_err(no_input)?);
    if first == second { Ok(first) } else { Err(UsageError::PasswordsDiffer.into()) }
}

fn line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn hidden_line(prompt: &str) -> io::Result<String> {
    let mut out = io::stderr();
    write!(out, "{prompt}")?;
    out.flush()?;
    let line = {
        let _hidden = Hidden::begin()?;
        line()
    };
    writeln!(out)?;
    line
}

/// The terminal without echo, until dropped.
struct Hidden {
    before: Termios,
}

impl Hidden {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
