//! The machine's clock is changed while orders are unpaid.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox::mall::base::chores::Chores;
use mallbox::mall::base::clock_jump::ClockJump;
use mallbox::mall::selling::sale_chores;
use mallbox::mall::{Cashier, Clock, FlashSales, ManualClock};
use mallbox_storage::{NewSession, NewWave, OrderStatus, Timestamp, TokenHash, UserId};
use parking_lot::Mutex;

use super::world::{MINUTE, PAY_WITHIN, World, world};

/// The test's clock, behaving like a machine's clock set forward in one step.
struct SetForward {
    clock: Arc<ManualClock>,
    by: Mutex<Option<Duration>>,
}

#[async_trait]
impl Clock for SetForward {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn doubt(&self) -> Option<ClockJump> {
        self.by.lock().map(ClockJump::forward)
    }

    async fn reach(&self, at: Timestamp) {
        self.clock.reach(at).await;
    }
}

/// Runs the background jobs of a mall on such a clock.
async fn run_chores(world: &World, clock: &Arc<SetForward>) {
    let mut context = world.context.clone();
    context.clock = clock.clone();
    let sales = FlashSales::new(context.clone());
    let cashier = Cashier::new(context.clone(), world.gateway.clone());
    let chores = sale_chores::chores(&context, &sales, &cashier);
    let chores = Chores::new(clock.clone(), chores);
    chores.run_all_due(clock.now()).await;
    let due = chores.due(clock.now()).await;
    assert!(!due.contains(&"release waves"), "a wave that is held back keeps no job busy");
}

#[tokio::test]
async fn clock_that_jumps_an_hour_ahead_ends_no_order_and_no_session_before_its_time_has_passed() {
    let world = world().await;
    let sale = world.sale(3).await;
    let order = world.order(1, sale).await;
    world.drain().await;
    let clock = Arc::new(SetForward { clock: world.clock.clone(), by: Mutex::default() });
    let (token, ttl) = (TokenHash([7; 32]), 30 * MINUTE);
    world
        .storage
        .people
        .sessions
        .begin(token, &NewSession::of(UserId::new(1), ttl), world.now())
        .await
        .unwrap();
    world.clock.advance(60 * MINUTE);
    *clock.by.lock() = Some(60 * MINUTE);
    run_chores(&world, &clock).await;
    let expired = world.now() - 60 * MINUTE;
    let found = world.storage.people.sessions.find(token, ttl + 60 * MINUTE, expired).await.unwrap();
    assert_eq!(found.map(|session| session.user), Some(UserId::new(1)), "and nobody is logged out");
    assert_eq!(world.status(order).await, OrderStatus::Unpaid, "a quarter of an hour has not passed");

    world.clock.advance(PAY_WITHIN - Duration::from_millis(1));
    run_chores(&world, &clock).await;
    assert_eq!(world.status(order).await, OrderStatus::Unpaid, "{order} has a millisecond left");
    world.clock.advance(Duration::from_millis(1));
    run_chores(&world, &clock).await;
    assert_eq!(world.status(order).await, OrderStatus::Cancelled);
    world.assert_balanced().await;
}

#[tokio::test]
async fn clock_that_jumps_ahead_releases_no_wave_before_its_time_has_passed() {
    let world = world().await;
    let sale = world.sale(0).await;
    let wave = NewWave { at: world.now() + 30 * MINUTE, units: 8 };
    world.sale_admin.put_waves(world.by(), sale, vec![wave]).await.unwrap();
    let clock = Arc::new(SetForward { clock: world.clock.clone(), by: Mutex::new(Some(60 * MINUTE)) });
    world.clock.advance(60 * MINUTE);
    run_chores(&world, &clock).await;
    assert_eq!(world.left(sale).await, 0, "no time has passed");
    world.clock.advance(30 * MINUTE - Duration::from_millis(1));
    run_chores(&world, &clock).await;
    assert_eq!(world.left(sale).await, 0, "a millisecond early");
    world.clock.advance(Duration::from_millis(1));
    run_chores(&world, &clock).await;
    assert_eq!(world.left(sale).await, 8);
    world.assert_balanced().await;
}
