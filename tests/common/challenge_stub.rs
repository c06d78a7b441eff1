//! An external challenge service: a real HTTP server that verifies each good response once, serves a widget,
//! and is slow, broken and away on request. Written from the documents of hCaptcha, Turnstile and GeeTest.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use mallbox::mall::selling::challenge_service::{ChallengeProvider, ChallengeService, ServiceKeys};
use mallbox_test_patience as patience;
use sha2::Sha256;

pub const SITE_KEY: &str = "site-key-7";
pub const SECRET: &str = "0x4AAA-s3cr3t";
/// Beginning of the responses that visitors who passed have.
pub const GOOD: &str = "good-";
/// Time of a slow answer: longer than the mall waits.
const SLOW: Duration = Duration::from_millis(2_500);
/// Widget of hCaptcha and Turnstile: a button gives a good response.
const WIDGET: &str = "{
    const widget = {
        render(place, options) {
            const box = document.createElement('button');
            box.type = 'button';
            box.className = 'button';
            box.textContent = 'stub: ' + options.sitekey;
            box.addEventListener('click', () => options.callback('good-' + Math.random()));
            place.append(box);
            return 7;
        },
        remove(id) { if (id === 7) window.removed = (window.removed ?? 0) + 1; },
    };
    window.hcaptcha = window.turnstile = widget;
    window[new URL(document.currentScript.src).searchParams.get('onload')]();
}";
/// Widget of GeeTest.
const WIDGET_OF_GEETEST: &str = "window.initGeetest4 = (options, ready) => {
    let onSuccess;
    const number = String(Math.random()).replace('.', '');
    const box = document.createElement('button');
    box.type = 'button';
    box.className = 'button';
    box.textContent = 'stub: ' + options.captchaId;
    box.addEventListener('click', () => onSuccess());
    ready({
        appendTo: (place) => place.append(box),
        onSuccess: (then) => { onSuccess = then; },
        onError: () => {},
        getValidate: () => ({
            captcha_id: options.captchaId, lot_number: number, captcha_output: 'good-' + number,
            pass_token: 'pass', gen_time: '1795262400',
        }),
        destroy: () => { window.removed = (window.removed ?? 0) + 1; },
    });
};";

/// How verifications are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// By the documents.
    Well,
    /// Never.
    Silent,
    /// By the documents, after 2.5 s.
    Slow,
    /// With a status and a page.
    Broken(u16),
    /// With status 200 and a page.
    Rubbish,
    /// As for a wrong secret.
    ForeignSecret,
}

#[derive(Default)]
struct Shared {
    mood: Mutex<Option<Mood>>,
    used: Mutex<BTreeSet<String>>,
    forms: Mutex<Vec<BTreeMap<String, String>>>,
    widgets: Mutex<usize>,
    is_closed: AtomicBool,
}

pub struct ChallengeStub {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl ChallengeStub {
    /// Starts a service at any free port of this machine.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stub = Self {
            shared: Arc::default(),
            address: listener.local_addr().unwrap(),
            accepting: Mutex::default(),
        };
        stub.accept(listener);
        stub
    }

    /// Returns the origin of the widget.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the mall's client of this service.
    pub fn client(&self, provider: ChallengeProvider) -> ChallengeService {
        let verify = match provider {
            ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile => "siteverify",
            ChallengeProvider::GeeTest => "validate",
        };
        let verify = format!("{}/{verify}", self.origin());
        let script = format!("{}/{}.js", self.origin(), provider.name());
        let keys = ServiceKeys {
            site_key: SITE_KEY,
            secret: SECRET,
            verify_url: Some(&verify),
            script_url: Some(&script),
        };
        ChallengeService::new(provider, &keys).unwrap()
    }

    /// Changes how verifications are answered.
    pub fn set(&self, mood: Mood) {
        *self.shared.mood.lock().unwrap() = Some(mood);
    }

    /// Ends the server: connections are refused.
    pub fn kill(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        if let Some(accepting) = self.accepting.lock().unwrap().take() {
            // Wakes the thread.
            let _ = TcpStream::connect(self.address);
            accepting.join().unwrap();
        }
    }

    /// Starts the server again, at its address.
    pub fn revive(&self) {
        self.shared.is_closed.store(false, Ordering::SeqCst);
        self.accept(TcpListener::bind(self.address).unwrap());
    }

    /// Returns the forms of all verifications so far.
    pub fn forms(&self) -> Vec<BTreeMap<String, String>> {
        self.shared.forms.lock().unwrap().clone()
    }

    /// Returns how often a widget was loaded.
    pub fn widgets(&self) -> usize {
        *self.shared.widgets.lock().unwrap()
    }

    fn accept(&self, listener: TcpListener) {
        let shared = Arc::clone(&self.shared);
        let accepting = thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&shared)) else { continue };
                thread::spawn(move || shared.serve(stream));
            }
        });
        *self.accepting.lock().unwrap() = Some(accepting);
    }
}

impl Drop for ChallengeStub {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(10))));
        let Some((head, body)) = read(&mut stream) else { return };
        let mut first = head.split(' ');
        let (method, target) = (first.next().unwrap(), first.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if method == "GET" {
            *self.widgets.lock().unwrap() += 1;
            let script = if path == "/geetest.js" { WIDGET_OF_GEETEST } else { WIDGET };
            return send(&mut stream, 200, "text/javascript", script);
        }
        let mut form = fields(&body);
        assert!(head.contains("application/x-www-form-urlencoded"), "{head}");
        form.extend(fields(query));
        self.forms.lock().unwrap().push(form.clone());
        let mood = self.mood.lock().unwrap().unwrap_or(Mood::Well);
        let page = "<!doctype html><title>Down for maintenance</title>";
        match mood {
            Mood::Silent => drop(stream.read(&mut [0; 1])),
            Mood::Broken(status) => send(&mut stream, status, "text/html", page),
            Mood::Rubbish => send(&mut stream, 200, "text/html", page),
            Mood::Well | Mood::Slow | Mood::ForeignSecret => {
                if mood == Mood::Slow {
                    thread::sleep(SLOW);
                }
                let secret = if mood == Mood::ForeignSecret { "another" } else { SECRET };
                let answer = match path {
                    "/siteverify" => self.site_verify(&form, secret),
                    _ => self.validate(&form, secret),
                };
                send(&mut stream, 200, "application/json", &answer);
            }
        }
    }

    /// Uses a response up. Returns whether the response was good and unused.
    fn takes(&self, response: &str) -> bool {
        response.starts_with(GOOD) && self.used.lock().unwrap().insert(response.to_owned())
    }

    /// As hCaptcha and Turnstile.
    fn site_verify(&self, form: &BTreeMap<String, String>, secret: &str) -> String {
        let refusal = |code: &str| format!(r#"{{"success":false,"error-codes":["{code}"]}}"#);
        if form.get("secret").is_none_or(|own| own != secret) {
            refusal("invalid-input-secret")
        } else if form.get("sitekey").is_some_and(|key| key != SITE_KEY) {
            refusal("sitekey-secret-mismatch")
        } else if self.takes(form.get("response").map_or("", String::as_str)) {
            r#"{"success":true,"challenge_ts":"2026-11-21T12:00:00Z","hostname":"mall.example"}"#.to_owned()
        } else {
            refusal("invalid-or-already-seen-response")
        }
    }

    /// As GeeTest.
    fn validate(&self, form: &BTreeMap<String, String>, secret: &str) -> String {
        let text = |name: &str| form.get(name).map_or("", String::as_str);
        if text("captcha_id") != SITE_KEY {
            return r#"{"status":"error","code":"-50102","msg":"invalid captcha_id"}"#.to_owned();
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(text("lot_number").as_bytes());
        let signature = mac.finalize().into_bytes().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let (result, reason) = if text("sign_token") != signature {
            ("fail", "sign_token error")
        } else if self.takes(text("captcha_output")) {
            ("success", "")
        } else {
            ("fail", "pass_token expire")
        };
        format!(r#"{{"status":"success","result":"{result}","reason":"{reason}","captcha_args":{{}}}}"#)
    }
}

fn send(stream: &mut TcpStream, status: u16, kind: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-type: {kind}\r\n");
    // The mall may have given up.
    let _ = write!(stream, "{head}content-length: {length}\r\n\r\n{body}");
}

fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let mut headers = head.split("\r\n").filter_map(|line| line.split_once(':'));
            let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let length = length.map_or(Some(0), |(_, value)| value.trim().parse().ok())?;
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).ok()?;
                return Some((head, body));
            }
        }
        match stream.read(&mut some) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&some[..read]),
        }
    }
}

/// Reads a form.
fn fields(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_at(2);
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap());
            rest = after;
        } else {
            bytes.push(if *byte == b'+' { b' ' } else { *byte });
        }
    }
    String::from_utf8(bytes).unwrap()
}
