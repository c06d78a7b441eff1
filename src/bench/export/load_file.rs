//! The load as data, for the scripts of other generators.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::bench::foreign::{Dialect, Rule, Target};
use crate::bench::load::Piece;

/// Content of `load.json`: the claim, the rules and the arrivals.
#[derive(Serialize)]
pub(super) struct LoadFile {
    /// URL of the mall, without a path.
    pub(super) target: String,
    pub(super) method: String,
    /// Path with `{sale}`.
    pub(super) path: String,
    /// Headers, one of them with `{token}`.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
    /// The rules in the order in which they are tried.
    rules: Vec<NamedRule>,
    pub(super) connections: usize,
    /// Arrival of the claims; `None` in a closed loop.
    #[serde(serialize_with = "pieces")]
    pub(super) pieces: Option<Vec<Piece>>,
}

#[derive(Serialize)]
struct NamedRule {
    answer: &'static str,
    #[serde(flatten)]
    rule: Rule,
}

impl LoadFile {
    pub(super) fn new(
        dialect: &Dialect,
        target: &Target,
        connections: usize,
        pieces: Option<Vec<Piece>>,
    ) -> Self {
        let claim = &dialect.claim;
        let lists = [
            ("sold_out", &dialect.answers.sold_out),
            ("already_bought", &dialect.answers.already_bought),
            ("accepted", &dialect.answers.accepted),
        ];
        let named = lists.into_iter().flat_map(|(answer, rules)| {
            rules.iter().map(move |rule| NamedRule { answer, rule: rule.clone() })
        });
        Self {
            target: format!("http://{}", target.host),
            method: claim.method.clone(),
            path: format!("{}{}", target.prefix, claim.path),
            headers: claim.headers.clone(),
            body: claim.body.clone(),
            rules: named.collect(),
            connections,
            pieces,
        }
    }
}

fn pieces<S: Serializer>(pieces: &Option<Vec<Piece>>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row {
        from: f64,
        to: f64,
        ms: u128,
    }
    let row = |piece: &Piece| Row { from: piece.from, to: piece.to, ms: piece.lasts.as_millis() };
    pieces.as_ref().map(|pieces| pieces.iter().map(row).collect::<Vec<_>>()).serialize(serializer)
}
