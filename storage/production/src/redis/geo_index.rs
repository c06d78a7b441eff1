//! The [`GeoIndex`] port: Redis geo sets, with all shops in one set and the shops of each type in another.
//!
//! Searches are answered by the copy of the places in this process where there is one: see [`ShopCopy`].
//!
//! Redis rounds coordinates to 26 bits per axis. So each search asks for somewhat more than wanted. A hash
//! beside the sets has the exact location of each shop, for selecting and sorting the result in the mall. All
//! keys share one hash tag, so a search is one script on one node.
//!
//! The sets in Redis are an index of the database, and are restored from there when missing. The restore runs
//! in a task, independent of the call that detected the loss, because a million shops take longer than any
//! caller waits. Data read earlier never overwrites shops put in the meantime.
//!
//! Reasons and figures: `storage/decisions/0021-shops-nearby.md`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use mallbox_storage::geo_index::restore;
use mallbox_storage::{
    GeoIndex, LatLng, NearbyQuery, NearbyShop, PlacedShop, ShopId, ShopTypeId, Shops, StoreError,
};
use parking_lot::Mutex;
use redis::FromRedisValue;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::restored_server::{Reply, RestoredServer};
use super::script::{ADD_SHOPS, COUNT_SHOPS, Call, MOVE_SHOP, SHOPS_NEAR};
use super::shop_copy::ShopCopy;
use super::shop_entries::{format_entry, parse_entry, parse_shop};

/// Ratio of Redis' earth radius to the mall's.
const REDIS_EARTH: f64 = 6_372_797.560_856 / LatLng::EARTH_RADIUS_M;
/// Upper bound of Redis' error, from rounded coordinates and distances with four decimals.
const SLACK_M: f64 = 1.0;
/// Extra shops per search: more than usually lie within [`SLACK_M`] of the last shop.
const EXTRA_CANDIDATES: usize = 16;
/// Shops added per script: some milliseconds of Redis' time.
const ADDED_AT_ONCE: usize = 500;
/// Time for which a call waits for a restore: enough for some ten thousand shops.
const RESTORE_WAIT: Duration = Duration::from_millis(900);
/// Time limit of a search.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(1_200);
/// Attempts to move a shop during concurrent moves.
const MOVE_ATTEMPTS_MAX: u32 = 8;

/// The geo index of shops in Redis.
#[derive(Clone)]
pub(super) struct RedisGeoIndex {
    link: Link,
    keys: Keys,
    /// Guards searches: only a server with all shops may reply.
    server: Arc<RestoredServer>,
    /// Shops in the database.
    shops: Arc<dyn Shops>,
    copy: Arc<ShopCopy>,
    filling: Arc<Mutex<Option<Filling>>>,
}

/// A restore in progress, or the last one. Failures are only logged.
struct Filling {
    task: AbortHandle,
    is_filled: Shared<BoxFuture<'static, bool>>,
}

impl RedisGeoIndex {
    pub(super) fn new(link: Link, keys: &Keys, shops: Arc<dyn Shops>) -> Self {
        let server = Arc::new(RestoredServer::new(keys.server_of_shops()));
        let copy = ShopCopy::start(&link, keys, &server);
        Self { link, keys: keys.clone(), server, shops, copy, filling: Arc::default() }
    }

    /// Restores the index in the background if Redis lost it; at most one restore runs at a time. The future
    /// yields whether the index is complete.
    pub(super) fn begin_to_fill(&self) -> impl Future<Output = bool> + use<> {
        let mut filling = self.filling.lock();
        if let Some(under_way) = filling.as_ref().filter(|filling| !filling.task.is_finished()) {
            return under_way.is_filled.clone();
        }
        let index = self.clone();
        let done = self.link.runtime().spawn(async move { index.fill().await });
        let task = done.abort_handle();
        let is_filled = done.map(|done| done.unwrap_or(false)).boxed().shared();
        *filling = Some(Filling { task, is_filled: is_filled.clone() });
        is_filled
    }

    async fn fill(&self) -> bool {
        const OP: &str = "geo_index.fill";
        let places = self.keys.shop_places();
        let call = self.server.on(&COUNT_SHOPS, [&*places]);
        let ask = async || self.server.ask(&self.link, (OP, Idempotence::Safe), call.clone()).await;
        let put_right = async || restore(self, &*self.shops).await.map(drop);
        match self.server.run::<u64, _, _>(&self.link, OP, ask, put_right).await {
            Ok(shops) => {
                tracing::debug!(shops, "the geo index is complete");
                true
            }
            Err(error) => {
                tracing::warn!(%error, "could not restore the geo index");
                false
            }
        }
    }

    /// Runs a script that needs the complete index, after a restore if needed.
    async fn ask<T: FromRedisValue>(&self, op: &'static str, call: Call) -> Result<T, StoreError> {
        for _ in 0..2 {
            match self.server.ask(&self.link, (op, Idempotence::Safe), call.clone()).await? {
                Reply::Known(answer) => return Ok(answer),
                Reply::UnknownEpoch(_) => {
                    if !timeout(RESTORE_WAIT, self.begin_to_fill()).await.unwrap_or(false) {
                        break;
                    }
                }
            }
        }
        Err(StoreError::Unavailable { op, source: "the geo index is being loaded into Redis".into() })
    }

    /// Returns a shop's entry in the hash; `""` if the shop has no location.
    async fn seen(&self, op: &'static str, shop: ShopId) -> Result<String, StoreError> {
        let mut command = redis::cmd("HGET");
        command.arg(self.keys.shop_places()).arg(shop.get());
        let seen: Option<String> = self.link.query(op, Idempotence::Safe, &command).await?;
        Ok(seen.unwrap_or_default())
    }

    /// Puts or removes a shop. The script needs the keys of the old and the new type, so the old entry is
    /// read first.
    async fn put_or_remove(
        &self,
        op: &'static str,
        shop: ShopId,
        to: Option<PlacedShop>,
    ) -> Result<(), StoreError> {
        for _ in 0..MOVE_ATTEMPTS_MAX {
            let seen = self.seen(op, shop).await?;
            let before = if seen.is_empty() { None } else { Some(parse_entry(op, shop, &seen)?.kind) };
            let Some(kind) = before.or(to.map(|to| to.kind)) else { return Ok(()) };
            let call = MOVE_SHOP.on([
                self.keys.shop_places(),
                self.keys.shops_by_place(None),
                self.keys.shops_by_place(Some(kind)),
                self.keys.shops_by_place(Some(to.map_or(kind, |to| to.kind))),
                self.keys.shop_changes(),
            ]);
            let call = call.arg(shop.get()).arg(seen).arg(to.map(format_entry).unwrap_or_default());
            let (lng, lat) = to.map_or((0.0, 0.0), |to| (to.at.lng(), to.at.lat()));
            let is_done: u64 = self.link.run(op, Idempotence::Safe, call.arg(lng).arg(lat)).await?;
            if is_done == 1 {
                self.copy.catch_up().await;
                return Ok(());
            }
        }
        Err(StoreError::Unavailable {
            op,
            source: "repeated conflicts with concurrent moves of the shop".into(),
        })
    }

    /// Returns the `max` nearest shops by Redis' distances, and whether the result is complete.
    async fn propose(&self, around: &NearbyQuery, max: usize) -> Result<(Vec<Candidate>, bool), StoreError> {
        const OP: &str = "geo_index.near";
        let (places, among) = (self.keys.shop_places(), self.keys.shops_by_place(around.kind));
        let radius_m = around.radius_m() * REDIS_EARTH + SLACK_M;
        let call = self.server.on(&SHOPS_NEAR, [&*among, &*places]);
        let call = call.arg(around.centre.lng()).arg(around.centre.lat()).arg(radius_m);
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let found: Vec<String> = self.ask(OP, call.arg(max)).await?;
        let are_all = found.len() / 3 < usize::try_from(max).unwrap_or(usize::MAX);
        let mut proposed = Vec::new();
        for found in found.chunks_exact(3) {
            let [shop, redis_metres, place] = found else { continue };
            // Without an entry in the hash, the shop was half lost by Redis.
            if !place.is_empty() {
                proposed.push(Candidate::read(OP, around.centre, shop, redis_metres, place)?);
            }
        }
        Ok((proposed, are_all))
    }

    async fn find(&self, around: &NearbyQuery) -> Result<Vec<NearbyShop>, StoreError> {
        let mut max = around.wanted().saturating_add(EXTRA_CANDIDATES);
        loop {
            let (proposed, are_all) = self.propose(around, max).await?;
            // Shops beyond the candidates are further away than this bound.
            let last_m = proposed.last().map_or(0.0, |last| last.redis_metres - SLACK_M) / REDIS_EARTH;
            let certain = proposed.iter().filter(|it| it.near.metres < last_m).count();
            if are_all || certain >= around.wanted() {
                return Ok(around.cut(proposed.into_iter().map(|it| it.near).collect()));
            }
            // Very many shops are as far away as the last one: search without a limit.
            max = usize::MAX;
        }
    }
}

/// A candidate from a Redis search.
struct Candidate {
    near: NearbyShop,
    redis_metres: f64,
}

impl Candidate {
    fn read(
        op: &'static str,
        centre: LatLng,
        shop: &str,
        redis_metres: &str,
        place: &str,
    ) -> Result<Self, StoreError> {
        let shop = parse_shop(op, shop)?;
        let corrupt = |_| StoreError::Corrupt { op, key: format!("distance of shop {shop}") };
        let redis_metres = redis_metres.parse().map_err(corrupt)?;
        let metres = centre.metres_to(parse_entry(op, shop, place)?.at);
        Ok(Self { near: NearbyShop { shop, metres }, redis_metres })
    }
}

#[async_trait]
impl GeoIndex for RedisGeoIndex {
    async fn put(&self, shop: PlacedShop) -> Result<(), StoreError> {
        self.put_or_remove("geo_index.put", shop.shop, Some(shop)).await
    }

    async fn add(&self, shops: &[PlacedShop]) -> Result<Vec<ShopId>, StoreError> {
        let mut elsewhere = Vec::new();
        for some in shops.chunks(ADDED_AT_ONCE) {
            let mut kinds: Vec<ShopTypeId> = some.iter().map(|shop| shop.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let sets = kinds.iter().map(|kind| self.keys.shops_by_place(Some(*kind)));
            let keys = [self.keys.shop_places(), self.keys.shops_by_place(None), self.keys.shop_changes()];
            let mut call = ADD_SHOPS.on(keys.into_iter().chain(sets));
            for shop in some {
                // Lua counts from 1, and three other keys come first.
                let set = kinds.partition_point(|kind| *kind < shop.kind) + 4;
                call = call.arg(shop.shop.get()).arg(format_entry(*shop));
                call = call.arg(shop.at.lng()).arg(shop.at.lat()).arg(set);
            }
            let moved: Vec<u64> = self.link.run("geo_index.add", Idempotence::Safe, call).await?;
            elsewhere.extend(moved.into_iter().map(ShopId::new));
        }
        self.copy.catch_up().await;
        Ok(elsewhere)
    }

    async fn remove(&self, shop: ShopId) -> Result<(), StoreError> {
        self.put_or_remove("geo_index.remove", shop, None).await
    }

    async fn near(&self, around: &NearbyQuery) -> Result<Vec<NearbyShop>, StoreError> {
        if around.max == 0 {
            return Ok(Vec::new());
        }
        if let Some(found) = self.copy.near(around) {
            return Ok(found);
        }
        timeout(SEARCH_TIMEOUT, self.find(around)).await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable { op: "geo_index.near", source: "Redis does not respond".into() })
        })
    }

    async fn count(&self) -> Result<u64, StoreError> {
        let places = self.keys.shop_places();
        self.ask("geo_index.count", self.server.on(&COUNT_SHOPS, [&*places])).await
    }
}
