//! What can be chosen about a mall. One struct; the command line fills it.

use std::time::Duration;

use mallbox_storage::{CodeRules, Limit, PictureRoom};

/// The setting under which a mall keeps its time zone.
pub const ZONE: &str = "zone";
/// The setting that says when a mall moved in from elsewhere.
pub const IMPORTED: &str = "imported";

/// How the mall behaves. `Settings::default()` is what `serve` does unless told otherwise.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How login codes are given out and tried.
    pub codes: CodeRules,
    /// How long a session lives after its last use.
    pub session_ttl: Duration,
    /// Claims per user and sale; `None` = no limit.
    pub claim_limit: Option<Limit>,
    /// Notes, comments and reports that a user writes; `None` = no limit.
    pub writing_limit: Option<Limit>,
    /// Uploads per user; `None` = no limit.
    pub upload_limit: Option<Limit>,
    /// What one user may have of pictures.
    pub picture_room: PictureRoom,
    /// Calls per client address; `None` = no limit, since a company may share one address.
    pub address_limit: Option<Limit>,
    /// How long a buyer has to pay, for sales that do not say.
    pub pay_within: Duration,
    /// How long a page keeps its button grey after a claim before the next try.
    pub press_again: Duration,
    /// Claims beyond this many in the log are refused with 503 until the workers have caught up.
    pub max_backlog: u64,
    /// Missed days of a month that a user may make up for.
    pub make_ups_a_month: u32,
    /// How often whoever watches the live figures is told, in real time.
    pub live_every: Duration,
    /// How many may watch them at once. Each costs a look at the running sales every time, and up to some 400 KB in the
    /// connection's buffer if they do not read.
    pub live_places: usize,
    /// Whether `GET /api/demo/inbox` shows login codes: in `demo` and `fixture` alone.
    pub inbox: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            codes: CodeRules {
                lives: Duration::from_secs(120),
                gap: Duration::from_secs(55),
                per_day: 10,
                tries: 5,
            },
            session_ttl: Duration::from_secs(30 * 60),
            claim_limit: Some(Limit { count: 5, per: Duration::from_secs(60) }),
            writing_limit: Some(Limit { count: 10, per: Duration::from_secs(60) }),
            // A note shows some nine.
            upload_limit: Some(Limit { count: 30, per: Duration::from_secs(60) }),
            picture_room: PictureRoom { pictures: 1_000, bytes: 256 << 20 },
            address_limit: None,
            pay_within: Duration::from_secs(15 * 60),
            press_again: Duration::from_secs(10),
            // About 100 bytes each in memory and 50 on disk: half a gigabyte is where a box of 2 GB must say stop.
            max_backlog: 2_000_000,
            make_ups_a_month: 3,
            live_every: Duration::from_secs(1),
            live_places: 16,
            inbox: false,
        }
    }
}

impl Settings {
    /// Without the limits that a bench or a demo would run into.
    #[must_use]
    pub fn without_limits(mut self) -> Self {
        self.codes.gap = Duration::ZERO;
        self.codes.per_day = 0;
        self.claim_limit = None;
        self.writing_limit = None;
        self.upload_limit = None;
        self.address_limit = None;
        self
    }
}
