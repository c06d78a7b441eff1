//! What a finding is about.

use std::fmt;

use serde::Serialize;

use crate::language::{Both, Language, both, sentence};

/// Kinds of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// The mall as a whole: no id.
    Mall,
    /// A sale, by its voucher's id.
    Sale,
}

impl Kind {
    const fn name(self) -> Both {
        match self {
            Self::Mall => both("商城", "mall"),
            Self::Sale => both("秒杀", "sale"),
        }
    }
}

/// One object. The id is a string, since order ids are beyond what JSON's numbers hold exactly.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Object {
    /// Its kind.
    pub kind: Kind,
    /// Its id; absent for the mall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Object {
    /// The mall as a whole.
    pub(super) const MALL: Self = Self { kind: Kind::Mall, id: None };

    pub(super) fn new(kind: Kind, id: impl fmt::Display) -> Self {
        Self { kind, id: Some(id.to_string()) }
    }

    /// The voucher's id, if the object is a sale.
    pub(super) fn sale(&self) -> Option<u64> {
        let id = self.id.as_ref().filter(|_| self.kind == Kind::Sale)?;
        id.parse().ok()
    }

    /// The beginning of a sentence about it.
    pub(super) fn text(&self, l: Language) -> String {
        let kind = self.kind.name().spoken(l);
        match &self.id {
            Some(id) => sentence!(l, "{kind}{id}：", "{kind} {id}: "),
            None => String::new(),
        }
    }
}
