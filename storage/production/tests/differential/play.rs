//! Takes steps on both back ends until an answer differs.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use mallbox_test_patience::Deadline;

use crate::backs::{self, Back};
use crate::dice::{Dice, number_from};
use crate::scene::Scene;
use crate::step::{Side, Step};
use crate::whole;

/// Without the variables: some twenty seconds a pair of back ends on two slow cores.
const SEEDS: u64 = 3;
const STEPS: u64 = 2_500;
/// Number of steps between comparisons of the complete state.
const WHOLE_EVERY: u64 = 300;
/// Number of steps between the scene's reads of the database.
const READ_EVERY: u64 = 8;
/// Time limit of reading the complete state.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Number of recent steps to print when results differ.
const REMEMBERED: usize = 20;

/// Plays the seed from the environment, or else several seeds.
pub async fn compare(production: impl AsyncFn() -> Back) {
    let steps = number_from("MALLBOX_DIFFERENTIAL_STEPS").unwrap_or(STEPS);
    let seeds = match number_from("MALLBOX_DIFFERENTIAL_SEED") {
        Some(seed) => vec![seed],
        None if std::env::var_os("MALLBOX_DIFFERENTIAL_RANDOM").is_some() => {
            (0..SEEDS).map(|_| rand::random()).collect()
        }
        // Fixed seeds in every run, so that a red run points at a change.
        None => (1..=SEEDS).collect(),
    };
    for seed in seeds {
        println!("MALLBOX_DIFFERENTIAL_SEED={seed} MALLBOX_DIFFERENTIAL_STEPS={steps}");
        let (embedded, production) = (backs::embedded().await, production().await);
        Play::new(seed, &embedded, &production).run(steps).await;
    }
}

struct Play {
    dice: Dice,
    scene: Scene,
    embedded: Side,
    production: Side,
    last: VecDeque<String>,
}

impl Play {
    fn new(seed: u64, embedded: &Back, production: &Back) -> Self {
        let mut dice = Dice::new(seed);
        Self {
            scene: Scene::new(&mut dice),
            dice,
            embedded: Side::new(embedded.storage.clone()),
            production: Side::new(production.storage.clone()),
            last: VecDeque::new(),
        }
    }

    async fn run(mut self, steps: u64) {
        for (number, step) in self.scene.opening(&mut self.dice).into_iter().enumerate() {
            self.take(&format!("opening {number}"), &step).await;
        }
        for number in 0..steps {
            self.scene.clock_goes_on(&mut self.dice);
            if number % READ_EVERY == 0 {
                self.scene.look_around(&self.embedded.storage).await;
            }
            let step = Step::roll(&mut self.dice, &mut self.scene);
            if self.scene.is_fair(&step, &self.embedded.storage).await {
                self.take(&format!("step {number}"), &step).await;
            }
            if (number + 1) % WHOLE_EVERY == 0 || number + 1 == steps {
                self.look_at_everything(&format!("after step {number}")).await;
            }
        }
    }

    async fn take(&mut self, name: &str, step: &Step) {
        let (embedded, production) =
            tokio::join!(step.take(&mut self.embedded), step.take(&mut self.production));
        if embedded != production {
            self.differ(&format!("{name}: {step:?}"), &embedded, &production);
        }
        self.last.push_back(format!("{name}: {step:?}\n    {embedded}"));
        if self.last.len() > REMEMBERED {
            self.last.pop_front();
        }
    }

    async fn look_at_everything(&self, when: &str) {
        let now = self.scene.now;
        let (embedded, production) =
            tokio::join!(whole::of(&self.embedded.storage, now), self.whole_production());
        for (embedded, production) in embedded.iter().zip(&production) {
            if embedded != production {
                self.differ(when, embedded, production);
            }
        }
    }

    /// Returns the complete state of the servers. On a busy machine some of these reads, of whole tables and
    /// years, exceed the limit of a call; nothing changes meanwhile, so they are repeated.
    async fn whole_production(&self) -> Vec<String> {
        let deadline = Deadline::after(WHOLE_TIMEOUT);
        loop {
            let lines = whole::of(&self.production.storage, self.scene.now).await;
            let is_complete = !lines.iter().any(|line| line.ends_with("unavailable"));
            if is_complete || deadline.is_over() {
                return lines;
            }
        }
    }

    fn differ(&self, what: &str, embedded: &str, production: &str) -> ! {
        let mut before = String::new();
        for step in &self.last {
            let _ = writeln!(before, "{step}");
        }
        panic!("\n{before}{what}\n  embedded:   {embedded}\n  production: {production}");
    }
}
