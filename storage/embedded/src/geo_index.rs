//! The [`GeoIndex`] port: R-trees in memory, filled from the database at start.
//!
//! A tree holds points on the unit sphere in three dimensions. The order by chord length is the order by
//! distance along the ground, so the 180° meridian is no seam, and degrees that shrink towards the poles do
//! not matter. There is one tree of all shops and one per type, so a shop of a rare type is found as fast
//! as any other. (With trees per type alone, a search of all types takes the nearest of each: ten times as
//! long with ten types.)
//!
//! Reasons and figures: `storage/decisions/0021-shops-nearby.md`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use async_trait::async_trait;
use foldhash::fast::RandomState;
use mallbox_storage::{
    GeoIndex, LatLng, NearbyQuery, NearbyShop, PlacedShop, ShopId, ShopTypeId, StoreError,
};
use parking_lot::RwLock;
use rstar::RTree;
use rstar::primitives::GeomWithData;

/// Difference between two ways to compute the same distance, in metres, rounded up generously.
const SLACK_M: f64 = 1e-3;

#[derive(Debug, Default)]
pub(crate) struct EmbeddedGeoIndex {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    places: HashMap<ShopId, PlacedShop, RandomState>,
    /// Trees by type; `None` is the tree of all shops. No tree is empty.
    trees: HashMap<Option<ShopTypeId>, RTree<Leaf>, RandomState>,
}

type Leaf = GeomWithData<[f64; 3], ShopId>;

/// Returns the keys of the trees that contain a shop.
fn trees_of(shop: PlacedShop) -> [Option<ShopTypeId>; 2] {
    [None, Some(shop.kind)]
}

fn leaf(shop: PlacedShop) -> Leaf {
    Leaf::new(on_ball(shop.at), shop.shop)
}

/// Returns the place as a point on the unit sphere.
fn on_ball(at: LatLng) -> [f64; 3] {
    let (lng, lat) = (at.lng().to_radians(), at.lat().to_radians());
    [lat.cos() * lng.cos(), lat.cos() * lng.sin(), lat.sin()]
}

/// Returns the squared chord length between places `metres` apart on the ground.
fn chord_squared(metres: f64) -> f64 {
    4.0 * (metres / (2.0 * LatLng::EARTH_RADIUS_M)).sin().powi(2)
}

impl EmbeddedGeoIndex {
    /// Builds an index of all shops. Each tree is bulk-loaded, in a tenth of the time of single insertions.
    pub(crate) fn of(shops: Vec<PlacedShop>) -> Self {
        let mut leaves: HashMap<_, Vec<Leaf>> = HashMap::new();
        for shop in &shops {
            for tree in trees_of(*shop) {
                leaves.entry(tree).or_default().push(leaf(*shop));
            }
        }
        let trees = leaves.into_iter().map(|(kind, leaves)| (kind, RTree::bulk_load(leaves))).collect();
        let places = shops.into_iter().map(|shop| (shop.shop, shop)).collect();
        Self { inner: RwLock::new(Inner { places, trees }) }
    }
}

impl Inner {
    fn put(&mut self, shop: PlacedShop) {
        if self.places.get(&shop.shop) != Some(&shop) {
            self.remove(shop.shop);
            self.insert(shop);
        }
    }

    fn insert(&mut self, shop: PlacedShop) {
        for tree in trees_of(shop) {
            self.trees.entry(tree).or_default().insert(leaf(shop));
        }
        self.places.insert(shop.shop, shop);
    }

    /// Inserts a shop unless present. Returns true if the index already has the shop at another place or of
    /// another type.
    fn add(&mut self, shop: PlacedShop) -> bool {
        if let Some(known) = self.places.get(&shop.shop) {
            return *known != shop;
        }
        self.insert(shop);
        false
    }

    fn remove(&mut self, shop: ShopId) {
        let Some(known) = self.places.remove(&shop) else { return };
        for tree in trees_of(known) {
            if let Entry::Occupied(mut tree) = self.trees.entry(tree) {
                tree.get_mut().remove(&leaf(known));
                if tree.get().size() == 0 {
                    tree.remove();
                }
            }
        }
    }

    /// Returns all shops that may belong to the result, and few more: the trees order by chord length.
    fn candidates(&self, around: &NearbyQuery) -> Vec<NearbyShop> {
        let mut found = Vec::new();
        let Some(tree) = self.trees.get(&around.kind) else { return found };
        let mut farthest = chord_squared(around.radius_m() + SLACK_M);
        for (leaf, distance) in tree.nearest_neighbor_iter_with_distance_2(on_ball(around.centre)) {
            if distance > farthest {
                break;
            }
            let Some(known) = self.places.get(&leaf.data) else { continue };
            let metres = around.centre.metres_to(known.at);
            found.push(NearbyShop { shop: known.shop, metres });
            if found.len() == around.wanted() {
                // Shops as far away as the last one may precede it by their ids.
                farthest = farthest.min(chord_squared(metres + SLACK_M));
            }
        }
        found
    }
}

#[async_trait]
impl GeoIndex for EmbeddedGeoIndex {
    async fn put(&self, shop: PlacedShop) -> Result<(), StoreError> {
        self.inner.write().put(shop);
        Ok(())
    }

    async fn add(&self, shops: &[PlacedShop]) -> Result<Vec<ShopId>, StoreError> {
        /// Shops added under one write lock, which blocks searches for about a millisecond.
        const SHOPS_PER_LOCK: usize = 256;
        let mut elsewhere = Vec::new();
        for some in shops.chunks(SHOPS_PER_LOCK) {
            let mut inner = self.inner.write();
            elsewhere.extend(some.iter().filter(|shop| inner.add(**shop)).map(|shop| shop.shop));
        }
        Ok(elsewhere)
    }

    async fn remove(&self, shop: ShopId) -> Result<(), StoreError> {
        self.inner.write().remove(shop);
        Ok(())
    }

    async fn near(&self, around: &NearbyQuery) -> Result<Vec<NearbyShop>, StoreError> {
        if around.max == 0 {
            return Ok(Vec::new());
        }
        let candidates = self.inner.read().candidates(around);
        Ok(around.cut(candidates))
    }

    async fn count(&self) -> Result<u64, StoreError> {
        Ok(self.inner.read().places.len() as u64)
    }
}
