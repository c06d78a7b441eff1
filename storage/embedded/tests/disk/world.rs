//! A mall with one sale, in a directory on a disk with injectable faults.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Claim, ClaimOutcome, Durability, FencingToken, LoggedClaim, NewSale, OpenError, OrderId, Storage,
    StoreError, Timestamp, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::{DiskFaults, EmbeddedOptions};
use mallbox_test_patience::Deadline;
use tempfile::TempDir;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const HOUR: Duration = Duration::from_secs(3600);
/// Time limit for sled to release its lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The name of the only order worker.
pub const WORKER: &str = "worker-1";

/// A mall, its single sale, and the fault switches of its disk.
pub struct World {
    pub storage: Storage,
    pub voucher: VoucherId,
    pub faults: Arc<DiskFaults>,
    options: EmbeddedOptions,
    /// Directory of the mall, removed on drop.
    _home: TempDir,
}

impl World {
    /// Creates a mall in a fresh directory, with a sale of more units than any case claims.
    pub async fn open(durability: Durability) -> Self {
        Self::selling(durability, 1_000_000).await
    }

    /// Creates a mall in a fresh directory, with a sale of `units` units.
    pub async fn selling(durability: Durability, units: u64) -> Self {
        let home = TempDir::new().unwrap();
        let faults = Arc::new(DiskFaults::default());
        let options = EmbeddedOptions {
            durability,
            disk_faults: Some(Arc::clone(&faults)),
            ..EmbeddedOptions::new(home.path().join("mall"))
        };
        let storage = mallbox_storage_embedded::open(options.clone()).await.unwrap();
        let sale = NewSale { end: NOON + HOUR, ..samples::sale(Some(units), NOON - HOUR) };
        let voucher =
            storage.catalogue.vouchers.insert(&samples::voucher(), Some(&sale), NOON - HOUR).await.unwrap();
        put(&storage, voucher).await;
        Self { storage, voucher, faults, options, _home: home }
    }

    /// Stops the mall and reopens the directory.
    pub async fn reopen(self) -> Self {
        self.closed().await.open().await
    }

    /// The directory of the mall.
    pub fn dir(&self) -> &Path {
        &self.options.dir
    }

    /// Stops the mall and keeps the directory.
    pub async fn closed(self) -> Closed {
        self.storage.base.upkeep.close().await.unwrap();
        let Self { voucher, faults, options, _home: home, .. } = self;
        Closed { voucher, faults, options, home }
    }

    /// Copies the directory as a crash would leave it. Call only while nothing is being written.
    pub fn image(&self) -> Closed {
        Closed::copy_of(&self.options, self.voucher)
    }

    /// Stops the mall cleanly, copies the directory, and opens the copy with no loss accepted.
    pub async fn copied(self) -> Self {
        let mut closed = self.closed().await;
        let home = TempDir::new().unwrap();
        let dir = home.path().join("copy");
        copy_dir(&closed.options.dir, &dir);
        closed.options = EmbeddedOptions { dir, durability: Durability::Power, ..closed.options };
        closed.home = home;
        closed.open().await
    }

    /// Claims one unit for `user`; the order has the number of the user.
    pub async fn claim(&self, user: u64) -> Result<ClaimOutcome, StoreError> {
        claim(&self.storage, self.voucher, user).await
    }

    /// Takes claims for the order worker, up to `max`.
    pub async fn take(&self, max: usize) -> Vec<LoggedClaim> {
        self.storage.selling.order_log.take(WORKER, max, Duration::ZERO).await.unwrap()
    }

    /// Returns the number of units taken from the sale.
    pub async fn taken(&self) -> u64 {
        self.storage.selling.sales.units(self.voucher).await.unwrap().unwrap().taken
    }

    /// Current problems, as reported to the operator.
    pub async fn troubles(&self) -> Vec<String> {
        self.storage.base.upkeep.health().await.troubles().cloned().collect()
    }
}

/// The directory of a stopped mall.
pub struct Closed {
    pub faults: Arc<DiskFaults>,
    voucher: VoucherId,
    options: EmbeddedOptions,
    home: TempDir,
}

impl Closed {
    /// Another copy of the directory.
    pub fn image(&self) -> Self {
        Self::copy_of(&self.options, self.voucher)
    }

    fn copy_of(options: &EmbeddedOptions, voucher: VoucherId) -> Self {
        let home = TempDir::new().unwrap();
        let dir = home.path().join("copy");
        copy_dir(&options.dir, &dir);
        let faults = Arc::new(DiskFaults::default());
        let disk_faults = Some(Arc::clone(&faults));
        let options = EmbeddedOptions { dir, disk_faults, ..options.clone() };
        Self { voucher, faults, options, home }
    }

    /// The mall again.
    pub async fn open(self) -> World {
        let storage = self.opened().await;
        put(&storage, self.voucher).await;
        let Self { faults, voucher, options, home } = self;
        World { storage, voucher, faults, options, _home: home }
    }

    /// Opens the storage. After a refused start, sled releases its lock on a thread of its own.
    async fn opened(&self) -> Storage {
        let deadline = Deadline::after(LOCK_TIMEOUT);
        loop {
            match self.try_open().await {
                Err(OpenError::Io { source, .. })
                    if source.kind() == ErrorKind::WouldBlock && !deadline.is_over() => {}
                outcome => return outcome.unwrap(),
            }
        }
    }

    /// Path of the directory.
    pub fn dir(&self) -> &Path {
        &self.options.dir
    }

    /// Accepts the loss of up to `claims` claims from now on.
    pub fn accept(&mut self, claims: u64) {
        self.options.accept_lost_log = Some(claims);
    }

    /// The mall again, or why not.
    pub async fn try_open(&self) -> Result<Storage, OpenError> {
        mallbox_storage_embedded::open(self.options.clone()).await
    }
}

/// Claims one unit; a free function, so that a spawned task can call it.
pub async fn claim(storage: &Storage, voucher: VoucherId, user: u64) -> Result<ClaimOutcome, StoreError> {
    claim_as(storage, voucher, user, order(voucher, user)).await
}

/// Claims one unit under the given order.
pub async fn claim_as(
    storage: &Storage,
    voucher: VoucherId,
    user: u64,
    order: OrderId,
) -> Result<ClaimOutcome, StoreError> {
    storage.selling.sales.claim(Claim { order, voucher, user: UserId::new(user), at: NOON }).await
}

/// Returns the order with the given number.
pub fn order(voucher: VoucherId, number: u64) -> OrderId {
    OrderId::compose(NOON, number, voucher).unwrap()
}

async fn put(storage: &Storage, voucher: VoucherId) {
    let terms = storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms;
    storage.selling.sales.put(terms, FencingToken::new(1)).await.unwrap().done().unwrap();
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
