//! Steps on [`Users`](mallbox_storage::Users).

use mallbox_storage::{
    LastOperator, Page, Phone, Profile, RightsChange, Role, Timestamp, UserFilter, UserId,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::Scene;
use crate::step::Side;

#[derive(Clone, Debug)]
pub enum UserStep {
    FindOrCreate(Phone, String, Timestamp),
    Get(UserId),
    ByPhone(Phone),
    Card(UserId),
    PutCard { user: UserId, name: String, icon: String, card: Profile, now: Timestamp },
    Password(UserId),
    PutPassword(UserId, String, Timestamp),
    ReplacePassword { user: UserId, old: String, new: String, now: Timestamp },
    PutRights(UserId, RightsChange, LastOperator, Timestamp),
    List(UserFilter, Page),
}

impl UserStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let (user, now) = (scene.user(dice), scene.now);
        match dice.below(100) {
            0..20 => Self::FindOrCreate(scene.phone(dice), scene.text(dice), now),
            20..25 => Self::Get(user),
            25..30 => Self::ByPhone(scene.phone(dice)),
            30..37 => Self::Card(user),
            37..47 => {
                let (name, icon, card) = (scene.text(dice), scene.text(dice), card(dice, scene));
                Self::PutCard { user, name, icon, card, now }
            }
            47..52 => Self::Password(user),
            52..60 => Self::PutPassword(user, scene.text(dice), now),
            60..68 => Self::ReplacePassword { user, old: scene.text(dice), new: scene.text(dice), now },
            68..84 => {
                let last = dice.pick(&[LastOperator::Stays, LastOperator::Stays, LastOperator::MayGo]);
                Self::PutRights(user, change(dice, scene), last, now)
            }
            _ => Self::List(filter(dice, scene), scene.page(dice)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let users = &side.storage.people.users;
        match self {
            Self::FindOrCreate(phone, name, now) => said(users.find_or_create(phone, name, *now).await),
            Self::Get(user) => said(users.get(*user).await),
            Self::ByPhone(phone) => said(users.by_phone(phone).await),
            Self::Card(user) => said(users.card(*user).await),
            Self::PutCard { user, name, icon, card, now } => {
                said(users.put_card(*user, name, icon, card, *now).await)
            }
            Self::Password(user) => said(users.password(*user).await),
            Self::PutPassword(user, hash, now) => said(users.put_password(*user, hash, *now).await),
            Self::ReplacePassword { user, old, new, now } => {
                said(users.replace_password(*user, old, new, *now).await)
            }
            Self::PutRights(user, change, last, now) => {
                said(users.put_rights(*user, change, *last, *now).await)
            }
            Self::List(filter, page) => said(users.list(filter, *page).await),
        }
    }
}

fn card(dice: &mut Dice, scene: &Scene) -> Profile {
    Profile {
        city: scene.text(dice),
        introduce: scene.text(dice),
        gender: dice.chance(50),
        birthday: dice.chance(50).then(|| dice.pick(&["2000-01-31", "1970-12-01"]).to_owned()),
        credits: dice.pick(&[0, 1, 1_000, i64::MAX as u64, u64::MAX]),
        level: dice.pick(&[0, 1, 9]),
        set_level: dice.pick(&[None, Some(3)]),
    }
}

fn change(dice: &mut Dice, scene: &Scene) -> RightsChange {
    match dice.below(5) {
        0 | 1 => RightsChange::Role(Role::Operator),
        2 => RightsChange::Role(Role::Customer),
        3 => RightsChange::Block { reason: scene.text(dice) },
        _ => RightsChange::Unblock,
    }
}

fn filter(dice: &mut Dice, scene: &Scene) -> UserFilter {
    UserFilter {
        phone: dice.pick(&["", "1", "139", "13900000002", "2", "%"]).to_owned(),
        name: if dice.chance(50) { scene.text(dice) } else { String::new() },
        role: dice.pick(&[None, Some(Role::Customer), Some(Role::Operator)]),
        blocked: dice.chance(30),
    }
}
