//! Failures of service calls. HTTP maps them to status, code and message.

use std::num::NonZeroU8;
use std::time::Duration;

use mallbox_storage::{
    CASH_MOVES_MAX, CashLimit, Cents, ClosedReason, DeadReason, DeadState, OrderId, ReviewId, SaleRecord,
    StoreError, Timestamp,
};

use super::judgement_rules::RulesError;

/// A business refusal: the mall works and declines the call. HTTP chooses the user's message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No unit is left.
    SoldOut,
    /// No unit is left before the next wave.
    SoldOutUntil {
        /// Time until the wave.
        wave_in: Duration,
        /// Units of the wave.
        units: u64,
    },
    /// The user already holds a unit, by this order.
    AlreadyBought(OrderId),
    /// The user already holds as many units as the sale allows: this number.
    LimitReached(NonZeroU8),
    /// The sale has not started.
    NotOpen,
    /// The sale has ended.
    Ended,
    /// The operator has paused the sale.
    Paused,
    /// The sale does not exist.
    UnknownSale,
    /// The user's level is below the sale's minimum.
    LevelTooLow,
    /// The user's account is too new for the sale.
    AccountTooNew {
        /// Time until it is old enough.
        old_enough_in: Duration,
    },
    /// The sale is for sessions that began with an SMS code.
    SmsCodeNeeded,
    /// The named object does not exist.
    NotFound(&'static str),
    /// The caller is not logged in.
    NotLoggedIn,
    /// The call requires an operator.
    Forbidden,
    /// The step needs a second factor, or the second factor excludes the step.
    SecondFactor(FactorRefusal),
    /// The user is blocked.
    Blocked,
    /// The phone number belongs to another user.
    PhoneTaken,
    /// The step requires a session begun by a login code a short while ago.
    CodeLoginNeeded,
    /// The mall would be left without an operator able to log in.
    LastOperator,
    /// The price of a sale is fixed while claims are accepted.
    SaleIsOn,
    /// Another instance changed sales while this change was stopped; nothing changed.
    SaleChanged,
    /// A person's typing or selection error: HTTP status 200 on hm-dianping's calls.
    Mistyped(InputError),
    /// The voucher is sold only in its flash sale.
    SoldInSale,
    /// The named value of the request is missing or out of range.
    BadValue(&'static str),
    /// The caller has exceeded a rate limit.
    RateLimited {
        /// Time to wait before the next attempt.
        retry_after: Duration,
    },
    /// All clients together have exceeded a limit of the sale or of the endpoint.
    Crowded {
        /// Time to wait before the next attempt.
        retry_after: Duration,
    },
    /// The user has this number of unpaid orders, the maximum.
    TooManyUnpaid(u32),
    /// The user has this number of paid, unused orders, which a deletion of the account would give up.
    PaidOrders(u64),
    /// Too many wrong codes or passwords.
    TooManyTries {
        /// Time to wait before the next attempt.
        retry_after: Duration,
    },
    /// The claim is pending: its order is not in the database yet.
    NotYet,
    /// The order's status, given as a number, excludes this step.
    OrderStands(u8),
    /// The order is not used, and cannot be reviewed yet.
    OrderNotUsed,
    /// The order has this review.
    AlreadyReviewed(ReviewId),
    /// The order has this review under the same request name, with other contents.
    ReviewDiffers(ReviewId),
    /// An operator folded the review: it accepts no votes.
    ReviewFolded,
    /// Authors cannot vote for their own review.
    OwnReview,
    /// The input cannot be a receipt code.
    ReceiptMistyped,
    /// The sale is unlimited: its units are not counted.
    Unlimited,
    /// The database still refuses the dead letter: reason, and message of the database.
    StillDead(DeadReason, String),
    /// The dead letter was replayed or voided before.
    DeadLetterStands(DeadState),
    /// The day is already signed: no make-up was recorded.
    SignedAlready,
    /// The month's quota of make-ups, given as a number, is used up.
    MakeUpsUsed(u32),
    /// The gateway declined the payment.
    PaymentDeclined,
    /// The order is paid at the counter, where an operator records the payment.
    PayAtCounter,
    /// The order was paid at the counter, where an operator records the refund.
    RefundAtCounter,
    /// The order is not paid at the counter: payment and refund go through its own payment mode.
    NotAtCounter,
    /// The amount at the counter is not the order's price, given here.
    AmountDiffers(Cents),
    /// A callback of the payment gateway is not taken.
    Callback(CallbackError),
    /// The user's quota of pictures, given as a number, is used up.
    PicturesFull(u64),
    /// The user's quota of picture storage, given in bytes, is used up.
    PictureBytesFull(u64),
    /// A subscriber of events cannot be made.
    Subscriber(SubscriberRefusal),
    /// The claim looks automated, and the sale refuses such claims.
    LooksAutomated,
    /// The text is no table of judgement rules.
    BadRules(RulesError),
    /// The sale is guarded, or a step of a guarded sale is refused.
    Guard(GuardRefusal),
    /// The user cannot join the waiting list of the sale.
    WaitingList(WaitingRefusal),
    /// A claim gateway, or a claim of its batch, is refused.
    ClaimGateway(ClaimGatewayRefusal),
    /// The receipt printer did not print.
    Printer(PrinterRefusal),
    /// The machine's clock is unsure, or its confirmation is refused.
    Clock(ClockRefusal),
    /// Staff cannot log in, or a person or PIN cannot be entered.
    Staff(StaffRefusal),
    /// A cash session, or cash without one, is refused.
    Cash(CashRefusal),
    /// The call cannot be served at present: load shedding, or an unreachable remote service.
    Busy,
}

/// A refusal about the machine's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockRefusal {
    /// The clock is unsure, and the call depends on the time of day.
    Unsure,
    /// The clock stands elsewhere than at the confirmed time.
    Moved,
    /// The confirmed time is impossible: earlier than this version of mallbox.
    BeforeRelease,
}

/// Why a receipt printer did not print, or only in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrinterRefusal {
    /// The mall has no printer.
    NoPrinter,
    /// Other jobs, or another program, occupy the printer. Nothing was printed.
    Busy,
    /// Nobody takes connections at the address. Nothing was printed.
    Refused,
    /// The printer does not respond.
    Silent,
    /// The printer did not take the whole job in time.
    Slow,
    /// The connection broke in the middle of the job, or the device hung up.
    Closed,
    /// The path of the printer leads to no device.
    NoDevice,
    /// The mall's account may not write to the device.
    NoPermission,
    /// The device or the disk has no room.
    Full,
    /// The printer has no paper.
    OutOfPaper,
    /// The cover of the printer is open.
    CoverOpen,
    /// Another failure, which the log names.
    Failed,
}

/// A refusal about staff and their PINs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StaffRefusal {
    /// The caller's device is not a trusted kiosk.
    UnknownKiosk,
    /// No person has the PIN.
    WrongPin,
    /// The text is no PIN.
    PinForm,
    /// The PIN is among the first that anybody tries.
    PinGuessable,
    /// Another person has the PIN.
    PinTaken,
    /// Another person has the name.
    NameTaken,
    /// The mall has this number of people, the maximum.
    TooMany(usize),
    /// The idempotency key of a counter sale was used for another amount.
    SaleDiffers,
    /// The mall has no login codes made at a counter.
    NoCounterCodes,
    /// The phone is an operator's, for whom nobody at a counter makes a login code.
    CodeOfOperator,
}

/// A refusal about cash sessions. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CashRefusal {
    /// The till has no open session.
    NoSession,
    /// The till has an open session.
    SessionOpen,
    /// This number of tills have open sessions, the maximum.
    TillsFull(u32),
    /// The drawer has to hold only this amount, which is less than the amount to be taken out.
    Short(Cents),
    /// A sum of the session would exceed its maximum.
    TooMuch,
    /// Cash was paid in and out this number of times in the session, the maximum.
    TooManyMoves(u64),
    /// The idempotency key was used before for another kind, amount or reason.
    KeyUsed,
    /// The drawer has to hold this amount by now, and not the amount on which the count was judged.
    Changed(Cents),
    /// The session was closed by the Z report with this number.
    Closed(u64),
}

impl From<CashLimit> for CashRefusal {
    fn from(limit: CashLimit) -> Self {
        match limit {
            CashLimit::Short(held) => Self::Short(held),
            CashLimit::TooMuch => Self::TooMuch,
            CashLimit::TooManyMoves => Self::TooManyMoves(CASH_MOVES_MAX),
        }
    }
}

/// A refusal about a second factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactorRefusal {
    /// The session must give the user's second factor first.
    Required,
    /// The mall requires a second factor of operators, and the user has none.
    EnrolmentRequired,
    /// The mall requires a second factor of operators: it can be replaced, not removed.
    Stays,
    /// The step requires a log-in a short while ago, or the password.
    FreshLogInNeeded,
}

/// Why a subscriber of events cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubscriberRefusal {
    /// Another subscriber has the name.
    NameTaken,
    /// The mall has this number of subscribers, the maximum.
    TooMany(u32),
    /// The mall has no streams: its data is in a directory.
    NoStreams,
    /// The URL of the webhook cannot be used.
    Url,
}

/// A refusal about the guard of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardRefusal {
    /// The claim needs a pass: there is none, or it is expired, spent, or somebody else's.
    PassRequired,
    /// The claim looks automated: it needs a pass earned by a second challenge.
    ChallengeAgain,
    /// The sale has no guard, and gives no challenges.
    NotGuarded,
    /// The sale accepts no challenges of this kind.
    KindNotAllowed,
    /// The answer is wrong, or the challenge is expired, used, or somebody else's.
    ChallengeFailed,
    /// The external service gave no verdict about the answer: another challenge is needed.
    ServiceAway,
    /// An operator chose the external service, and the mall has none.
    NoService,
    /// The sale has not begun to issue passes.
    TooEarly {
        /// Time until the sale issues passes to this user.
        pass_in: Duration,
    },
    /// The claim needs an admission from the waiting room: there is none, or it is expired or somebody
    /// else's.
    AdmissionRequired,
    /// The sale has no waiting room.
    NoRoom,
}

/// Why a user cannot join a waiting list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitingRefusal {
    /// The sale has no waiting list.
    NoList,
    /// The maximum number of users wait.
    Full,
    /// Units are left: nobody has to wait.
    UnitsLeft,
}

/// A refusal about claim gateways and their batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimGatewayRefusal {
    /// The token is unknown, expired or removed, or its operator is none any more.
    TokenInvalid,
    /// The request's name was used for other claims.
    ClaimsDiffer,
    /// The token does not name the sale of the claim.
    SaleNotNamed,
    /// The user of the claim does not exist.
    UnknownUser,
    /// The batch has an equal claim before.
    DuplicateClaim,
    /// Another gateway has the name.
    NameTaken,
    /// The mall has this number of gateways, the maximum.
    TooMany(u32),
}

/// A person's input error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputError {
    /// The phone number is malformed.
    Phone,
    /// The login code is wrong.
    Code,
    /// No login code is valid: request a new code.
    NoCode,
    /// The login code sent to the present number is wrong.
    OldCode,
    /// No login code of the present number is valid: request a new code.
    NoOldCode,
    /// The code of the second factor is wrong.
    FactorCode,
    /// The code of the second factor was used before.
    FactorCodeUsed,
    /// The phone number or the password is wrong.
    Password,
    /// The current password is wrong.
    OldPassword,
    /// The new password is too short or too long.
    PasswordLength,
    /// The new password would be guessed soon.
    PasswordGuessable,
    /// Codes were requested too soon or too often: seconds to wait.
    CodeTooSoon(u64),
    /// No more codes can be sent to this phone, or by this mall: seconds to wait.
    CodesSpent(u64),
    /// The named text is required.
    Missing(&'static str),
    /// The named value is out of range or too long.
    OutOfRange(&'static str),
    /// The upload is not an accepted picture format.
    NoPicture,
    /// The picture exceeds this number of millions of pixels.
    TooManyPixels(u32),
    /// Users cannot follow themselves.
    Oneself,
}

/// Why a callback of the payment gateway is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallbackError {
    /// The signature is missing, wrong or too old, or the mall has no gateway.
    Signature,
    /// The body is not as the protocol demands.
    Malformed,
    /// The mall has no such payment.
    Unknown,
    /// Amount or currency are not those of the payment.
    Differs,
    /// The effect is not durable yet: the gateway has to repeat the call.
    NotDurable,
}

/// Failure of a service call.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A business refusal.
    #[error("refused: {0:?}")]
    Refused(Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug: for the log only.
    #[error("{0}")]
    Bug(String),
}

impl Refusal {
    /// Returns the refusal of a claim without a unit, with the next wave of the sale if there is one.
    pub(in crate::mall) fn sold_out(sale: &SaleRecord, now: Timestamp) -> Self {
        match sale.wave_after(now) {
            Some(wave) => Self::SoldOutUntil { wave_in: wave.at.since(now), units: wave.units },
            None => Self::SoldOut,
        }
    }
}

impl From<ClosedReason> for Refusal {
    fn from(closed: ClosedReason) -> Self {
        match closed {
            ClosedReason::NotOpen => Self::NotOpen,
            ClosedReason::Paused => Self::Paused,
            ClosedReason::Ended => Self::Ended,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<InputError> for Failure {
    fn from(mistake: InputError) -> Self {
        Self::Refused(Refusal::Mistyped(mistake))
    }
}

impl From<ClockRefusal> for Refusal {
    fn from(refusal: ClockRefusal) -> Self {
        Self::Clock(refusal)
    }
}

impl From<PrinterRefusal> for Refusal {
    fn from(refusal: PrinterRefusal) -> Self {
        Self::Printer(refusal)
    }
}

impl From<StaffRefusal> for Failure {
    fn from(refusal: StaffRefusal) -> Self {
        Self::Refused(Refusal::Staff(refusal))
    }
}

impl From<ClaimGatewayRefusal> for Refusal {
    fn from(refusal: ClaimGatewayRefusal) -> Self {
        Self::ClaimGateway(refusal)
    }
}

impl From<ClaimGatewayRefusal> for Failure {
    fn from(refusal: ClaimGatewayRefusal) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<WaitingRefusal> for Failure {
    fn from(refusal: WaitingRefusal) -> Self {
        Self::Refused(Refusal::WaitingList(refusal))
    }
}

impl From<GuardRefusal> for Failure {
    fn from(refusal: GuardRefusal) -> Self {
        Self::Refused(Refusal::Guard(refusal))
    }
}
