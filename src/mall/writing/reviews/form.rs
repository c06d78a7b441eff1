//! User input for a review.

use mallbox_storage::{Cents, ReviewTags, ReviewText, Stars};

use crate::mall::base::{InputError, clean_text};
use crate::mall::writing::post_pictures::check_paths;

/// User input for a review, stored verbatim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReviewForm {
    /// The rating in stars × 10: 10 to 50 in steps of 5.
    pub score: Option<i64>,
    /// Text, at most 2,048 characters; may be empty.
    pub content: String,
    /// Comma-separated paths below `/imgs/`, at most nine.
    pub images: String,
    /// What a person spends on average, in cents.
    pub average_price: Option<i64>,
    /// What the review praises.
    pub tags: ReviewTags,
}

impl ReviewForm {
    /// Maximum average price, in cents: a million yuan.
    const PRICE_MAX: i64 = 100_000_000;

    /// Validates the input and returns the text to store.
    pub(super) fn text(&self) -> Result<ReviewText, InputError> {
        let stars = Stars::from_score(self.score.ok_or(InputError::Missing("review score"))?)
            .ok_or(InputError::OutOfRange("review score"))?;
        let content = clean_text::within("content", clean_text::lines(&self.content), 2_048)?;
        let images = check_paths(&self.images)?;
        if self.average_price.is_some_and(|price| !(0..=Self::PRICE_MAX).contains(&price)) {
            return Err(InputError::OutOfRange("averagePrice"));
        }
        let average_price = self.average_price.map(Cents::new);
        Ok(ReviewText { stars, content, images, average_price, tags: self.tags })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> ReviewForm {
        ReviewForm { score: Some(45), ..ReviewForm::default() }
    }

    #[test]
    fn a_review_needs_stars_and_every_value_has_its_range() {
        let text = form().text().unwrap();
        assert_eq!((text.stars.score(), &*text.content, text.average_price), (45, "", None));
        assert_eq!(ReviewForm::default().text(), Err(InputError::Missing("review score")));
        for score in [-10, 0, 9, 12, 47, 55] {
            let form = ReviewForm { score: Some(score), ..form() };
            assert_eq!(form.text(), Err(InputError::OutOfRange("review score")), "{score}");
        }
        let long = |length: usize| ReviewForm { content: "字".repeat(length), ..form() }.text();
        assert!(long(2_048).is_ok());
        assert_eq!(long(2_049), Err(InputError::OutOfRange("content")));
        for (price, fits) in [(-1, false), (0, true), (100_000_000, true), (100_000_001, false)] {
            let form = ReviewForm { average_price: Some(price), ..form() };
            assert_eq!(form.text().is_ok(), fits, "{price}");
        }
    }
}
