//! Claim gateways from the operator's side.
//!
//! Reasons and figures: `src/decisions/0074-batch-door.md`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Actor, AddGatewayOutcome, ClaimGateway, ClaimGatewayId, NewClaimGateway, TokenHash, VoucherId,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::mall::base::{
    AuditLog, AuditedAction, By, ClaimGatewayRefusal, Context, Failure, InputError, Random, Refusal,
    run_audited,
};

/// Form of a gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimGatewayForm {
    /// Name, unique among the gateways.
    pub name: String,
    /// The sales that the gateway may claim in.
    pub sales: BTreeSet<VoucherId>,
    /// Hours until the token is void.
    pub valid_hours: u32,
}

/// A new gateway.
#[derive(Clone, PartialEq, Eq)]
pub struct AddedClaimGateway {
    /// The gateway.
    pub gateway: ClaimGateway,
    /// Its token: never shown again.
    pub token: String,
}

/// The operators' service for claim gateways.
pub struct ClaimGatewayAdmin {
    context: Context,
    audit: AuditLog,
    random: Arc<Random>,
}

impl ClaimGatewayAdmin {
    /// Maximum number of gateways with valid tokens.
    pub const GATEWAYS_MAX: u32 = 100;
    /// Longest name, in characters.
    pub const NAME_MAX: usize = 40;
    /// Maximum number of sales of a gateway.
    pub const SALES_MAX: usize = 50;
    /// Longest validity of a token, in hours: 90 days.
    pub const VALID_HOURS_MAX: u32 = 90 * 24;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, random: Arc<Random>) -> Self {
        Self { context, audit, random }
    }

    /// Returns all gateways by id, those with expired tokens included.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn list(&self) -> Result<Vec<ClaimGateway>, Failure> {
        Ok(self.context.storage.selling.claim_gateways.list().await?)
    }

    /// Adds a gateway, and makes its token. The gateway is void while the operator who added it is none, or
    /// is blocked.
    ///
    /// # Errors
    /// [`InputError::OutOfRange`] and [`Refusal::BadValue`] for an invalid form; [`Refusal::UnknownSale`];
    /// [`ClaimGatewayRefusal::NameTaken`], [`ClaimGatewayRefusal::TooMany`]; [`Refusal::Forbidden`] for the
    /// command line, which is no operator. After [`Failure::Store`] the gateway may be in the list; its token
    /// is lost.
    pub async fn add(&self, by: By, form: ClaimGatewayForm) -> Result<AddedClaimGateway, Failure> {
        let Actor::User(operator) = by.actor else { return Err(Refusal::Forbidden.into()) };
        let ClaimGatewayForm { name, sales, valid_hours } = form;
        let name = name.trim().to_owned();
        let is_name = (1..=Self::NAME_MAX).contains(&name.chars().count());
        if !is_name || name.chars().any(char::is_control) {
            return Err(InputError::OutOfRange("gatewayName").into());
        }
        if !(1..=Self::VALID_HOURS_MAX).contains(&valid_hours) {
            return Err(Refusal::BadValue("validHours").into());
        }
        if sales.is_empty() || sales.len() > Self::SALES_MAX {
            return Err(Refusal::BadValue("vouchers").into());
        }
        for sale in &sales {
            let found = self.context.storage.catalogue.vouchers.get(*sale).await?;
            if found.is_none_or(|voucher| voucher.sale.is_none()) {
                return Err(Refusal::UnknownSale.into());
            }
        }
        let token = self.random.token();
        let expires = by.at + Duration::from_secs(u64::from(valid_hours) * 60 * 60);
        let hash = TokenHash(Sha256::digest(&token).into());
        let new = NewClaimGateway { name, token: hash, operator, sales, expires };
        let ids: Vec<u64> = new.sales.iter().map(|sale| sale.get()).collect();
        let action = AuditedAction {
            action: "claim_gateway.add",
            subject: format!("claim gateway {}", new.name),
            detail: json!({ "vouchers": ids, "validHours": valid_hours }),
        };
        let gateways = Arc::clone(&self.context.storage.selling.claim_gateways);
        run_audited(&self.audit, by, action, async move {
            let id = match gateways.add(&new, Self::GATEWAYS_MAX, by.at).await? {
                AddGatewayOutcome::Added(id) => id,
                AddGatewayOutcome::NameTaken => return Err(ClaimGatewayRefusal::NameTaken.into()),
                AddGatewayOutcome::TooMany => {
                    return Err(ClaimGatewayRefusal::TooMany(Self::GATEWAYS_MAX).into());
                }
            };
            let NewClaimGateway { name, operator, sales, expires, .. } = new;
            let gateway = ClaimGateway { id, name, operator, sales, created: by.at, expires };
            Ok(AddedClaimGateway { gateway, token })
        })
        .await
    }

    /// Removes a gateway. Its token is void from then on, on every instance.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]. After [`Failure::Store`] the gateway may or may not be in the list.
    pub async fn remove(&self, by: By, gateway: ClaimGatewayId) -> Result<(), Failure> {
        let action = AuditedAction {
            action: "claim_gateway.remove",
            subject: format!("claim gateway {gateway}"),
            detail: json!({}),
        };
        let gateways = Arc::clone(&self.context.storage.selling.claim_gateways);
        run_audited(&self.audit, by, action, async move {
            let is_removed = gateways.remove(gateway).await?;
            if is_removed { Ok(()) } else { Err(Refusal::NotFound("claim gateway").into()) }
        })
        .await
    }
}
