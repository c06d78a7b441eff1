//! The opening of a sale: who arrives when, and who gets a unit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::time::Duration;

use mallbox::mall::selling::guard::Challenge;
use mallbox::mall::{Failure, Refusal};
use mallbox_storage::{ChallengeKind, VoucherId};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::mall::{Browser, Mall, OPENING, UNITS};

const PEOPLE: u64 = 20_000;
const BOTS: u64 = 1_000;
/// The first user who is a bot.
const FIRST_BOT: u64 = 1_000_000;
/// Time from the opening to a person's press: at least, and on average beyond that.
const REACTION_MS: (f64, f64) = (400.0, 2_500.0);
/// Time that a person needs for a picture.
const SOLVING_MS: std::ops::Range<u64> = 3_000..9_000;
/// Time that a bot needs for a proof of work: two calls.
const BOT_SOLVING_MS: u64 = 200;

/// Who wants the units.
#[derive(Clone, Copy)]
pub enum Buyers {
    People,
    /// People, and bots on a number of addresses.
    Bots {
        addresses: u32,
    },
}

/// Who got them.
pub struct Outcome {
    buyers: Buyers,
    is_guarded: bool,
    bots: u64,
    people: u64,
    sold_in: Option<Duration>,
    refused: u64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buyers = match self.buyers {
            Buyers::People => "people alone".to_owned(),
            Buyers::Bots { addresses: 1 } => "bots on one address".to_owned(),
            Buyers::Bots { addresses } => format!("bots on {addresses} addresses"),
        };
        let name = format!("{buyers}, {}", if self.is_guarded { "guard" } else { "no guard" });
        let sold_in = self.sold_in.map_or("never".to_owned(), |time| format!("{:.2} s", time.as_secs_f64()));
        write!(f, "{name:<34}{:>8}{:>8}{sold_in:>9}{:>10}", self.bots, self.people, self.refused)
    }
}

/// What a buyer does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Press,
    Solve,
}

/// Runs a rush until the sale is sold out, or nobody is left.
pub async fn run(mall: &Mall, buyers: Buyers, is_guarded: bool) -> Outcome {
    let sale = mall.sale(UNITS, is_guarded).await;
    let mut random = StdRng::seed_from_u64(7);
    let mut steps = BinaryHeap::new();
    let mut browsers = HashMap::new();
    for user in 0..PEOPLE {
        let (least, mean) = REACTION_MS;
        let wait: f64 = random.random_range(f64::EPSILON..1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
        let press = (least - mean * wait.ln()) as u64;
        steps.push(Reverse((press, user, Step::Press)));
        browsers
            .insert(user, Browser::new(user + 1, 0x10_0000 + u32::try_from(user).expect("a small number")));
    }
    if let Buyers::Bots { addresses } = buyers {
        for number in 0..BOTS {
            let user = FIRST_BOT + number;
            steps.push(Reverse((0, user, Step::Press)));
            let address = u32::try_from(number).expect("a small number") % addresses;
            browsers.insert(user, Browser::new(user + 1, address));
        }
    }
    let mut outcome = Outcome { buyers, is_guarded, bots: 0, people: 0, sold_in: None, refused: 0 };
    let mut challenges = HashMap::new();
    while let Some(Reverse((at, user, step))) = steps.pop() {
        mall.clock.set(OPENING + Duration::from_millis(at));
        let is_bot = user >= FIRST_BOT;
        let browser = browsers.get_mut(&user).expect("everybody has a browser");
        let bought = match step {
            Step::Press if is_guarded => {
                // Everybody takes the kind that costs the bench least: only the time for it counts here.
                match browser.challenge(mall, sale, ChallengeKind::Work).await {
                    Ok(given) => {
                        challenges.insert(user, given);
                        let takes = if is_bot { BOT_SOLVING_MS } else { random.random_range(SOLVING_MS) };
                        steps.push(Reverse((at + takes, user, Step::Solve)));
                        continue;
                    }
                    Err(refused) => Err(refused),
                }
            }
            Step::Press => browser.claim(mall, sale, None).await.map(drop),
            Step::Solve => {
                let given = challenges.remove(&user).expect("it was given");
                solve(mall, browser, sale, &given).await
            }
        };
        match bought {
            Ok(()) if is_bot => outcome.bots += 1,
            Ok(()) => outcome.people += 1,
            Err(Failure::Refused(Refusal::SoldOut)) => break,
            Err(Failure::Refused(_)) => outcome.refused += 1,
            Err(failure) => panic!("{failure}"),
        }
        if outcome.bots + outcome.people == UNITS {
            outcome.sold_in = Some(Duration::from_millis(at));
            break;
        }
    }
    outcome
}

async fn solve(mall: &Mall, browser: &Browser, sale: VoucherId, given: &Challenge) -> Result<(), Failure> {
    let answer = browser.right_answer(mall, sale, given).await;
    let pass = browser.answer(mall, sale, given, &answer).await?;
    browser.claim(mall, sale, Some(&pass)).await.map(drop)
}
