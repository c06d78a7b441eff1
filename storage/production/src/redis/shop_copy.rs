//! The copy of all shop locations in this process: a search takes some µs there, and 100 µs of Redis' time.
//!
//! - Scripts that put, move or remove shops append these to a stream. An instance with a copy reads the
//!   stream every [`POLL`], and then reads the shops again. After a change of its own, it does so before the
//!   call returns.
//! - The copy counts only if the stream was read within [`TRUSTED_FOR`]. So a moved shop is found at its new
//!   place within that time on every instance, also on one that lost Redis. Otherwise, Redis is searched.
//! - Instances of a former version announce nothing. So all locations are read again all the time, a page at
//!   each poll.
//! - An instance makes a copy once its searches have cost as much as the copy will, drops the copy after
//!   [`IDLE_MAX`] without searches, and copies no more than [`COPIED_MAX`] shops.
//!
//! Reasons and figures: `storage/decisions/0021-shops-nearby.md`.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use mallbox_storage::backend::ShopTrees;
use mallbox_storage::{NearbyQuery, NearbyShop, PlacedShop, ShopId, StoreError};
use parking_lot::RwLock;
use redis::FromRedisValue;

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::restored_server::{Reply, RestoredServer};
use super::script::{CHANGED_SHOPS, Call, SHOP_PLACES};
use super::shop_entries::{parse_entry, parse_shop};
use super::trust::{POLL, TRUSTED_FOR, Trust};

/// Pause between readings after which the copy is made anew: the stream keeps entries for a minute.
const GAP_MAX: Duration = Duration::from_secs(30);
/// Time without searches after which the copy is dropped.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// Number of shops copied: some 66 MB.
const COPIED_MAX: u64 = 200_000;
/// Number of shops whose copying costs as much as a search in Redis.
const SHOPS_PER_SEARCH: u64 = 25;
/// Entries of the stream per call: up to 500 shops each.
const CHANGES_PER_CALL: u64 = 4;
/// Shops read again at each poll.
const PAGE: u64 = 1_000;
const OP: &str = "geo_index.copy";

/// The copy of all shop locations in this process, or the reasons to make one.
pub(super) struct ShopCopy {
    link: Link,
    keys: Keys,
    server: Arc<RestoredServer>,
    /// All shops while a copy is followed; else empty.
    trees: RwLock<ShopTrees>,
    /// Given by each reading of the stream of changes.
    trust: Trust,
    /// Searches since the start.
    searches: AtomicU64,
    following: tokio::sync::Mutex<Option<Following>>,
}

/// How far a copy is up to date.
struct Following {
    /// The last entry read of the stream.
    last: String,
    read_at: Instant,
    servers_met: u64,
    sweep: Sweep,
    /// Number of searches at the last poll, and the time of the last poll that saw another number.
    searches: u64,
    searched_at: Instant,
}

/// A pass through all locations in Redis.
#[derive(Default)]
struct Sweep {
    /// Where `HSCAN` goes on; 0 at the begin.
    cursor: u64,
    seen: HashSet<ShopId>,
}

/// A shop as Redis has it: `None` if it has no location there.
type Entry = (ShopId, Option<PlacedShop>);

impl ShopCopy {
    /// Prepares copies, which the searches then justify. Follows the changes in the background until dropped.
    pub(super) fn start(link: &Link, keys: &Keys, server: &Arc<RestoredServer>) -> Arc<Self> {
        let copy = Arc::new(Self {
            link: link.clone(),
            keys: keys.clone(),
            server: Arc::clone(server),
            trees: RwLock::default(),
            trust: Trust::new(TRUSTED_FOR),
            searches: AtomicU64::new(0),
            following: tokio::sync::Mutex::default(),
        });
        link.runtime().spawn(follow(Arc::downgrade(&copy)));
        copy
    }

    /// Searches the copy; `None` if no copy counts now.
    pub(super) fn near(&self, around: &NearbyQuery) -> Option<Vec<NearbyShop>> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        let trees = self.trees.read();
        // Under the lock: the copy is dropped only after trust was withdrawn.
        self.trust.is_given().then(|| trees.near(around))
    }

    /// Reads the changes up to now, if there is a copy. Call after a change, so that the next search finds
    /// it.
    pub(super) async fn catch_up(&self) {
        let mut following = self.following.lock().await;
        if let Some(followed) = following.as_mut() {
            let read = self.read_changes(followed).await;
            self.settle(&mut following, read);
        }
    }

    /// Makes a copy, brings it up to date, or drops it.
    async fn poll(&self, searches_before: &mut u64) {
        let mut following = self.following.lock().await;
        let searches = self.searches.load(Ordering::Relaxed);
        let Some(followed) = following.as_mut() else {
            match self.fill(searches - *searches_before).await {
                Ok(filled) => *following = filled,
                Err(error) => tracing::debug!(%error, "could not copy the locations of shops"),
            }
            return;
        };
        *searches_before = searches;
        if mem::replace(&mut followed.searches, searches) != searches {
            followed.searched_at = Instant::now();
        }
        let is_useless = followed.searched_at.elapsed() > IDLE_MAX
            || self.trees.read().count() as u64 > COPIED_MAX
            || followed.read_at.elapsed() > GAP_MAX
            || followed.servers_met != self.link.servers_met();
        if is_useless {
            self.drop_copy(&mut following);
            return;
        }
        let read = self.refresh(followed).await;
        self.settle(&mut following, read);
    }

    /// After a failed reading, the copy does not count until the next. It is dropped if it is not the copy of
    /// this server's data, or not readable.
    fn settle(&self, following: &mut Option<Following>, read: Result<(), StoreError>) {
        let Err(error) = read else { return };
        tracing::debug!(%error, "could not read the changed locations of shops; the copy does not count");
        self.trust.withdraw();
        let is_silent = matches!(&error, StoreError::Unavailable { .. })
            && following.as_ref().is_some_and(|followed| followed.servers_met == self.link.servers_met());
        if !is_silent {
            self.drop_copy(following);
        }
    }

    fn drop_copy(&self, following: &mut Option<Following>) {
        self.trust.withdraw();
        *following = None;
        let copied = mem::take(&mut *self.trees.write());
        // Takes a while.
        self.link.runtime().spawn_blocking(|| drop(copied));
    }

    /// Makes a copy if as many searches are worth it.
    async fn fill(&self, searches: u64) -> Result<Option<Following>, StoreError> {
        if searches == 0 {
            return Ok(None);
        }
        let servers_met = self.link.servers_met();
        let read_at = Instant::now();
        let (last, numbers) = self.changes("").await?;
        let [shops] = numbers.as_slice() else { return Err(corrupt()) };
        let shops: u64 = shops.parse().map_err(|_| corrupt())?;
        if shops > COPIED_MAX || searches.saturating_mul(SHOPS_PER_SEARCH) < shops {
            return Ok(None);
        }
        let (mut placed, mut cursor) = (HashMap::new(), 0);
        loop {
            let (next, page) = self.page(cursor).await?;
            placed.extend(page.into_iter().map(|shop| (shop.shop, shop)));
            if next == 0 {
                break;
            }
            cursor = next;
        }
        let build = move || ShopTrees::of(placed.into_values().collect());
        let trees = self.link.runtime().spawn_blocking(build).await;
        let trees = trees.map_err(|error| StoreError::Unavailable { op: OP, source: error.into() })?;
        *self.trees.write() = trees;
        let searches = self.searches.load(Ordering::Relaxed);
        let (sweep, searched_at) = (Sweep::default(), Instant::now());
        let mut followed = Following { last, read_at, servers_met, sweep, searches, searched_at };
        let read = self.read_changes(&mut followed).await;
        let mut following = Some(followed);
        self.settle(&mut following, read);
        tracing::debug!(shops, is_copied = following.is_some(), "copied the locations of shops");
        Ok(following)
    }

    /// Reads the changes, and a page of locations again.
    async fn refresh(&self, followed: &mut Following) -> Result<(), StoreError> {
        self.read_changes(followed).await?;
        let (next, page) = self.page(followed.sweep.cursor).await?;
        if followed.servers_met != self.link.servers_met() {
            return Err(corrupt());
        }
        followed.sweep.seen.extend(page.iter().map(|shop| shop.shop));
        self.put(page.into_iter().map(|shop| (shop.shop, Some(shop))).collect());
        followed.sweep.cursor = next;
        if next == 0 {
            let seen = mem::take(&mut followed.sweep.seen);
            self.remove_unseen(&seen).await?;
        }
        Ok(())
    }

    /// Reads those shops again that a pass through all locations has not met.
    async fn remove_unseen(&self, seen: &HashSet<ShopId>) -> Result<(), StoreError> {
        let unseen: Vec<ShopId> = self.trees.read().shops().filter(|shop| !seen.contains(shop)).collect();
        for some in unseen.chunks(1_000) {
            let places = self.keys.shop_places();
            let call = self.server.on(&SHOP_PLACES, [&*places]);
            let call = some.iter().fold(call, |call, shop| call.arg(shop.get()));
            // Asked with care: another server, or one that lost its data, has fewer shops.
            let entries: Vec<Option<String>> = self.ask(call).await?;
            let entries = some.iter().zip(entries);
            let entries = entries.map(|(shop, entry)| read(*shop, entry.as_deref().unwrap_or_default()));
            self.put(entries.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// Reads the changes up to now, and gives trust.
    async fn read_changes(&self, followed: &mut Following) -> Result<(), StoreError> {
        loop {
            let began = Instant::now();
            let (last, mut told) = self.changes(&followed.last).await?;
            if told.is_empty() {
                return Err(corrupt());
            }
            let entries = told.split_off(1);
            let entries = entries.chunks_exact(2).map(|shop| match shop {
                [shop, entry] => read(parse_shop(OP, shop)?, entry),
                _ => Err(corrupt()),
            });
            self.put(entries.collect::<Result<_, _>>()?);
            followed.last = last;
            // Fewer entries than asked for: these were the last.
            if told
                .first()
                .and_then(|count| count.parse().ok())
                .is_none_or(|count: u64| count < CHANGES_PER_CALL)
            {
                followed.read_at = began;
                self.trust.give(began);
                return Ok(());
            }
        }
    }

    /// Returns the last entry of the stream after `last`, and what the script says besides.
    async fn changes(&self, last: &str) -> Result<(String, Vec<String>), StoreError> {
        let (places, changes) = (self.keys.shop_places(), self.keys.shop_changes());
        let call = self.server.on(&CHANGED_SHOPS, [&*places, &*changes]).arg(last).arg(CHANGES_PER_CALL);
        let mut told: Vec<String> = self.ask(call).await?;
        if told.is_empty() {
            return Err(corrupt());
        }
        let others = told.split_off(1);
        Ok((told.remove(0), others))
    }

    /// Runs a script that needs the complete index.
    async fn ask<T: FromRedisValue>(&self, call: Call) -> Result<T, StoreError> {
        match self.server.ask(&self.link, (OP, Idempotence::Safe), call).await? {
            Reply::Known(answer) => Ok(answer),
            Reply::UnknownEpoch(_) => {
                Err(StoreError::Corrupt { op: OP, key: "locations of shops, not restored yet".to_owned() })
            }
        }
    }

    /// Reads a page of locations. Returns where the next page begins; 0 after the last.
    async fn page(&self, cursor: u64) -> Result<(u64, Vec<PlacedShop>), StoreError> {
        let mut command = redis::cmd("HSCAN");
        command.arg(self.keys.shop_places()).arg(cursor).arg("COUNT").arg(PAGE);
        let (next, fields): (u64, Vec<String>) = self.link.query(OP, Idempotence::Safe, &command).await?;
        let placed = fields.chunks_exact(2).map(|shop| match shop {
            [shop, entry] => parse_entry(OP, parse_shop(OP, shop)?, entry),
            _ => Err(corrupt()),
        });
        Ok((next, placed.collect::<Result<_, _>>()?))
    }

    fn put(&self, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let mut trees = self.trees.write();
        for (shop, placed) in entries {
            match placed {
                Some(placed) => trees.put(placed),
                None => trees.remove(shop),
            }
        }
    }
}

fn read(shop: ShopId, entry: &str) -> Result<Entry, StoreError> {
    let placed = if entry.is_empty() { None } else { Some(parse_entry(OP, shop, entry)?) };
    Ok((shop, placed))
}

fn corrupt() -> StoreError {
    StoreError::Corrupt { op: OP, key: "locations of shops".to_owned() }
}

/// Polls until the copy's owner is dropped.
async fn follow(copy: Weak<ShopCopy>) {
    let mut searches_before = 0;
    while let Some(copy) = copy.upgrade() {
        copy.poll(&mut searches_before).await;
        drop(copy);
        tokio::time::sleep(POLL).await;
    }
}
