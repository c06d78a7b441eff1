//! The reference gateway: the other side of the protocol in `web/manual/payment-gateways.md`, for tests and,
//! as a program, for people.
//!
//! Written from the manual alone: shares no code with the mall. Switches make it decline, delay, repeat, lose
//! and reverse; its own ledger tells how much money really moved.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod http;
mod ledger;
mod signature;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use self::http::Request;
use self::ledger::Ledger;
pub use self::ledger::{Money, Payment};

/// Path that is signed in callbacks, wherever the mall has its API.
const CALLBACK_PATH: &str = "/payment/callback";

/// What becomes of a new payment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnCreation {
    /// The buyer pays later, on a page.
    #[default]
    Waits,
    /// The money is taken at once.
    Captures,
    /// No money is taken.
    Declines,
}

/// The gateway's faults. The default has none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Switches {
    /// What becomes of new payments.
    pub on_creation: OnCreation,
    /// Takes effect and responds after this time.
    pub delay: Duration,
    /// Reads requests, does nothing and never responds.
    pub is_silent: bool,
    /// Takes effect and hangs up without a response.
    pub loses_responses: bool,
    /// Executes each request twice and sends the second response.
    pub doubles_requests: bool,
    /// Never sends callbacks.
    pub loses_callbacks: bool,
    /// Sends each callback this many times more.
    pub extra_callbacks: usize,
    /// Signs callbacks with another secret.
    pub signs_wrongly: bool,
    /// Reports this amount instead of the payment's, in responses and callbacks.
    pub reported_amount: Option<i64>,
}

/// State shared by the threads of a gateway.
struct Shared {
    secret: String,
    switches: Mutex<Switches>,
    ledger: Mutex<Ledger>,
    /// Where callbacks go if a payment names no address.
    callback: Mutex<Option<String>>,
    is_stopped: AtomicBool,
    is_refusing: AtomicBool,
}

/// A running gateway; stops when dropped.
pub struct PaymentGateway {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl PaymentGateway {
    /// Starts a gateway at any free port of this machine.
    #[must_use]
    pub fn start(secret: &str) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), secret)
    }

    /// Starts a gateway at an address.
    #[must_use]
    pub fn start_at(address: SocketAddr, secret: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            secret: secret.to_owned(),
            switches: Mutex::default(),
            ledger: Mutex::default(),
            callback: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            is_refusing: AtomicBool::new(false),
        });
        shared.ledger().base = format!("http://{address}");
        let gateway = Self { shared, address, accepting: Mutex::default() };
        gateway.accept(listener);
        gateway
    }

    /// Returns the URL for `--payment-url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the faults.
    pub fn set(&self, change: impl FnOnce(&mut Switches)) {
        change(&mut self.shared.switches.lock().unwrap());
    }

    /// Sets the address of callbacks of payments that name none.
    pub fn call_back_to(&self, url: &str) {
        *self.shared.callback.lock().unwrap() = Some(url.to_owned());
    }

    /// Refuses connections, or listens again at the same port.
    pub fn refuse_connections(&self, refuses: bool) {
        if self.shared.is_refusing.swap(refuses, Ordering::SeqCst) == refuses {
            return;
        }
        if refuses {
            self.end_accepting();
        } else {
            self.accept(TcpListener::bind(self.address).unwrap());
        }
    }

    /// Returns all payments, oldest first.
    #[must_use]
    pub fn payments(&self) -> Vec<Payment> {
        self.shared.ledger().payments()
    }

    /// Returns the payments of an order, oldest first.
    #[must_use]
    pub fn of_order(&self, order: &str) -> Vec<Payment> {
        self.payments().into_iter().filter(|payment| payment.order == order).collect()
    }

    /// Returns the money that moved.
    #[must_use]
    pub fn money(&self) -> Money {
        self.shared.ledger().money()
    }

    /// The buyer pays. Returns false if the payment does not wait for that any more.
    #[must_use]
    pub fn buyer_pays(&self, id: &str) -> bool {
        self.shared.ledger().decide(id, "captured")
    }

    /// The buyer gives up, or has no money. Returns false if the payment does not wait any more.
    #[must_use]
    pub fn buyer_is_declined(&self, id: &str) -> bool {
        self.shared.ledger().decide(id, "declined")
    }

    /// Takes captured money back against the mall's will. Returns false if no money is there.
    #[must_use]
    pub fn reverse(&self, id: &str) -> bool {
        self.shared.ledger().give_back(id, "reversed")
    }

    /// Sends the callbacks that the mall has not accepted yet. Returns the statuses; 0 for no response.
    #[must_use]
    pub fn deliver(&self) -> Vec<u16> {
        self.shared.deliver()
    }

    /// Signs a callback, for tests that forge. Returns the values of both headers.
    #[must_use]
    pub fn signed(&self, seconds: i64, body: &str) -> (String, String) {
        let time = seconds.to_string();
        let signature = signature::sign(&self.shared.secret, &time, "POST", CALLBACK_PATH, body);
        (time, signature)
    }

    /// Delivers callbacks in the background until dropped, as a gateway does.
    pub fn deliver_continually(&self) {
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || {
            while !shared.is_stopped.load(Ordering::SeqCst) {
                shared.deliver();
                thread::sleep(Duration::from_millis(50));
            }
        });
    }

    fn accept(&self, listener: TcpListener) {
        let shared = Arc::clone(&self.shared);
        let accepting = thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_stopped.load(Ordering::SeqCst) || shared.is_refusing.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&shared)) else { continue };
                thread::spawn(move || shared.serve(stream));
            }
        });
        *self.accepting.lock().unwrap() = Some(accepting);
    }

    /// Ends the accepting thread, which closes the listener.
    fn end_accepting(&self) {
        if let Some(accepting) = self.accepting.lock().unwrap().take() {
            // Wakes the thread; a listener already gone needs no waking.
            let _ = TcpStream::connect(self.address);
            accepting.join().unwrap();
        }
    }
}

impl Drop for PaymentGateway {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        self.end_accepting();
    }
}

impl Shared {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }

    fn switches(&self) -> Switches {
        self.switches.lock().unwrap().clone()
    }

    /// Serves the one request of a connection.
    fn serve(&self, mut stream: TcpStream) {
        let Some(request) = Request::read(&mut stream) else { return };
        let switches = self.switches();
        while self.switches().is_silent {
            if self.is_stopped.load(Ordering::SeqCst) || http::is_closed(&stream) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(switches.delay);
        let mut response = self.respond(&request, &switches);
        if switches.doubles_requests {
            response = self.respond(&request, &switches);
        }
        if !switches.loses_responses {
            response.send(&mut stream);
        }
    }

    fn respond(&self, request: &Request, switches: &Switches) -> http::Response {
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        // The buyer's browser signs nothing.
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["pay", id]) => return self.page(id),
            ("GET", ["favicon.ico"]) => return http::Response::page(200, ""),
            ("POST", ["pay", id, state @ ("captured" | "declined")]) => {
                let _ = self.ledger().decide(id, state);
                let to = self.ledger().get(id).and_then(|payment| payment.return_url.clone());
                return http::Response::redirect(&to.unwrap_or_else(|| format!("/pay/{id}")));
            }
            _ => {}
        }
        if !signature::is_fresh_and_right(&self.secret, request) {
            return http::Response::json(401, &json!({ "error": "the signature is missing, wrong or old" }));
        }
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let is_keyed = |key: &str| request.header("idempotency-key") == Some(key);
        let mut ledger = self.ledger();
        let found = match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["payments"]) => {
                let id = body["id"].as_str().unwrap_or_default();
                if id.is_empty() || !is_keyed(id) {
                    return http::Response::json(
                        400,
                        &json!({ "error": "no id, or another idempotency key" }),
                    );
                }
                ledger.create(id, &body, switches.on_creation)
            }
            ("GET", ["payments", id]) => ledger.get(id).cloned().ok_or(404),
            ("POST", ["payments", id, "close"]) if is_keyed(&format!("{id}-close")) => {
                ledger.close(id, &body)
            }
            ("POST", ["payments", id, "refunds"]) if is_keyed(&format!("{id}-refund")) => {
                ledger.refund(id, &body)
            }
            _ => Err(404),
        };
        drop(ledger);
        match found {
            Ok(payment) => http::Response::json(200, &self.report(&payment, payment.state, switches)),
            Err(status) => http::Response::json(status, &json!({ "error": "see the protocol" })),
        }
    }

    fn report(&self, payment: &Payment, state: &str, switches: &Switches) -> Value {
        let amount = switches.reported_amount.unwrap_or(payment.amount);
        let mut report = json!({ "id": payment.id, "amount": amount, "currency": "CNY", "state": state });
        if state == "pending" {
            report["payUrl"] = json!(payment.pay_url);
        }
        report
    }

    /// The page on which a buyer pays or gives up.
    fn page(&self, id: &str) -> http::Response {
        let Some(payment) = self.ledger().get(id).cloned() else {
            return http::Response::page(404, "<p>no such payment</p>");
        };
        let button = |state: &str, text: &str| {
            format!("<form method=post action=/pay/{id}/{state}><button>{text}</button></form>")
        };
        let (yuan, fen) = (payment.amount / 100, payment.amount % 100);
        let acts = match payment.state {
            "pending" => button("captured", "Pay") + &button("declined", "Decline"),
            state => format!("<p>{state}</p>"),
        };
        http::Response::page(200, &format!("<h1>Payment</h1><p>¥{yuan}.{fen:02}</p>{acts}"))
    }

    fn deliver(&self) -> Vec<u16> {
        let switches = self.switches();
        let waiting = self.ledger().take_callbacks();
        if switches.loses_callbacks {
            return Vec::new();
        }
        let mut statuses = Vec::new();
        for (payment, state) in waiting {
            let to = payment.callback.clone().or_else(|| self.callback.lock().unwrap().clone());
            let Some(to) = to else { continue };
            let body = self.report(&payment, state, &switches).to_string();
            let mut is_taken = false;
            for _ in 0..=switches.extra_callbacks {
                let secret = if switches.signs_wrongly { "another secret" } else { &self.secret };
                let time = signature::now();
                let code = signature::sign(secret, &time, "POST", CALLBACK_PATH, &body);
                let headers = [("x-mallbox-timestamp", &*time), ("x-mallbox-signature", &*code)];
                let status = http::post(&to, &headers, &body).unwrap_or_default();
                is_taken = status == 200;
                statuses.push(status);
            }
            if !is_taken {
                self.ledger().repeat_callback(&payment.id, state);
            }
        }
        statuses
    }
}
