//! Settings of a mall, filled from the command line, the environment and the configuration file.

use std::path::PathBuf;
use std::time::Duration;

use mallbox_storage::{CodeRules, Limit, PictureUsage};

use super::memory_budget::MemoryBudget;
use super::shared_networks::SharedNetworks;

/// Stored setting with the mall's time zone.
pub const ZONE: &str = "zone";
/// Stored setting with the time at which the mall was imported from elsewhere.
pub const IMPORTED: &str = "imported";

/// Settings of the mall. `Settings::default()` is the behaviour of `serve` without flags.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rules for issuing and checking login codes.
    pub codes: CodeRules,
    /// Rate limit of login codes per client network, for phones that did not log in from there before; `None`
    /// = no limit.
    pub code_limit_of_address: Option<Limit>,
    /// Rate limit of log-ins by password per client network, for phones as above; `None` = no limit.
    pub password_limit_of_address: Option<Limit>,
    /// Rate limit of log-ins by password per phone, over all networks that the phone did not log in from
    /// before; `None` = no limit.
    pub password_limit_of_phone: Option<Limit>,
    /// Idle lifetime of a session, counted from the last use.
    pub session_ttl: Duration,
    /// Idle lifetime of a session of staff, counted from the last use. Up to a minute shorter, as use is
    /// noted once a minute.
    pub staff_session_ttl: Duration,
    /// Whether staff may make login codes for customers.
    pub counter_codes: bool,
    /// Lifetime of a customer's session, counted from the log-in; `None` = no limit.
    pub session_max: Option<Duration>,
    /// Lifetime of an operator's session, counted from the log-in, and the age up to which a session may make
    /// operators' calls; `None` = no limit.
    pub operator_session_max: Option<Duration>,
    /// Whether operators' calls need a second factor. An operator who has one needs it in any case.
    pub operator_second_factor: bool,
    /// Rate limit of codes of a second factor per user; `None` = no limit. Recovery codes do not count.
    pub second_factor_limit: Option<Limit>,
    /// Rate limit of claims per user and sale; `None` = no limit.
    pub claim_limit: Option<Limit>,
    /// Rate limit of challenges per user; `None` = no limit.
    pub challenge_limit: Option<Limit>,
    /// Rate limit of new device tickets per client network; `None` = no limit.
    pub device_limit_of_address: Option<Limit>,
    /// Rate limit of passes per device and sale; `None` = no limit.
    pub pass_limit_of_device: Option<Limit>,
    /// Rate limit of passes per client network and sale; `None` = no limit.
    pub pass_limit_of_address: Option<Limit>,
    /// Calls per second that the pages of a sale, or of its waiting room, make together to stay up to date:
    /// about a tenth of what the mall can serve.
    pub polls: u32,
    /// Rate limit of notes, comments and reports per user, counted together; `None` = no limit.
    pub writing_limit: Option<Limit>,
    /// Rate limit of purchases of ordinary vouchers per user; `None` = no limit.
    pub order_limit: Option<Limit>,
    /// Maximum number of unpaid orders of a user at once, for purchases of ordinary vouchers; `None` = no
    /// limit. Claims count towards the maximum, but are never refused by it.
    pub unpaid_orders_max: Option<u32>,
    /// Rate limit of likes, follows and profile edits per user, counted together; `None` = no limit.
    pub action_limit: Option<Limit>,
    /// Rate limit of uploads per user; `None` = no limit.
    pub upload_limit: Option<Limit>,
    /// Quota of stored pictures per user.
    pub picture_room: PictureUsage,
    /// Folder with the pictures of an import, if any: removed files are deleted there.
    pub picture_files: Option<PathBuf>,
    /// Rate limit of calls per client address; `None` = no limit, because a company may share one address.
    pub address_limit: Option<Limit>,
    /// Networks with higher limits per address: of codes, of log-ins by password, and of calls.
    pub shared_networks: SharedNetworks,
    /// Default payment deadline of an order, for sales without a deadline of their own.
    pub pay_within: Duration,
    /// How long a page disables its claim button after an attempt.
    pub press_again: Duration,
    /// Backpressure threshold: above this number of pending claims in the log, new claims are refused with
    /// 503 until the workers have caught up.
    pub max_backlog: u64,
    /// Memory that the mall may take.
    pub memory: MemoryBudget,
    /// Missed days per month that a user may make up for.
    pub make_ups_a_month: u32,
    /// Interval between live metrics events, in real time.
    pub live_every: Duration,
    /// Maximum number of concurrent viewers of the live metrics. Each viewer costs a query of the running
    /// sales per event, and up to about 400 KB of connection buffer if the viewer does not read.
    pub live_places: usize,
    /// Whether `GET /api/demo/inbox` shows login codes: only in `demo` and `fixture`.
    pub inbox: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            codes: CodeRules {
                lives: Duration::from_secs(120),
                gap: Duration::from_secs(55),
                per_day: 10,
                per_day_of_phone: 50,
                // At about 0.05 yuan each, a day of an attack costs 500 yuan at most.
                per_day_of_mall: 10_000,
                tries: 5,
                tries_per_hour: 50,
            },
            code_limit_of_address: Some(Limit { count: 30, per: Duration::from_secs(3_600) }),
            // Half a second of hashing.
            password_limit_of_address: Some(Limit { count: 30, per: Duration::from_secs(600) }),
            password_limit_of_phone: Some(Limit { count: 50, per: Duration::from_secs(3_600) }),
            session_ttl: Duration::from_secs(30 * 60),
            staff_session_ttl: Duration::from_secs(5 * 60),
            counter_codes: false,
            session_max: Some(Duration::from_secs(30 * 24 * 60 * 60)),
            // A working day.
            operator_session_max: Some(Duration::from_secs(12 * 60 * 60)),
            operator_second_factor: false,
            // Three codes of a million are right at any time: a day of guessing succeeds once in 1,400 times.
            second_factor_limit: Some(Limit { count: 10, per: Duration::from_secs(3_600) }),
            claim_limit: Some(Limit { count: 5, per: Duration::from_secs(60) }),
            challenge_limit: Some(Limit { count: 20, per: Duration::from_secs(60) }),
            device_limit_of_address: Some(Limit { count: 60, per: Duration::from_secs(3_600) }),
            pass_limit_of_device: Some(Limit { count: 10, per: Duration::from_secs(3_600) }),
            pass_limit_of_address: Some(Limit { count: 90, per: Duration::from_secs(3_600) }),
            polls: 2_000,
            writing_limit: Some(Limit { count: 10, per: Duration::from_secs(60) }),
            order_limit: Some(Limit { count: 10, per: Duration::from_secs(60) }),
            unpaid_orders_max: Some(20),
            // Two a second for as long as a person taps.
            action_limit: Some(Limit { count: 120, per: Duration::from_secs(60) }),
            // A note shows up to nine.
            upload_limit: Some(Limit { count: 30, per: Duration::from_secs(60) }),
            picture_room: PictureUsage { pictures: 1_000, bytes: 256 << 20 },
            picture_files: None,
            address_limit: None,
            shared_networks: SharedNetworks::default(),
            pay_within: Duration::from_secs(15 * 60),
            press_again: Duration::from_secs(10),
            max_backlog: MemoryBudget::FULL.backlog_claims(),
            memory: MemoryBudget::FULL,
            make_ups_a_month: 3,
            live_every: Duration::from_secs(1),
            live_places: MemoryBudget::FULL.live_viewers(),
            inbox: false,
        }
    }
}

impl Settings {
    /// Fits what could grow into a memory budget: the backlog, unless `max_backlog` is smaller, pictures,
    /// password hashes and viewers.
    #[must_use]
    pub fn within(self, memory: MemoryBudget) -> Self {
        let max_backlog = self.max_backlog.min(memory.backlog_claims());
        Self { max_backlog, live_places: memory.live_viewers(), memory, ..self }
    }

    /// Removes the limits that a benchmark or a demo would run into.
    #[must_use]
    pub fn without_limits(mut self) -> Self {
        self.codes.gap = Duration::ZERO;
        self.codes.per_day = 0;
        self.codes.per_day_of_phone = 0;
        self.codes.per_day_of_mall = 0;
        self.codes.tries_per_hour = 0;
        self.code_limit_of_address = None;
        self.password_limit_of_address = None;
        self.password_limit_of_phone = None;
        self.second_factor_limit = None;
        self.claim_limit = None;
        self.challenge_limit = None;
        self.device_limit_of_address = None;
        self.pass_limit_of_device = None;
        self.pass_limit_of_address = None;
        self.writing_limit = None;
        self.order_limit = None;
        self.unpaid_orders_max = None;
        self.action_limit = None;
        self.upload_limit = None;
        self.address_limit = None;
        self
    }
}
