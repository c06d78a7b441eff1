//! The table at the end, and the verdict.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use mallbox::bench::load::Report;
use mallbox::mall::Settings;
use mallbox_storage::Limit;

use crate::attack::{Bots, OWN_ACCOUNTS, SUCCESS, Trick};
use crate::felt::{Act, Felt, Row, Who};
use crate::silent::Silence;

/// Memory of a process, in MiB.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    resident: u64,
    peak: u64,
}

impl Memory {
    pub fn of(process: u32) -> anyhow::Result<Self> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let mib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            Ok::<_, anyhow::Error>(kib.with_context(|| format!("{name} is missing"))? >> 10)
        };
        Ok(Self { resident: mib("VmRSS:")?, peak: mib("VmHWM:")? })
    }
}

/// All results.
pub struct Results<'a> {
    pub bots: &'a Bots,
    pub load: &'a Report,
    pub silence: Silence,
    pub felt: &'a Felt,
    /// Codes sent to everybody, and codes sent to newcomers at the bots' address.
    pub codes: [u64; 2],
    /// Time since the first request for a code from the bots' address.
    pub asking: Duration,
    pub memory: [Memory; 2],
}

impl Results<'_> {
    /// Prints everything. Returns whether the mall kept its promises.
    pub fn print(&self, log: &Path) -> anyhow::Result<bool> {
        self.print_spoils();
        self.print_answers();
        self.print_felt();
        let [start, end] = self.memory;
        println!(
            "\nmemory of the mall: {} MiB before, {} after, {} peak",
            start.resident, end.resident, end.peak
        );
        print_security_log(log)?;
        Ok(self.verdict())
    }

    fn print_spoils(&self) {
        let Results { bots, load, silence, codes: [total, _], .. } = self;
        let [own, others, most] = bots.codes();
        let spoils = &bots.spoils;
        let budget = Settings::default().codes.budget(false).unwrap_or(u32::MAX);
        let guesses = |trick, code| spoils.count(&[trick], code) + spoils.count(&[trick], SUCCESS);
        println!("\nwhat the bots achieved");
        for (what, value) in [
            (
                "requests",
                format!("{} ({:.0} /s), {} lost", load.answered, load.per_second(), load.errors.total()),
            ),
            ("codes to phones of others", format!("{others}, at most {most} to one phone")),
            ("codes to their own phones", format!("{own}, {OWN_ACCOUNTS} of them before the attack")),
            (
                "budget of the mall",
                format!(
                    "{total} codes sent to everybody: {:.2} % of {budget} a day",
                    percent(*total, budget)
                ),
            ),
            ("codes guessed and compared", guesses(Trick::GuessCode, "CODE_WRONG").to_string()),
            ("passwords guessed and hashed", guesses(Trick::GuessPassword, "PASSWORD_WRONG").to_string()),
            ("hashes by own accounts", guesses(Trick::WrongPassword, "PASSWORD_WRONG").to_string()),
            ("log-ins to their own accounts", spoils.own_log_ins.to_string()),
            ("log-ins to accounts of others", spoils.taken_over.to_string()),
            ("accepted writes", spoils.count(&[Trick::Write], SUCCESS).to_string()),
            (
                "silent connections",
                format!(
                    "{} opened, {} closed by the mall, {} held at the end",
                    silence.opened, silence.closed, silence.held
                ),
            ),
        ] {
            println!("  {what:<32} {value}");
        }
    }

    fn print_answers(&self) {
        println!(
            "\nresponses to the bots\n  {:<30} {:>6} {:<22} {:>10}",
            "trick", "status", "code", "number"
        );
        for ((trick, status), codes) in &self.bots.spoils.answers {
            for (code, count) in codes {
                println!("  {:<30} {status:>6} {code:<22} {count:>10}", trick.name());
            }
        }
    }

    fn print_felt(&self) {
        println!(
            "\nwhat honest people felt, in ms\n  {:<38} {:<20} {:>6} {:>6} {:>8} {:>8} {:>8}  refusals",
            "", "", "tried", "done", "p50", "p99", "max"
        );
        self.felt.for_each(|who, act, row| {
            let Row { tried, succeeded, latencies, refusals, .. } = row;
            let ms = |us: u64| format!("{:.1}", us as f64 / 1e3);
            let refusals: Vec<_> = refusals.iter().map(|(code, count)| format!("{code} {count}")).collect();
            println!(
                "  {:<38} {:<20} {tried:>6} {succeeded:>6} {:>8} {:>8} {:>8}  {}",
                who.name(),
                act.name(),
                ms(latencies.value_at_quantile(0.5)),
                ms(latencies.value_at_quantile(0.99)),
                ms(latencies.max()),
                refusals.join(", ")
            );
        });
    }

    /// Prints the verdict. Only lock-outs of the operator and codes beyond the limits are failures: guesses
    /// succeed by chance, once in about 6,000 attacks of ten minutes.
    fn verdict(&self) -> bool {
        const LOG_INS: [Act; 2] = [Act::ByCode, Act::ByPassword];
        let never = |count: u64| if count == 0 { "never".to_owned() } else { format!("{count} times") };
        println!("\nverdict");
        let mut locked_out = 0;
        for who in [Who::Operator, Who::OperatorElsewhere, Who::Customer, Who::Neighbour] {
            let [tried, _, given_up] = self.felt.sum(who, &LOG_INS);
            println!("  {} locked out: {} in {tried} tries", who.name(), never(given_up));
            if matches!(who, Who::Operator | Who::OperatorElsewhere) {
                locked_out += given_up;
            }
        }
        let [tried, done, _] = self.felt.sum(Who::NewNeighbour, &LOG_INS);
        println!("  {}: logged in {done} times in {tried} tries", Who::NewNeighbour.name());
        let [_, _, given_up] = self.felt.sum(Who::Operator, &[Act::Console]);
        println!("  calls of the console refused: {}", never(given_up));
        println!("  accounts of others taken over: {}", never(self.bots.spoils.taken_over));
        let are_within = self.codes_are_within_limits();
        locked_out == 0 && are_within
    }

    /// Compares the codes with the limits of `serve` without flags.
    fn codes_are_within_limits(&self) -> bool {
        let settings = Settings::default();
        let [_, others, most] = self.bots.codes();
        let [total, newcomers] = self.codes;
        // The own phones were unknown at their first code.
        let of_address = others + newcomers + OWN_ACCOUNTS as u64;
        let allowed = settings.code_limit_of_address.map_or(u64::MAX, |limit| burst(limit, self.asking));
        let rows = [
            ("codes for the address of the bots", of_address, allowed),
            ("codes for the address and one phone", most, settings.codes.per_day.into()),
            ("codes of the mall", total, settings.codes.per_day_of_mall.into()),
        ];
        for (what, sent, allowed) in rows {
            let is = if sent <= allowed { "within" } else { "ABOVE" };
            println!("  {what}: {sent}, {is} the limit of {allowed}");
        }
        rows.iter().all(|(_, sent, allowed)| sent <= allowed)
    }
}

/// Returns the calls that a limit allows a fresh key within `span`: a burst, then one at a time.
fn burst(limit: Limit, span: Duration) -> u64 {
    let step = limit.per / limit.count.max(1);
    let refilled = span.as_millis() / step.as_millis().max(1);
    u64::from(limit.count) + u64::try_from(refilled).unwrap_or(u64::MAX)
}

fn percent(part: u64, whole: u32) -> f64 {
    100.0 * part as f64 / f64::from(whole)
}

/// Prints the lines of the security log by event, and the lines left out.
fn print_security_log(log: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(log).context("cannot read the log of the mall")?;
    let mut events = BTreeMap::<&str, [u64; 2]>::new();
    for line in text.lines() {
        let Some((_, fields)) = line.split_once(" security: ") else { continue };
        let Some(event) = after(fields, "event=\"").and_then(|rest| rest.split('"').next()) else { continue };
        let suppressed = after(fields, "suppressed=").and_then(|rest| rest.split(' ').next()?.parse().ok());
        let counts = events.entry(event).or_default();
        counts[0] += 1;
        counts[1] += suppressed.unwrap_or(0);
    }
    println!(
        "\nsecurity log: {} KiB in all\n  {:<28} {:>8} {:>10}",
        text.len() >> 10,
        "event",
        "lines",
        "left out"
    );
    for (event, [lines, suppressed]) in events {
        println!("  {event:<28} {lines:>8} {suppressed:>10}");
    }
    Ok(())
}

fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.split_once(mark).map(|(_, rest)| rest)
}
