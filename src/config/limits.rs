//! Rate limits, quotas and lifetimes.

use std::time::Duration;

use clap::Args;
use ipnet::IpNet;
use mallbox_storage::{CodeRules, Limit, PictureUsage};

use super::values::{Switch, at_least_one, network};
use crate::mall::Settings;
use crate::mall::base::SharedNetworks;

/// The limiting flags of `serve`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitsConfig {
    /// Limits on codes, tries, claims and calls; `off` is for benches.
    #[arg(long, env = "MALLBOX_LIMITS", default_value = "on")]
    pub limits: Switch,
    /// Claims per user, sale and minute; 0 = no limit.
    #[arg(long, env = "MALLBOX_CLAIMS_PER_MINUTE", default_value_t = 5, value_name = "NUMBER")]
    pub claims_per_minute: u32,
    /// Challenges of guarded sales per user and minute; 0 = no limit.
    #[arg(long, env = "MALLBOX_CHALLENGES_PER_MINUTE", default_value_t = 20, value_name = "NUMBER")]
    pub challenges_per_minute: u32,
    /// New devices per address and hour that get challenges of guarded sales; 0 = no limit.
    #[arg(long, env = "MALLBOX_DEVICES_PER_HOUR_OF_ADDRESS", default_value_t = 60, value_name = "NUMBER")]
    pub devices_per_hour_of_address: u32,
    /// Passes per device, guarded sale and hour; 0 = no limit.
    #[arg(long, env = "MALLBOX_PASSES_PER_HOUR_OF_DEVICE", default_value_t = 10, value_name = "NUMBER")]
    pub passes_per_hour_of_device: u32,
    /// Passes per address, guarded sale and hour; 0 = no limit.
    #[arg(long, env = "MALLBOX_PASSES_PER_HOUR_OF_ADDRESS", default_value_t = 90, value_name = "NUMBER")]
    pub passes_per_hour_of_address: u32,
    /// Calls per second that the pages of a sale, or of its waiting room, make together to stay up to date:
    /// they are told when to ask again.
    #[arg(long, env = "MALLBOX_POLLS_PER_SECOND", default_value_t = 2_000, value_name = "NUMBER", value_parser = positive())]
    pub polls_per_second: u32,
    /// Notes, comments and reports per user and minute; 0 = no limit.
    #[arg(long, env = "MALLBOX_WRITINGS_PER_MINUTE", default_value_t = 10, value_name = "NUMBER")]
    pub writings_per_minute: u32,
    /// Orders of ordinary vouchers per user and minute; 0 = no limit.
    #[arg(long, env = "MALLBOX_ORDERS_PER_MINUTE", default_value_t = 10, value_name = "NUMBER")]
    pub orders_per_minute: u32,
    /// Unpaid orders per user at once, beyond which ordinary vouchers are refused; 0 = no limit.
    #[arg(long, env = "MALLBOX_UNPAID_ORDERS", default_value_t = 20, value_name = "NUMBER")]
    pub unpaid_orders: u32,
    /// Likes, follows and profile edits per user and minute, counted together; 0 = no limit.
    #[arg(long, env = "MALLBOX_ACTIONS_PER_MINUTE", default_value_t = 120, value_name = "NUMBER")]
    pub actions_per_minute: u32,
    /// Pictures uploaded per user and minute; 0 = no limit.
    #[arg(long, env = "MALLBOX_UPLOADS_PER_MINUTE", default_value_t = 30, value_name = "NUMBER")]
    pub uploads_per_minute: u32,
    /// Pictures stored per user; 0 = no limit.
    #[arg(long, env = "MALLBOX_PICTURES_PER_USER", default_value_t = 1_000, value_name = "NUMBER")]
    pub pictures_per_user: u32,
    /// Disk space for the pictures of a user, in MiB; 0 = no limit.
    #[arg(long, env = "MALLBOX_PICTURE_MIB_PER_USER", default_value_t = 256, value_name = "MIB")]
    pub picture_mib_per_user: u32,
    /// Calls per address and second; 0 = no limit, since a company may share an address.
    #[arg(long, env = "MALLBOX_CALLS_PER_SECOND", default_value_t = 0, value_name = "NUMBER")]
    pub calls_per_second: u32,
    /// Seconds between two login codes to the same phone for the same address.
    #[arg(long, env = "MALLBOX_CODE_GAP", default_value_t = 55, value_name = "SECONDS")]
    pub code_gap: u32,
    /// Login codes per phone, address and day; 0 = no limit.
    #[arg(long, env = "MALLBOX_CODES_PER_DAY", default_value_t = 10, value_name = "NUMBER")]
    pub codes_per_day: u32,
    /// Login codes per phone and day for all addresses that the phone never logged in from; 0 = no limit.
    #[arg(long, env = "MALLBOX_CODES_PER_DAY_OF_PHONE", default_value_t = 50, value_name = "NUMBER")]
    pub codes_per_day_of_phone: u32,
    /// Login codes of the mall per day, the last fifth for operators and known addresses; 0 = no limit.
    #[arg(long, env = "MALLBOX_CODES_PER_DAY_OF_MALL", default_value_t = 10_000, value_name = "NUMBER")]
    pub codes_per_day_of_mall: u32,
    /// Login codes per address and hour, to phones that never logged in from there; 0 = no limit.
    #[arg(long, env = "MALLBOX_CODES_PER_HOUR_OF_ADDRESS", default_value_t = 30, value_name = "NUMBER")]
    pub codes_per_hour_of_address: u32,
    /// Wrong login codes per phone and hour: of each address that the phone logged in from, and of all others
    /// together; 0 = no limit.
    #[arg(long, env = "MALLBOX_WRONG_CODES_PER_HOUR_OF_PHONE", default_value_t = 50, value_name = "NUMBER")]
    pub wrong_codes_per_hour_of_phone: u32,
    /// Log-ins by password per phone and hour, of all addresses that the phone never logged in from; 0 = no
    /// limit.
    #[arg(long, env = "MALLBOX_PASSWORDS_PER_HOUR_OF_PHONE", default_value_t = 50, value_name = "NUMBER")]
    pub passwords_per_hour_of_phone: u32,
    /// Log-ins by password per address and 10 minutes, to phones that never logged in from there; 0 = no
    /// limit.
    #[arg(
        long,
        env = "MALLBOX_PASSWORDS_PER_10_MINUTES_OF_ADDRESS",
        default_value_t = 30,
        value_name = "NUMBER"
    )]
    pub passwords_per_10_minutes_of_address: u32,
    /// Networks whose addresses many people share, such as a school's: ten times the limits per address of
    /// codes, passwords, devices, passes and calls; addresses or networks, separated by commas.
    #[arg(long, env = "MALLBOX_SHARED_NETWORK", value_name = "CIDR", num_args = 1.., value_delimiter = ',', value_parser = network)]
    pub shared_network: Vec<IpNet>,
    /// Lifetime of a login code, in seconds.
    #[arg(long, env = "MALLBOX_CODE_LIVES", default_value_t = 120, value_name = "SECONDS", value_parser = positive())]
    pub code_lives: u32,
    /// Wrong tries before a login code becomes invalid.
    #[arg(long, env = "MALLBOX_CODE_TRIES", default_value_t = 5, value_name = "NUMBER", value_parser = positive())]
    pub code_tries: u32,
    /// Minutes without a call before a session expires.
    #[arg(long, env = "MALLBOX_SESSION_MINUTES", default_value_t = 30, value_name = "MINUTES", value_parser = positive())]
    pub session_minutes: u32,
    /// Minutes without a call before a session of staff expires.
    #[arg(long, env = "MALLBOX_STAFF_SESSION_MINUTES", default_value_t = 5, value_name = "MINUTES", value_parser = positive())]
    pub staff_session_minutes: u32,
    /// Days after which a session ends, however much it is used; 0 = no limit.
    #[arg(long, env = "MALLBOX_SESSION_MAX_DAYS", default_value_t = 30, value_name = "DAYS")]
    pub session_max_days: u32,
    /// Hours after which an operator's session ends, however much it is used; 0 = no limit.
    #[arg(long, env = "MALLBOX_OPERATOR_SESSION_MAX_HOURS", default_value_t = 12, value_name = "HOURS")]
    pub operator_session_max_hours: u32,
    /// Minutes to pay an order, for sales without a time of their own.
    #[arg(long, env = "MALLBOX_PAY_MINUTES", default_value_t = 15, value_name = "MINUTES", value_parser = positive())]
    pub pay_minutes: u32,
    /// Seconds during which a page disables the claim button after a claim.
    #[arg(long, env = "MALLBOX_PRESS_AGAIN", default_value_t = 10, value_name = "SECONDS")]
    pub press_again: u32,
    /// Missed days of a month for which a user may sign in later.
    #[arg(long, env = "MALLBOX_MAKE_UPS_PER_MONTH", default_value_t = 3, value_name = "NUMBER")]
    pub make_ups_per_month: u32,
    /// Maximum number of accepted claims waiting for the database; further claims are refused.
    #[arg(long, env = "MALLBOX_MAX_BACKLOG", default_value_t = 2_000_000, value_name = "CLAIMS", value_parser = at_least_one())]
    pub max_backlog: u64,
}

impl LimitsConfig {
    /// Returns the settings of the mall.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let seconds = |count: u32| Duration::from_secs(count.into());
        let minutes = |count: u32| seconds(60) * count;
        let hours = |count: u32| minutes(60) * count;
        let span = |count: u32, unit: Duration| (count > 0).then(|| unit * count);
        let limit = |count: u32, per: Duration| (count > 0).then_some(Limit { count, per });
        let unless_none = |most: u32| if most > 0 { most.into() } else { u64::MAX };
        let usual = Settings::default();
        let settings = Settings {
            codes: CodeRules {
                lives: seconds(self.code_lives),
                gap: seconds(self.code_gap),
                per_day: self.codes_per_day,
                per_day_of_phone: self.codes_per_day_of_phone,
                per_day_of_mall: self.codes_per_day_of_mall,
                tries: self.code_tries,
                tries_per_hour: self.wrong_codes_per_hour_of_phone,
            },
            code_limit_of_address: limit(self.codes_per_hour_of_address, minutes(60)),
            password_limit_of_address: limit(self.passwords_per_10_minutes_of_address, minutes(10)),
            password_limit_of_phone: limit(self.passwords_per_hour_of_phone, minutes(60)),
            shared_networks: SharedNetworks::new(&self.shared_network),
            session_ttl: minutes(self.session_minutes),
            staff_session_ttl: minutes(self.staff_session_minutes),
            session_max: span(self.session_max_days, hours(24)),
            operator_session_max: span(self.operator_session_max_hours, hours(1)),
            claim_limit: limit(self.claims_per_minute, minutes(1)),
            challenge_limit: limit(self.challenges_per_minute, minutes(1)),
            device_limit_of_address: limit(self.devices_per_hour_of_address, minutes(60)),
            pass_limit_of_device: limit(self.passes_per_hour_of_device, minutes(60)),
            pass_limit_of_address: limit(self.passes_per_hour_of_address, minutes(60)),
            polls: self.polls_per_second,
            writing_limit: limit(self.writings_per_minute, minutes(1)),
            order_limit: limit(self.orders_per_minute, minutes(1)),
            unpaid_orders_max: Some(self.unpaid_orders).filter(|max| *max > 0),
            action_limit: limit(self.actions_per_minute, minutes(1)),
            upload_limit: limit(self.uploads_per_minute, minutes(1)),
            picture_room: PictureUsage {
                pictures: unless_none(self.pictures_per_user),
                bytes: unless_none(self.picture_mib_per_user).saturating_mul(1 << 20),
            },
            address_limit: limit(self.calls_per_second, seconds(1)),
            pay_within: minutes(self.pay_minutes),
            press_again: seconds(self.press_again),
            max_backlog: self.max_backlog,
            make_ups_a_month: self.make_ups_per_month,
            ..usual
        };
        match self.limits {
            Switch::On => settings,
            Switch::Off => settings.without_limits(),
        }
    }
}

fn positive() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    fn settings(arguments: &[&str]) -> Settings {
        let command = LimitsConfig::augment_args(Command::new("serve")).no_binary_name(true);
        // Ignore the environment of the test process.
        let command = command.mut_args(|setting| setting.env(None::<&str>));
        LimitsConfig::from_arg_matches(&command.get_matches_from(arguments)).unwrap().settings()
    }

    #[test]
    fn without_a_flag_limits_are_those_of_the_mall() {
        assert_eq!(format!("{:?}", settings(&[])), format!("{:?}", Settings::default()));
        let off = Settings::default().without_limits();
        assert_eq!(format!("{:?}", settings(&["--limits", "off"])), format!("{off:?}"));
    }

    #[test]
    fn each_limit_can_be_set() {
        let custom = settings(&[
            "--claims-per-minute=7",
            "--challenges-per-minute=21",
            "--devices-per-hour-of-address=22",
            "--passes-per-hour-of-device=23",
            "--passes-per-hour-of-address=24",
            "--polls-per-second=25",
            "--writings-per-minute=8",
            "--orders-per-minute=14",
            "--unpaid-orders=15",
            "--actions-per-minute=16",
            "--uploads-per-minute=11",
            "--pictures-per-user=12",
            "--picture-mib-per-user=13",
            "--calls-per-second=9",
            "--code-gap=1",
            "--codes-per-day=2",
            "--codes-per-day-of-phone=14",
            "--codes-per-day-of-mall=15",
            "--codes-per-hour-of-address=16",
            "--wrong-codes-per-hour-of-phone=17",
            "--passwords-per-hour-of-phone=18",
            "--passwords-per-10-minutes-of-address=19",
            "--shared-network=203.0.113.0/24,2001:db8::1",
            "--code-lives=3",
            "--code-tries=4",
            "--session-minutes=5",
            "--staff-session-minutes=6",
            "--session-max-days=3",
            "--operator-session-max-hours=2",
            "--pay-minutes=6",
            "--press-again=7",
            "--max-backlog=8",
            "--make-ups-per-month=0",
        ]);
        let limit = |count, seconds| Some(Limit { count, per: Duration::from_secs(seconds) });
        assert_eq!((custom.claim_limit, custom.address_limit), (limit(7, 60), limit(9, 1)));
        assert_eq!(custom.writing_limit, limit(8, 60));
        assert_eq!(
            (custom.challenge_limit, custom.device_limit_of_address),
            (limit(21, 60), limit(22, 3_600))
        );
        assert_eq!(
            (custom.pass_limit_of_device, custom.pass_limit_of_address),
            (limit(23, 3_600), limit(24, 3_600))
        );
        assert_eq!(custom.polls, 25);
        assert_eq!((custom.order_limit, custom.unpaid_orders_max), (limit(14, 60), Some(15)));
        assert_eq!(custom.action_limit, limit(16, 60));
        assert_eq!(custom.upload_limit, limit(11, 60));
        assert_eq!(custom.picture_room, PictureUsage { pictures: 12, bytes: 13 << 20 });
        let CodeRules { lives, gap, per_day, per_day_of_phone, per_day_of_mall, tries, tries_per_hour } =
            custom.codes;
        assert_eq!((lives.as_secs(), gap.as_secs(), per_day, tries), (3, 1, 2, 4));
        assert_eq!((per_day_of_phone, per_day_of_mall, tries_per_hour), (14, 15, 17));
        assert_eq!(custom.code_limit_of_address, limit(16, 3_600));
        assert_eq!(custom.password_limit_of_phone, limit(18, 3_600));
        let of_address = custom.password_limit_of_address.unwrap();
        assert_eq!(Some(of_address), limit(19, 600));
        for (address, count) in [("203.0.113.7", 190), ("2001:db8::1", 190), ("203.0.114.7", 19)] {
            let address = Some(address.parse().unwrap());
            assert_eq!(custom.shared_networks.limit_of(of_address, address).count, count, "{address:?}");
        }
        assert_eq!(
            (custom.session_ttl.as_secs(), custom.pay_within.as_secs(), custom.max_backlog),
            (300, 360, 8)
        );
        assert_eq!(custom.staff_session_ttl.as_secs(), 360);
        let spans = [custom.session_max, custom.operator_session_max];
        assert_eq!(spans, [259_200, 7_200].map(|seconds| Some(Duration::from_secs(seconds))));
        assert_eq!((custom.press_again.as_secs(), custom.make_ups_a_month), (7, 0));
        let zeros = [
            "claims-per-minute",
            "challenges-per-minute",
            "devices-per-hour-of-address",
            "passes-per-hour-of-device",
            "passes-per-hour-of-address",
            "calls-per-second",
            "writings-per-minute",
            "orders-per-minute",
            "unpaid-orders",
            "actions-per-minute",
            "uploads-per-minute",
            "pictures-per-user",
            "picture-mib-per-user",
            "session-max-days",
            "operator-session-max-hours",
            "codes-per-hour-of-address",
            "wrong-codes-per-hour-of-phone",
            "passwords-per-hour-of-phone",
            "passwords-per-10-minutes-of-address",
        ];
        let zeros = zeros.map(|name| format!("--{name}=0"));
        let none = settings(&zeros.each_ref().map(String::as_str));
        assert_eq!((none.claim_limit, none.address_limit, none.upload_limit), (None, None, None));
        assert_eq!((none.challenge_limit, none.device_limit_of_address), (None, None));
        assert_eq!((none.pass_limit_of_device, none.pass_limit_of_address), (None, None));
        assert_eq!(none.picture_room, PictureUsage { pictures: u64::MAX, bytes: u64::MAX });
        assert_eq!((none.writing_limit, none.order_limit, none.action_limit), (None, None, None));
        assert_eq!(none.unpaid_orders_max, None);
        assert_eq!(none.code_limit_of_address, None);
        assert_eq!((none.password_limit_of_phone, none.password_limit_of_address), (None, None));
        assert_eq!(none.codes.tries_per_hour, 0);
        assert_eq!((none.session_max, none.operator_session_max), (None, None));
    }
}
