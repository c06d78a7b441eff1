//! Effects of repeated starts of a demo on its sales.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Durability, Phone, Timestamp, VoucherId};
use mallbox_storage_embedded::EmbeddedOptions;
use tempfile::TempDir;

use super::seed;
use crate::mall::{Dependencies, Mall, ManualClock};

const OPENS_IN: Duration = Duration::from_secs(30);
const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

struct Demo {
    mall: Arc<Mall>,
    clock: Arc<ManualClock>,
    _dir: TempDir,
}

async fn demo() -> Demo {
    let dir = tempfile::tempdir().unwrap();
    let options =
        EmbeddedOptions { durability: Durability::Memory, ..EmbeddedOptions::new(dir.path().join("mall")) };
    let clock = Arc::new(ManualClock::new(NOON));
    let storage = mallbox_storage_embedded::open(options).await.unwrap();
    let mall = Mall::open(Dependencies::simulated(storage, clock.clone()));
    Demo { mall: mall.await.unwrap(), clock, _dir: dir }
}

impl Demo {
    async fn start(&self) -> VoucherId {
        seed(&self.mall, OPENS_IN).await.unwrap().opening
    }

    /// Returns the sales not yet over, as listed on the home page.
    async fn on(&self) -> Vec<VoucherId> {
        self.clock.advance(Duration::from_secs(60));
        let now = self.mall.context.now();
        let (sales, _) = self.mall.sales.on(1, now).await.unwrap();
        sales.iter().map(|sale| sale.voucher.id).collect()
    }

    async fn buys(&self, sale: VoucherId) {
        let phone = Phone::parse("13800000001").unwrap();
        let now = self.mall.context.now();
        let user = self.mall.context.storage.people.users.find_or_create(&phone, "anna", now).await.unwrap();
        self.mall.sales.claim(user.id, sale, now).await.unwrap();
    }
}

#[tokio::test]
async fn a_later_start_opens_the_same_sale_again_if_nobody_bought_in_it() {
    let demo = demo().await;
    let first = demo.start().await;
    let listed = demo.on().await;
    assert_eq!(listed.len(), 2, "{listed:?}");
    let begin = demo.mall.context.now() + OPENS_IN;
    assert_eq!(demo.start().await, first);
    let voucher = demo.mall.context.storage.catalogue.vouchers.get(first).await.unwrap().unwrap();
    assert_eq!(voucher.sale.unwrap().terms.begin, begin);
    assert_eq!(demo.on().await.len(), 2);
}

#[tokio::test]
async fn a_later_start_ends_the_sale_in_which_somebody_bought_and_adds_one() {
    let demo = demo().await;
    let first = demo.start().await;
    demo.on().await;
    demo.buys(first).await;
    let second = demo.start().await;
    assert_ne!(second, first);
    let listed = demo.on().await;
    assert!(listed.contains(&second) && !listed.contains(&first) && listed.len() == 2, "{listed:?}");
}
