//! Ranges of user ids: accounts, staff, and walk-in customers.
//!
//! Staff and walk-in customers have no account: no row among the users, no phone, no password, no credits.
//! Their ids lie above those of all accounts, and below 2^53, where a JSON number is exact.

use crate::UserId;

/// First id above those of accounts. Accounts are numbered from 1.
const STAFF_FIRST: u64 = 1 << 52;
/// First id of walk-in customers.
const WALK_IN_FIRST: u64 = STAFF_FIRST + WALK_INS;
/// Number of different walk-in customers. A million of them share an id by chance once in 4,000 malls.
const WALK_INS: u64 = 1 << 51;

impl UserId {
    /// Returns the id of a staff member, by the number of the person.
    #[must_use]
    pub fn of_staff(number: u32) -> Self {
        Self::new(STAFF_FIRST + u64::from(number))
    }

    /// Returns the id of a walk-in customer: a buyer at the counter without an account. Takes the lower 51
    /// bits of `bits`.
    #[must_use]
    pub fn of_walk_in(bits: u64) -> Self {
        Self::new(WALK_IN_FIRST + bits % WALK_INS)
    }

    /// Returns whether the id belongs to an account, existing or not.
    #[must_use]
    pub fn is_account(self) -> bool {
        self.get() < STAFF_FIRST
    }

    /// Returns the number of a staff member; `None` for any other id.
    #[must_use]
    pub fn staff_number(self) -> Option<u32> {
        u32::try_from(self.get().checked_sub(STAFF_FIRST)?).ok()
    }

    /// Returns whether the id is one of a walk-in customer.
    #[must_use]
    pub fn is_walk_in(self) -> bool {
        (WALK_IN_FIRST..WALK_IN_FIRST + WALK_INS).contains(&self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_is_of_two_kinds() {
        for (id, account, staff, walk_in) in [
            (UserId::new(1), true, None, false),
            (UserId::new(STAFF_FIRST - 1), true, None, false),
            (UserId::of_staff(0), false, Some(0), false),
            (UserId::of_staff(u32::MAX), false, Some(u32::MAX), false),
            (UserId::of_walk_in(0), false, None, true),
            (UserId::of_walk_in(u64::MAX), false, None, true),
            (UserId::new(1 << 53), false, None, false),
            (UserId::new(u64::MAX), false, None, false),
        ] {
            assert_eq!(
                (id.is_account(), id.staff_number(), id.is_walk_in()),
                (account, staff, walk_in),
                "{id}"
            );
            assert!(id.get() < 1 << 53 || !walk_in, "{id}");
        }
    }
}
