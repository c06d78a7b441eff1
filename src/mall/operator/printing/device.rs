//! Printing to a device such as `/dev/usb/lp0`, a terminal line, or a file. Blocks its thread.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, write};
use rustix::termios::{OptionalActions, isatty, tcgetattr, tcsetattr};

use super::job_error::JobError;
use crate::mall::base::PrinterRefusal;

/// Time limit for the device to take the whole job. A serial line of 9600 bit/s takes 960 bytes a second.
const SEND_TIMEOUT: Duration = Duration::from_secs(4);

/// Writes a job to a device. Success means that the system took all bytes. A file is appended to, and never
/// created.
///
/// # Errors
/// [`JobError`] with the reason; parts of the job may be printed.
pub(super) fn print(path: &Path, job: &[u8]) -> Result<(), JobError> {
    let deadline = Instant::now() + SEND_TIMEOUT;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let device = open(path, flags, Mode::empty()).map_err(|error| failed("opening the device", error))?;
    if isatty(&device) {
        make_raw(&device).map_err(|error| failed("preparing the terminal line", error))?;
    }
    let mut rest = job;
    while !rest.is_empty() {
        match write(&device, rest) {
            Ok(0) => return Err(failed("writing", Errno::IO)),
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => await_room(&device, deadline, rest.len())?,
            Err(error) => return Err(failed("writing", error)),
        }
    }
    Ok(())
}

/// Has a terminal line pass all bytes as they are.
fn make_raw(device: &OwnedFd) -> Result<(), Errno> {
    let mut attributes = tcgetattr(device)?;
    attributes.make_raw();
    tcsetattr(device, OptionalActions::Now, &attributes)
}

fn await_room(device: &OwnedFd, deadline: Instant, bytes_left: usize) -> Result<(), JobError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let mut wanted = [PollFd::new(device, PollFlags::OUT)];
    let ready = match Timespec::try_from(left) {
        Ok(timeout) if !left.is_zero() => poll(&mut wanted, Some(&timeout)),
        _ => Ok(0),
    };
    match ready {
        Ok(0) => {
            let cause = format_args!("{bytes_left} bytes left");
            Err(JobError::new(PrinterRefusal::Slow, "writing", cause))
        }
        Ok(_) if wanted.iter().any(|one| one.revents().intersects(PollFlags::HUP | PollFlags::ERR)) => {
            Err(JobError::new(PrinterRefusal::Closed, "writing", "the device hung up"))
        }
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(failed("writing", error)),
    }
}

fn failed(step: &str, error: Errno) -> JobError {
    let refusal = match error {
        Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::NOTDIR | Errno::LOOP => PrinterRefusal::NoDevice,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => PrinterRefusal::NoPermission,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => PrinterRefusal::Full,
        Errno::BUSY => PrinterRefusal::Busy,
        Errno::IO | Errno::PIPE => PrinterRefusal::Closed,
        _ => PrinterRefusal::Failed,
    };
    JobError::new(refusal, step, error)
}
