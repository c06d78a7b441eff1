//! Waiting rooms of sales, set by operators.

use mallbox_storage::{RoomFigures, VoucherId, WaitingRoom};
use serde_json::json;

use super::{SaleAdmin, subject};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::{Failure, Refusal};

/// The waiting room that is proposed to an operator.
pub const DEFAULT_ROOM: WaitingRoom = WaitingRoom { per_second: 100, admission_seconds: 120 };

/// The waiting room of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomSettings {
    /// The room; `None` = claims need no admission.
    pub room: Option<WaitingRoom>,
    /// Who waits, and who was admitted.
    pub figures: RoomFigures,
}

impl SaleAdmin {
    /// Returns the waiting room of a sale.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn room(&self, voucher: VoucherId) -> Result<RoomSettings, Failure> {
        let room = self.record(voucher).await?.room;
        let figures = self.context.storage.selling.waiting_rooms.figures(voucher).await?;
        Ok(RoomSettings { room, figures })
    }

    /// Sets or removes the waiting room of a sale. Users who wait in a room that is removed may claim at
    /// once. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] with the field's name; [`Refusal::NotFound`]. After [`Failure::Store`] a repeat
    /// stores the room.
    pub async fn put_room(
        &self,
        by: By,
        voucher: VoucherId,
        room: Option<WaitingRoom>,
    ) -> Result<RoomSettings, Failure> {
        if let Some(room) = &room {
            check(room)?;
        }
        self.terms(voucher).await?;
        let action = AuditedAction {
            action: "sale.waiting_room",
            subject: subject(voucher),
            detail: json!({ "room": room }),
        };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            let storage = &admin.context.storage;
            admin.apply(voucher, by.at, storage.catalogue.vouchers.put_room(voucher, room, by.at)).await?;
            if room.is_none() {
                storage.selling.waiting_rooms.forget(voucher).await?;
            }
            Ok(())
        })
        .await?;
        self.room(voucher).await
    }
}

fn check(room: &WaitingRoom) -> Result<(), Refusal> {
    for (name, is_fit) in [
        ("perSecond", (1..=10_000).contains(&room.per_second)),
        ("admissionSeconds", (30..=1_800).contains(&room.admission_seconds)),
    ] {
        if !is_fit {
            return Err(Refusal::BadValue(name));
        }
    }
    Ok(())
}
