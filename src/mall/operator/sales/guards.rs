//! Guards of sales, set by operators.

use mallbox_storage::{ChallengeKind, ChallengeKinds, Guard, VoucherId};
use serde_json::json;

use super::SaleAdmin;
use crate::mall::base::By;
use crate::mall::base::{Failure, GuardRefusal, Refusal};

/// The guard that is proposed to an operator.
pub const DEFAULT_GUARD: Guard = Guard {
    kinds: ChallengeKinds::one(ChallengeKind::Picture),
    // A quarter of a second on a phone, on average.
    work_bits: 18,
    pass_seconds: 60,
    jitter_seconds: 3,
};

impl SaleAdmin {
    /// Returns the guard of a sale, if any.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn guard(&self, voucher: VoucherId) -> Result<Option<Guard>, Failure> {
        Ok(self.record(voucher).await?.guard)
    }

    /// Sets or removes the guard of a sale. A repeat succeeds. Returns the guard.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] with the field's name; [`GuardRefusal::NoService`]; [`Refusal::NotFound`]. After
    /// [`Failure::Store`] a repeat stores the guard.
    pub async fn put_guard(
        &self,
        by: By,
        voucher: VoucherId,
        guard: Option<Guard>,
    ) -> Result<Option<Guard>, Failure> {
        if let Some(guard) = &guard {
            check(guard)?;
            if guard.kinds.contains(ChallengeKind::Service) && self.sales.challenge_service().is_none() {
                return Err(GuardRefusal::NoService.into());
            }
        }
        let (change, vouchers) = (("sale.guard", json!({ "guard": guard })), self.vouchers());
        let store = async move { vouchers.put_guard(voucher, guard, by.at).await };
        Ok(self.put_setting(by, voucher, change, store).await?.guard)
    }
}

fn check(guard: &Guard) -> Result<(), Refusal> {
    for (name, is_fit) in [
        ("workBits", (8..=26).contains(&guard.work_bits)),
        ("passSeconds", (10..=600).contains(&guard.pass_seconds)),
        ("jitterSeconds", guard.jitter_seconds <= 30),
    ] {
        if !is_fit {
            return Err(Refusal::BadValue(name));
        }
    }
    Ok(())
}
