//! Places nearby: the first ten within 5 km and a deep page, on both back ends and with a bare `GEOSEARCH`.

use std::collections::BTreeSet;
use std::sync::Arc;

use mallbox_storage::{GeoIndex, LatLng, NearbyQuery, PlacedShop, ShopId, ShopTypeId};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::bench::{Bench, Row, agree};
use crate::error::{BenchError, ensure};
use crate::insist::insist;
use crate::load::{Load, drive};
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

const CITIES: usize = 200;
const KINDS: u64 = 10;
const RADIUS_M: f64 = 5_000.0;
const PAGE: usize = 10;
/// Places added at once.
const BATCH: usize = 2_000;
/// Different questions, asked over and over, and those whose results are compared.
const QUESTIONS: usize = 2_000;
const COMPARED: usize = 200;
/// Candidates of `GEOSEARCH` beyond the page, of which a page by exact distances is cut. Redis keeps places
/// to 0.6 m.
const SPARE: usize = 20;

type Questions = Arc<Vec<NearbyQuery>>;

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[10_000], &[10_000, 100_000, 1_000_000]);
    let raw = usize::from(settings.has(Side::Servers));
    let measurements = (2 * settings.sides.len() + raw) * settings.callers().len();
    let seconds =
        |size: u64| 3.0 + measurements as f64 * settings.span().as_secs_f64() + size as f64 / 15_000.0;
    let draft = |size: &u64| Draft { side: None, size: *size, measurements, seconds: seconds(*size) };
    sizes.iter().map(draft).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mut dice = StdRng::seed_from_u64(7);
    let cities: Vec<(f64, f64)> =
        (0..CITIES).map(|_| (dice.random_range(75.0..130.0), dice.random_range(20.0..45.0))).collect();
    let places = places(bench.part.size, &cities, &mut dice)?;
    let centres: Vec<LatLng> =
        (0..QUESTIONS).map(|_| near_a_city(&cities, &mut dice)).collect::<Result<_, _>>()?;
    let ask = |skip: usize| -> Questions {
        let question = |centre: &LatLng| NearbyQuery {
            centre: *centre,
            radius_m: RADIUS_M,
            kind: None,
            skip,
            max: PAGE,
        };
        Arc::new(centres.iter().map(question).collect())
    };
    let (first, deep) = (ask(0), ask(190));
    let mut malls = Vec::new();
    for side in bench.settings.sides.clone() {
        let mall = bench.mall(side, Keep::InMemory).await?;
        fill(&mall, &places).await?;
        let memory = mall.memory().await?;
        for (operation, questions) in [("first ten within 5 km", &first), ("page 20 within 5 km", &deep)] {
            measure_side(bench, &mall, (operation, questions), memory).await?;
        }
        malls.push(mall);
    }
    let compared = [&first[..COMPARED], &deep[..COMPARED]].concat();
    if let [one, other] = &malls[..] {
        for question in &compared {
            let one = one.storage.catalogue.geo_index.near(question).await?;
            let other = other.storage.catalogue.geo_index.near(question).await?;
            agree("places near a centre", &one, &other)?;
        }
    }
    for mall in malls {
        if let Some(raw) = mall.raw() {
            measure_raw(bench, &mall, &raw, (&places, &first)).await?;
        }
        mall.close().await?;
    }
    Ok(())
}

async fn measure_side(
    bench: &mut Bench,
    mall: &Mall,
    (operation, questions): (&str, &Questions),
    memory: Option<u64>,
) -> Result<(), BenchError> {
    for callers in bench.settings.callers() {
        let (index, questions) = (Arc::clone(&mall.storage.catalogue.geo_index), Arc::clone(questions));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (index, question) = (Arc::clone(&index), questions[at(number)]);
            async move { Ok(index.near(&question).await.map(drop)?) }
        })
        .await?;
        let are_compared = bench.settings.sides.len() > 1;
        let both = if are_compared { "both back ends return the same places" } else { "" };
        bench.publish(Row {
            operation,
            back_end: mall.side.back_end(),
            callers: Some(callers),
            timed: Some(&timed),
            memory,
            note: both.to_owned(),
            ..Row::default()
        });
    }
    Ok(())
}

/// Measures `GEOSEARCH … COUNT 10 ASC WITHDIST`, whose distances are those of Redis' rounded places.
async fn measure_raw(
    bench: &mut Bench,
    mall: &Mall,
    raw: &Raw,
    (places, questions): (&[PlacedShop], &Questions),
) -> Result<(), BenchError> {
    for some in places.chunks(BATCH) {
        let mut add = raw.command("GEOADD", "places");
        for place in some {
            add.arg(place.at.lng()).arg(place.at.lat()).arg(place.shop.get());
        }
        raw.redis.query::<()>(&add).await?;
    }
    let memory = raw.memory_of("places").await?;
    for question in questions.iter().take(COMPARED) {
        compare(mall.storage.catalogue.geo_index.as_ref(), raw, question).await?;
    }
    for callers in bench.settings.callers() {
        let (raw, questions) = (raw.clone(), Arc::clone(questions));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (raw, question) = (raw.clone(), questions[at(number)]);
            async move { search(&raw, &question, PAGE).await.map(drop) }
        })
        .await?;
        bench.publish(Row {
            operation: "first ten within 5 km",
            back_end: "GEOSEARCH",
            callers: Some(callers),
            timed: Some(&timed),
            memory,
            note: "the same places, sorted by distances that are off by up to 0.6 m; no types of shops"
                .to_owned(),
            ..Row::default()
        });
    }
    Ok(())
}

/// Checks that `GEOSEARCH` finds the places of the port: those of the port's page are among the candidates.
async fn compare(index: &dyn GeoIndex, raw: &Raw, question: &NearbyQuery) -> Result<(), BenchError> {
    let found: BTreeSet<u64> = search(raw, question, PAGE + SPARE).await?.into_iter().collect();
    let page = index.near(question).await?;
    // Redis' sphere is larger by 0.03 %: a place at the very edge may be outside.
    let inside = page.iter().filter(|near| near.metres < RADIUS_M * 0.999);
    let missing: Vec<u64> = inside.map(|near| near.shop.get()).filter(|shop| !found.contains(shop)).collect();
    ensure(missing.is_empty(), || format!("GEOSEARCH does not find the places {missing:?}"))
}

async fn search(raw: &Raw, question: &NearbyQuery, max: usize) -> Result<Vec<u64>, BenchError> {
    let mut search = raw.command("GEOSEARCH", "places");
    search.arg("FROMLONLAT").arg(question.centre.lng()).arg(question.centre.lat());
    search.arg("BYRADIUS").arg(question.radius_m).arg("m").arg("ASC").arg("COUNT").arg(max).arg("WITHDIST");
    let found: Vec<(u64, f64)> = raw.redis.query(&search).await?;
    Ok(found.into_iter().map(|(place, _)| place).collect())
}

async fn fill(mall: &Mall, places: &[PlacedShop]) -> Result<(), BenchError> {
    let index = &mall.storage.catalogue.geo_index;
    for some in places.chunks(BATCH) {
        let moved = insist(|| index.add(some)).await?;
        ensure(moved.is_empty(), || format!("{} places were there before", moved.len()))?;
    }
    let count = index.count().await?;
    ensure(count == places.len() as u64, || format!("{count} places in the index, not {}", places.len()))
}

fn places(count: u64, cities: &[(f64, f64)], dice: &mut StdRng) -> Result<Vec<PlacedShop>, BenchError> {
    let place = |id| {
        let kind = ShopTypeId::new(dice.random_range(1..=KINDS));
        Ok(PlacedShop { shop: ShopId::new(id), kind, at: near_a_city(cities, dice)? })
    };
    (1..=count).map(place).collect()
}

/// Returns a random place, mostly within 20 km of a city.
fn near_a_city(cities: &[(f64, f64)], dice: &mut StdRng) -> Result<LatLng, BenchError> {
    let (lng, lat) = cities[dice.random_range(0..cities.len())];
    let mut off = || (0..4).map(|_| dice.random_range(-0.1..0.1)).sum::<f64>();
    LatLng::new(lng + off(), lat + off())
        .ok_or_else(|| BenchError::Wrong("a city beyond the earth".to_owned()))
}

/// Returns the place of a question in the list.
fn at(number: u64) -> usize {
    usize::try_from(number % QUESTIONS as u64).unwrap_or(0)
}
