//! The people of a measurement, by id: authors first, then fans.

use std::ops::RangeInclusive;

/// Authors beside the first one. A reader follows all of them.
const OTHER_AUTHORS: u64 = 50;
/// Fans who read, and therefore follow all authors; other fans follow the first author alone.
const READERS_MAX: u64 = 200;

/// The people of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// Fans of the first author.
    pub(crate) fans: u64,
    /// Notes that each other author has written before.
    pub(crate) notes_each: u64,
}

impl Crowd {
    /// The author whose notes are measured.
    pub(crate) const STAR: u64 = 1;

    /// Returns all authors.
    pub(crate) fn authors(self) -> RangeInclusive<u64> {
        Self::STAR..=Self::STAR + OTHER_AUTHORS
    }

    /// Returns the authors who have written before.
    pub(crate) fn other_authors(self) -> RangeInclusive<u64> {
        Self::STAR + 1..=Self::STAR + OTHER_AUTHORS
    }

    /// Returns the fans of the first author.
    pub(crate) fn fans(self) -> RangeInclusive<u64> {
        let first = Self::STAR + OTHER_AUTHORS + 1;
        first..=first + self.fans - 1
    }

    /// Returns the fans who read.
    pub(crate) fn readers(self) -> RangeInclusive<u64> {
        let fans = self.fans();
        *fans.start()..=(*fans.end()).min(fans.start() + READERS_MAX - 1)
    }

    /// Returns the number of all people.
    pub(crate) fn count(self) -> u64 {
        *self.fans().end()
    }

    /// Returns all follows: fan, author.
    pub(crate) fn follows(self) -> impl Iterator<Item = (u64, u64)> {
        let of_readers =
            self.readers().flat_map(move |reader| self.other_authors().map(move |author| (reader, author)));
        self.fans().map(|fan| (fan, Self::STAR)).chain(of_readers)
    }

    /// Returns all notes written before, oldest first: number, author. Numbers are 1, 2, ….
    pub(crate) fn notes(self) -> impl Iterator<Item = (u64, u64)> {
        let authors = (0..self.notes_each).flat_map(move |_| self.other_authors());
        (1..).zip(authors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fans_follow_the_first_author_and_readers_follow_all() {
        let crowd = Crowd { fans: 1_000, notes_each: 2 };
        let follows: Vec<_> = crowd.follows().collect();
        assert_eq!(follows.iter().filter(|(_, author)| *author == Crowd::STAR).count(), 1_000);
        assert_eq!(follows.len(), 1_000 + 200 * 50);
        assert_eq!((crowd.count(), crowd.readers().count(), crowd.notes().count()), (1_051, 200, 100));
        let few = Crowd { fans: 3, notes_each: 0 };
        assert_eq!((few.readers().count(), few.notes().count()), (3, 0));
    }
}
