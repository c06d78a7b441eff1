//! Claims of a batch, and their outcomes.

use mallbox_storage::{OrderId, UserId, VoucherId};
use sha2::{Digest as _, Sha256};

use crate::mall::base::Refusal;
use crate::mall::selling::guard::ShownPass;

/// A claim of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatewayClaim {
    /// The user for whom the gateway claims.
    pub user: UserId,
    /// The sale.
    pub voucher: VoucherId,
    /// The units that the user holds already: the claim is for the next.
    pub holding: u8,
    /// The user's pass, for a guarded sale.
    pub pass: Option<String>,
    /// The ticket of the device that earned the pass.
    pub device: Option<String>,
    /// The user's admission, for a sale with a waiting room.
    pub admission: Option<String>,
}

/// The final outcome of a claim of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BatchOutcome {
    /// The user holds a unit, durably.
    Accepted(OrderId),
    /// The claim was refused.
    Refused(Refusal),
}

/// A decided batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecidedBatch {
    /// An outcome per claim, in order, all of them durable.
    pub outcomes: Vec<BatchOutcome>,
    /// Whether an earlier request had decided the batch.
    pub is_repeat: bool,
}

impl GatewayClaim {
    /// Returns what the claim shows to a guarded sale. A gateway has no session, so that no log-in by SMS
    /// code counts, and its address says nothing about the user.
    pub(super) fn shown(&self) -> ShownPass<'_> {
        ShownPass {
            pass: self.pass.as_deref(),
            device: self.device.as_deref(),
            admission: self.admission.as_deref(),
            holding: self.holding,
            ..ShownPass::default()
        }
    }

    /// Adds the claim to a hash, so that different lists of claims have different input.
    fn add_to(&self, hash: &mut Sha256) {
        let Self { user, voucher, holding, pass, device, admission } = self;
        hash.update(user.get().to_be_bytes());
        hash.update(voucher.get().to_be_bytes());
        hash.update([*holding]);
        for text in [pass, device, admission] {
            let text = text.as_deref();
            hash.update([u8::from(text.is_some())]);
            let text = text.unwrap_or_default();
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    }
}

/// Returns the hash by which a repeat is compared with the first request.
pub(super) fn hash_of(claims: &[GatewayClaim]) -> [u8; 32] {
    let mut hash = Sha256::new();
    claims.iter().for_each(|claim| claim.add_to(&mut hash));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_difference_of_claims_changes_the_hash() {
        let claim = |user, voucher, holding, texts: [Option<&str>; 3]| {
            let [pass, device, admission] = texts.map(|text| text.map(str::to_owned));
            let (user, voucher) = (UserId::new(user), VoucherId::new(voucher));
            GatewayClaim { user, voucher, holding, pass, device, admission }
        };
        let none = [None; 3];
        let lists = [
            vec![claim(1, 2, 0, none)],
            vec![claim(2, 1, 0, none)],
            vec![claim(1, 2, 1, none)],
            vec![claim(1, 2, 0, none), claim(3, 2, 0, none)],
            vec![claim(3, 2, 0, none), claim(1, 2, 0, none)],
            vec![claim(1, 2, 0, [Some(""), None, None])],
            vec![claim(1, 2, 0, [Some("a"), Some("b"), None])],
            vec![claim(1, 2, 0, [Some("ab"), Some(""), None])],
            vec![claim(1, 2, 0, [Some("a"), None, Some("b")])],
        ];
        let hashes: std::collections::BTreeSet<_> = lists.iter().map(|claims| hash_of(claims)).collect();
        assert_eq!(hashes.len(), lists.len());
        assert_eq!(hash_of(&lists[3]), hash_of(&lists[3].clone()));
    }
}
