//! A fresh mall per case, with the parts needed for users, shops and vouchers.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox::mall::base::By;
use mallbox::mall::people::accounts::{Client, Credential, CurrentSession, SentCode};
use mallbox::mall::people::sms::{Inbox, SmsSender};
use mallbox::mall::{
    Accounts, AuditLog, Clock, Context, Failure, FlashSales, InputError, ManualClock, Random, Refusal,
    Settings, Shops, UserAdmin, Vouchers,
};
use mallbox_storage::{Actor, Phone, ShopType, ShopTypeId, Storage, Timestamp, UserId};
use mallbox_test_servers::MallLocation;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const ANNE: &str = "13900000002";
pub const BOB: &str = "13900000003";

pub struct World {
    pub accounts: Accounts,
    pub people: UserAdmin,
    pub audit: AuditLog,
    pub shops: Shops,
    pub vouchers: Vouchers,
    pub sales: FlashSales,
    pub storage: Storage,
    pub clock: Arc<ManualClock>,
    pub inbox: Arc<Inbox>,
    _ground: MallLocation,
}

/// Returns a mall with an inbox and two types of shops, and nothing else.
pub async fn world() -> World {
    let inbox = Arc::new(Inbox::default());
    with_sms(inbox.clone(), inbox).await
}

/// Returns a mall that sends codes through `sms`.
pub async fn with_sms(sms: Arc<dyn SmsSender>, inbox: Arc<Inbox>) -> World {
    let ground = MallLocation::of_target(env!("CARGO_CRATE_NAME"));
    let storage = ground.open().await;
    let clock = Arc::new(ManualClock::new(NOON));
    let context = Context::new(
        storage.clone(),
        clock.clone(),
        TimeZone::get("Asia/Shanghai").unwrap(),
        Arc::new(Settings::default()),
    );
    for (id, name) in [(1, "美食"), (2, "KTV")] {
        let kind = ShopType {
            id: ShopTypeId::new(id),
            name: name.to_owned(),
            icon: "/types/ms.png".to_owned(),
            sort: 1,
        };
        storage.catalogue.shops.put_type(&kind, NOON).await.unwrap();
    }
    let sales = FlashSales::new(context.clone());
    let audit = AuditLog::new(context.clone());
    let random = Arc::new(Random::seeded(7));
    World {
        people: UserAdmin::new(context.clone(), audit.clone(), random.clone()),
        audit,
        accounts: Accounts::new(context.clone(), random, sms, Some(inbox.clone())),
        shops: Shops::new(context.clone()),
        vouchers: Vouchers::new(context, sales.clone()),
        sales,
        storage,
        clock,
        inbox,
        _ground: ground,
    }
}

impl World {
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn advance_ms(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }

    /// Requests a code and reads it in the inbox.
    pub async fn code(&self, phone: &str) -> String {
        self.accounts.send_code(phone, &Client::default(), self.now()).await.unwrap();
        self.inbox.last(&Phone::parse(phone).unwrap()).unwrap()
    }

    pub async fn try_code(&self, phone: &str, code: &str) -> Result<String, Failure> {
        self.accounts
            .log_in(phone, Credential::Code(SentCode::without_ticket(code)), Client::default(), self.now())
            .await
    }

    pub async fn try_password(&self, phone: &str, password: &str) -> Result<String, Failure> {
        self.accounts.log_in(phone, Credential::Password(password), Client::default(), self.now()).await
    }

    /// Returns a valid token of the phone number's user.
    pub async fn log_in(&self, phone: &str) -> String {
        let code = self.code(phone).await;
        self.try_code(phone, &code).await.unwrap()
    }

    /// Returns the live session of a token.
    pub async fn session(&self, token: &str) -> CurrentSession {
        self.accounts.session(token, self.now()).await.unwrap().unwrap()
    }

    pub async fn who(&self, token: &str) -> Option<UserId> {
        self.accounts.who(token, self.now()).await.unwrap()
    }

    /// Returns the command line acting now.
    pub fn by(&self) -> By {
        By { actor: Actor::CommandLine, at: self.now() }
    }

    /// Returns the phone number's user, logged in once.
    pub async fn user(&self, phone: &str) -> UserId {
        let token = self.log_in(phone).await;
        self.who(&token).await.unwrap()
    }
}

/// Unwraps a refusal; panics on any other result.
pub fn refusal<T>(answer: Result<T, Failure>) -> Refusal {
    match answer {
        Err(Failure::Refused(refusal)) => refusal,
        Err(other) => panic!("not a refusal: {other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// Unwraps a user's mistake; panics on any other result.
pub fn mistake<T>(answer: Result<T, Failure>) -> InputError {
    match refusal(answer) {
        Refusal::Mistyped(mistake) => mistake,
        other => panic!("not a mistake: {other:?}"),
    }
}

/// Returns a code different from `code`.
pub fn other_than(code: &str) -> &'static str {
    if code == "000000" { "000001" } else { "000000" }
}
