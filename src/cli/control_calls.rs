//! Calls of the control API, for commands on a mall that may be running.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::OpenError;
use mallbox_storage_embedded::EmbeddedOptions;

use super::mall_directory;
use super::messages::{CommandFailure, UsageError};
use super::read_only_copy;
use super::running_mall::{BootOptions, RunningMall, at_a_terminal, open};
use super::runtime::block_on;
use crate::config::PlaceConfig;
use crate::http::control::{ControlCall, request_here, request_running};
use crate::language::Language;
use crate::mall::Settings;
use crate::mall::people::sms::Inbox;
use crate::place::Place;

/// Sends a request of the control API to a mall, running or not. A mall running in a directory responds over
/// the control socket; a mall on servers is opened beside the running processes. A directory without write
/// access is read through a temporary copy and stays unchanged.
pub(super) fn request(
    mall: &PlaceConfig,
    method: &'static str,
    path: &str,
    l: Language,
) -> anyhow::Result<serde_json::Value> {
    request_with_body(mall, ControlCall { method, path, body: "" }, l)
}

/// Sends a request of the control API to a mall on servers, or to the mall that runs on a directory. For
/// effects that end with the process.
pub(super) fn request_to_running(
    mall: &PlaceConfig,
    call: ControlCall<'_>,
    l: Language,
) -> anyhow::Result<serde_json::Value> {
    let place = mall.place().map_err(UsageError::Where)?;
    let Some(dir) = place.dir() else { return request_with_body(mall, call, l) };
    check_is_mall(dir)?;
    request_running(dir, call, l)?.ok_or_else(|| CommandFailure::NotRunning(dir.to_owned()).into())
}

/// Sends a request with a body, as [`request`] does.
pub(super) fn request_with_body(
    mall: &PlaceConfig,
    call: ControlCall<'_>,
    l: Language,
) -> anyhow::Result<serde_json::Value> {
    let place = mall.place().map_err(UsageError::Where)?;
    if let Some(dir) = place.dir() {
        check_is_mall(dir)?;
        if let Some(answer) = request_running(dir, call, l)? {
            return Ok(answer);
        }
    }
    let opened = PlaceToOpen::new(place, call.method)?;
    block_on(async {
        let mall = opened.open().await?;
        let answer = request_here(Arc::clone(&mall.app), call, l).await;
        mall.close().await?;
        answer
    })
}

/// What follows a response.
pub(super) enum NextCall {
    /// A request of this path, at once.
    Now(String),
    /// A request of this path, after [`POLL_PAUSE`].
    Later(String),
    /// Nothing.
    End,
}

/// Pause before a request that waits for something new.
const POLL_PAUSE: Duration = Duration::from_secs(1);

/// Sends `GET` requests of the control API, one after the other: `next` gets each response, and `None` before
/// the first. In a mall that does not run nothing new happens: [`NextCall::Later`] ends.
///
/// # Errors
/// The mall's refusal; [`CommandFailure::NotRunning`] if the mall stops meanwhile.
pub(super) fn poll(
    mall: &PlaceConfig,
    l: Language,
    mut next: impl FnMut(Option<&serde_json::Value>) -> NextCall,
) -> anyhow::Result<()> {
    let place = mall.place().map_err(UsageError::Where)?;
    let mut call = next(None);
    if let Some(dir) = place.dir() {
        check_is_mall(dir)?;
        let mut is_running = false;
        loop {
            let path = match &call {
                NextCall::Now(path) => path,
                NextCall::Later(path) => {
                    std::thread::sleep(POLL_PAUSE);
                    path
                }
                NextCall::End => return Ok(()),
            };
            match request_running(dir, ControlCall { method: "GET", path, body: "" }, l)? {
                Some(answer) => call = next(Some(&answer)),
                None if is_running => return Err(CommandFailure::NotRunning(dir.to_owned()).into()),
                None => break,
            }
            is_running = true;
        }
    }
    let is_changing = place.dir().is_none();
    let opened = PlaceToOpen::new(place, "GET")?;
    block_on(async {
        let mall = opened.open().await?;
        let polled = poll_here(&mall, is_changing, l, call, next).await;
        mall.close().await?;
        polled
    })
}

/// Polls a mall opened in this process, until an interrupt.
async fn poll_here(
    mall: &RunningMall,
    is_changing: bool,
    l: Language,
    mut call: NextCall,
    mut next: impl FnMut(Option<&serde_json::Value>) -> NextCall,
) -> anyhow::Result<()> {
    loop {
        let path = match &call {
            NextCall::Now(path) => path,
            NextCall::Later(path) if is_changing => {
                tokio::select! {
                    () = tokio::time::sleep(POLL_PAUSE) => path,
                    _ = tokio::signal::ctrl_c() => return Ok(()),
                }
            }
            NextCall::Later(_) | NextCall::End => return Ok(()),
        };
        let request = ControlCall { method: "GET", path, body: "" };
        let answer = request_here(Arc::clone(&mall.app), request, l).await?;
        call = next(Some(&answer));
    }
}

/// A mall that nobody runs, to be opened for a request: a directory without write access as a copy.
struct PlaceToOpen {
    place: Place,
    /// Removed on drop.
    _copy: Option<tempfile::TempDir>,
}

impl PlaceToOpen {
    fn new(place: Place, method: &str) -> anyhow::Result<Self> {
        let copy = match place.dir() {
            Some(dir) if method == "GET" && read_only_copy::is_read_only(dir) => {
                Some(read_only_copy::copy(dir)?)
            }
            _ => None,
        };
        let place = match &copy {
            Some(copy) => Place::Embedded(EmbeddedOptions::new(copy.path())),
            None => place,
        };
        Ok(Self { place, _copy: copy })
    }

    async fn open(&self) -> anyhow::Result<RunningMall> {
        open_beside(at_a_terminal(self.place.clone())).await.map_err(|error| {
            match error.downcast::<OpenError>() {
                Ok(in_use @ OpenError::InUse { .. }) => CommandFailure::NoAnswer.with_cause(in_use),
                Ok(other) => other.into(),
                Err(other) => other,
            }
        })
    }
}

/// Checks that flags name a mall, before a command writes anything. Servers are not asked.
///
/// # Errors
/// [`UsageError`] for flags without a mall, or a directory without one.
pub(super) fn check_place(mall: &PlaceConfig) -> anyhow::Result<()> {
    let place = mall.place().map_err(UsageError::Where)?;
    place.dir().map_or(Ok(()), check_is_mall)
}

fn check_is_mall(dir: &Path) -> anyhow::Result<()> {
    if let Err(error) = dir.join("mall.sqlite").try_exists()
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(CommandFailure::ForeignMall(dir.to_owned()).with_cause(error));
    }
    if mall_directory::is_mall(dir) { Ok(()) } else { Err(UsageError::NoMall(dir.to_owned()).into()) }
}

async fn open_beside(place: Place) -> anyhow::Result<RunningMall> {
    // For a directory, the caller has already checked that a mall exists.
    let may_found = place.dir().is_some();
    let (settings, sms) = (Settings::default(), Arc::new(Inbox::default()));
    open(BootOptions {
        place,
        create_if_missing: may_found,
        zone: None,
        settings,
        sms,
        inbox: None,
        // Nobody pays while a command runs.
        http_gateway: None,
        challenge_service: None,
        alerts: None,
        // Operators print from the console.
        printer: None,
        // Nobody logs in by PIN while a command runs.
        staff_secret: None,
    })
    .await
}
