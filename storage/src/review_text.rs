//! Contents of a review: rating, text, pictures, price and tags.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Cents, picture_names};

/// A rating in half stars: 1 to 5 stars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Stars(u8);

impl Stars {
    /// Creates a rating of 2 to 10 half stars; `None` for other numbers.
    #[must_use]
    pub fn from_half_stars(half_stars: i64) -> Option<Self> {
        u8::try_from(half_stars).ok().filter(|half_stars| (2..=10).contains(half_stars)).map(Self)
    }

    /// Creates a rating from stars × 10, the unit of a shop's score; `None` unless a multiple of 5 from 10 to
    /// 50.
    #[must_use]
    pub fn from_score(score: i64) -> Option<Self> {
        if score % 5 == 0 { Self::from_half_stars(score / 5) } else { None }
    }

    /// Returns the number of half stars, 2 to 10.
    #[must_use]
    pub fn half_stars(self) -> i64 {
        i64::from(self.0)
    }

    /// Returns stars × 10, the unit of a shop's score.
    #[must_use]
    pub fn score(self) -> i64 {
        self.half_stars() * 5
    }

    /// Returns the stars rounded up, 1 to 5, by which lists select.
    #[must_use]
    pub const fn rounded(self) -> u8 {
        self.0.div_ceil(2)
    }
}

/// What a review praises about a shop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReviewTags {
    /// The taste (口味).
    pub taste: bool,
    /// The environment (环境).
    pub environment: bool,
    /// The service (服务).
    pub service: bool,
}

impl ReviewTags {
    /// Returns the tags as stored in a row: a bit per tag.
    pub fn in_row(self) -> i64 {
        i64::from(self.taste) | i64::from(self.environment) << 1 | i64::from(self.service) << 2
    }

    /// Converts stored tags; `None` for a number never written.
    pub fn from_row(bits: i64) -> Option<Self> {
        let has = |bit: i64| bits & bit != 0;
        (0..8).contains(&bits).then(|| Self { taste: has(1), environment: has(2), service: has(4) })
    }
}

/// Contents of a review, as written by its author.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReviewText {
    /// The rating.
    pub stars: Stars,
    /// Text of the review, `""` for none.
    pub content: String,
    /// Comma-separated picture paths as in [`NoteText`](crate::NoteText); `""` for none.
    pub images: String,
    /// What a person spends on average, if told.
    pub average_price: Option<Cents>,
    /// What the review praises.
    pub tags: ReviewTags,
}

impl ReviewText {
    /// Returns the names of the pictures shown, without duplicates.
    #[must_use]
    pub fn pictures(&self) -> BTreeSet<String> {
        picture_names(&self.images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_come_in_halves_from_one_to_five() {
        for (score, half_stars, rounded) in [(10, 2, 1), (15, 3, 2), (20, 4, 2), (45, 9, 5), (50, 10, 5)] {
            let stars = Stars::from_score(score).unwrap();
            assert_eq!((stars.half_stars(), stars.score(), stars.rounded()), (half_stars, score, rounded));
        }
        for score in [i64::MIN, -10, 0, 5, 9, 11, 47, 55, i64::MAX] {
            assert_eq!(Stars::from_score(score), None, "{score}");
        }
    }

    #[test]
    fn tags_are_read_as_they_were_written_and_unknown_numbers_are_none() {
        for bits in 0..8 {
            assert_eq!(ReviewTags::from_row(bits).map(ReviewTags::in_row), Some(bits));
        }
        assert_eq!([-1, 8, i64::MAX].map(ReviewTags::from_row), [None; 3]);
    }
}
