//! The opening of a sale: who arrives when, and who gets a unit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::time::Duration;

use mallbox::mall::selling::guard::Challenge;
use mallbox::mall::selling::sales::RoomStanding;
use mallbox::mall::{Failure, Refusal};
use mallbox_storage::{ChallengeKind, VoucherId};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::mall::{Browser, DOORS, Mall, OPENING, Protection, UNITS};

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
/// Share of people who enter a waiting room before the opening; the others come after it.
const EARLY: f64 = 0.8;

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
    protection: Protection,
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
        let name = format!("{buyers}, {}", self.protection.name());
        let sold_in = self.sold_in.map_or("never".to_owned(), |time| format!("{:.2} s", time.as_secs_f64()));
        write!(f, "{name:<44}{:>8}{:>8}{sold_in:>9}{:>10}", self.bots, self.people, self.refused)
    }
}

/// What a buyer does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Enters the waiting room, or asks there.
    Wait,
    Press,
    Solve,
}

/// Runs a rush until the sale is sold out, or nobody is left.
pub async fn run(mall: &Mall, buyers: Buyers, protection: Protection) -> Outcome {
    let mut rush = Rush {
        mall,
        sale: mall.sale(UNITS, protection).await,
        protection,
        random: StdRng::seed_from_u64(7),
        steps: BinaryHeap::new(),
        browsers: HashMap::new(),
        challenges: HashMap::new(),
    };
    rush.people_come();
    if let Buyers::Bots { addresses } = buyers {
        rush.bots_come(addresses);
    }
    let mut outcome = Outcome { buyers, protection, bots: 0, people: 0, sold_in: None, refused: 0 };
    while let Some(Reverse((at, user, step))) = rush.steps.pop() {
        mall.clock.set(DOORS + Duration::from_millis(at));
        match rush.step(at, user, step).await {
            Ok(false) => continue,
            Ok(true) if user >= FIRST_BOT => outcome.bots += 1,
            Ok(true) => outcome.people += 1,
            Err(Failure::Refused(Refusal::SoldOut)) => break,
            Err(Failure::Refused(_)) => outcome.refused += 1,
            Err(failure) => panic!("{failure}"),
        }
        if outcome.bots + outcome.people == UNITS {
            outcome.sold_in = Some(mall.since_opening());
            break;
        }
    }
    outcome
}

/// A rush under way. Times are milliseconds from [`DOORS`].
struct Rush<'a> {
    mall: &'a Mall,
    sale: VoucherId,
    protection: Protection,
    random: StdRng,
    steps: BinaryHeap<Reverse<(u64, u64, Step)>>,
    browsers: HashMap<u64, Browser>,
    challenges: HashMap<u64, Challenge>,
}

impl Rush<'_> {
    fn people_come(&mut self) {
        let opening = millis(OPENING.since(DOORS));
        for user in 0..PEOPLE {
            let (least, mean) = REACTION_MS;
            let wait: f64 = self.random.random_range(f64::EPSILON..1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
            let press = opening + (least - mean * wait.ln()) as u64;
            let first = match self.protection {
                Protection::GuardAndRoom if self.random.random_bool(EARLY) => {
                    (self.random.random_range(0..opening), user, Step::Wait)
                }
                Protection::GuardAndRoom => (press, user, Step::Wait),
                _ => (press, user, Step::Press),
            };
            let address = 0x10_0000 + u32::try_from(user).expect("a small number");
            self.comes(self.mall.browser(user + 1, address), first);
        }
    }

    fn bots_come(&mut self, addresses: u32) {
        for number in 0..BOTS {
            let user = FIRST_BOT + number;
            let first = match self.protection {
                Protection::GuardAndRoom => (0, user, Step::Wait),
                _ => (millis(OPENING.since(DOORS)), user, Step::Press),
            };
            let address = u32::try_from(number).expect("a small number") % addresses;
            self.comes(self.mall.browser(user + 1, address), first);
        }
    }

    fn comes(&mut self, browser: Browser, first: (u64, u64, Step)) {
        self.browsers.insert(first.1, browser);
        self.steps.push(Reverse(first));
    }

    /// Takes one step of a user. Returns whether it bought a unit.
    async fn step(&mut self, at: u64, user: u64, step: Step) -> Result<bool, Failure> {
        let browser = self.browsers.get_mut(&user).expect("everybody has a browser");
        match step {
            Step::Wait => match browser.wait(self.mall, self.sale).await? {
                RoomStanding::Admitted { .. } => self.steps.push(Reverse((at, user, Step::Press))),
                RoomStanding::Waiting { poll_in, .. } => {
                    self.steps.push(Reverse((at + millis(poll_in), user, Step::Wait)));
                }
                RoomStanding::Outside => unreachable!("everybody asks as told"),
            },
            Step::Press if self.protection == Protection::None => {
                browser.claim(self.mall, self.sale, None).await?;
                return Ok(true);
            }
            Step::Press => {
                // Everybody takes the kind that costs the bench least: only the time for it counts here.
                let given = browser.challenge(self.mall, self.sale, ChallengeKind::Work).await?;
                self.challenges.insert(user, given);
                let is_bot = user >= FIRST_BOT;
                let takes = if is_bot { BOT_SOLVING_MS } else { self.random.random_range(SOLVING_MS) };
                self.steps.push(Reverse((at + takes, user, Step::Solve)));
            }
            Step::Solve => {
                let given = self.challenges.remove(&user).expect("it was given");
                let answer = browser.right_answer(self.mall, self.sale, &given).await;
                let pass = browser.answer(self.mall, self.sale, &given, &answer).await?;
                browser.claim(self.mall, self.sale, Some(&pass)).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("some minutes")
}
