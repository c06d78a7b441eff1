//! Shapes of an open load: the arrival rate over time.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Rates accepted, in requests per second. A piece of a shape may also begin or end at 0.
pub(super) const RATES: RangeInclusive<f64> = 0.001..=10_000_000.0;
/// Longest piece of a shape: a week.
const PIECE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A part of a shape: the rate changes evenly from one value to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Requests per second at the beginning.
    pub from: f64,
    /// Requests per second at the end.
    pub to: f64,
    /// Length.
    pub lasts: Duration,
}

impl Piece {
    /// Creates a piece of one rate.
    #[must_use]
    pub fn even(rate: f64, lasts: Duration) -> Self {
        Self { from: rate, to: rate, lasts }
    }
}

/// The arrival rate over time. The arrivals are as even as the rate allows, and independent of the server.
#[derive(Clone, PartialEq, Debug)]
pub struct Shape {
    parts: Arc<[Part]>,
    /// Number of all arrivals; infinite for a constant rate.
    total: f64,
}

/// A piece with what precedes it. Times are in seconds, numbers of arrivals exact to 2^53.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Part {
    begin: f64,
    arrived: f64,
    from: f64,
    /// Change of the rate per second.
    slope: f64,
    lasts: f64,
}

/// Reason why pieces make no shape.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ShapeError {
    /// A rate out of range.
    #[error("the rate {0} is not 0 and not between 0.001 and 10,000,000 requests per second")]
    Rate(f64),
    /// A piece too short or too long.
    #[error("a piece of {0:?} is not between 1 ms and a week long")]
    Length(Duration),
    /// No piece with a rate above 0.
    #[error("a shape needs a piece with a rate above 0")]
    Empty,
}

impl Shape {
    /// Creates a shape of one rate without an end. The rate is checked by the load.
    #[must_use]
    pub fn constant(rate: f64) -> Self {
        let part = Part { begin: 0.0, arrived: 0.0, from: rate, slope: 0.0, lasts: f64::INFINITY };
        Self { parts: Arc::new([part]), total: f64::INFINITY }
    }

    /// Creates a shape of one rate without an end, as [`constant`](Self::constant), from a rate typed by a
    /// person.
    ///
    /// # Errors
    /// A rate out of range.
    pub fn checked(rate: f64) -> Result<Self, ShapeError> {
        if RATES.contains(&rate) { Ok(Self::constant(rate)) } else { Err(ShapeError::Rate(rate)) }
    }

    /// Creates a shape from its pieces, in order.
    ///
    /// # Errors
    /// A rate or a length out of range, or no arrival at all.
    pub fn new(pieces: &[Piece]) -> Result<Self, ShapeError> {
        let (mut begin, mut arrived) = (0.0, 0.0);
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            for rate in [piece.from, piece.to] {
                if rate != 0.0 && !RATES.contains(&rate) {
                    return Err(ShapeError::Rate(rate));
                }
            }
            if piece.lasts < Duration::from_millis(1) || piece.lasts > PIECE_MAX {
                return Err(ShapeError::Length(piece.lasts));
            }
            let lasts = piece.lasts.as_secs_f64();
            parts.push(Part {
                begin,
                arrived,
                from: piece.from,
                slope: (piece.to - piece.from) / lasts,
                lasts,
            });
            begin += lasts;
            arrived = whole(arrived + f64::midpoint(piece.from, piece.to) * lasts);
        }
        if arrived == 0.0 {
            return Err(ShapeError::Empty);
        }
        Ok(Self { parts: parts.into(), total: arrived })
    }

    /// Returns the text that the pieces are read from, as in `500x10s,500..2000x500ms`; a rate without an end
    /// alone.
    #[must_use]
    pub fn text(&self) -> String {
        let piece = |part: &Part| match Duration::try_from_secs_f64(part.lasts) {
            Err(_) => part.from.to_string(),
            Ok(lasts) if part.slope == 0.0 => format!("{}x{}ms", part.from, lasts.as_millis()),
            Ok(lasts) => {
                format!("{}..{:.3}x{}ms", part.from, part.from + part.slope * part.lasts, lasts.as_millis())
            }
        };
        self.parts.iter().map(piece).collect::<Vec<_>>().join(",")
    }

    /// Returns the pieces; without an end, until `arrivals` have arrived.
    #[must_use]
    pub fn pieces(&self, arrivals: u64) -> Vec<Piece> {
        let piece = |part: &Part| {
            let lasts = Duration::try_from_secs_f64(part.lasts).ok().or_else(|| self.due(arrivals));
            let lasts = lasts.unwrap_or(PIECE_MAX);
            let to = if part.slope == 0.0 { part.from } else { part.from + part.slope * lasts.as_secs_f64() };
            Piece { from: part.from, to, lasts }
        };
        self.parts.iter().map(piece).collect()
    }

    /// Returns the time from the start to arrival `number`, counted from 0. `None` after the last one.
    #[must_use]
    pub fn due(&self, number: u64) -> Option<Duration> {
        #[expect(clippy::cast_precision_loss, reason = "exact to 2^53 requests")]
        let number = number as f64;
        if number >= self.total {
            return None;
        }
        // The last part before which no more have arrived: parts without arrivals are skipped.
        let after = self.parts.partition_point(|part| part.arrived <= number);
        let part = self.parts[after - 1];
        let seconds = part.begin + part.time_of(number - part.arrived);
        // An instant beyond the clock's range is never reached; one that is a year ahead has the same effect.
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_hours(24 * 365)))
    }

    /// Returns the number of arrivals due earlier than `time` after the start.
    #[must_use]
    pub fn due_by(&self, time: Duration) -> u64 {
        let seconds = time.as_secs_f64();
        let after = self.parts.partition_point(|part| part.begin <= seconds).max(1);
        let part = self.parts[after - 1];
        let arrived = part.arrived + part.arrivals_in((seconds - part.begin).min(part.lasts));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and such a cast saturates"
        )]
        let due = arrived.min(self.total).ceil() as u64;
        due
    }

    /// Returns the length. `None` for a constant rate, which has no end.
    #[must_use]
    pub fn lasts(&self) -> Option<Duration> {
        let last = self.parts.last()?;
        Duration::try_from_secs_f64(last.begin + last.lasts).ok()
    }

    /// Returns the highest rate, in requests per second.
    #[must_use]
    pub fn peak(&self) -> f64 {
        let ends = self.parts.iter().flat_map(|part| [part.from, part.to()]);
        ends.fold(0.0, f64::max)
    }
}

impl Part {
    /// Returns the rate at the end.
    fn to(&self) -> f64 {
        if self.slope == 0.0 { self.from } else { self.from + self.slope * self.lasts }
    }

    /// Returns the number of arrivals in the first seconds.
    fn arrivals_in(&self, seconds: f64) -> f64 {
        (self.from + self.slope * seconds / 2.0) * seconds
    }

    /// Returns the seconds until a number of arrivals; the inverse of [`arrivals_in`](Self::arrivals_in).
    fn time_of(&self, arrivals: f64) -> f64 {
        if arrivals == 0.0 {
            return 0.0;
        }
        // The root of the quadratic equation in the form that loses no digits, and holds for a slope of 0.
        let discriminant = (self.from * self.from + 2.0 * self.slope * arrivals).max(0.0);
        2.0 * arrivals / (self.from + discriminant.sqrt())
    }
}

/// Removes the error of a product that should be a whole number, so that no arrival is added at the end.
fn whole(arrivals: f64) -> f64 {
    let rounded = arrivals.round();
    if (arrivals - rounded).abs() < 1e-6 { rounded } else { arrivals }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn shape(pieces: &[(f64, f64, u32)]) -> Shape {
        let piece = |&(from, to, seconds): &(f64, f64, u32)| Piece { from, to, lasts: SECOND * seconds };
        Shape::new(&pieces.iter().map(piece).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_constant_rate_has_no_end() {
        let constant = Shape::constant(1_000.0);
        assert_eq!(constant.due(0), Some(Duration::ZERO));
        assert_eq!(constant.due(1_500), Some(Duration::from_millis(1_500)));
        assert_eq!(constant.due_by(Duration::from_micros(4_500)), 5);
        assert_eq!((constant.lasts(), constant.peak()), (None, 1_000.0));
        assert_eq!(constant.text(), "1000");
        assert_eq!(constant.pieces(3_000), [Piece::even(1_000.0, SECOND * 3)]);
        for rate in [*RATES.start(), *RATES.end()] {
            let constant = Shape::constant(rate);
            assert!(constant.due(u64::MAX) > constant.due(1), "{rate}");
        }
    }

    #[test]
    fn arrivals_follow_the_area_below_the_rate() {
        // 10 a second for 2 s, nothing for 3 s, rising from 0 to 100 a second in 4 s.
        let steps = shape(&[(10.0, 10.0, 2), (0.0, 0.0, 3), (0.0, 100.0, 4)]);
        assert_eq!((steps.lasts(), steps.peak()), (Some(SECOND * 9), 100.0));
        assert_eq!(steps.due(19), Some(Duration::from_millis(1_900)));
        assert_eq!(steps.due(20), Some(SECOND * 5), "the pause is over");
        // 12.5 × t² arrivals: number 50 of the rise after 2 s.
        assert_eq!(steps.due(70), Some(SECOND * 7));
        assert_eq!((steps.due(219).is_some(), steps.due(220)), (true, None));
        for (time, due) in [(0, 0), (1, 10), (2, 20), (4, 20), (7, 70), (9, 220), (100, 220)] {
            assert_eq!(steps.due_by(SECOND * time), due, "{time} s");
        }
    }

    #[test]
    fn a_falling_rate_ends_at_its_last_arrival() {
        let falling = shape(&[(100.0, 0.0, 2)]);
        let due: Vec<_> = (0..100).map(|number| falling.due(number).unwrap()).collect();
        assert!(due.is_sorted() && due[99] < SECOND * 2, "{due:?}");
        assert_eq!(falling.due(100), None);
        // 75 of 100 in the first half.
        assert_eq!(falling.due(75), Some(SECOND));
    }

    #[test]
    fn rounding_adds_no_arrival() {
        // 0.07 × 100 is a little more than 7.
        let slow = Shape::new(&[Piece::even(0.07, SECOND * 100)]).unwrap();
        assert_eq!((slow.due_by(SECOND * 100), slow.due(7)), (7, None));
    }

    #[test]
    fn instants_and_numbers_agree() {
        let shape = shape(&[(3.0, 3.0, 1), (0.0, 900.0, 2), (900.0, 2.5, 3), (7.0, 7.0, 1)]);
        for number in 0..2_000 {
            let Some(due) = shape.due(number) else { break };
            let later = due + Duration::from_nanos(10);
            assert!(shape.due_by(later) > number, "{number} is due at {due:?}");
            assert!(shape.due_by(due.saturating_sub(Duration::from_nanos(10))) <= number, "{number}");
        }
    }

    #[test]
    fn what_makes_no_shape_is_refused() {
        let even = |rate, lasts| Shape::new(&[Piece::even(rate, lasts)]).unwrap_err();
        assert_eq!(even(-1.0, SECOND), ShapeError::Rate(-1.0));
        assert_eq!(even(1e8, SECOND), ShapeError::Rate(1e8));
        assert!(matches!(even(f64::NAN, SECOND), ShapeError::Rate(_)));
        assert_eq!(even(1.0, Duration::ZERO), ShapeError::Length(Duration::ZERO));
        assert_eq!(even(1.0, SECOND * 700_000), ShapeError::Length(SECOND * 700_000));
        assert_eq!(even(0.0, SECOND), ShapeError::Empty);
        assert_eq!(Shape::new(&[]), Err(ShapeError::Empty));
    }
}
