//! Steps on operators' data: the audit log, settings, and the sweep.

use mallbox_storage::{Actor, Timestamp};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::{Scene, minutes};
use crate::step::Side;

const SETTINGS: [&str; 5] = ["zone", "Zone", "zone ", "区", ""];

#[derive(Clone, Debug)]
pub enum Keepsake {
    Append { at: Timestamp, actor: Actor, action: String, subject: String, detail: String },
    Page(Option<u64>, u32),
    Verify,
    Setting(&'static str),
    PutSetting(&'static str, String),
    Sweep(Timestamp),
}

impl Keepsake {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        match dice.below(100) {
            0..30 => Self::Append {
                at: scene.instant(dice),
                actor: if dice.chance(80) { Actor::User(scene.user(dice)) } else { Actor::CommandLine },
                action: scene.text(dice),
                subject: scene.text(dice),
                detail: scene.text(dice),
            },
            30..45 => {
                let before = dice.pick(&[None, Some(0), Some(1), Some(4), Some(1 << 63), Some(u64::MAX)]);
                Self::Page(before, dice.pick(&[0, 1, 5, u32::MAX]))
            }
            45..55 => Self::Verify,
            55..70 => Self::Setting(dice.pick(&SETTINGS)),
            70..85 => Self::PutSetting(dice.pick(&SETTINGS), scene.text(dice)),
            // Data that a clock set back would revive is kept.
            _ => Self::Sweep(scene.now - minutes(30)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let (audit, upkeep) = (&side.storage.operator.audit, &side.storage.base.upkeep);
        match self {
            Self::Append { at, actor, action, subject, detail } => {
                said(audit.append(*at, *actor, action, subject, detail).await)
            }
            Self::Page(before, max) => said(audit.page(*before, *max).await),
            Self::Verify => said(audit.verify().await),
            Self::Setting(name) => said(upkeep.setting(name).await),
            Self::PutSetting(name, value) => said(upkeep.put_setting(name, value).await),
            Self::Sweep(now) => said(upkeep.sweep(*now).await),
        }
    }
}
