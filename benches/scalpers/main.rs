//! Who gets the units of a flash sale: 1,000 scripted accounts and 20,000 people want 1,000 units, without a
//! guard, with one, and with a waiting room too; and how often attacks on the guard succeed.
//!
//! Time is simulated: every arrival has its instant by the mall's clock, so that nothing depends on the speed
//! of the machine. The mall is real, in a directory or (`--servers`) in Redis and MySQL that the bench
//! starts.
//!
//! `cargo bench -p mallbox --bench scalpers [-- --servers]`

mod attacks;
mod mall;
mod ocr;
mod rush;

use mall::{Mall, Protection};
use mallbox_test_servers::MallLocation;
use rush::Buyers;

fn main() {
    let on_servers = std::env::args().any(|argument| argument == "--servers");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let place = if on_servers { MallLocation::on_servers() } else { MallLocation::directory() };
        println!("A sale of 1,000 units, {}", if on_servers { "Redis and MySQL" } else { "embedded" });
        println!("{:<44}{:>8}{:>8}{:>9}{:>10}", "", "bots", "people", "sold in", "refused");
        let mut malls = 0..;
        let mut open = async || Mall::open(&place, malls.next().expect("few malls")).await;
        for buyers in [Buyers::People, Buyers::Bots { addresses: 1 }, Buyers::Bots { addresses: 1_000 }] {
            for protection in Protection::ALL {
                let mall = open().await;
                println!("{}", rush::run(&mall, buyers, protection).await);
            }
        }
        let mall = open().await;
        println!("\nAttacks on the guard");
        for attack in attacks::run(&mall).await {
            println!("{attack}");
        }
    });
}
