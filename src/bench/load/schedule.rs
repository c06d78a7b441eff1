//! The schedule of a thread: its share of the arrivals of an open load.

use std::time::Instant;

use super::shape::Shape;
use super::share::Share;

/// Due instants of a thread's requests.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    shape: Shape,
    origin: Instant,
    share: Share,
    sent: u64,
    /// Due instant of the next request; cached, because it is read far more often than changed.
    next: Option<Instant>,
}

impl Schedule {
    pub fn new(shape: Shape, origin: Instant, share: Share) -> Self {
        let mut schedule = Self { shape, origin, share, sent: 0, next: None };
        schedule.next = schedule.instant(0);
        schedule
    }

    /// Returns the start, at which arrival 0 is due.
    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// Returns the due instant of the next request. `None` after the last one.
    pub fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Records that the next request was sent.
    pub fn sent(&mut self) {
        self.sent += 1;
        self.next = self.instant(self.sent);
    }

    /// Returns the number of requests due before `end` and not sent.
    pub fn unsent(&self, end: Instant) -> u64 {
        self.due_by(end).saturating_sub(self.sent)
    }

    /// Returns the number of the thread's requests due before `end`.
    pub fn due_by(&self, end: Instant) -> u64 {
        let all = self.shape.due_by(end.saturating_duration_since(self.origin));
        all.saturating_sub(self.share.number as u64).div_ceil(self.share.of as u64)
    }

    /// Returns the due instant of a request of the thread.
    pub fn instant(&self, request: u64) -> Option<Instant> {
        let number = request.checked_mul(self.share.of as u64)?.checked_add(self.share.number as u64)?;
        self.origin.checked_add(self.shape.due(number)?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::shape::Piece;
    use super::*;

    const ALONE: Share = Share::WHOLE;

    #[test]
    fn requests_fall_due_at_even_steps() {
        let origin = Instant::now();
        let mut schedule = Schedule::new(Shape::constant(1_000.0), origin, ALONE);
        assert_eq!(schedule.next(), Some(origin));
        schedule.sent();
        assert_eq!(schedule.next(), Some(origin + Duration::from_millis(1)));
        assert_eq!(schedule.unsent(origin + Duration::from_micros(4_500)), 4);
    }

    #[test]
    fn threads_share_the_arrivals_and_miss_none() {
        let origin = Instant::now();
        let shape = Shape::new(&[Piece::even(10.0, Duration::from_secs(1))]).unwrap();
        let of = |number| Schedule::new(shape.clone(), origin, Share { number, of: 3 });
        let mut all: Vec<u128> = Vec::new();
        for thread in 0..3 {
            let mut schedule = of(thread);
            assert_eq!(schedule.unsent(origin + Duration::from_secs(2)), if thread == 0 { 4 } else { 3 });
            while let Some(due) = schedule.next() {
                all.push((due - origin).as_millis());
                schedule.sent();
            }
            assert_eq!(schedule.unsent(origin + Duration::from_secs(2)), 0);
        }
        all.sort_unstable();
        assert_eq!(all, (0..10).map(|number| number * 100).collect::<Vec<_>>());
    }
}
