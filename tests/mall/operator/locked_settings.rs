//! A mall stopped past the end of its lease on a list in a setting, beside another one that goes on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox::fixture::Fault;
use mallbox::fixture::faults::{self, Faults};
use mallbox::mall::base::kiosk_keys::Kiosks;
use mallbox::mall::operator::kiosks::KioskAdmin;
use mallbox::mall::{AuditLog, Context, Failure, Random};
use mallbox_storage::{Health, PageFindings, StoreError, Timestamp, Upkeep};
use mallbox_storage_embedded::DiskFaults;
use mallbox_test_patience::Deadline;
use parking_lot::Mutex;

use super::watched::Gate;
use super::world::{World, world};

/// A decorator of the real upkeep that holds up one reader of the kiosks, after the read.
struct GatedUpkeep {
    real: Arc<dyn Upkeep>,
    gate: Mutex<Option<Arc<Gate>>>,
}

#[async_trait]
impl Upkeep for GatedUpkeep {
    async fn health(&self) -> Health {
        self.real.health().await
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.real.sweep(now).await
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let read = self.real.setting(name).await;
        let gate = if name == Kiosks::SETTING { self.gate.lock().take() } else { None };
        if let Some(gate) = gate {
            gate.pass().await;
        }
        read
    }

    async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.real.put_setting(name, value).await
    }

    async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError> {
        self.real.keep_setting(name, value).await
    }

    async fn check_pages(&self) -> Result<Option<PageFindings>, StoreError> {
        self.real.check_pages().await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.real.close().await
    }
}

fn admin(context: Context) -> KioskAdmin {
    KioskAdmin::new(context.clone(), AuditLog::new(context), Arc::new(Random::seeded(7)))
}

/// Returns the service of a second mall beside `w`, which cannot renew its leases and stops at the gate.
async fn stopped(w: &World) -> (KioskAdmin, Arc<Gate>) {
    let storage = match w.ground().production() {
        Some(_) => w.ground().open().await,
        None => w.storage.clone(),
    };
    let faults = Arc::new(Faults::new(w.clock.clone(), Arc::<DiskFaults>::default()));
    let mut storage = faults::behind(storage, &faults);
    faults.add(Fault::at_port("locks.renew").error()).unwrap();
    let gate = Arc::<Gate>::default();
    let real = Arc::clone(&storage.base.upkeep);
    storage.base.upkeep = Arc::new(GatedUpkeep { real, gate: Mutex::new(Some(Arc::clone(&gate))) });
    let mut context = w.context.clone();
    context.storage = storage;
    (admin(context), gate)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_list_overtaken_while_stopped_brings_nothing_back() {
    let w = world().await;
    let here = admin(w.context.clone());
    let removed = here.add(w.by(), "till").await.unwrap().kiosk;
    let (late, gate) = stopped(&w).await;
    let adding = {
        let (late, by) = (late.clone(), w.by());
        tokio::spawn(async move { late.add(by, "entrance").await.map(|new| new.kiosk) })
    };
    gate.reached.notified().await;
    let deadline = Deadline::after(Duration::from_secs(60));
    while let Err(failure) = here.remove(w.by(), removed.id).await {
        assert!(!deadline.is_over(), "{failure:?}");
    }
    gate.opened.notify_one();
    let outcome = adding.await.unwrap();
    assert!(matches!(outcome, Err(Failure::Store(_))), "{outcome:?}");
    assert_eq!(here.list().await.unwrap(), [], "the removed kiosk stays removed");
    let added = late.add(w.by(), "entrance").await.unwrap().kiosk;
    assert_eq!(here.list().await.unwrap(), [added], "a repeat works");
}
