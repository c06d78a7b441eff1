//! The staff of a mall: people who sell and redeem at the counter, each with a PIN.
//!
//! Reasons: `src/decisions/0088-staff.md`.

use std::time::Duration;

use mallbox_storage::{Timestamp, UserId};
use serde::{Deserialize, Serialize};

use super::{Context, Failure};

/// A staff member.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StaffMember {
    /// Number of the person, never given again.
    pub id: u32,
    /// Name given by an operator.
    pub name: String,
    /// Time of the entry.
    pub created: Timestamp,
    /// Time since which the present PIN is valid.
    pub pin_since: Timestamp,
    /// Time of the removal; `None` for a person who may log in.
    pub removed: Option<Timestamp>,
    /// Keyed hash of the PIN, in hexadecimal; empty after the removal.
    pin_hash: String,
}

impl StaffMember {
    /// Returns the id under which the person holds sessions and appears in the audit log.
    #[must_use]
    pub fn user(&self) -> UserId {
        UserId::of_staff(self.id)
    }
}

/// The staff of a mall, as stored.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StaffList {
    last_id: u32,
    members: Vec<StaffMember>,
}

/// Outcome of adding a person or of a new PIN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PinOutcome {
    /// The person as stored.
    Done(StaffMember),
    /// Another person has the PIN.
    PinTaken,
    /// Another person has the name.
    NameTaken,
    /// There are [`StaffList::MEMBERS_MAX`] people.
    Full,
    /// There is no such person.
    Unknown,
}

impl StaffList {
    /// Name of the mall's setting.
    pub const SETTING: &str = "staff";
    /// Most people who may log in: an attempt with a PIN is compared with all of them.
    pub const MEMBERS_MAX: usize = 100;
    /// Most removed people whose names are kept for the audit log. The whole list stays below 64 KiB, the
    /// room of a setting.
    pub const REMOVED_MAX: usize = 100;

    /// Returns the people who may log in, in the order of entry.
    pub fn members(&self) -> impl Iterator<Item = &StaffMember> {
        self.members.iter().filter(|member| member.removed.is_none())
    }

    /// Returns the person of an id; `None` for a removed person, and for any other user.
    #[must_use]
    pub fn member(&self, user: UserId) -> Option<&StaffMember> {
        let number = user.staff_number()?;
        self.members().find(|member| member.id == number)
    }

    /// Returns the name of a person, removed or not.
    #[must_use]
    pub fn name(&self, user: UserId) -> Option<&str> {
        let number = user.staff_number()?;
        self.members.iter().find(|member| member.id == number).map(|member| member.name.as_str())
    }

    /// Returns the person of a PIN.
    #[must_use]
    pub fn of_pin(&self, pin_hash: &str) -> Option<&StaffMember> {
        // Keyed hashes of guesses say nothing about a PIN, so that the comparison may take different times.
        self.members().find(|member| member.pin_hash == pin_hash)
    }

    /// Adds a person.
    #[must_use]
    pub fn add(&mut self, name: &str, pin_hash: &str, now: Timestamp) -> PinOutcome {
        if self.members().count() >= Self::MEMBERS_MAX {
            return PinOutcome::Full;
        }
        if self.members().any(|member| member.name == name) {
            return PinOutcome::NameTaken;
        }
        if self.of_pin(pin_hash).is_some() {
            return PinOutcome::PinTaken;
        }
        self.last_id += 1;
        let (id, name, pin_hash) = (self.last_id, name.to_owned(), pin_hash.to_owned());
        let member = StaffMember { id, name, created: now, pin_since: now, removed: None, pin_hash };
        self.members.push(member.clone());
        PinOutcome::Done(member)
    }

    /// Replaces the PIN of a person.
    #[must_use]
    pub fn set_pin(&mut self, id: u32, pin_hash: &str, now: Timestamp) -> PinOutcome {
        let has_pin = self.of_pin(pin_hash).map(|member| member.id);
        let Some(member) = self.members.iter_mut().find(|one| one.id == id && one.removed.is_none()) else {
            return PinOutcome::Unknown;
        };
        if has_pin.is_some_and(|other| other != id) {
            return PinOutcome::PinTaken;
        }
        pin_hash.clone_into(&mut member.pin_hash);
        member.pin_since = now;
        PinOutcome::Done(member.clone())
    }

    /// Makes the time of a person's PIN `now` if it is later, after a clock was set back. Returns whether it
    /// was.
    #[must_use]
    pub fn set_pin_time_back(&mut self, id: u32, now: Timestamp) -> bool {
        let later = self.members.iter_mut().find(|member| member.id == id && member.pin_since > now);
        later.map(|member| member.pin_since = now).is_some()
    }

    /// Removes a person, and keeps the name. Returns the person; `None` if there is none with this number.
    pub fn remove(&mut self, id: u32, now: Timestamp) -> Option<StaffMember> {
        let member = self.members.iter_mut().find(|one| one.id == id && one.removed.is_none())?;
        member.removed = Some(now);
        member.pin_hash.clear();
        let removed = member.clone();
        let beyond = (self.members.len() - self.members().count()).saturating_sub(Self::REMOVED_MAX);
        for _ in 0..beyond {
            let oldest =
                self.members.iter().enumerate().filter_map(|(at, one)| Some((one.removed?, at))).min();
            if let Some((_, at)) = oldest {
                self.members.remove(at);
            }
        }
        Some(removed)
    }

    /// Returns the stored form.
    #[must_use]
    pub fn to_setting(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored form; `None` for a text that no mall writes.
    #[must_use]
    pub fn from_setting(text: Option<&str>) -> Option<Self> {
        text.map_or_else(|| Some(Self::default()), |text| serde_json::from_str(text).ok())
    }
}

impl Context {
    /// Returns the staff from the database. Not cached: a person who is removed is out at once.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails; [`Failure::Bug`] if the list is unknown to this version.
    pub async fn staff(&self) -> Result<StaffList, Failure> {
        let text = self.storage.base.upkeep.setting(StaffList::SETTING).await?;
        StaffList::from_setting(text.as_deref())
            .ok_or_else(|| Failure::Bug("the list of staff is unknown to this version".to_owned()))
    }
}

/// Wrong PINs at one kiosk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WrongPins {
    /// Wrong PINs that are not forgiven yet.
    count: u32,
    /// Time of the last one.
    last: Timestamp,
}

impl WrongPins {
    /// Wrong PINs without a wait: people mistype.
    pub const FREE: u32 = 5;
    /// Wait after the first wrong PIN beyond; each further one doubles it.
    pub const FIRST_WAIT: Duration = Duration::from_secs(30);
    /// Longest wait.
    pub const WAIT_MAX: Duration = Duration::from_secs(60 * 60);
    /// Time after which one wrong PIN is forgiven. A right PIN forgives none: who has one could guess those
    /// of others in between.
    pub const FORGIVEN_AFTER: Duration = Duration::from_secs(30 * 60);

    /// Returns the time until the next attempt is allowed; zero if it is now.
    #[must_use]
    pub fn wait(this: Option<Self>, now: Timestamp) -> Duration {
        this.map_or(Duration::ZERO, |wrong| {
            let wait = match wrong.count.checked_sub(Self::FREE) {
                None => Duration::ZERO,
                Some(beyond) => Self::FIRST_WAIT.saturating_mul(1 << beyond.min(16)).min(Self::WAIT_MAX),
            };
            if wait.is_zero() {
                return wait;
            }
            // A clock set back shortens no wait, and lengthens it to the longest at most.
            (wrong.last + wait).since(now).min(Self::WAIT_MAX)
        })
    }

    /// Counts a further wrong PIN.
    #[must_use]
    pub fn one_more(this: Option<Self>, now: Timestamp) -> Self {
        Self { count: this.map_or(0, |wrong| wrong.unforgiven(now)).saturating_add(1), last: now }
    }

    /// Returns whether every wrong PIN is forgiven.
    #[must_use]
    pub fn is_forgiven(self, now: Timestamp) -> bool {
        self.unforgiven(now) == 0
    }

    fn unforgiven(self, now: Timestamp) -> u32 {
        let forgiven = now.since(self.last).as_secs() / Self::FORGIVEN_AFTER.as_secs();
        self.count.saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn added(list: &mut StaffList, name: &str, pin: &str) -> StaffMember {
        match list.add(name, pin, NOON) {
            PinOutcome::Done(member) => member,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pin_names_one_person_until_it_is_replaced_or_the_person_removed() {
        let mut list = StaffList::default();
        assert_eq!(list.of_pin(""), None);
        let (anne, bob) = (added(&mut list, "小安", "a"), added(&mut list, "小波", "b"));
        assert_eq!((anne.id, bob.id), (1, 2));
        assert_eq!(list.add("小安", "c", NOON), PinOutcome::NameTaken);
        assert_eq!(list.add("小成", "a", NOON), PinOutcome::PinTaken);
        assert_eq!(list.set_pin(2, "a", NOON), PinOutcome::PinTaken);
        assert_eq!(list.set_pin(3, "z", NOON), PinOutcome::Unknown);
        assert_eq!(list.set_pin(3, "a", NOON), PinOutcome::Unknown, "says nothing about the PIN");
        let later = NOON + Duration::from_secs(1);
        assert!(matches!(list.set_pin(1, "d", later), PinOutcome::Done(one) if one.pin_since == later));
        assert_eq!((list.of_pin("a"), list.of_pin("d").unwrap().id), (None, 1));
        assert!(!list.set_pin_time_back(1, later) && !list.set_pin_time_back(9, NOON));
        assert!(list.set_pin_time_back(1, NOON) && list.of_pin("d").unwrap().pin_since == NOON);
        let mut list = StaffList::from_setting(Some(&list.to_setting())).unwrap();
        assert_eq!(list.member(bob.user()).unwrap().name, "小波");
        assert_eq!(list.member(UserId::new(2)), None, "an account is no staff");
        assert!(list.remove(2, later).is_some());
        assert_eq!((list.remove(2, later), list.set_pin(2, "e", later)), (None, PinOutcome::Unknown));
        assert_eq!((list.of_pin("b"), list.of_pin(""), list.member(bob.user())), (None, None, None));
        assert_eq!(list.name(bob.user()), Some("小波"), "the audit log names a removed person");
        assert_eq!(added(&mut list, "小波", "b").id, 3, "no number is given again");
    }

    #[test]
    fn the_list_fits_into_a_setting() {
        let mut list = StaffList::default();
        let hash = "f".repeat(64);
        let name = |number: usize| format!("{number:03}{}", "店".repeat(37));
        for number in 0..2 * StaffList::MEMBERS_MAX + 50 {
            let member = added(&mut list, &name(number), &format!("{number:03}{}", &hash[3..]));
            if number < StaffList::MEMBERS_MAX + 50 {
                list.remove(member.id, NOON + Duration::from_secs(number as u64)).unwrap();
            }
        }
        assert_eq!(list.add("one more", "x", NOON), PinOutcome::Full);
        assert_eq!((list.members().count(), list.members.len()), (100, 200));
        assert_eq!(list.name(UserId::of_staff(50)), None, "the first names are gone");
        assert!(list.name(UserId::of_staff(51)).is_some());
        assert!(list.to_setting().len() < 1 << 16, "{}", list.to_setting().len());
        assert_eq!(StaffList::from_setting(None), Some(StaffList::default()));
        assert_eq!(StaffList::from_setting(Some("{")), None);
    }

    #[test]
    fn waits_grow_with_wrong_pins_and_time_forgives_them() {
        let mut wrong = None;
        let mut now = NOON;
        let mut waits = Vec::new();
        for _ in 0..14 {
            wrong = Some(WrongPins::one_more(wrong, now));
            let wait = WrongPins::wait(wrong, now);
            waits.push(wait.as_secs());
            now = now + wait;
        }
        assert_eq!(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1_920, 1_920, 1_920, 1_920]);
        assert!(!wrong.unwrap().is_forgiven(now));
        assert!(wrong.unwrap().is_forgiven(now + 12 * WrongPins::FORGIVEN_AFTER));
        assert_eq!(
            WrongPins::wait(wrong, NOON - WrongPins::WAIT_MAX),
            WrongPins::WAIT_MAX,
            "a clock set back"
        );
        assert_eq!(WrongPins::wait(None, NOON), Duration::ZERO);
    }
}
