//! Attacks on challenges and passes.

use std::fmt;

use mallbox::mall::selling::guard::{Answer, Challenge, Puzzle};
use mallbox_storage::{ChallengeKind, VoucherId};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::mall::{Browser, Mall, Protection};
use super::ocr;

const TRIES: u32 = 200;
/// Share of successes above which a challenge is decoration.
const DECORATION: f64 = 0.5;

/// How often an attack succeeded.
pub struct Attack {
    name: &'static str,
    succeeded: u32,
    tries: u32,
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = f64::from(self.succeeded) / f64::from(self.tries.max(1));
        let label = if share > DECORATION { "  decoration" } else { "" };
        write!(f, "{:<58}{:>5} of {:>4}{label}", self.name, self.succeeded, self.tries)
    }
}

/// Runs every attack.
pub async fn run(mall: &Mall) -> Vec<Attack> {
    let sale = mall.sale(100_000, Protection::Guard).await;
    let mut attacker = Attacker { mall, sale, next: 1, random: StdRng::seed_from_u64(7) };
    let mut attacks = vec![
        attacker.claims_without_a_pass().await,
        attacker.one_pass_again_and_again().await,
        attacker.passes_of_others().await,
        attacker.changed_passes().await,
        attacker.guessed_texts().await,
    ];
    if ocr::is_there() {
        for is_prepared in [false, true] {
            attacks.push(attacker.texts_by_tesseract(is_prepared).await);
        }
    } else {
        eprintln!("tesseract is not installed: pictures were not read by it");
    }
    for (name, track) in [
        ("slider, gap found, constant speed", constant as fn(u32, &mut StdRng) -> _),
        ("slider, gap found, speed by a formula", by_formula),
        ("slider, gap found, formula with tremor and a correction", with_tremor),
        ("slider, gap found, the same with a pause at the end", with_pause),
    ] {
        attacks.push(attacker.sliders(name, track).await);
    }
    attacks.push(attacker.recorded_track().await);
    attacks.push(attacker.work().await);
    attacks
}

struct Attacker<'a> {
    mall: &'a Mall,
    sale: VoucherId,
    next: u32,
    random: StdRng,
}

impl Attacker<'_> {
    /// Returns a browser that no limit knows yet.
    fn fresh(&mut self) -> Browser {
        self.next += 1;
        self.mall.browser(self.next.into(), self.next)
    }

    /// Returns a browser with a pass.
    async fn with_pass(&mut self) -> (Browser, String) {
        let mut browser = self.fresh();
        let given = browser.challenge(self.mall, self.sale, ChallengeKind::Work).await.expect("it is given");
        let answer = browser.right_answer(self.mall, self.sale, &given).await;
        let pass = browser.answer(self.mall, self.sale, &given, &answer).await.expect("it is right");
        (browser, pass)
    }

    async fn claims_without_a_pass(&mut self) -> Attack {
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let bot = self.fresh();
            succeeded += u32::from(bot.claim(self.mall, self.sale, None).await.is_ok());
        }
        Attack { name: "claims without a pass", succeeded, tries: TRIES }
    }

    async fn one_pass_again_and_again(&mut self) -> Attack {
        let (browser, pass) = self.with_pass().await;
        browser.claim(self.mall, self.sale, Some(&pass)).await.expect("the first claim buys");
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let thief = Browser { user: self.fresh().user, ..browser.clone() };
            for buyer in [&browser, &thief] {
                succeeded += u32::from(buyer.claim(self.mall, self.sale, Some(&pass)).await.is_ok());
            }
        }
        Attack { name: "a spent pass, by its buyer and by another", succeeded, tries: 2 * TRIES }
    }

    async fn passes_of_others(&mut self) -> Attack {
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let (owner, pass) = self.with_pass().await;
            let thief = Browser { ticket: owner.ticket, ..self.fresh() };
            succeeded += u32::from(thief.claim(self.mall, self.sale, Some(&pass)).await.is_ok());
        }
        Attack { name: "passes of others, with their device tickets", succeeded, tries: TRIES }
    }

    async fn changed_passes(&mut self) -> Attack {
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let (browser, pass) = self.with_pass().await;
            let mut bytes = pass.into_bytes();
            let place = self.random.random_range(0..bytes.len());
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("still ASCII");
            succeeded += u32::from(browser.claim(self.mall, self.sale, Some(&changed)).await.is_ok());
        }
        Attack { name: "passes with one character changed", succeeded, tries: TRIES }
    }

    async fn guessed_texts(&mut self) -> Attack {
        let letters: Vec<char> = "abcdefghjkmnpqrstuvwxy346789".chars().collect();
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let mut bot = self.fresh();
            let given = self.given(&mut bot, ChallengeKind::Picture).await;
            let text = (0..5).filter_map(|_| letters.choose(&mut self.random)).collect();
            succeeded +=
                u32::from(bot.answer(self.mall, self.sale, &given, &Answer::Text(text)).await.is_ok());
        }
        Attack { name: "picture, guessed", succeeded, tries: TRIES }
    }

    async fn given(&self, bot: &mut Browser, kind: ChallengeKind) -> Challenge {
        bot.challenge(self.mall, self.sale, kind).await.expect("it is given")
    }

    async fn texts_by_tesseract(&mut self, is_prepared: bool) -> Attack {
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let mut bot = self.fresh();
            let given = self.given(&mut bot, ChallengeKind::Picture).await;
            let Puzzle::Picture { png, .. } = &given.puzzle else { unreachable!("a picture was asked for") };
            let answer = Answer::Text(ocr::read(png, is_prepared));
            succeeded += u32::from(bot.answer(self.mall, self.sale, &given, &answer).await.is_ok());
        }
        let name = if is_prepared { "picture, tesseract, ink made black" } else { "picture, tesseract" };
        Attack { name, succeeded, tries: TRIES }
    }

    async fn sliders(&mut self, name: &'static str, track: fn(u32, &mut StdRng) -> Vec<[i32; 3]>) -> Attack {
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let (bot, given, left) = self.slider().await;
            let answer = Answer::Slider { left, track: track(left, &mut self.random) };
            succeeded += u32::from(bot.answer(self.mall, self.sale, &given, &answer).await.is_ok());
        }
        Attack { name, succeeded, tries: TRIES }
    }

    /// Stretches a track that was accepted once to every further gap.
    async fn recorded_track(&mut self) -> Attack {
        let (recorded_left, recorded) = loop {
            let (bot, given, left) = self.slider().await;
            let track = with_pause(left, &mut self.random);
            let answer = Answer::Slider { left, track: track.clone() };
            if bot.answer(self.mall, self.sale, &given, &answer).await.is_ok() {
                break (left.cast_signed(), track);
            }
        };
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let (bot, given, left) = self.slider().await;
            let stretch = |right: i32| right * left.cast_signed() / recorded_left;
            let track = recorded.iter().map(|&[time, right, down]| [time, stretch(right), down]).collect();
            let answer = Answer::Slider { left, track };
            succeeded += u32::from(bot.answer(self.mall, self.sale, &given, &answer).await.is_ok());
        }
        Attack { name: "slider, gap found, one accepted track, stretched", succeeded, tries: TRIES }
    }

    /// Returns a slider with the place of its gap. Finding it is taken for granted.
    async fn slider(&mut self) -> (Browser, Challenge, u32) {
        let mut bot = self.fresh();
        let given = self.given(&mut bot, ChallengeKind::Slider).await;
        match bot.right_answer(self.mall, self.sale, &given).await {
            Answer::Slider { left, .. } => (bot, given, left),
            _ => unreachable!("a slider was asked for"),
        }
    }

    async fn work(&mut self) -> Attack {
        let mut succeeded = 0;
        for _ in 0..TRIES {
            let mut bot = self.fresh();
            let given = self.given(&mut bot, ChallengeKind::Work).await;
            let answer = bot.right_answer(self.mall, self.sale, &given).await;
            succeeded += u32::from(bot.answer(self.mall, self.sale, &given, &answer).await.is_ok());
        }
        Attack { name: "proof of work, computed", succeeded, tries: TRIES }
    }
}

/// A track of 40 samples whose place follows from the share of the time.
#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
fn track(left: u32, place: impl Fn(f64) -> f64) -> Vec<[i32; 3]> {
    (0..40)
        .map(|step| [step * 16, (place(f64::from(step) / 39.0) * f64::from(left)).round() as i32, 0])
        .collect()
}

fn constant(left: u32, random: &mut StdRng) -> Vec<[i32; 3]> {
    let _ = random;
    track(left, |share| share)
}

fn smooth(share: f64) -> f64 {
    share * share * (3.0 - 2.0 * share)
}

fn by_formula(left: u32, random: &mut StdRng) -> Vec<[i32; 3]> {
    let _ = random;
    track(left, smooth)
}

fn with_tremor(left: u32, random: &mut StdRng) -> Vec<[i32; 3]> {
    let beyond = random.random_range(4..9);
    let mut samples = track(left, smooth);
    for [_, right, down] in &mut samples {
        *right += *right * beyond / i32::try_from(left).unwrap_or(i32::MAX) + random.random_range(-1..=1);
        *down = random.random_range(-2..=2);
    }
    let end = i32::try_from(left).unwrap_or(i32::MAX);
    samples.extend((1..=5).map(|step| [640 + step * 40, end + beyond - (beyond * step / 5), 0]));
    samples
}

fn with_pause(left: u32, random: &mut StdRng) -> Vec<[i32; 3]> {
    let mut samples = with_tremor(left, random);
    samples.extend(samples.last().map(|[time, right, down]| [time + 200, *right, *down]));
    samples
}
