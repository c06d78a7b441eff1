//! Log-ins during the rush of claims.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use hdrhistogram::Histogram;

use super::load::{Shape, post};

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest sleep before the end of the claims is noticed.
const NAP: Duration = Duration::from_millis(20);

/// Log-ins of new users.
pub(super) struct LogIns {
    /// Latencies in µs of the log-in call alone.
    pub(super) latencies: Histogram<u64>,
    elapsed: Duration,
}

impl LogIns {
    /// Returns the log-ins per second; 0 without any.
    pub(super) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Logs in `rate` new users a second, one after another, until `over`, using the codes from the server's
/// standard output. A server too slow for the rate gets fewer.
pub(super) fn measure(
    address: SocketAddr,
    rate: f64,
    lines: &Receiver<String>,
    over: impl Fn() -> bool,
) -> anyhow::Result<LogIns> {
    let mut latencies = Histogram::new(3)?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let (shape, began) = (Shape::constant(rate), Instant::now());
    for number in 0.. {
        let Some(due) = shape.due(number).filter(|_| rate > 0.0) else { break };
        while !over() && began.elapsed() < due {
            std::thread::sleep((due - began.elapsed().min(due)).min(NAP));
        }
        if over() {
            break;
        }
        let phone = format!("18{number:09}");
        post_ok(&mut stream, &format!("/api/user/code?phone={phone}"), "")?;
        let code = code_for(&phone, lines)?;
        let body = format!(r#"{{"phone":"{phone}","code":"{code}"}}"#);
        let sent = Instant::now();
        post_ok(&mut stream, "/api/user/login", &body)?;
        latencies.record(u64::try_from(sent.elapsed().as_micros())?)?;
    }
    Ok(LogIns { latencies, elapsed: began.elapsed() })
}

/// Waits for the console's line with the code, as in `SMS 13900000002 code 123456`.
fn code_for(phone: &str, lines: &Receiver<String>) -> anyhow::Result<String> {
    loop {
        let line = lines.recv_timeout(RESPONSE_TIMEOUT).context("the server logged no login code")?;
        if let Some(code) = line.strip_prefix("SMS ").and_then(|rest| rest.strip_prefix(phone)) {
            return Ok(code.trim_start_matches(" code ").to_owned());
        }
    }
}

/// Sends one POST, which must succeed.
fn post_ok(stream: &mut TcpStream, path: &str, body: &str) -> anyhow::Result<()> {
    let headers = [("content-type", "application/json")];
    stream.write_all(&post(path, "mall", &headers, body.as_bytes()))?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            bail!("{path}: the connection closed");
        }
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:").map(|n| n.trim().to_owned())
                })
                .context("a response without content-length")?;
            if body.len() < length.parse::<usize>()? {
                continue;
            }
            if !body.contains(r#""success":true"#) {
                bail!("unexpected response to {path}: {body}");
            }
            return Ok(());
        }
    }
}
