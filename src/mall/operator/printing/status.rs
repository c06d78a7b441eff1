//! Questions to a printer in the network: has it paper, is its cover closed? (`DLE EOT`)
//!
//! Many printers never answer. Silence therefore means nothing, and the job is printed.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::job_error::JobError;
use crate::mall::base::PrinterRefusal;

/// Longest wait for an answer: printers that answer do so within some milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);
/// Asks for the cause of being offline.
const OFFLINE_CAUSE: [u8; 3] = [0x10, 0x04, 2];
/// Asks for the sensors of the paper roll.
const PAPER_SENSORS: [u8; 3] = [0x10, 0x04, 4];
/// Bits that every answer has alike, and their values. Other bytes are no answers to `DLE EOT`.
const FIXED_BITS: u8 = 0b1001_0011;
const FIXED_VALUES: u8 = 0b0001_0010;
const COVER_OPEN: u8 = 0b0000_0100;
const STOPPED_FOR_PAPER: u8 = 0b0010_0000;
const PAPER_END: u8 = 0b0110_0000;

/// What a printer said about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PrinterAnswer {
    /// Paper is there and the cover is closed.
    Ready,
    /// No answer in time.
    None,
    /// The printer has closed its side of the connection.
    Closed,
}

/// Asks the printer about cover and paper.
///
/// # Errors
/// [`JobError`]: the cover is open, the paper is at its end, or the connection broke.
pub(super) fn ask(stream: &mut TcpStream) -> Result<PrinterAnswer, JobError> {
    for question in [OFFLINE_CAUSE, PAPER_SENSORS] {
        let broken = |error: io::Error| JobError::new(PrinterRefusal::Closed, "asking for the state", error);
        let answer = match answer_to(stream, question).map_err(broken)? {
            Answer::Byte(answer) => answer,
            Answer::None => return Ok(PrinterAnswer::None),
            Answer::Closed => return Ok(PrinterAnswer::Closed),
        };
        if let Some(refusal) = obstacle(question, answer) {
            let cause = format_args!("the printer answered {answer:#04x}");
            return Err(JobError::new(refusal, "asking for the state", cause));
        }
    }
    Ok(PrinterAnswer::Ready)
}

enum Answer {
    Byte(u8),
    None,
    Closed,
}

fn answer_to(stream: &mut TcpStream, question: [u8; 3]) -> io::Result<Answer> {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    match stream.write(&question) {
        Ok(written) if written == question.len() => {}
        Err(error) if !is_timeout(&error) => return Err(error),
        _ => return Ok(Answer::None),
    }
    let mut buffer = [0; 64];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Answer::None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(Answer::Closed),
            Ok(length) => {
                let received = buffer.iter().take(length);
                if let Some(answer) = received.copied().find(|byte| byte & FIXED_BITS == FIXED_VALUES) {
                    return Ok(Answer::Byte(answer));
                }
            }
            Err(error) if is_timeout(&error) => return Ok(Answer::None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether a call on a socket ended for its time limit.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn obstacle(question: [u8; 3], answer: u8) -> Option<PrinterRefusal> {
    match question {
        OFFLINE_CAUSE if answer & COVER_OPEN != 0 => Some(PrinterRefusal::CoverOpen),
        OFFLINE_CAUSE if answer & STOPPED_FOR_PAPER != 0 => Some(PrinterRefusal::OutOfPaper),
        PAPER_SENSORS if answer & PAPER_END != 0 => Some(PrinterRefusal::OutOfPaper),
        _ => None,
    }
}
