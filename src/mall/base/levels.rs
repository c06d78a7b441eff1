//! Member levels: the table of credits per level, and the level of a user.

use mallbox_storage::Profile;

/// Credits needed for each level, ascending; a user without credits has level 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelTable(Vec<u64>);

impl LevelTable {
    /// Name of the mall's setting. Without the setting, the [default](Self::default) table applies.
    pub const SETTING: &str = "levels";
    /// Number of levels, 0 included: a sale and an imported profile name levels 0 to 9.
    pub const LEVELS_MAX: usize = 10;
    /// Most credits that a level may need.
    pub const CREDITS_MAX: u64 = 1_000_000_000;

    /// Creates a table from the credits needed for levels 0, 1, 2 and so on. `None` unless the first number
    /// is 0, each further number is greater, and [`LEVELS_MAX`](Self::LEVELS_MAX) and
    /// [`CREDITS_MAX`](Self::CREDITS_MAX) hold.
    #[must_use]
    pub fn new(credits: Vec<u64>) -> Option<Self> {
        let is_fit = credits.first() == Some(&0)
            && credits.len() <= Self::LEVELS_MAX
            && credits.is_sorted_by(|one, next| one < next)
            && credits.last().is_some_and(|last| *last <= Self::CREDITS_MAX);
        is_fit.then_some(Self(credits))
    }

    /// Returns the credits needed for each level, from level 0.
    #[must_use]
    pub fn credits(&self) -> &[u64] {
        &self.0
    }

    /// Returns the level that this number of credits earns.
    #[must_use]
    pub fn earned(&self, credits: u64) -> u8 {
        let reached = self.0.partition_point(|needed| *needed <= credits);
        u8::try_from(reached.saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// Returns the level of a user: the higher of the granted and the earned level.
    #[must_use]
    pub fn level_of(&self, card: &Profile) -> u8 {
        card.granted_level().max(self.earned(card.credits))
    }

    /// Returns the credits needed for the level after `level`; `None` at the top of the table.
    #[must_use]
    pub fn after(&self, level: u8) -> Option<u64> {
        self.0.get(usize::from(level) + 1).copied()
    }

    /// Returns the stored form, such as `0,100,500`.
    #[must_use]
    pub fn to_setting(&self) -> String {
        self.0.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
    }

    /// Parses the stored form; `None` for text that no mall writes.
    #[must_use]
    pub fn from_setting(text: Option<&str>) -> Option<Self> {
        let Some(text) = text else { return Some(Self::default()) };
        Self::new(text.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?)
    }
}

impl Default for LevelTable {
    /// Levels 0 to 5.
    fn default() -> Self {
        Self(vec![0, 100, 500, 2_000, 5_000, 10_000])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_earned_by_the_credits_it_needs_and_no_fewer() {
        let table = LevelTable::default();
        for (credits, level) in
            [(0, 0), (99, 0), (100, 1), (499, 1), (500, 2), (9_999, 4), (10_000, 5), (u64::MAX, 5)]
        {
            assert_eq!(table.earned(credits), level, "{credits}");
        }
        let steps: Vec<_> = (0..7).map(|level| table.after(level)).collect();
        assert_eq!(steps, [Some(100), Some(500), Some(2_000), Some(5_000), Some(10_000), None, None]);
    }

    #[test]
    fn a_level_set_by_an_operator_replaces_the_imported_level_but_not_a_higher_earned_level() {
        let table = LevelTable::default();
        for (level, set_level, credits, is) in
            [(0, None, 0, 0), (3, None, 0, 3), (3, Some(1), 0, 1), (3, Some(1), 500, 2), (0, Some(9), 500, 9)]
        {
            let card = Profile { level, set_level, credits, ..Profile::default() };
            assert_eq!(table.level_of(&card), is, "{card:?}");
        }
    }

    #[test]
    fn a_table_begins_at_zero_and_ascends() {
        for good in [vec![0], vec![0, 1], (0..10).collect(), vec![0, LevelTable::CREDITS_MAX]] {
            let table = LevelTable::new(good.clone()).unwrap();
            assert_eq!(LevelTable::from_setting(Some(&table.to_setting())), Some(table), "{good:?}");
        }
        for bad in [
            vec![],
            vec![1],
            vec![0, 0],
            vec![0, 5, 4],
            (0..11).collect(),
            vec![0, LevelTable::CREDITS_MAX + 1],
        ] {
            assert_eq!(LevelTable::new(bad.clone()), None, "{bad:?}");
        }
        assert_eq!(LevelTable::from_setting(None), Some(LevelTable::default()));
        for bad in ["", "0,", "0,a", "0,-1", "5"] {
            assert_eq!(LevelTable::from_setting(Some(bad)), None, "{bad:?}");
        }
    }
}
