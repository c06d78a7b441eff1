//! Decisions and stored forms that every back end shares, and that the mall itself does not need.

pub use crate::archive::{DayReader, DayWriter, PART_MAX_BYTES};
pub use crate::audit::ChainVerifier;
pub use crate::cache::{Decoded, LocalCache};
pub use crate::claim_gateways::{sales_in_row, sales_of_row};
pub use crate::codes::{
    CODE_DAY, KNOWN_FOR, KNOWN_REQUESTERS_MAX, MACHINE_CODE_TTL, REMEMBER_STEP, TRIES_HOUR, latest_expiry,
};
pub use crate::comments::change_of_count;
pub use crate::event_kinds::{AcceptedOrder, NewEvent};
pub use crate::event_subscribers::{kinds_in_row, kinds_of_row, shortened_error};
pub use crate::feeds::fan_out::FanOutFeeds;
pub use crate::feeds::{FeedRows, INBOX_MAX_ENTRIES, INBOX_TTL, Inbox, Inboxes};
pub use crate::follows::FOLLOW_BACKFILL;
pub use crate::geo_index::ShopTrees;
pub use crate::ledger::{SELECT_LETTERS, SELECT_PAYMENTS, select_orders};
pub use crate::locks::Waiters;
pub use crate::plans::{
    CreditChange, PaymentChange, PromotionPlan, ReplayPlan, StockPlan, TransitionPlan, VoidPlan, plan_join,
};
pub use crate::retry_plans::{
    GroupHead, LeasedRow, OpenTasks, ReplayedTask, SettledRows, SubmitPlan, plan_settlements, plan_submits,
    short_error,
};
pub use crate::sale_setting::SaleSetting;
pub use crate::sessions::{BROWSER_MAX_BYTES, EXTENSION_STEP, SESSIONS_PER_USER_MAX};
pub use crate::shop_rating::ShopRating;
pub use crate::sign_ins::{StreakUpTo, longest_run};
pub use crate::stored::{MISCOUNTED_LIKES, Numbered, holding, span};
pub use crate::visitors::is_kept;
pub use crate::votes::{VotePlan, VotedReview};
pub use crate::waves::plan_waves;
pub use crate::{next_wave, sale_columns};
