//! The control socket: the command line reaches a running mall through it.
//!
//! HTTP on a Unix socket in the data directory, accessible to the owner only. When no mall runs, the same
//! handlers serve the command line in its own process.
//!
//! Reasons and figures: `src/decisions/0027-control-socket.md`.

pub mod accounts;
mod archive;
#[cfg(feature = "cli")]
mod backup;
mod events;
mod people;

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use mallbox_storage::Actor;
use serde::Serialize;
use serde_json::Value;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::App;
use super::request::extract::Now;
use super::response::caller::Caller;
use super::response::envelope::{Answer, Reply};
use super::response::error::ApiError;
use super::server::connection;
use super::server::connection::ConnectionTimeouts;
use super::server::front::{FrontOptions, Gateway, Outcome, run_guarded};
use super::server::metrics::Metrics;
use crate::language::Language;
use crate::mall::base::By;
use crate::mall::operator::ledger::Document;

pub use people::USERS_PER_PAGE;

/// Returns the routes of the control socket.
pub fn routes(app: App) -> Router {
    let routes = Router::new()
        .route("/control/verify", get(verify))
        .route("/control/reload", post(reload))
        .merge(accounts::routes())
        .merge(archive::routes())
        .merge(people::routes())
        .merge(events::routes());
    #[cfg(feature = "cli")]
    let routes = routes.merge(backup::routes());
    routes.fallback(|| async { ApiError::unknown_path() }).with_state(app)
}

/// The response of `verify`.
#[derive(Serialize)]
struct Verified {
    balances: bool,
    text: String,
    report: Document,
}

async fn verify(State(app): State<App>) -> Reply<Verified> {
    let report = app.ledger.verify().await?;
    Ok(Answer::ok(Verified {
        balances: report.balances(),
        text: report.text(Language::current()),
        report: report.into_document(),
    }))
}

/// Reloads every sale with a mismatch, and verifies again.
async fn reload(state: State<App>, Now(now): Now) -> Reply<Verified> {
    let app = &state.0;
    let by = By { actor: Actor::CommandLine, at: now };
    for voucher in app.ledger.verify().await?.faulty_sales() {
        app.sale_admin.reload(by, voucher).await?;
    }
    verify(state).await
}

/// The control socket of a running mall.
#[derive(Debug)]
pub struct Control {
    path: PathBuf,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Length from which a path no longer fits a socket address, on any system.
const SOCKET_PATH_LIMIT: usize = 100;

impl Control {
    /// Opens the socket in a data directory locked by this process, on the current runtime. Roles and blocks
    /// changed over the socket are security events of `site`.
    ///
    /// # Errors
    /// The socket cannot be created.
    pub fn open(dir: &Path, app: App, site: &Gateway) -> io::Result<Self> {
        let path = socket_path(dir)?;
        let listener = bind_private(&path)?;
        let control = Self { path, stop: CancellationToken::new(), tasks: TaskTracker::new() };
        let front = Gateway::new(FrontOptions {
            metrics: Arc::new(Metrics::with_security(Arc::clone(site.security()))),
            stop: control.stop.clone(),
            ..FrontOptions::bare(routes(app))
        });
        control.tasks.spawn(accept(listener, front, control.stop.clone(), control.tasks.clone()));
        Ok(control)
    }

    /// Finishes the requests in flight and removes the socket.
    pub async fn close(self) {
        const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
        self.stop.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.tasks.wait()).await;
        // A socket left behind is replaced at the next start.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Binds a socket accessible to the owner only, from its first moment: the socket is made in a private
/// directory, and moved to `path` with its final permissions. Replaces a leftover socket, which belongs to a
/// killed mall: this process holds the lock on the directory.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    // Together not longer than `control.sock`, so a path that fits the final socket fits this one.
    let private = path.with_file_name(format!(".{:08x}", rand::random::<u32>()));
    create_private_dir(&private)?;
    let made = private.join("s");
    let bound = UnixListener::bind(&made).and_then(|listener| {
        std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&made, path)?;
        Ok(listener)
    });
    if bound.is_err() {
        let _ = std::fs::remove_file(&made);
    }
    let _ = std::fs::remove_dir(&private);
    bound
}

/// Creates a directory that no other account may enter.
fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

async fn accept(listener: UnixListener, front: Gateway, stop: CancellationToken, tasks: TaskTracker) {
    const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (front, stop) = (front.clone(), stop.clone());
                tasks.spawn(async move {
                    let state = Arc::default();
                    connection::serve(stream, front, ConnectionTimeouts::default(), stop, &state).await;
                });
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection on the control socket; retrying");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Returns `DIR/control.sock`. Where the path is too long, creates a private directory for the socket and
/// writes the path to `DIR/control`.
fn socket_path(dir: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(dir)?.join("control.sock");
    let pointer = dir.join("control");
    if path.as_os_str().len() < SOCKET_PATH_LIMIT {
        let _ = std::fs::remove_file(pointer);
        return Ok(path);
    }
    let base = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let own = base.join(format!("mallbox-{:016x}", rand::random::<u64>()));
    create_private_dir(&own)?;
    let path = own.join("control.sock");
    std::fs::write(&pointer, path.as_os_str().as_encoded_bytes())?;
    Ok(path)
}

/// A call of the control API.
#[derive(Clone, Copy)]
pub struct ControlCall<'a> {
    /// The HTTP method.
    pub method: &'static str,
    /// The path, with a query if any. Must hold no secret.
    pub path: &'a str,
    /// The JSON body, or nothing.
    pub body: &'a str,
}

/// Returns whether a mall in `dir` accepts calls. A mall that begins to stop accepts none.
#[must_use]
pub fn is_reachable(dir: &Path) -> bool {
    UnixStream::connect(socket_of(dir)).is_ok()
}

/// Returns whether a mall in `dir` accepts calls, or was killed while it did: like [`is_reachable`], without
/// a connection.
#[must_use]
pub fn is_listening(dir: &Path) -> bool {
    socket_of(dir).exists()
}

fn socket_of(dir: &Path) -> PathBuf {
    let pointed = std::fs::read_to_string(dir.join("control")).ok();
    pointed.map_or_else(|| dir.join("control.sock"), PathBuf::from)
}

/// Sends a request to the mall running on `dir`. Blocks. Returns `None` if no mall can be reached there.
///
/// # Errors
/// The mall's refusal, in the mall's own sentence; or a response not from a mallbox.
pub fn request_running(dir: &Path, call: ControlCall<'_>, l: Language) -> anyhow::Result<Option<Value>> {
    /// Verification of a large mall takes minutes.
    const CLOSE_TIMEOUT: Duration = Duration::from_secs(600);
    let Ok(mut stream) = UnixStream::connect(socket_of(dir)) else { return Ok(None) };
    stream.set_read_timeout(Some(CLOSE_TIMEOUT))?;
    let (ControlCall { method, path, body }, language) = (call, l.tag());
    let (length, host) = (body.len(), "host: mall\r\nconnection: close");
    let request = format!(
        "{method} {path} HTTP/1.1\r\n{host}\r\naccept-language: {language}\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).context("the running mall closed the connection")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("the running mall did not respond")?;
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .context("the running mall closed the connection")?;
    envelope_data(&answer[end + 4..]).map(Some)
}

/// Calls a mall in this process.
///
/// # Errors
/// The mall's refusal, in the mall's own sentence.
pub async fn request_here(app: App, call: ControlCall<'_>, l: Language) -> anyhow::Result<Value> {
    let ControlCall { method, path, body } = call;
    let request = Request::builder().method(method).uri(path).body(Body::from(body.to_owned()))?;
    let work = async { routes(app).oneshot(request).await.unwrap_or_else(|never| match never {}) };
    let (Outcome::Answered(answer), ..) = run_guarded(work, (l, Caller::OwnPage), None).await else {
        bail!("this is a bug in mallbox; the log has the cause")
    };
    if let Some(super::response::error::InternalCause(cause)) = answer.extensions().get() {
        bail!("{cause}");
    }
    let body = axum::body::to_bytes(answer.into_response().into_body(), usize::MAX).await?;
    envelope_data(&body)
}

/// Returns the data of an envelope, or its message as an error.
fn envelope_data(body: &[u8]) -> anyhow::Result<Value> {
    let mut envelope: Value = serde_json::from_slice(body).context("the response is not from a mallbox")?;
    if envelope["success"] == true {
        return Ok(envelope["data"].take());
    }
    bail!("{}", envelope["errorMsg"].as_str().unwrap_or("the mall refused without a reason"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_socket_is_its_owners_and_replaces_a_leftover_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("control.sock");
        drop(UnixListener::bind(&path).unwrap());
        let listener = bind_private(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "the private directory is gone");
        let (client, accepted) = tokio::join!(tokio::net::UnixStream::connect(&path), listener.accept());
        assert!(client.is_ok() && accepted.is_ok());
    }

    #[test]
    fn a_directory_for_a_socket_is_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let private = dir.path().join("private");
        create_private_dir(&private).unwrap();
        assert_eq!(std::fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(create_private_dir(&private).is_err(), "another's directory is not used");
    }

    #[tokio::test]
    async fn a_path_of_the_longest_length_fits_in_private_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let fill = SOCKET_PATH_LIMIT - 1 - dir.path().as_os_str().len() - "//control.sock".len();
        let deep = dir.path().join("x".repeat(fill));
        std::fs::create_dir(&deep).unwrap();
        let path = deep.join("control.sock");
        assert_eq!(path.as_os_str().len(), SOCKET_PATH_LIMIT - 1);
        bind_private(&path).unwrap();
    }
}
