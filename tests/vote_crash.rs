//! `kill -9` in the middle of a rush of votes: every acknowledged vote is counted, nobody counts twice, and
//! the ledger's sums are those of the reviews.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use mallbox_storage::{ReviewId, VoteCause};

use common::dice::{Dice, number_from};
use common::mall::{Mall, Size};
use common::server::{self, Server};
use common::{http, mall};

/// Voters at once.
const VOTERS: usize = 64;
/// Reviews voted for: few, so that votes for one review wait for each other.
const REVIEWS: usize = 3;
/// Time from the first vote to the kill, in milliseconds.
const KILL_WITHIN_MS: (u64, u64) = (30, 400);
/// Does not limit the voters.
const FLAGS: [&str; 2] = ["--actions-per-minute", "0"];

/// What a voter knows about the own vote for a review.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// The mall acknowledged this state.
    Is(bool),
    /// The mall did not respond to a change to this state.
    MaybeNow(bool),
}

/// States of the votes: per voter, per review.
type Votes = Vec<[Known; REVIEWS]>;

#[test]
fn every_acknowledged_vote_counts_once_after_kills_at_any_moment() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(40);
    let mut dice = Dice::from_environment("votes");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let people = mall::make(&data, Size { people: VOTERS + 1, sales: 1, units: 1 })?;
    let reviews = add_reviews(&data, &people)?;
    let mut votes = vec![[Known::Is(false); REVIEWS]; VOTERS];
    let mut acknowledged = 0;
    for _ in 0..cycles {
        let server = Server::start_with(&data, &log, &FLAGS)?;
        let rush = begin_rush(server.address, &people, reviews, votes);
        std::thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
        server.kill()?;
        let known;
        (votes, known) = end_rush(rush)?;
        acknowledged += known;
        server::verify(&data)?;
        check(&data, &people, reviews, &votes)?;
    }
    ensure!(acknowledged > 0, "no vote was acknowledged: every kill came too early");
    println!("votes: {cycles} times kill -9, {acknowledged} votes acknowledged, {VOTERS} voters at once");
    Ok(())
}

/// Adds reviews by the last person, who does not vote.
fn add_reviews(data: &Path, people: &Mall) -> anyhow::Result<[ReviewId; REVIEWS]> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let reviews = mall::add_reviews(&storage, people.people[VOTERS].id).await?;
        storage.base.upkeep.close().await?;
        Ok(reviews)
    })
}

type Rush = Vec<std::thread::JoinHandle<([Known; REVIEWS], u64)>>;

/// Begins to vote: each voter votes for one review after another and takes votes back, until the mall is
/// gone.
fn begin_rush(address: SocketAddr, people: &Mall, reviews: [ReviewId; REVIEWS], votes: Votes) -> Rush {
    let voters = votes.into_iter().enumerate();
    voters
        .map(|(voter, mut own)| {
            let people = Arc::clone(&people.people);
            std::thread::spawn(move || {
                let mut acknowledged = 0;
                for turn in voter.. {
                    let place = turn % REVIEWS;
                    let up = match own[place] {
                        Known::Is(is) => !is,
                        // A repeat resolves the doubt.
                        Known::MaybeNow(up) => up,
                    };
                    own[place] = Known::MaybeNow(up);
                    let path = format!("/api/remark/{}/vote/{up}", reviews[place]);
                    match http::send(address, "PUT", &path, &people[voter].token, "") {
                        Ok(reply) if reply.body["success"] == true => {
                            own[place] = Known::Is(up);
                            acknowledged += 1;
                        }
                        // Refused under load: in doubt, too.
                        Ok(reply) if reply.status >= 500 => {}
                        Ok(reply) => panic!("{path}: {} {}", reply.status, reply.text),
                        Err(_) => break,
                    }
                }
                (own, acknowledged)
            })
        })
        .collect()
}

fn end_rush(rush: Rush) -> anyhow::Result<(Votes, u64)> {
    let mut votes = Vec::with_capacity(VOTERS);
    let mut acknowledged = 0;
    for voter in rush {
        let (own, known) = voter.join().ok().context("a voter panicked")?;
        votes.push(own);
        acknowledged += known;
    }
    Ok((votes, acknowledged))
}

/// Compares what voters know with the ledger, rebuilt line by line.
fn check(data: &Path, people: &Mall, reviews: [ReviewId; REVIEWS], votes: &Votes) -> anyhow::Result<()> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        for (place, review) in reviews.into_iter().enumerate() {
            let mut lines = storage.writing.votes.lines(review, None, u32::MAX).await?;
            lines.reverse();
            let mut up = std::collections::BTreeSet::new();
            for (number, line) in (1..).zip(&lines) {
                let voter = line.user.context("a line of nobody")?;
                let is_new = match line.cause {
                    VoteCause::Up => up.insert(voter),
                    VoteCause::Down => up.remove(&voter),
                    VoteCause::Closed => bail!("nobody closed the votes"),
                };
                ensure!(is_new && line.number == number && line.sum == up.len() as u64, "{line:?}");
            }
            let found = storage.writing.reviews.get(review).await?.context("no review")?;
            ensure!(found.votes == up.len() as u64, "{found:?}: {} votes in the ledger", up.len());
            for (voter, own) in votes.iter().enumerate() {
                let counts = up.contains(&people.people[voter].id);
                let fits = own[place] == Known::Is(counts) || matches!(own[place], Known::MaybeNow(_));
                ensure!(fits, "voter {voter} knows {:?} of review {review}, counted: {counts}", own[place]);
            }
        }
        Ok(storage.base.upkeep.close().await?)
    })
}
