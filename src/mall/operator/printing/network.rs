//! Printing over TCP. Blocks its thread, for some seconds at most after the host's name is resolved.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use super::job_error::JobError;
use super::status::{self, PrinterAnswer, is_timeout};
use crate::mall::base::PrinterRefusal;

/// Time limit of the connection, over all addresses of the host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit for the printer to take the whole job. A receipt has about 1 KiB, which printers buffer.
const SEND_TIMEOUT: Duration = Duration::from_secs(4);
/// Longest wait for the end of the connection, which tells a job cut off from a job taken whole.
const END_TIMEOUT: Duration = Duration::from_millis(300);

/// Sends a job to a printer. Success means: the connection took the whole job and did not break, and a
/// printer that answers still had paper afterwards.
///
/// # Errors
/// [`JobError`] with the reason; parts of the job may be printed.
pub(super) fn print(host: &str, port: u16, job: &[u8]) -> Result<(), JobError> {
    let mut stream = connect(host, port)?;
    let answer = status::ask(&mut stream)?;
    if answer == PrinterAnswer::Closed {
        let cause = "the printer closed the connection before the job";
        return Err(JobError::new(PrinterRefusal::Closed, "asking for the state", cause));
    }
    send(&mut stream, job)?;
    if answer == PrinterAnswer::Ready && status::ask(&mut stream)? == PrinterAnswer::Closed {
        return Ok(());
    }
    await_end(&mut stream)
}

fn connect(host: &str, port: u16) -> Result<TcpStream, JobError> {
    let deadline = Instant::now() + CONNECT_TIMEOUT;
    let refused = |error: io::Error| JobError::new(PrinterRefusal::Refused, "finding the host", error);
    let mut failure = None;
    for address in (host, port).to_socket_addrs().map_err(refused)? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => {
                // Without effect on the outcome: only a delay of the last bytes.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => failure = Some(error),
        }
    }
    Err(match failure {
        Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            JobError::new(PrinterRefusal::Refused, "connecting", error)
        }
        Some(error) => JobError::new(PrinterRefusal::Silent, "connecting", error),
        None => JobError::new(PrinterRefusal::Silent, "connecting", "no address in time"),
    })
}

fn send(stream: &mut TcpStream, job: &[u8]) -> Result<(), JobError> {
    let deadline = Instant::now() + SEND_TIMEOUT;
    let mut rest = job;
    while !rest.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        let sent = if left.is_zero() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            stream.set_write_timeout(Some(left)).and_then(|()| stream.write(rest))
        };
        match sent {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_timeout(&error) => {
                let cause = format_args!("{} of {} bytes left", rest.len(), job.len());
                return Err(JobError::new(PrinterRefusal::Slow, "sending", cause));
            }
            Err(error) => return Err(JobError::new(PrinterRefusal::Closed, "sending", error)),
        }
    }
    Ok(())
}

/// Ends the sending side, and waits a moment for the printer to end its own. A printer that keeps the
/// connection open took the job.
fn await_end(stream: &mut TcpStream) -> Result<(), JobError> {
    let broken = |error: io::Error| JobError::new(PrinterRefusal::Closed, "ending the job", error);
    stream.shutdown(Shutdown::Write).map_err(broken)?;
    let deadline = Instant::now() + END_TIMEOUT;
    let mut buffer = [0; 64];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left)).map_err(broken)?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Err(error) if is_timeout(&error) => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(broken(error)),
            // More answers, of no interest.
            _ => {}
        }
    }
}
