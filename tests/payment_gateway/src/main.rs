//! The reference gateway as a program, to try payment mode `webhook` by hand:
//!
//! ```console
//! $ export MALLBOX_PAYMENT_SECRET=a-secret-for-trying-out
//! $ cargo run -p mallbox-test-payment-gateway -- 127.0.0.1:9000 waits
//! $ mallbox demo --payment webhook --payment-url http://127.0.0.1:9000 --public-url http://127.0.0.1:8080
//! ```
//!
//! Arguments: the address, what becomes of new payments (`waits`, `captures` or `declines`), and a delay of
//! every response in milliseconds.
#![expect(clippy::unwrap_used, reason = "a program for trying out may fail loudly")]

use std::time::Duration;

use mallbox_test_payment_gateway::{OnCreation, PaymentGateway};

fn main() {
    let secret = std::env::var("MALLBOX_PAYMENT_SECRET").unwrap();
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:9000".to_owned());
    let gateway = PaymentGateway::start_at(address.parse().unwrap(), &secret);
    let on_creation = match arguments.next().as_deref() {
        None | Some("waits") => OnCreation::Waits,
        Some("captures") => OnCreation::Captures,
        Some("declines") => OnCreation::Declines,
        Some(other) => panic!("expected waits, captures or declines, not {other}"),
    };
    let delay = Duration::from_millis(arguments.next().map_or(0, |text| text.parse().unwrap()));
    gateway.set(|switches| {
        switches.on_creation = on_creation;
        switches.delay = delay;
    });
    gateway.deliver_continually();
    println!("{}", gateway.url());
    loop {
        std::thread::park();
    }
}
