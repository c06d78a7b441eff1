//! Encoding of login codes in the journal's entries.
//!
//! | key | value |
//! | --- | --- |
//! | `q`, phone, requester | the codes for one requester |
//! | `t`, phone, ticket | a code bound to a ticket |
//! | `p`, phone | counters over all requesters unknown to the phone |
//! | `k`, phone | requesters known to the phone |
//! | `m` | the mall's codes of the day |
//! | `c`, phone | the codes of an older version; forgotten at the next start |
//!
//! Values begin with a version byte; numbers are little-endian. An entry per requester keeps values small.

use mallbox_storage::{CodeHash, Phone, Requester, TicketHash, Timestamp};

use super::code_state::{Count, Known, LiveCode, Slot, Strangers};
use super::journal::Change;

const VERSION: u8 = 1;
const PHONE_DIGITS: usize = 11;

/// A decoded entry.
#[derive(Debug)]
pub(super) enum Entry {
    Slot(Phone, Requester, Slot),
    Ticket(Phone, TicketHash, LiveCode),
    Strangers(Phone, Strangers),
    Known(Phone, Vec<Known>),
    Mall(Count),
    /// The codes of a version without requesters.
    Outdated,
}

/// Returns whether an entry belongs to the codes.
pub(super) fn owns(key: &[u8]) -> bool {
    key.first().is_some_and(|kind| b"qtpkmc".contains(kind))
}

pub(super) fn slot_change(phone: &Phone, requester: Requester, slot: Option<&Slot>) -> Change {
    let value = slot.map(|slot| {
        let mut value = instant(slot.issued).to_vec();
        put_count(&mut value, slot.codes);
        if let Some(live) = &slot.live {
            put_live(&mut value, live);
        }
        value
    });
    change(b'q', phone, &requester.0, value)
}

pub(super) fn ticket_change(phone: &Phone, ticket: TicketHash, live: Option<&LiveCode>) -> Change {
    let value = live.map(|live| {
        let mut value = Vec::new();
        put_live(&mut value, live);
        value
    });
    change(b't', phone, &ticket.0, value)
}

pub(super) fn strangers_change(phone: &Phone, strangers: Option<&Strangers>) -> Change {
    let value = strangers.map(|strangers| {
        let mut value = Vec::new();
        put_count(&mut value, strangers.codes);
        put_count(&mut value, strangers.wrong_tries);
        value
    });
    change(b'p', phone, &[], value)
}

/// Returns the entry of a phone's known requesters. An empty list removes the entry.
pub(super) fn known_change(phone: &Phone, known: Option<&[Known]>) -> Change {
    let value = known.filter(|known| !known.is_empty()).map(|known| {
        let mut value = Vec::new();
        for Known { requester, noted, wrong_tries } in known {
            value.extend(requester.0);
            value.extend(instant(*noted));
            put_count(&mut value, *wrong_tries);
        }
        value
    });
    change(b'k', phone, &[], value)
}

pub(super) fn mall_change(codes: Count) -> Change {
    let mut value = vec![VERSION];
    put_count(&mut value, codes);
    Change { key: b"m".to_vec(), value: Some(value) }
}

fn change(kind: u8, phone: &Phone, rest: &[u8], value: Option<Vec<u8>>) -> Change {
    let key = [&[kind], phone.as_str().as_bytes(), rest].concat();
    Change { key, value: value.map(|value| [&[VERSION], value.as_slice()].concat()) }
}

fn put_count(value: &mut Vec<u8>, count: Count) {
    value.extend(instant(count.began));
    value.extend(count.number.to_le_bytes());
}

fn put_live(value: &mut Vec<u8>, live: &LiveCode) {
    value.extend(instant(live.expires));
    value.extend(live.wrong_tries.to_le_bytes());
    value.extend(live.code.0);
}

fn instant(at: Timestamp) -> [u8; 8] {
    at.as_millis().to_le_bytes()
}

/// Decodes an entry.
///
/// # Errors
/// Describes an unreadable entry by the lengths of key and value.
pub(super) fn decode(key: &[u8], value: &[u8]) -> Result<Entry, String> {
    read(key, value).ok_or_else(|| format!("unreadable entry of {} and {} bytes", key.len(), value.len()))
}

fn read(key: &[u8], value: &[u8]) -> Option<Entry> {
    let (kind, key) = key.split_first()?;
    let mut rest = value.strip_prefix(&[VERSION])?;
    if *kind == b'm' {
        let entry = Entry::Mall(count(&mut rest)?);
        return (key.is_empty() && rest.is_empty()).then_some(entry);
    }
    let (phone, key) = key.split_at_checked(PHONE_DIGITS)?;
    let phone = Phone::parse(std::str::from_utf8(phone).ok()?)?;
    let entry = match kind {
        b'q' => {
            let (issued, codes) = (at(&mut rest)?, count(&mut rest)?);
            let live = if rest.is_empty() { None } else { Some(live(&mut rest)?) };
            Entry::Slot(phone, Requester(key.try_into().ok()?), Slot { issued, codes, live })
        }
        b't' => Entry::Ticket(phone, TicketHash(key.try_into().ok()?), live(&mut rest)?),
        b'p' if key.is_empty() => {
            let (codes, wrong_tries) = (count(&mut rest)?, count(&mut rest)?);
            Entry::Strangers(phone, Strangers { codes, wrong_tries })
        }
        b'k' if key.is_empty() => {
            let mut list = Vec::new();
            while !rest.is_empty() {
                let requester = Requester(*take(&mut rest)?);
                list.push(Known { requester, noted: at(&mut rest)?, wrong_tries: count(&mut rest)? });
            }
            (!list.is_empty()).then_some(Entry::Known(phone, list))?
        }
        b'c' if key.is_empty() => return Some(Entry::Outdated),
        _ => return None,
    };
    rest.is_empty().then_some(entry)
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(taken)
}

fn at(rest: &mut &[u8]) -> Option<Timestamp> {
    Some(Timestamp::from_millis(i64::from_le_bytes(*take(rest)?)))
}

fn count(rest: &mut &[u8]) -> Option<Count> {
    Some(Count { began: at(rest)?, number: u32::from_le_bytes(*take(rest)?) })
}

fn live(rest: &mut &[u8]) -> Option<LiveCode> {
    let expires = at(rest)?;
    let wrong_tries = u32::from_le_bytes(*take(rest)?);
    Some(LiveCode { code: CodeHash(*take(rest)?), expires, wrong_tries })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_795_262_400_123);
    const COUNT: Count = Count { began: AT, number: 3 };

    fn phone() -> Phone {
        Phone::parse("13900000001").unwrap()
    }

    fn read_back(change: &Change) -> Result<Entry, String> {
        assert!(owns(&change.key));
        decode(&change.key, change.value.as_ref().unwrap())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let code = LiveCode { code: CodeHash([7; 32]), expires: AT, wrong_tries: 4 };
        let (requester, ticket) = (Requester([9; 16]), TicketHash([8; 32]));
        for live in [None, Some(code)] {
            let slot = Slot { issued: AT, codes: COUNT, live };
            let read = read_back(&slot_change(&phone(), requester, Some(&slot)));
            assert!(matches!(read, Ok(Entry::Slot(p, r, s)) if p == phone() && r == requester && s == slot));
        }
        let read = read_back(&ticket_change(&phone(), ticket, Some(&code)));
        assert!(matches!(read, Ok(Entry::Ticket(p, t, l)) if p == phone() && t == ticket && l == code));
        let strangers = Strangers { codes: COUNT, wrong_tries: Count { number: 5, ..COUNT } };
        let read = read_back(&strangers_change(&phone(), Some(&strangers)));
        assert!(matches!(read, Ok(Entry::Strangers(p, s)) if p == phone() && s == strangers));
        let known = vec![Known { requester, noted: AT, wrong_tries: COUNT }; 2];
        let read = read_back(&known_change(&phone(), Some(&known)));
        assert!(matches!(read, Ok(Entry::Known(p, list)) if p == phone() && list == known));
        assert!(matches!(read_back(&mall_change(COUNT)), Ok(Entry::Mall(COUNT))));
        assert!(known_change(&phone(), Some(&[])).value.is_none());
    }

    #[test]
    fn codes_of_a_version_without_requesters_are_outdated() {
        let counters = [&[1][..], &[0; 20]].concat();
        let with_code = [counters.as_slice(), &[0; 12], b"123456"].concat();
        for value in [counters, with_code] {
            assert!(matches!(decode(b"c13900000001", &value), Ok(Entry::Outdated)));
        }
    }

    #[test]
    fn what_was_never_written_is_refused() {
        let change =
            slot_change(&phone(), Requester([9; 16]), Some(&Slot { issued: AT, codes: COUNT, live: None }));
        let value = change.value.unwrap();
        for (key, value) in [
            (&b""[..], &value[..]),
            (b"x13900000001", &value),
            (b"q13900000001", &value),
            (b"q12900000001aaaaaaaaaaaaaaaa", &value),
            (&change.key, &value[..value.len() - 1]),
            (&change.key, &[]),
            (&change.key, &[2; 21]),
            (&change.key, &[1; 64]),
            (b"m", &[1; 12]),
            (b"mm", &[1; 13]),
            (b"p139000000011", &[1; 25]),
            (b"k13900000001", &[1]),
            (b"k13900000001", &[1; 36]),
        ] {
            assert!(decode(key, value).is_err(), "{key:?} {value:?}");
        }
    }
}
