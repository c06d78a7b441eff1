//! Guards of sales: device tickets, challenges, and the passes that solved challenges earn; and the tokens of
//! waiting rooms.
//!
//! A guarded sale takes no claim without a pass. A pass belongs to a user, a sale and a device, lives for
//! some seconds, and is spent with the unit. Everything handed out is a signed token, so that waiting
//! visitors cost the mall no memory; what may happen once is counted by a rate limit of one.
//!
//! Reasons: `src/decisions/0056-guarded-sales.md`.

mod challenge;
mod device;
mod holder;
mod keys;
mod passes;
mod rooms;
mod service;
mod token;
mod work;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mallbox_storage::{
    ChallengeKind, Guard, Limit, Pass, RateLimitOutcome, SaleRecord, Timestamp, UserId, VoucherId,
};

use self::challenge::{ChallengeToken, Sealed, accepted_kinds};
use self::device::{Device, DeviceTicket};
use self::holder::Holder;
use self::keys::{GuardKey, GuardKeys};
use self::passes::PassToken;
use super::challenge_service::WatchedService;
use crate::language::Language;
use crate::mall::base::hmac::hmac_sha256;
use crate::mall::base::{Context, Failure, GuardRefusal, Random, Refusal, client_network};

pub use self::challenge::{Answer, Puzzle};
pub use super::challenge_service::{GeeTestResponse, ServiceResponse};
pub use super::challenges::picture::SIZE as PICTURE_SIZE;
pub use super::challenges::slider::{Drawing, PIECE_SIZE, SIZE as SLIDER_SIZE};

/// Lifetime of a challenge.
pub(in crate::mall) const CHALLENGE_TTL: Duration = Duration::from_secs(120);
/// Time before the first pass from which challenges are given. A challenge given earlier would expire unused.
const CHALLENGES_BEFORE: Duration = Duration::from_secs(60);
/// Furthest expiry of a pass beyond its lifetime: the clock of another instance may be ahead.
const SKEW_MAX: Duration = Duration::from_secs(60);

/// Who asks for a challenge or a pass.
#[derive(Clone, Copy, Debug)]
pub struct Visitor<'a> {
    /// The user.
    pub user: UserId,
    /// The device ticket of the request, genuine or not.
    pub device: Option<&'a str>,
    /// The client's address, if known.
    pub address: Option<IpAddr>,
    /// The admission from the waiting room, genuine or not.
    pub admission: Option<&'a str>,
}

/// What a claim shows.
#[derive(Clone, Copy, Default, Debug)]
pub struct ShownPass<'a> {
    /// The pass, genuine or not.
    pub pass: Option<&'a str>,
    /// The device ticket, genuine or not.
    pub device: Option<&'a str>,
    /// The admission from the waiting room, genuine or not.
    pub admission: Option<&'a str>,
    /// Whether the session began with an SMS code.
    pub by_sms_code: bool,
}

/// A challenge for a visitor.
#[derive(Debug)]
pub struct Challenge {
    /// Token to be sent with the answer.
    pub token: String,
    /// What to solve.
    pub puzzle: Puzzle,
    /// The guard of the sale, with the kinds that the visitor may ask for.
    pub guard: Guard,
    /// Time until the challenge is void.
    pub expires_in: Duration,
    /// The ticket of the visitor's device, new or as shown.
    pub device_ticket: String,
    /// Time until the sale issues passes.
    pub pass_in: Duration,
}

/// A pass for a visitor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IssuedPass {
    /// The pass, to be shown with the claim.
    pub pass: String,
    /// Time until the pass is void.
    pub expires_in: Duration,
}

/// A pass given without a challenge, with the device ticket that it is bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedPass {
    /// The pass.
    pub pass: String,
    /// The device ticket.
    pub device_ticket: String,
}

/// Gives challenges, and issues and reads passes.
pub(in crate::mall) struct Guards {
    context: Context,
    random: Arc<Random>,
    keys: GuardKeys,
    drawing: tokio::sync::Semaphore,
    service: OnceLock<Arc<WatchedService>>,
}

impl Guards {
    pub(in crate::mall) fn new(context: Context, random: Arc<Random>) -> Self {
        let keys = GuardKeys::new(Arc::clone(&context.storage.base.upkeep), Arc::clone(&random));
        let drawing = tokio::sync::Semaphore::new(challenge::drawing_threads());
        Self { context, random, keys, drawing, service: OnceLock::new() }
    }

    /// Gives a challenge of the wanted kind, or of the preferred kind of the sale.
    ///
    /// # Errors
    /// [`GuardRefusal`], [`Refusal::Ended`], [`Refusal::RateLimited`]; [`Refusal::Busy`] while too many
    /// pictures are being drawn; [`Failure::Store`] if the store fails.
    pub(in crate::mall) async fn challenge(
        &self,
        visitor: Visitor<'_>,
        sale: &SaleRecord,
        wanted: Option<ChallengeKind>,
        (language, now): (Language, Timestamp),
    ) -> Result<Challenge, Failure> {
        let guard = guard_of(sale, now)?;
        let kinds = self.given_kinds(&guard, now);
        let kind = match wanted {
            Some(kind) if kinds.contains(kind) => kind,
            // Accepted, and not given at present: the service is away.
            Some(kind) if !accepted_kinds(&guard).contains(kind) => {
                return Err(GuardRefusal::KindNotAllowed.into());
            }
            _ => kinds.first(),
        };
        // A challenge is for those who may claim: drawing pictures for all who wait would take too long.
        self.check_admission(visitor.user, sale, visitor.admission, now).await?;
        let settings = &self.context.settings;
        self.context.within(settings.challenge_limit, "challenge", visitor.user, now).await?;
        let key = self.keys.current(now).await?;
        let pass_in = self.opening(visitor.user, sale, &guard).await?.since(now);
        if pass_in > CHALLENGES_BEFORE {
            return Err(GuardRefusal::TooEarly { pass_in }.into());
        }
        let device = match self.device(visitor.device, now).await? {
            Some(device) => device.renewed(now),
            None => {
                self.count(settings.device_limit_of_address, "devices", &visitor, now).await?;
                Device::new(self.random.nonce(), now)
            }
        };
        let holder = Holder::new(visitor.user, sale.terms.voucher, &device);
        let sealed = Sealed {
            kind,
            language,
            bits: guard.work_bits,
            nonce: self.random.nonce(),
            expires: now + CHALLENGE_TTL,
        };
        let puzzle = self.puzzle(kind, sealed.riddle(&key, &holder)).await?;
        let (token, device_ticket) = (sealed.text(&key, &holder), device.ticket(&key));
        let guard = Guard { kinds, ..guard };
        Ok(Challenge { token, puzzle, guard, expires_in: CHALLENGE_TTL, device_ticket, pass_in })
    }

    /// Issues a pass for the answer to a challenge. Each answer uses its challenge up, right or wrong, unless
    /// it comes too early.
    ///
    /// # Errors
    /// [`GuardRefusal`], [`Refusal::Ended`], [`Refusal::RateLimited`]; [`Refusal::Busy`] while too many
    /// answers are at the external service; [`Failure::Store`] if the store fails.
    pub(in crate::mall) async fn pass(
        &self,
        visitor: Visitor<'_>,
        sale: &SaleRecord,
        (token, answer): (&str, &Answer),
        now: Timestamp,
    ) -> Result<IssuedPass, Failure> {
        let guard = guard_of(sale, now)?;
        let voucher = sale.terms.voucher;
        let (sealed, key, holder) = self.opened(visitor, voucher, token, now).await?;
        if now >= sealed.expires || !accepted_kinds(&guard).contains(sealed.kind) {
            return Err(GuardRefusal::ChallengeFailed.into());
        }
        let pass_in = self.opening(visitor.user, sale, &guard).await?.since(now);
        if !pass_in.is_zero() {
            return Err(GuardRefusal::TooEarly { pass_in }.into());
        }
        // First: a failure afterwards would cost the visitor the challenge.
        let turn = self.turn(sealed.kind).await?;
        let epoch = self.context.storage.selling.sales.pass_epoch(voucher).await?;
        let current = self.keys.current(now).await?;
        let once = Limit { count: 1, per: CHALLENGE_TTL };
        let name = format!("solved:{}", mallbox_storage::hex(&sealed.nonce));
        let first = self.context.storage.base.rate_limits.pass(&name, once, now).await?;
        if first != RateLimitOutcome::Allowed {
            return Err(GuardRefusal::ChallengeFailed.into());
        }
        self.judge(&sealed.riddle(&key, &holder), answer, (&visitor, turn), now).await?;
        self.count_pass(&visitor, voucher, &holder, now).await?;
        // A pass issued before the begin lives as long after it as any other.
        let expires = now.max(sale.terms.begin) + Duration::from_secs(guard.pass_seconds.into());
        let pass = self.sign(&current, (epoch, &holder), expires);
        Ok(IssuedPass { pass, expires_in: expires.since(now) })
    }

    /// Issues a pass without a challenge, for tests of malls with guarded sales.
    ///
    /// # Errors
    /// [`GuardRefusal::NotGuarded`], [`Refusal::Ended`]; [`Failure::Store`] if the store fails.
    pub(in crate::mall) async fn grant(
        &self,
        user: UserId,
        sale: &SaleRecord,
        now: Timestamp,
    ) -> Result<GrantedPass, Failure> {
        let guard = guard_of(sale, now)?;
        let device = Device::new(self.random.nonce(), now);
        let key = self.keys.current(now).await?;
        let device_ticket = device.ticket(&key);
        let voucher = sale.terms.voucher;
        let holder = Holder::new(user, voucher, &device);
        let expires = now + Duration::from_secs(guard.pass_seconds.into());
        let epoch = self.context.storage.selling.sales.pass_epoch(voucher).await?;
        Ok(GrantedPass { pass: self.sign(&key, (epoch, &holder), expires), device_ticket })
    }

    /// Writes a new pass.
    fn sign(&self, key: &GuardKey, (epoch, holder): (u64, &Holder), expires: Timestamp) -> String {
        let pass = Pass { nonce: self.random.seed(), epoch, expires };
        passes::pass_text(key, pass, &holder.0)
    }

    /// Returns the answer to a challenge, for tests of malls with guarded sales.
    ///
    /// # Errors
    /// [`GuardRefusal::ChallengeFailed`] for a challenge of another visitor; [`Failure::Store`] if the store
    /// fails.
    pub(in crate::mall) async fn answer(
        &self,
        visitor: Visitor<'_>,
        voucher: VoucherId,
        token: &str,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        let (sealed, key, holder) = self.opened(visitor, voucher, token, now).await?;
        Ok(sealed.riddle(&key, &holder).answer())
    }

    /// Checks what a claim shows. Returns the pass to spend; `None` for a sale without a guard.
    ///
    /// # Errors
    /// [`GuardRefusal::PassRequired`]; [`Failure::Store`] if a key cannot be read.
    pub(in crate::mall) async fn check(
        &self,
        user: UserId,
        sale: &SaleRecord,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<Option<Pass>, Failure> {
        let Some(guard) = sale.guard else { return Ok(None) };
        let lifetime = Duration::from_secs(guard.pass_seconds.into());
        let is_valid =
            |pass: &Pass| now < pass.expires && pass.expires.since(now) <= lifetime.saturating_add(SKEW_MAX);
        match self.read_pass(user, sale.terms.voucher, shown, now).await?.filter(is_valid) {
            Some(pass) => Ok(Some(pass)),
            None => Err(GuardRefusal::PassRequired.into()),
        }
    }

    async fn read_pass(
        &self,
        user: UserId,
        voucher: VoucherId,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<Option<Pass>, Failure> {
        let Some(pass) = shown.pass.and_then(PassToken::parse) else { return Ok(None) };
        let Some(device) = self.device(shown.device, now).await? else { return Ok(None) };
        let Some(key) = self.keys.of_token(pass.key(), now).await? else { return Ok(None) };
        Ok(pass.pass(&key, &Holder::new(user, voucher, &device).0))
    }

    /// Opens a challenge given to this visitor.
    async fn opened(
        &self,
        visitor: Visitor<'_>,
        voucher: VoucherId,
        token: &str,
        now: Timestamp,
    ) -> Result<(Sealed, GuardKey, Holder), Failure> {
        let failed = || Failure::from(GuardRefusal::ChallengeFailed);
        let token = ChallengeToken::parse(token).ok_or_else(failed)?;
        let device = self.device(visitor.device, now).await?.ok_or_else(failed)?;
        let key = self.keys.of_token(token.key(), now).await?.ok_or_else(failed)?;
        let holder = Holder::new(visitor.user, voucher, &device);
        let sealed = token.open(&key, &holder).ok_or_else(failed)?;
        Ok((sealed, key, holder))
    }

    /// Returns the device of a ticket, if the ticket is genuine and valid.
    async fn device(&self, ticket: Option<&str>, now: Timestamp) -> Result<Option<Device>, Failure> {
        let Some(ticket) = ticket.and_then(DeviceTicket::parse) else { return Ok(None) };
        let key = self.keys.of_token(ticket.key(), now).await?;
        Ok(key.and_then(|key| ticket.device(&key, now)))
    }

    /// Returns the instant from which a user gets passes of a sale. Differs between users, so that not all of
    /// them come at once, and is equal at every call, so that nothing is gained by asking again.
    async fn opening(&self, user: UserId, sale: &SaleRecord, guard: &Guard) -> Result<Timestamp, Failure> {
        let key = self.keys.current(sale.terms.begin).await?;
        let drawn = number_of(&key, b"opening", user, sale.terms.voucher);
        let jitter_ms = u64::from(guard.jitter_seconds) * 1_000;
        Ok(sale.terms.begin - Duration::from_millis(drawn % (jitter_ms + 1)))
    }

    /// Counts a pass against the limits of its device and of its address.
    async fn count_pass(
        &self,
        visitor: &Visitor<'_>,
        voucher: VoucherId,
        holder: &Holder,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let settings = &self.context.settings;
        let device = mallbox_storage::hex(&holder.0[16..]);
        self.limit(settings.pass_limit_of_device, &format!("passes:{voucher}:{device}"), now).await?;
        self.count(settings.pass_limit_of_address, &format!("passes:{voucher}"), visitor, now).await
    }

    /// Counts an action of an address against a limit per address.
    async fn count(
        &self,
        limit: Option<Limit>,
        what: &str,
        visitor: &Visitor<'_>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let Some(address) = visitor.address else { return Ok(()) };
        let networks = &self.context.settings.shared_networks;
        let limit = limit.map(|limit| networks.limit_of(limit, Some(address)));
        self.limit(limit, &format!("{what}:{}", client_network(address)), now).await
    }

    async fn limit(&self, limit: Option<Limit>, key: &str, now: Timestamp) -> Result<(), Failure> {
        let Some(limit) = limit else { return Ok(()) };
        match self.context.storage.base.rate_limits.pass(key, limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => Err(Refusal::RateLimited { retry_after }.into()),
        }
    }
}

/// Returns a number that nobody else can predict: equal for equal arguments.
fn number_of(key: &GuardKey, purpose: &[u8], user: UserId, voucher: VoucherId) -> u64 {
    let (user, voucher) = (user.get().to_be_bytes(), voucher.get().to_be_bytes());
    let hash = hmac_sha256(key.secret(), &[purpose, &user, &voucher]);
    hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the guard of a sale that has not ended.
fn guard_of(sale: &SaleRecord, now: Timestamp) -> Result<Guard, Failure> {
    let guard = sale.guard.ok_or(GuardRefusal::NotGuarded)?;
    if now >= sale.terms.end { Err(Refusal::Ended.into()) } else { Ok(guard) }
}
