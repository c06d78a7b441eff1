//! Differential test: two back ends run identical random steps and must return equal results.
//!
//! The seeds are fixed; `MALLBOX_DIFFERENTIAL_RANDOM=1` draws others. `MALLBOX_DIFFERENTIAL_SEED=` repeats a
//! run with a printed seed, and `MALLBOX_DIFFERENTIAL_STEPS=` makes a run longer.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod backs;
mod claim_gateways;
mod codes;
mod credits;
mod dead_letters;
#[path = "../../../../tests/common/dice.rs"]
#[expect(dead_code, reason = "the mall's own tests roll more kinds of dice")]
mod dice;
mod events;
mod geo_index;
mod keepsakes;
mod normal;
mod order_log;
mod orders;
mod payments;
mod play;
mod retries;
mod reviews;
mod sales;
mod scene;
mod sessions;
mod shared;
mod shops;
mod sign_ins;
mod step;
mod users;
mod vouchers;
mod whole;

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn one_redis_answers_as_the_embedded_back_end_does() {
    play::compare(backs::on_one_redis).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_cluster_answers_as_the_embedded_back_end_does() {
    play::compare(backs::on_a_cluster).await;
}
