//! Staff, from the operator's side.

use std::sync::Arc;

use serde_json::json;

use crate::mall::base::staff_list::{PinOutcome, StaffList, StaffMember};
use crate::mall::base::{
    AuditLog, AuditedAction, By, Context, Failure, Random, Refusal, StaffRefusal, clean_text, run_audited,
};
use crate::mall::people::staff::{NewPin, StaffRegister};

/// The operators' service for staff. Cheap to clone.
#[derive(Clone)]
pub struct StaffAdmin {
    context: Context,
    audit: AuditLog,
    random: Arc<Random>,
    register: StaffRegister,
}

/// A person with a new PIN.
#[derive(Clone, PartialEq, Eq)]
pub struct PinnedMember {
    /// The person.
    pub member: StaffMember,
    /// The PIN if the mall made it: never shown again.
    pub pin: Option<String>,
}

impl StaffAdmin {
    /// Longest name, in characters.
    pub const NAME_MAX: usize = 40;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, random: Arc<Random>, register: StaffRegister) -> Self {
        Self { context, audit, random, register }
    }

    /// Returns the people who may log in, in the order of entry.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails; [`Failure::Bug`] if the list is unknown to this version.
    pub async fn list(&self) -> Result<Vec<StaffMember>, Failure> {
        Ok(self.context.staff().await?.members().cloned().collect())
    }

    /// Adds a person with a chosen PIN, or with a PIN made by the mall.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a name that is empty or too long; [`Refusal::Staff`] for a PIN or a name
    /// that cannot be taken, and for too many people; [`Refusal::TooManyTries`] for a chosen PIN after some
    /// that other people have. After [`Failure::Store`] the person may or may not be
    /// in the list; a made PIN is lost.
    pub async fn add(&self, by: By, name: &str, chosen: Option<&str>) -> Result<PinnedMember, Failure> {
        let name = clean_text::line(name);
        if name.is_empty() || name.chars().count() > Self::NAME_MAX {
            return Err(Refusal::BadValue("staffName").into());
        }
        let pin = NewPin::of(chosen, &self.random)?;
        let detail = json!({ "pin": if pin.shown().is_some() { "made" } else { "chosen" } });
        let action = AuditedAction { action: "staff.add", subject: format!("staff {name}"), detail };
        let register = self.register.clone();
        run_audited(&self.audit, by, action, async move {
            let hash = register.hash(pin.pin()).await?;
            let change = |list: &mut StaffList| done(list.add(&name, &hash, by.at));
            let member = changed(&register, &pin, by, change).await?;
            Ok(PinnedMember { member, pin: pin.shown().map(str::to_owned) })
        })
        .await
    }

    /// Replaces a person's PIN by a chosen one, or by one made by the mall. On return no session of the
    /// person is live.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Staff`] for a PIN that cannot be taken; [`Refusal::TooManyTries`] as
    /// for [`add`](Self::add). After [`Failure::Store`] the PIN may or may not be replaced: call again.
    pub async fn set_pin(&self, by: By, id: u32, chosen: Option<&str>) -> Result<PinnedMember, Failure> {
        let pin = NewPin::of(chosen, &self.random)?;
        let detail = json!({ "pin": if pin.shown().is_some() { "made" } else { "chosen" } });
        let action = AuditedAction { action: "staff.pin", subject: format!("staff {id}"), detail };
        let (register, sessions) = (self.register.clone(), self.context.storage.people.sessions.clone());
        run_audited(&self.audit, by, action, async move {
            let hash = register.hash(pin.pin()).await?;
            let change = |list: &mut StaffList| done(list.set_pin(id, &hash, by.at));
            let member = changed(&register, &pin, by, change).await?;
            // After the change, and a log-in holds the same lock: no later session has the former PIN.
            sessions.end_all(member.user()).await?;
            Ok(PinnedMember { member, pin: pin.shown().map(str::to_owned) })
        })
        .await
    }

    /// Removes a person. From now on no session of the person is of any use. The name stays for the audit
    /// log.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]. After [`Failure::Store`] the person may or may not be in the list.
    pub async fn remove(&self, by: By, id: u32) -> Result<StaffMember, Failure> {
        let subject = format!("staff {id}");
        let action = AuditedAction { action: "staff.remove", subject, detail: json!({}) };
        let (register, sessions) = (self.register.clone(), self.context.storage.people.sessions.clone());
        run_audited(&self.audit, by, action, async move {
            let removed = register
                .change(|list| list.remove(id, by.at).ok_or_else(|| Refusal::NotFound("staff").into()))
                .await?;
            sessions.end_all(removed.user()).await?;
            Ok(removed)
        })
        .await
    }
}

async fn changed(
    register: &StaffRegister,
    pin: &NewPin,
    by: By,
    change: impl FnOnce(&mut StaffList) -> Result<StaffMember, Failure>,
) -> Result<StaffMember, Failure> {
    match pin {
        NewPin::Chosen(_) => register.change_to_chosen(by.at, change).await,
        NewPin::Made(_) => register.change(change).await,
    }
}

fn done(outcome: PinOutcome) -> Result<StaffMember, Failure> {
    Err(match outcome {
        PinOutcome::Done(member) => return Ok(member),
        PinOutcome::Unknown => Refusal::NotFound("staff").into(),
        PinOutcome::PinTaken => StaffRefusal::PinTaken.into(),
        PinOutcome::NameTaken => StaffRefusal::NameTaken.into(),
        PinOutcome::Full => StaffRefusal::TooMany(StaffList::MEMBERS_MAX).into(),
    })
}
