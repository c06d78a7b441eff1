//! The control socket: the command line reaches a running mall through it.
//!
//! HTTP on a Unix socket in the data directory, accessible to the owner only. When no mall runs, the same
//! handlers serve the command line in its own process.
//!
//! Reasons and figures: `src/decisions/0027-control-socket.md`.

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

use super::caller::Caller;
use super::connection::{self, ConnectionTimeouts};
use super::envelope::{Answer, Reply};
use super::extract::Now;
use super::front::{FrontOptions, Gateway, Outcome, run_guarded};
use super::{ApiError, App, Language};
use crate::mall::ledger::Document;
use crate::mall::operator::By;

pub use people::USERS_PER_PAGE;

/// Returns the routes of the control socket.
pub fn routes(app: App) -> Router {
    Router::new()
        .route("/control/verify", get(verify))
        .route("/control/reload", post(reload))
        .merge(people::routes())
        .fallback(|| async { ApiError::unknown_path() })
        .with_state(app)
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
        app.sale_office.reload(by, voucher).await?;
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
    /// Opens the socket in a data directory locked by this process, on the current runtime.
    ///
    /// # Errors
    /// The socket cannot be created.
    pub fn open(dir: &Path, app: App) -> io::Result<Self> {
        let path = socket_path(dir)?;
        // A leftover socket belongs to a killed mall: this process holds the lock on the directory.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let control = Self { path, stop: CancellationToken::new(), tasks: TaskTracker::new() };
        let front =
            Gateway::new(FrontOptions { stop: control.stop.clone(), ..FrontOptions::bare(routes(app)) });
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
    std::fs::DirBuilder::new().mode(0o700).create(&own)?;
    let path = own.join("control.sock");
    std::fs::write(&pointer, path.as_os_str().as_encoded_bytes())?;
    Ok(path)
}

/// Sends a request to the mall running on `dir`. Blocks. Returns `None` if no mall can be reached there.
///
/// # Errors
/// The mall's refusal, in the mall's own sentence; or a response not from a mallbox.
pub fn request_running(dir: &Path, method: &str, path: &str, l: Language) -> anyhow::Result<Option<Value>> {
    /// Verification of a large mall takes minutes.
    const CLOSE_TIMEOUT: Duration = Duration::from_secs(600);
    let pointed = std::fs::read_to_string(dir.join("control")).ok();
    let socket = pointed.map_or_else(|| dir.join("control.sock"), PathBuf::from);
    let Ok(mut stream) = UnixStream::connect(socket) else { return Ok(None) };
    stream.set_read_timeout(Some(CLOSE_TIMEOUT))?;
    let language = l.tag();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: mall\r\naccept-language: {language}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).context("the running mall hung up")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("the running mall did not answer")?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").context("the running mall hung up")?;
    envelope_data(&answer[end + 4..]).map(Some)
}

/// Calls a mall in this process.
///
/// # Errors
/// The mall's refusal, in the mall's own sentence.
pub async fn request_here(app: App, method: &str, path: &str, l: Language) -> anyhow::Result<Value> {
    let request = Request::builder().method(method).uri(path).body(Body::empty())?;
    let work = async { routes(app).oneshot(request).await.unwrap_or_else(|never| match never {}) };
    let (Outcome::Answered(answer), _) = run_guarded(work, (l, Caller::OwnPage), None).await else {
        bail!("this is a bug in mallbox, and the log has it")
    };
    if let Some(super::error::InternalCause(cause)) = answer.extensions().get() {
        bail!("{cause}");
    }
    let body = axum::body::to_bytes(answer.into_response().into_body(), usize::MAX).await?;
    envelope_data(&body)
}

/// Returns the data of an envelope, or its message as an error.
fn envelope_data(body: &[u8]) -> anyhow::Result<Value> {
    let mut envelope: Value = serde_json::from_slice(body).context("the answer is none of a mallbox")?;
    if envelope["success"] == true {
        return Ok(envelope["data"].take());
    }
    bail!("{}", envelope["errorMsg"].as_str().unwrap_or("the mall refused without saying why"))
}
