//! A shutdown in the middle of a rush: every acknowledged effect exists, and nothing else does.

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use mallbox::bench::load::{Answer, Fault, Script};
use parking_lot::Mutex;

use crate::common::dice::Dice;
use crate::common::inspection;
use crate::common::mall::{self, Size};
use crate::common::rush::Rush;
use crate::common::server::{self, Server};
use crate::common::shoppers::{self, Behaviour, ShopperScript};

const SIZE: Size = Size { people: 9_000, sales: 1, units: 8_000 };
const CONNECTIONS: usize = 256;
const STOPS: u64 = 3;

/// Clients, and how their connections ended.
struct Watched {
    clients: ShopperScript,
    ends: Arc<Mutex<Ends>>,
}

#[derive(Default, Debug)]
struct Ends {
    /// Connections closed before a response; the database shows that the request had no effect.
    unanswered: u64,
    /// Any other end: an unreadable response, or a connection left open and silent.
    cut: Vec<String>,
}

impl Script for Watched {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        self.clients.request(connection, buffer)
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        self.clients.on_response(connection, answer);
    }

    fn lost(&mut self, connection: usize, fault: Fault) {
        match fault {
            Fault::Broken(_) => self.ends.lock().unanswered += 1,
            other => self.ends.lock().cut.push(other.to_string()),
        }
        self.clients.lost(connection, fault);
    }
}

#[test]
fn a_stop_in_the_middle_of_a_rush_cuts_no_claim_in_half() -> anyhow::Result<()> {
    let mut dice = Dice::from_environment("drain");
    for stop in 0..STOPS {
        let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let data = site.path().join("mall");
        let mall = mall::make(&data, SIZE)?;
        let log = site.path().join("mallbox.log");
        let operator = mall::appoint_operator(&data, &mall)?;
        let server = Server::start(&data, &log, "power")?;
        let (history, sale) = (shoppers::history(&mall, &mall.sales), mall.sales[0]);
        let ends: Arc<Mutex<Ends>> = Arc::default();
        let clients = ShopperScript::new(&history, sale, Behaviour::Live, CONNECTIONS, dice.split());
        let rush = Rush::start(server.address, CONNECTIONS, Watched { clients, ends: Arc::clone(&ends) });
        rush.wait_for(500 + dice.below(2_000));
        let began = Instant::now();
        server.stop()?;
        let took = began.elapsed();
        let answered = rush.end()?;
        history.lock().record_crash();
        let ends = std::mem::take(&mut *ends.lock());
        ensure!(ends.cut.is_empty(), "answers were cut: {:?}", ends.cut);
        let verify = server::verify_json(&data)?;
        let server = Server::start(&data, &log, "power")?;
        let state = inspection::inspect(&server, &history.lock(), &operator, &verify)?;
        let unanswered = state.orders_without_answer(&history.lock());
        ensure!(
            unanswered == 0,
            "{unanswered} claims were taken and never answered, of {} that were sent",
            ends.unanswered
        );
        println!(
            "drain {stop}: stopped in {took:?} after {answered} answers, {} requests came too late; {:?}",
            ends.unanswered,
            history.lock().summary()
        );
        inspection::finish(server, &data, &history, sale, &operator, &mut dice)?;
    }
    Ok(())
}
