//! The guard of a sale: what a claim has to show besides a log-in.

use serde::{Deserialize, Serialize};

/// A kind of challenge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChallengeKind {
    /// Distorted characters to be typed.
    Picture,
    /// A piece to be moved into its gap.
    Slider,
    /// Proof of work: a hash to be found by the client's machine.
    Work,
    /// A check by the external service of the mall.
    Service,
}

impl ChallengeKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Picture, Self::Slider, Self::Work, Self::Service];
    /// Kinds that the mall draws and judges by itself.
    pub const OWN: [Self; 3] = [Self::Picture, Self::Slider, Self::Work];

    /// Returns the name in settings and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Picture => "picture",
            Self::Slider => "slider",
            Self::Work => "work",
            Self::Service => "service",
        }
    }

    /// Parses a [`name`](Self::name).
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Kinds of challenges in the order of preference: at least one, each at most once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<ChallengeKind>", into = "Vec<ChallengeKind>")]
pub struct ChallengeKinds {
    first: ChallengeKind,
    further: [Option<ChallengeKind>; 3],
}

impl ChallengeKinds {
    /// Creates the list. `None` for an empty list, and for a kind named twice.
    #[must_use]
    pub fn new(kinds: &[ChallengeKind]) -> Option<Self> {
        let (first, further) = kinds.split_first()?;
        let is_twice = |(at, kind): (usize, &ChallengeKind)| kinds[..at].contains(kind);
        if kinds.iter().enumerate().any(is_twice) {
            return None;
        }
        Some(Self { first: *first, further: std::array::from_fn(|at| further.get(at).copied()) })
    }

    /// Creates a list of a single kind.
    #[must_use]
    pub const fn one(kind: ChallengeKind) -> Self {
        Self { first: kind, further: [None; 3] }
    }

    /// Returns the preferred kind.
    #[must_use]
    pub fn first(self) -> ChallengeKind {
        self.first
    }

    /// Returns the kinds in order.
    pub fn iter(self) -> impl Iterator<Item = ChallengeKind> {
        std::iter::once(self.first).chain(self.further.into_iter().flatten())
    }

    /// Returns whether the list has a kind.
    #[must_use]
    pub fn contains(self, kind: ChallengeKind) -> bool {
        self.iter().any(|listed| listed == kind)
    }
}

impl TryFrom<Vec<ChallengeKind>> for ChallengeKinds {
    type Error = &'static str;

    fn try_from(kinds: Vec<ChallengeKind>) -> Result<Self, Self::Error> {
        Self::new(&kinds).ok_or("no kind of challenge, or a kind twice")
    }
}

impl From<ChallengeKinds> for Vec<ChallengeKind> {
    fn from(kinds: ChallengeKinds) -> Self {
        kinds.iter().collect()
    }
}

/// The guard of a sale. Claims of a guarded sale need a pass, which is the reward of a challenge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// Challenges that the sale accepts.
    pub kinds: ChallengeKinds,
    /// Leading zero bits that a proof of work needs.
    pub work_bits: u8,
    /// Lifetime of a pass, in seconds.
    pub pass_seconds: u16,
    /// Passes are issued from the begin of the sale on, minus a random time of up to this number of seconds.
    pub jitter_seconds: u8,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::SaleSetting as _;

    #[test]
    fn a_list_has_each_kind_once_and_at_least_one() {
        use ChallengeKind::{Picture, Service, Slider, Work};
        for kinds in
            [&[][..], &[Work, Work], &[Slider, Work, Slider], &[Work, Slider, Picture, Service, Work]]
        {
            assert_eq!(ChallengeKinds::new(kinds), None, "{kinds:?}");
        }
        for kinds in [&[Work][..], &[Slider, Work], &[Work, Picture, Slider], &ChallengeKind::ALL] {
            let list = ChallengeKinds::new(kinds).unwrap();
            assert_eq!((list.first(), list.iter().collect::<Vec<_>>()), (kinds[0], kinds.to_vec()));
            let listed = ChallengeKind::ALL.into_iter().filter(|kind| list.contains(*kind)).count();
            assert_eq!(listed, kinds.len());
        }
    }

    #[test]
    fn a_guard_is_stored_as_text_by_names() {
        let kinds = ChallengeKinds::new(&[ChallengeKind::Slider, ChallengeKind::Work]).unwrap();
        let guard = Guard { kinds, work_bits: 18, pass_seconds: 60, jitter_seconds: 3 };
        let text = r#"{"kinds":["slider","work"],"workBits":18,"passSeconds":60,"jitterSeconds":3}"#;
        assert_eq!(guard.to_row(), text);
        assert_eq!(Guard::in_row(text), Some(guard));
        for wrong in [r#"["work","work"]"#, "[]", r#"["riddle"]"#] {
            let text = text.replace(r#"["slider","work"]"#, wrong);
            assert_eq!(Guard::in_row(&text), None, "{text}");
        }
        for kind in ChallengeKind::ALL {
            assert_eq!(ChallengeKind::of_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(ChallengeKind::of_name("riddle"), None);
    }
}
