//! Cash sessions and their entries: what the drawer of a till holds between its opening and its Z report.
//!
//! Reasons: `src/decisions/0089-cash-sessions.md`.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{CashSessionId, Cents, Order, OrderId, Timestamp, Transition, UserId};

/// Maximum of each sum of a session, in cents: a billion yuan. Far below 2^53, so that sums of sums are exact
/// in JSON too.
pub const CASH_MAX: Cents = Cents::new(100_000_000_000);
/// Maximum number of times per session that cash is paid in or out: a report has a line for each.
pub const CASH_MOVES_MAX: u64 = 200;

/// Name of a till: 1 to 20 characters, no control character and no invisible one, and no space at either end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct TillName(String);

impl TillName {
    /// Validates a name. Removes spaces at both ends.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        /// As wide as half a line of the narrow paper.
        const NAME_MAX_CHARS: usize = 20;
        let name = name.trim();
        let is_fit = (1..=NAME_MAX_CHARS).contains(&name.chars().count()) && !name.chars().any(is_hidden);
        is_fit.then(|| Self(name.to_owned()))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether a character controls the text or has no width: two names that look alike would be two
/// drawers.
fn is_hidden(c: char) -> bool {
    let is_format = matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}');
    c.is_control() || is_format
}

impl Default for TillName {
    /// Returns the till of a shop that has only one.
    fn default() -> Self {
        Self("1".to_owned())
    }
}

impl<'de> Deserialize<'de> for TillName {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::parse(&name).ok_or_else(|| serde::de::Error::custom("not the name of a till"))
    }
}

impl fmt::Display for TillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CashKind {
    /// Cash taken for an order.
    Sale,
    /// Cash handed back for an order.
    Refund,
    /// Cash put into the drawer for another reason.
    PaidIn,
    /// Cash taken out of the drawer for another reason.
    PaidOut,
}

/// Sums and numbers of a session's entries, by kind. Sums are in cents, and never negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashTotals {
    /// Cash taken for orders.
    pub sales: Cents,
    /// Number of sales.
    pub sale_count: u64,
    /// Cash handed back for orders.
    pub refunds: Cents,
    /// Number of refunds.
    pub refund_count: u64,
    /// Cash paid in.
    pub paid_in: Cents,
    /// Number of times that cash was paid in.
    pub paid_in_count: u64,
    /// Cash paid out.
    pub paid_out: Cents,
    /// Number of times that cash was paid out.
    pub paid_out_count: u64,
}

impl CashTotals {
    /// Returns the number of entries.
    #[must_use]
    pub fn count(&self) -> u64 {
        let counts = [self.sale_count, self.refund_count, self.paid_in_count, self.paid_out_count];
        counts.into_iter().fold(0, u64::saturating_add)
    }

    fn of(&mut self, kind: CashKind) -> (&mut Cents, &mut u64) {
        match kind {
            CashKind::Sale => (&mut self.sales, &mut self.sale_count),
            CashKind::Refund => (&mut self.refunds, &mut self.refund_count),
            CashKind::PaidIn => (&mut self.paid_in, &mut self.paid_in_count),
            CashKind::PaidOut => (&mut self.paid_out, &mut self.paid_out_count),
        }
    }
}

/// A session of a till: open, or closed by a [`CashReport`](crate::CashReport).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashSession {
    /// The id, never used again.
    pub id: CashSessionId,
    /// The till.
    pub till: TillName,
    /// Time of the opening.
    pub opened: Timestamp,
    /// User who opened the session.
    pub opened_by: UserId,
    /// Cash in the drawer at the opening, in cents.
    pub float: Cents,
    /// Sums of the entries so far.
    pub totals: CashTotals,
    /// Time of the first sale or refund.
    pub first_payment: Option<Timestamp>,
    /// Time of the last sale or refund.
    pub last_payment: Option<Timestamp>,
    /// Hash of the last entry, which covers the opening and all entries before: see
    /// [`opening_hash`](Self::opening_hash) and [`CashEntry::hash_after`].
    #[serde(with = "hash_text")]
    pub head: [u8; 32],
}

impl CashSession {
    /// Computes the hash before the first entry: SHA-256 over `mallbox cash session 1`, id, time of the
    /// opening (milliseconds since 1970), user and float, each as 8 bytes, big-endian, then the till.
    #[must_use]
    pub fn opening_hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"mallbox cash session 1");
        for bytes in [
            self.id.get().to_be_bytes(),
            self.opened.as_millis().to_be_bytes(),
            self.opened_by.get().to_be_bytes(),
            self.float.get().to_be_bytes(),
        ] {
            hash.update(bytes);
        }
        hash.update(self.till.as_str());
        hash.finalize().into()
    }

    /// Returns the cash that the drawer has to hold: float + sales − refunds + paid in − paid out, in cents.
    /// Ends at the limits of its type, which only a damaged row can reach.
    #[must_use]
    pub fn expected(&self) -> Cents {
        let CashTotals { sales, refunds, paid_in, paid_out, .. } = self.totals;
        let wide = |cents: Cents| i128::from(cents.get());
        let sum = wide(self.float) + wide(sales) - wide(refunds) + wide(paid_in) - wide(paid_out);
        let end = if sum < 0 { i64::MIN } else { i64::MAX };
        Cents::new(i64::try_from(sum).unwrap_or(end))
    }

    /// Plans an entry: returns the session with the entry, and the entry.
    ///
    /// # Errors
    /// [`CashLimit`]; the session stays as it is.
    pub fn plan(&self, new: NewCashEntry, now: Timestamp) -> Result<(Self, CashEntry), CashLimit> {
        let NewCashEntry { kind, amount, order, reason, by, request } = new;
        let mut after = self.clone();
        let is_move = matches!(kind, CashKind::PaidIn | CashKind::PaidOut);
        if is_move && self.totals.paid_in_count.saturating_add(self.totals.paid_out_count) >= CASH_MOVES_MAX {
            return Err(CashLimit::TooManyMoves);
        }
        let (sum, count) = after.totals.of(kind);
        let grown = sum.get().checked_add(amount.get()).filter(|sum| (0..=CASH_MAX.get()).contains(sum));
        *sum = Cents::new(grown.filter(|_| amount.get() >= 0).ok_or(CashLimit::TooMuch)?);
        *count = count.saturating_add(1);
        match after.expected().get() {
            ..0 => return Err(CashLimit::Short(self.expected())),
            held if held > CASH_MAX.get() => return Err(CashLimit::TooMuch),
            _ => {}
        }
        if !is_move {
            after.first_payment = after.first_payment.or(Some(now));
            after.last_payment = Some(now);
        }
        let number = after.totals.count();
        let entry = CashEntry { session: self.id, number, kind, amount, order, reason, by, at: now, request };
        after.head = entry.hash_after(&self.head);
        Ok((after, entry))
    }
}

/// An entry to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCashEntry {
    /// Kind of the entry.
    pub kind: CashKind,
    /// Amount in cents, not negative.
    pub amount: Cents,
    /// The order of a sale or refund.
    pub order: Option<OrderId>,
    /// Why cash is paid in or out; empty for a sale or refund.
    pub reason: String,
    /// The user at the till.
    pub by: UserId,
    /// Idempotency key of the call that pays in or out.
    pub request: Option<String>,
}

impl NewCashEntry {
    /// Returns the entry of a transition of `order`, paid or refunded in cash: [`Transition::Pay`] makes a
    /// sale, any other transition a refund.
    #[must_use]
    pub fn of_step(order: &Order, step: Transition, by: UserId) -> Self {
        let kind = if matches!(step, Transition::Pay(_)) { CashKind::Sale } else { CashKind::Refund };
        Self {
            kind,
            amount: order.pay_value,
            order: Some(order.id),
            reason: String::new(),
            by,
            request: None,
        }
    }

    /// Returns whether an entry with the same idempotency key is this one: kind, amount and reason are equal.
    #[must_use]
    pub fn is_made(&self, made: &CashEntry) -> bool {
        (self.kind, self.amount, &self.reason) == (made.kind, made.amount, &made.reason)
    }
}

/// An entry of a session. Entries are never changed or removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CashEntry {
    /// The session.
    pub session: CashSessionId,
    /// Number within the session, from 1 without a gap.
    pub number: u64,
    /// Kind of the entry.
    pub kind: CashKind,
    /// Amount in cents, not negative.
    pub amount: Cents,
    /// The order of a sale or refund.
    pub order: Option<OrderId>,
    /// Why cash was paid in or out; empty for a sale or refund.
    pub reason: String,
    /// The user at the till.
    pub by: UserId,
    /// Time of the entry.
    pub at: Timestamp,
    /// Idempotency key of the call that paid in or out.
    pub request: Option<String>,
}

impl CashEntry {
    /// Computes the hash of this entry after an entry with the hash `previous`: SHA-256 over
    /// `mallbox cash entry 1`, the previous hash, session, number, kind (1 to 4), amount, order (0 for none),
    /// user and time (milliseconds since 1970), each as 8 bytes, big-endian, then the reason. The idempotency
    /// key is left out.
    #[must_use]
    pub fn hash_after(&self, previous: &[u8; 32]) -> [u8; 32] {
        let kind: u64 = match self.kind {
            CashKind::Sale => 1,
            CashKind::Refund => 2,
            CashKind::PaidIn => 3,
            CashKind::PaidOut => 4,
        };
        let mut hash = Sha256::new_with_prefix(b"mallbox cash entry 1");
        hash.update(previous);
        for bytes in [
            self.session.get().to_be_bytes(),
            self.number.to_be_bytes(),
            kind.to_be_bytes(),
            self.amount.get().to_be_bytes(),
            self.order.map_or(0, OrderId::get).to_be_bytes(),
            self.by.get().to_be_bytes(),
            self.at.as_millis().to_be_bytes(),
        ] {
            hash.update(bytes);
        }
        hash.update(&self.reason);
        hash.finalize().into()
    }
}

/// Why a session takes no further entry. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CashLimit {
    /// The drawer has to hold only this amount, which is less than the amount to be taken out.
    Short(Cents),
    /// A sum would exceed [`CASH_MAX`], or the amount is negative.
    TooMuch,
    /// Cash was paid in and out [`CASH_MOVES_MAX`] times.
    TooManyMoves,
}

/// Hashes in JSON, as hexadecimal digits.
mod hash_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    use crate::{hex, unhex};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex(hash))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        let bytes = unhex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| de::Error::custom("not 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn session(float: i64) -> CashSession {
        CashSession {
            id: CashSessionId::new(7),
            till: TillName::default(),
            opened: NOON,
            opened_by: UserId::new(1),
            float: Cents::new(float),
            totals: CashTotals::default(),
            first_payment: None,
            last_payment: None,
            head: [0; 32],
        }
    }

    fn entry(kind: CashKind, amount: i64) -> NewCashEntry {
        let (amount, by) = (Cents::new(amount), UserId::new(2));
        NewCashEntry { kind, amount, order: None, reason: String::new(), by, request: None }
    }

    #[test]
    fn names_of_tills_are_short_and_printable() {
        for (name, want) in [("1", Some("1")), (" 收银台 2 ", Some("收银台 2")), ("", None), (" ", None)]
        {
            assert_eq!(TillName::parse(name).as_ref().map(TillName::as_str), want);
        }
        for hidden in
            ["a\nb", "收银台\u{200B}", "a\u{202E}b", "\u{2066}1", "1\u{FEFF}", "1\u{FE0F}", "a\u{AD}b"]
        {
            assert_eq!(TillName::parse(hidden), None, "{hidden:?}");
        }
        assert_eq!(TillName::parse(&"a".repeat(21)), None);
        assert!(TillName::parse(&"收".repeat(20)).is_some());
    }

    #[test]
    fn every_kind_changes_its_sum_and_what_the_drawer_holds() {
        let mut session = session(10_000);
        for (kind, amount, expected) in [
            (CashKind::Sale, 4_750, 14_750),
            (CashKind::PaidIn, 250, 15_000),
            (CashKind::Refund, 4_750, 10_250),
            (CashKind::PaidOut, 10_250, 0),
            (CashKind::Sale, 0, 0),
        ] {
            let (after, made) = session.plan(entry(kind, amount), NOON).unwrap();
            assert_eq!((after.expected().get(), made.number), (expected, after.totals.count()));
            assert_eq!(after.head, made.hash_after(&session.head));
            session = after;
        }
        assert_eq!((session.totals.sale_count, session.totals.sales.get()), (2, 4_750));
        assert_eq!((session.first_payment, session.last_payment), (Some(NOON), Some(NOON)));
    }

    #[test]
    fn no_sum_overflows_and_no_drawer_holds_less_than_nothing() {
        let session = session(100);
        let refused = |kind, amount| session.plan(entry(kind, amount), NOON).map(|_| ());
        for kind in [CashKind::Refund, CashKind::PaidOut] {
            assert_eq!(refused(kind, 101), Err(CashLimit::Short(Cents::new(100))));
        }
        for kind in [CashKind::Sale, CashKind::Refund, CashKind::PaidIn, CashKind::PaidOut] {
            for amount in [-1, i64::MIN, i64::MAX, CASH_MAX.get() + 1] {
                assert_eq!(refused(kind, amount), Err(CashLimit::TooMuch), "{kind:?} {amount}");
            }
        }
        assert_eq!(
            refused(CashKind::Sale, CASH_MAX.get()),
            Err(CashLimit::TooMuch),
            "float and sale together"
        );
        let mut full = session.clone();
        full.totals.paid_out_count = CASH_MOVES_MAX;
        assert_eq!(full.plan(entry(CashKind::PaidIn, 1), NOON).map(|_| ()), Err(CashLimit::TooManyMoves));
        assert!(full.plan(entry(CashKind::Sale, 1), NOON).is_ok());
    }

    #[test]
    fn every_field_of_an_opening_counts() {
        let (session, is) = (session(5), session(5).opening_hash());
        let changes: [fn(&mut CashSession); 5] = [
            |s| s.id = CashSessionId::new(8),
            |s| s.till = TillName::parse("2").unwrap(),
            |s| s.opened = Timestamp::from_millis(0),
            |s| s.opened_by = UserId::new(3),
            |s| s.float = Cents::new(6),
        ];
        for (row, change) in changes.iter().enumerate() {
            let mut other = session.clone();
            change(&mut other);
            assert_ne!(other.opening_hash(), is, "row {row}");
        }
        let (after, _) = session.plan(entry(CashKind::Sale, 5), NOON).unwrap();
        assert_eq!(after.opening_hash(), is);
    }

    #[test]
    fn every_field_of_an_entry_counts() {
        let (_, made) = session(0).plan(entry(CashKind::Sale, 5), NOON).unwrap();
        let is = made.hash_after(&[1; 32]);
        let changes: [fn(&mut CashEntry); 8] = [
            |e| e.session = CashSessionId::new(8),
            |e| e.number = 2,
            |e| e.kind = CashKind::PaidIn,
            |e| e.amount = Cents::new(6),
            |e| e.order = Some(OrderId::new(1)),
            |e| e.reason = "milk".into(),
            |e| e.by = UserId::new(3),
            |e| e.at = Timestamp::from_millis(0),
        ];
        for (row, change) in changes.iter().enumerate() {
            let mut other = made.clone();
            change(&mut other);
            assert_ne!(other.hash_after(&[1; 32]), is, "row {row}");
        }
        assert_ne!(made.hash_after(&[2; 32]), is);
    }
}
