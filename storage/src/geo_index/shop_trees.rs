//! R-trees of shops in memory.
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

use foldhash::fast::RandomState;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use super::{NearbyQuery, NearbyShop};
use crate::places::{LatLng, PlacedShop};
use crate::{ShopId, ShopTypeId};

/// Difference between two ways to compute the same distance, in metres, rounded up generously.
const SLACK_M: f64 = 1e-3;

/// Shops by location, in memory: some 330 bytes per shop.
#[derive(Debug, Default)]
pub struct ShopTrees {
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

impl ShopTrees {
    /// Builds trees of all shops, by bulk-loading: a tenth of the time of single insertions.
    #[must_use]
    pub fn of(shops: Vec<PlacedShop>) -> Self {
        let mut leaves: HashMap<_, Vec<Leaf>> = HashMap::new();
        for shop in &shops {
            for tree in trees_of(*shop) {
                leaves.entry(tree).or_default().push(leaf(*shop));
            }
        }
        let trees = leaves.into_iter().map(|(kind, leaves)| (kind, RTree::bulk_load(leaves))).collect();
        let places = shops.into_iter().map(|shop| (shop.shop, shop)).collect();
        Self { places, trees }
    }

    /// Returns the number of shops.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the ids of all shops, in any order.
    pub fn shops(&self) -> impl Iterator<Item = ShopId> {
        self.places.keys().copied()
    }

    /// Puts a shop, replacing its former entry.
    pub fn put(&mut self, shop: PlacedShop) {
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
    pub fn add(&mut self, shop: PlacedShop) -> bool {
        if let Some(known) = self.places.get(&shop.shop) {
            return *known != shop;
        }
        self.insert(shop);
        false
    }

    /// Removes a shop. A missing shop is no error.
    pub fn remove(&mut self, shop: ShopId) {
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

    /// Returns the shops matching the query, as [`GeoIndex::near`](super::GeoIndex::near) does.
    #[must_use]
    pub fn near(&self, around: &NearbyQuery) -> Vec<NearbyShop> {
        if around.max == 0 { Vec::new() } else { around.cut(self.candidates(around)) }
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
