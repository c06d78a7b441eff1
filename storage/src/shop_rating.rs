//! Score and comment count of a shop, from its reviews and what it brought along.

use crate::Stars;

/// The parts of a shop's score and comment count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShopRating {
    /// Score that an import or a new shop brought along, in stars × 10.
    pub imported_score: i64,
    /// Number of comments that an import or a new shop brought along.
    pub imported_comments: i64,
    /// Number of reviews that count.
    pub reviews: i64,
    /// Sum of the half stars of the reviews that count.
    pub half_stars: i64,
}

impl ShopRating {
    /// Largest weight of an imported score.
    const IMPORTED_WEIGHT_MAX: i64 = 1_000_000_000;

    /// Returns the rating after a review changed from `was` to `is`; `None` stands for one that does not
    /// count.
    #[must_use]
    pub fn after(self, was: Option<Stars>, is: Option<Stars>) -> Self {
        let number = |stars: Option<Stars>| i64::from(stars.is_some());
        let half_stars = |stars: Option<Stars>| stars.map_or(0, Stars::half_stars);
        Self {
            reviews: self.reviews + number(is) - number(was),
            half_stars: self.half_stars + half_stars(is) - half_stars(was),
            ..self
        }
    }

    /// Returns the shop's score in stars × 10: the mean of all reviews, imported ones with the score they
    /// came with, rounded half up. Without a review it is the imported score, whatever that is.
    #[must_use]
    pub fn score(self) -> i64 {
        if self.reviews <= 0 {
            return self.imported_score;
        }
        let weight = self.imported_comments.clamp(0, Self::IMPORTED_WEIGHT_MAX);
        let sum = self.imported_score.clamp(0, 50) * weight + self.half_stars * 5;
        let count = weight + self.reviews;
        (2 * sum + count).div_euclid(2 * count)
    }

    /// Returns the shop's number of comments.
    #[must_use]
    pub fn comments(self) -> i64 {
        self.imported_comments.saturating_add(self.reviews)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_the_mean_of_imported_and_own_reviews() {
        let five = Stars::from_score(50);
        let one = Stars::from_score(10);
        let rating = |imported_score, imported_comments| ShopRating {
            imported_score,
            imported_comments,
            ..ShopRating::default()
        };
        let none = rating(37, 3_035);
        assert_eq!((none.score(), none.comments()), (37, 3_035));
        assert_eq!(rating(-5, -1).score(), -5, "an imported value stays as it is");
        let first = rating(0, 0).after(None, five);
        assert_eq!((first.score(), first.comments()), (50, 1));
        let both = first.after(None, one);
        assert_eq!((both.score(), both.comments()), (30, 2));
        assert_eq!(both.after(one, five).score(), 50);
        assert_eq!(both.after(one, None), first);
        assert_eq!(rating(40, 9).after(None, five).score(), 41);
        assert_eq!(rating(40, 19).after(None, five).score(), 41, "40.5 is rounded up");
        assert_eq!(rating(40, 20).after(None, five).score(), 40);
        let huge = rating(i64::MAX, i64::MAX).after(None, one);
        assert_eq!((huge.score(), huge.comments()), (50, i64::MAX));
    }
}
