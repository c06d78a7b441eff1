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
mod evidence;
mod holder;
mod keys;
mod passes;
mod rooms;
mod service;
mod signals;
mod token;
mod work;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mallbox_storage::{
    ChallengeKind, ChallengeKinds, Guard, Judgement, Limit, Pass, RateLimitOutcome, SaleRecord, StoreError,
    Timestamp, UserId, VoucherId,
};

use self::challenge::{CHALLENGE_TTL, ChallengeToken, Sealed, accepted_kinds};
use self::device::{Device, DeviceTicket};
use self::evidence::Evidence;
use self::holder::Holder;
use self::keys::{GuardKey, GuardKeys};
use self::passes::{PassToken, SignedPass};
use super::challenge_service::WatchedService;
use crate::language::Language;
use crate::mall::base::hmac::hmac_sha256;
use crate::mall::base::{Context, Failure, GuardRefusal, Random, Refusal, client_network};

pub use self::challenge::{Answer, Puzzle};
pub(in crate::mall::selling) use self::evidence::CheckedPass;
pub(in crate::mall::selling) use self::signals::Traces;
pub use super::challenge_service::{GeeTestResponse, ServiceResponse};
pub use super::challenges::picture::SIZE as PICTURE_SIZE;
pub use super::challenges::slider::{Drawing, PIECE_SIZE, SIZE as SLIDER_SIZE};

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
    /// The pass for which the judgement demands a second challenge, genuine or not.
    pub pass: Option<&'a str>,
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
    /// The client's address, if known.
    pub address: Option<IpAddr>,
    /// The key of the kiosk, genuine or not.
    pub kiosk: Option<&'a str>,
    /// The units that the user says to hold: the claim is for the next.
    pub holding: u8,
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
        // A kind that is accepted and not given at present: the service is away.
        if wanted.is_some_and(|kind| !kinds.contains(kind) && !accepted_kinds(&guard).contains(kind)) {
            return Err(GuardRefusal::KindNotAllowed.into());
        }
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
        let former = self.judged_pass(&visitor, sale, now).await?;
        let kind = wanted.filter(|kind| kinds.contains(*kind)).unwrap_or_else(|| next_kind(kinds, former));
        let sealed = Sealed {
            kind,
            round: former.map_or(1, |former| former.challenges.saturating_add(1)),
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
        let signed = SignedPass {
            pass: Pass { nonce: self.random.seed(), epoch, expires },
            evidence: Evidence {
                challenges: sealed.round,
                kind: Some(sealed.kind),
                solve_ms: Some(sealed.solve_ms(now)),
                track_spread: answer.track_spread(),
            },
        };
        let pass = passes::pass_text(&current, signed, &holder.0);
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
        let pass = Pass { nonce: self.random.seed(), epoch, expires };
        let signed = SignedPass { pass, evidence: Evidence::GRANTED };
        Ok(GrantedPass { pass: passes::pass_text(&key, signed, &holder.0), device_ticket })
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
    pub(in crate::mall::selling) async fn check(
        &self,
        user: UserId,
        sale: &SaleRecord,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<Option<CheckedPass>, Failure> {
        let Some(guard) = sale.guard else { return Ok(None) };
        let lifetime = Duration::from_secs(guard.pass_seconds.into());
        let is_valid = |SignedPass { pass, .. }: &SignedPass| {
            now < pass.expires && pass.expires.since(now) <= lifetime.saturating_add(SKEW_MAX)
        };
        let voucher = sale.terms.voucher;
        let read = self.read_pass((user, voucher), (shown.pass, shown.device), now).await?;
        if let Some(SignedPass { pass, evidence }) = read.filter(is_valid) {
            return Ok(Some(CheckedPass { pass, earned: Some((evidence, lifetime)) }));
        }
        match shown.kiosk {
            Some(key) => self.pass_of_kiosk(voucher, key, now + lifetime, now).await.map(Some),
            None => Err(GuardRefusal::PassRequired.into()),
        }
    }

    /// Draws a pass for a claim from a trusted kiosk. Each kiosk has the limit of an address, so that a
    /// stolen key buys little.
    async fn pass_of_kiosk(
        &self,
        voucher: VoucherId,
        key: &str,
        expires: Timestamp,
        now: Timestamp,
    ) -> Result<CheckedPass, Failure> {
        let kiosk = self.context.kiosk_of(key, now).await?.ok_or(GuardRefusal::PassRequired)?;
        let limit = self.context.settings.pass_limit_of_address;
        self.limit(limit, &format!("passes:{voucher}:kiosk {}", kiosk.id), now).await?;
        let epoch = self.context.storage.selling.sales.pass_epoch(voucher).await?;
        Ok(CheckedPass { pass: Pass { nonce: self.random.seed(), epoch, expires }, earned: None })
    }

    async fn read_pass(
        &self,
        (user, voucher): (UserId, VoucherId),
        (pass, device): (Option<&str>, Option<&str>),
        now: Timestamp,
    ) -> Result<Option<SignedPass>, StoreError> {
        let Some(pass) = pass.and_then(PassToken::parse) else { return Ok(None) };
        let Some(device) = self.device(device, now).await? else { return Ok(None) };
        let Some(key) = self.keys.of_token(pass.key(), now).await? else { return Ok(None) };
        Ok(pass.pass(&key, &Holder::new(user, voucher, &device).0))
    }

    /// Returns the evidence of the pass for which a visitor asks for a second challenge. The pass may have
    /// expired. `None` if the sale demands none.
    async fn judged_pass(
        &self,
        visitor: &Visitor<'_>,
        sale: &SaleRecord,
        now: Timestamp,
    ) -> Result<Option<Evidence>, StoreError> {
        if sale.judgement != Some(Judgement::Challenge) {
            return Ok(None);
        }
        let (user, shown) = ((visitor.user, sale.terms.voucher), (visitor.pass, visitor.device));
        Ok(self.read_pass(user, shown, now).await?.map(|signed| signed.evidence))
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
    async fn device(&self, ticket: Option<&str>, now: Timestamp) -> Result<Option<Device>, StoreError> {
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

/// Returns the kind of a challenge that nobody chose: the preferred kind of the sale, and for a second
/// challenge the kind after that of the first.
fn next_kind(kinds: ChallengeKinds, former: Option<Evidence>) -> ChallengeKind {
    let former = former.and_then(|former| former.kind);
    let listed: Vec<ChallengeKind> = kinds.iter().collect();
    let place = former.and_then(|former| listed.iter().position(|kind| *kind == former));
    place.map_or(kinds.first(), |place| listed[(place + 1) % listed.len()])
}

/// Returns the guard of a sale that has not ended.
fn guard_of(sale: &SaleRecord, now: Timestamp) -> Result<Guard, Failure> {
    let guard = sale.guard.ok_or(GuardRefusal::NotGuarded)?;
    if now >= sale.terms.end { Err(Refusal::Ended.into()) } else { Ok(guard) }
}
