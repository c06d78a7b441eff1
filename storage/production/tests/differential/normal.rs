//! Normalises the results that may differ between back ends. The list is complete, each entry with its
//! reason; everything else has to be equal.

use std::collections::BTreeSet;
use std::fmt::Debug;

use mallbox_storage::{
    Claim, ClaimOutcome, DeadLetter, DeadLetterId, DeadState, LockOutcome, LogState, LoggedClaim, OrderId,
    Page, Payment, PaymentId, Storage, StoreError, VoidOutcome,
};

/// Formats a result. Of an error only the kind counts: drivers word their messages differently.
pub fn said<T: Debug>(answer: Result<T, StoreError>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(StoreError::Unavailable { .. }) => "unavailable".into(),
        Err(StoreError::Full { .. }) => "full".into(),
        Err(StoreError::Refused { .. }) => "refused".into(),
        Err(StoreError::Corrupt { .. }) => "corrupt".into(),
        Err(other) => other.to_string(),
    }
}

/// A user who holds several units of a sale, because buyers were lost, may be told any of their orders.
pub async fn claim_answer(storage: &Storage, claim: &Claim, answer: ClaimOutcome) -> String {
    let named = match answer {
        ClaimOutcome::AlreadyBought(order) => order,
        ClaimOutcome::Accepted => claim.order,
        other => return format!("{other:?}"),
    };
    let mut held: BTreeSet<OrderId> =
        storage.selling.orders.holdings(claim.voucher, claim.user).await.unwrap().into_iter().collect();
    let pending = storage.selling.order_log.of_user(claim.user).await.unwrap().into_iter();
    held.extend(pending.filter(|it| it.voucher == claim.voucher).map(|it| it.order));
    let (letters, _) =
        storage.selling.dead_letters.page(Some(DeadState::Open), Page::new(1, 1_000_000)).await.unwrap();
    let letters = letters.iter().filter(|it| (it.voucher, it.user) == (claim.voucher, claim.user));
    held.extend(letters.map(|it| it.order));
    if held.len() > 1 && held.contains(&named) {
        "holds one of several".into()
    } else {
        format!("{answer:?}")
    }
}

/// Where the clock was set back, the oldest claim is the first of the log or of a partition.
pub fn log_state(LogState { pending, oldest, trouble, .. }: LogState) -> String {
    format!("{pending} pending, an oldest: {}, {trouble:?}", oldest.is_some())
}

/// Where a claim stands is for the log alone to read.
pub fn without_places(claims: &[LoggedClaim]) -> String {
    let claims: Vec<_> = claims.iter().map(|logged| (logged.claim, logged.attempts)).collect();
    format!("{claims:?}")
}

/// Claims of several partitions come in any order.
pub fn by_order(mut claims: Vec<LoggedClaim>) -> Vec<LoggedClaim> {
    claims.sort_by_key(|logged| logged.claim.order);
    claims
}

/// Tokens rise, by how much is nobody's business; and leases run on real time.
pub fn lock_answer(answer: LockOutcome, greatest: &mut u64) -> String {
    match answer {
        LockOutcome::Busy { left } => format!("busy, for more than a minute: {}", left.as_secs() > 60),
        LockOutcome::Held(token) if token.get() == *greatest => "held as before".into(),
        LockOutcome::Held(token) if token.get() > *greatest => {
            *greatest = token.get();
            "held by a new token".into()
        }
        LockOutcome::Held(token) => format!("held by {token}, which is below {greatest}"),
    }
}

/// Back ends may count expired sessions or not.
pub fn ended(ended: u64, were_live: u64) -> String {
    if ended >= were_live { "all that were live".into() } else { format!("{ended} of {were_live}") }
}

/// Numbers that may have been given out and were not are for the back end to choose.
pub fn high_water(highest: Option<u64>, given: Option<u64>) -> String {
    if highest >= given { "no less than was given".into() } else { format!("{highest:?} below {given:?}") }
}

/// Failed transactions leave gaps in the numbers of letters and payments: only the order of the numbers
/// counts.
pub fn letters(letters: Vec<DeadLetter>) -> Vec<DeadLetter> {
    letters.into_iter().map(letter).collect()
}

pub fn letter(letter: DeadLetter) -> DeadLetter {
    DeadLetter { id: DeadLetterId::new(0), ..letter }
}

pub fn voided(voided: VoidOutcome) -> VoidOutcome {
    match voided {
        VoidOutcome::Void(it) => VoidOutcome::Void(letter(it)),
        VoidOutcome::Replayed(it) => VoidOutcome::Replayed(letter(it)),
        VoidOutcome::Unknown => VoidOutcome::Unknown,
    }
}

pub fn payments(payments: Vec<Payment>) -> Vec<Payment> {
    payments.into_iter().map(payment).collect()
}

pub fn payment(payment: Payment) -> Payment {
    Payment { id: PaymentId::new(0), ..payment }
}
