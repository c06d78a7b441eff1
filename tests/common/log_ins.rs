//! Consecutive log-ins during a rush of claims.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::Duration;

use mallbox_test_checker::{Connection, History, Request};
use mallbox_test_patience as patience;
use parking_lot::Mutex;

/// A code not received within this time was lost with the server.
const CODE_TIMEOUT: Duration = Duration::from_secs(5);

/// Logs new users in until the mall stops responding. `lines` is the mall's standard output, which contains
/// the codes.
pub fn begin(address: SocketAddr, lines: Receiver<String>, history: &Arc<Mutex<History>>) -> JoinHandle<()> {
    let history = Arc::clone(history);
    std::thread::spawn(move || {
        let Ok(mut connection) = Connection::open(address) else { return };
        while log_in(&mut connection, &lines, &history).is_some() {}
    })
}

fn log_in(
    connection: &mut Connection,
    lines: &Receiver<String>,
    history: &Arc<Mutex<History>>,
) -> Option<()> {
    let phone = format!("18{:09}", history.lock().calls().len());
    let (_, sent) = connection.ask("POST", &format!("/user/code?phone={phone}"), "").ok()?;
    if sent["success"] != true {
        return Some(());
    }
    let code = code(lines, &phone)?;
    let (call, bytes) = history.lock().invoke(0, Request::LogIn { phone, code });
    match connection.send(&bytes) {
        Ok(reply) => history.lock().respond(call, reply.status, &reply.body),
        Err(_) => {
            history.lock().record_loss(call);
            return None;
        }
    };
    Some(())
}

/// Returns the next login code printed for a phone, unless none arrives.
pub fn code(lines: &Receiver<String>, phone: &str) -> Option<String> {
    let wanted = format!("SMS {phone} code ");
    loop {
        let line = lines.recv_timeout(patience::scaled(CODE_TIMEOUT)).ok()?;
        if let Some(code) = line.strip_prefix(&wanted) {
            return Some(code.to_owned());
        }
    }
}
