//! What works in a mall and what does not, for operators: `/readyz`, the console and alerts.

use mallbox_storage::{Health, OrderId, PageFindings};

use crate::mall::base::Context;
use crate::mall::base::clock_doubt::ClockState;
use crate::mall::selling::challenge_service::WatchedService;

/// The state of a mall.
pub struct MallState {
    /// Health of the storage.
    pub health: Health,
    /// Accepted claims not yet written to the database.
    pub backlog: u64,
    /// Failures, for which the mall cannot sell; empty if it can.
    pub troubles: Vec<String>,
    /// Whether the clock of this machine is sure.
    pub clock: ClockState,
    /// What is wrong with the clock of this machine.
    pub wrong_clock: Vec<String>,
    /// Problems to fix although the mall sells, apart from the clock.
    pub defects: Vec<String>,
}

impl MallState {
    /// Reads the state.
    pub async fn read(context: &Context, challenge_service: Option<&WatchedService>) -> Self {
        let order_log = &context.storage.selling.order_log;
        let ((health, gap), log) = tokio::join!(context.health(), order_log.state());
        let mut troubles: Vec<String> = health.troubles().cloned().collect();
        troubles.extend(log.trouble.filter(|trouble| !troubles.contains(trouble)));
        if OrderId::day(context.now()).is_none() {
            let text = "the clock is before 2022 or after 2089: order ids cannot be issued; set the clock";
            troubles.push(text.to_owned());
        }
        if log.pending >= context.settings.max_backlog {
            troubles
                .push(format!("{} claims wait for the database: further claims are refused", log.pending));
        }
        let clock = context.clock_state();
        // Beside an unsure clock, an earlier jump says nothing of use.
        let wrong_clock = match clock {
            ClockState::Unsure(doubt) => vec![doubt.to_string()],
            ClockState::Sure => {
                let (gap, jump) = (gap.map(|gap| gap.to_string()), context.clock.doubt());
                gap.into_iter().chain(jump.map(|jump| jump.to_string())).collect()
            }
        };
        let away = challenge_service.filter(|watched| !watched.is_available()).map(|watched| {
            let name = watched.service().name();
            format!("the challenge service {name} is away: sales use the mall's own challenges")
        });
        let defects = health.warnings().cloned().chain(repaired_pages(health.pages)).chain(away).collect();
        Self { health, backlog: log.pending, troubles, clock, wrong_clock, defects }
    }

    /// Returns the problems to fix although the mall sells.
    pub fn warnings(&self) -> impl Iterator<Item = &String> {
        self.wrong_clock.iter().chain(&self.defects)
    }
}

fn repaired_pages(pages: Option<PageFindings>) -> Option<String> {
    let repaired = pages.filter(|pages| pages.repaired > 0)?.repaired;
    Some(format!(
        "{repaired} pages of the database had a flipped bit, which was repaired: nothing is lost; check memory and \
         disk, for example by smartctl -a"
    ))
}
