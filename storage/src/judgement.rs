//! Judgement of claims: what a sale does with attempts that look automated, and the signals of an attempt.

use std::collections::BTreeMap;

/// What a sale does with attempts that look automated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// Logs the attempts and lets them pass.
    Observe,
    /// Demands a second challenge. Lets attempts pass in a sale without a guard, which has no challenges.
    Challenge,
    /// Refuses the claims.
    Refuse,
}

impl Judgement {
    /// All judgements, mildest first.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Challenge, Self::Refuse];

    /// Returns the API's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Challenge => "challenge",
            Self::Refuse => "refuse",
        }
    }

    /// Returns the judgement of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|judgement| judgement.name() == name)
    }
}

/// What is measured of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Signal {
    /// Users from the attempt's address at the sale within a minute.
    AddressUsers,
    /// Users with the attempt's device ticket at the sale within a minute.
    DeviceUsers,
    /// Attempts of the user at the sale within ten seconds.
    UserAttempts,
    /// Age of the account, in hours.
    AccountHours,
    /// Time from the issue of the pass, or from the begin of the sale if later, to the claim, in
    /// milliseconds.
    PassAgeMs,
    /// Time from the challenge to its answer, in milliseconds.
    SolveMs,
    /// Standard deviation of the pointer's speed divided by its mean, in thousandths.
    TrackSpread,
}

impl Signal {
    /// All signals, in the order of their declaration.
    pub const ALL: [Self; 7] = [
        Self::AddressUsers,
        Self::DeviceUsers,
        Self::UserAttempts,
        Self::AccountHours,
        Self::PassAgeMs,
        Self::SolveMs,
        Self::TrackSpread,
    ];

    /// Returns the name in rules, the API and the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AddressUsers => "address-users",
            Self::DeviceUsers => "device-users",
            Self::UserAttempts => "user-attempts",
            Self::AccountHours => "account-hours",
            Self::PassAgeMs => "pass-age-ms",
            Self::SolveMs => "solve-ms",
            Self::TrackSpread => "track-spread",
        }
    }

    /// Returns the signal of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.name() == name)
    }
}

/// The signals of an attempt. A signal may be absent: not every attempt has an address, a pass or a track.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Signals([Option<u32>; Signal::ALL.len()]);

impl Signals {
    /// Returns the value of a signal.
    #[must_use]
    pub fn get(&self, signal: Signal) -> Option<u32> {
        self.0[signal as usize]
    }

    /// Sets the value of a signal.
    pub fn set(&mut self, signal: Signal, value: u32) {
        self.0[signal as usize] = Some(value);
    }

    /// Returns the signals with their values, in the order of [`Signal::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Signal, u32)> + '_ {
        Signal::ALL.into_iter().filter_map(|signal| Some((signal, self.get(signal)?)))
    }

    /// Returns the stored form: a JSON object.
    #[must_use]
    pub fn to_row(&self) -> String {
        let named: BTreeMap<&str, u32> = self.iter().map(|(signal, value)| (signal.name(), value)).collect();
        serde_json::to_string(&named).unwrap_or_default()
    }

    /// Reads the stored form, without the signals of a newer version; `None` for a text that no mall writes.
    #[must_use]
    pub fn in_row(text: &str) -> Option<Self> {
        let named: BTreeMap<String, u32> = serde_json::from_str(text).ok()?;
        Some(named.into_iter().filter_map(|(name, value)| Some((Signal::of_name(&name)?, value))).collect())
    }
}

impl FromIterator<(Signal, u32)> for Signals {
    fn from_iter<T: IntoIterator<Item = (Signal, u32)>>(values: T) -> Self {
        let mut signals = Self::default();
        for (signal, value) in values {
            signals.set(signal, value);
        }
        signals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for judgement in Judgement::ALL {
            assert_eq!(Judgement::of_name(judgement.name()), Some(judgement));
            assert_eq!(serde_json::to_string(&judgement).unwrap(), format!("{:?}", judgement.name()));
        }
        for (place, signal) in Signal::ALL.into_iter().enumerate() {
            assert_eq!((Signal::of_name(signal.name()), signal as usize), (Some(signal), place));
        }
        assert_eq!((Judgement::of_name("off"), Signal::of_name("score")), (None, None));
    }

    #[test]
    fn signals_are_stored_by_names() {
        let signals: Signals =
            [(Signal::TrackSpread, u32::MAX), (Signal::AddressUsers, 3)].into_iter().collect();
        let text = r#"{"address-users":3,"track-spread":4294967295}"#;
        assert_eq!((signals.to_row().as_str(), Signals::in_row(text)), (text, Some(signals)));
        assert_eq!(
            Signals::in_row(r#"{"phase-of-moon":1,"address-users":3,"track-spread":4294967295}"#),
            Some(signals)
        );
        assert_eq!(Signals::in_row("{}"), Some(Signals::default()));
        for wrong in ["", "[]", r#"{"address-users":-1}"#, r#"{"address-users":4294967296}"#] {
            assert_eq!(Signals::in_row(wrong), None, "{wrong}");
        }
    }
}
