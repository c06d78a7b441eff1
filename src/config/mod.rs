//! What can be chosen when a mall is started: flags, the environment behind them, and behind both a file.

mod file;
mod limits;
mod place;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use mallbox_storage::{Durability, EmbeddedOptions, PaymentMode, Place};

use crate::http::Profile;
use crate::mall::Settings;

pub use file::{FileMistake, example, flags};
pub use limits::LimitsConfig;
pub use place::{PlaceConfig, PlaceMistake, ServerUrl};

/// The flags of `serve`. A configuration file sets them by the same names.
#[derive(Args, Clone, Debug)]
pub struct ServeConfig {
    /// A file in TOML that sets what neither a flag nor the environment does.
    #[arg(long, env = "MALLBOX_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print such a file with every setting, its default and what it does, and do nothing else.
    #[arg(long)]
    pub print_config: bool,
    /// Where the mall is.
    #[command(flatten)]
    pub mall: PlaceConfig,
    /// How an answer is kept in a directory, from the safest to the fastest; `power` unless told.
    #[arg(long, env = "MALLBOX_DURABILITY")]
    pub durability: Option<DurabilityChoice>,
    /// Start even though this number of accepted claims is lost from a directory's order log: the number that the refusal to
    /// start names. Without a number it is only named.
    #[arg(long, value_name = "CLAIMS", num_args = 0..=1)]
    pub accept_lost_log: Option<Option<u64>>,
    /// Where pictures are of a mall in Redis and MySQL; one in a directory has them there.
    #[arg(long, env = "MALLBOX_UPLOADS", value_name = "DIR")]
    pub uploads: Option<PathBuf>,
    /// How login codes are sent: `console`, or the URL of a gateway they are posted to.
    #[arg(long, env = "MALLBOX_SMS", default_value = "console", value_name = "console|URL")]
    pub sms: String,
    /// Serve a directory that was made by `mallbox demo`.
    #[arg(long)]
    pub demo_data: bool,
    /// What may be done how often.
    #[command(flatten)]
    pub limits: LimitsConfig,
    /// How the mall is reached.
    #[command(flatten)]
    pub site: SiteConfig,
}

/// The flags that `serve` and `demo` share.
#[derive(Args, Clone, Debug)]
pub struct SiteConfig {
    /// The address to listen on; port 0 takes any that is free.
    #[arg(long, env = "MALLBOX_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// The time zone of the mall, such as Asia/Shanghai; the machine's unless told. Kept for ever by a new mall.
    #[arg(long, env = "MALLBOX_ZONE", value_name = "NAME", value_parser = zone)]
    pub zone: Option<TimeZone>,
    /// Another front end's files, served at `/`; mallbox's own page is then at `/mall/`.
    #[arg(long, env = "MALLBOX_WEB", value_name = "DIR")]
    pub web: Option<PathBuf>,
    /// The path below which the API is; `""` behind a proxy that has cut it off.
    #[arg(long, env = "MALLBOX_API_PREFIX", default_value = "/api", value_name = "PATH", value_parser = prefix)]
    pub api_prefix: String,
    /// How calls are answered that do not come from mallbox's own pages: `original` as hm-dianping's pages expect, `strict`
    /// as the API's document says. `original` with --web or --api-prefix "", unless told.
    #[arg(long, env = "MALLBOX_PROFILE", value_name = "original|strict")]
    pub profile: Option<ProfileChoice>,
    /// How new orders are paid for; kept by the mall. Unless told: as the mall keeps it, in a new one `none` with --web and
    /// `sandbox` otherwise.
    #[arg(long, env = "MALLBOX_PAYMENT", value_name = "none|sandbox")]
    pub payment: Option<PaymentChoice>,
    /// Connections that may be open at once.
    #[arg(long, env = "MALLBOX_CONNECTIONS", default_value_t = 20_000, value_name = "NUMBER", value_parser = at_least_one())]
    pub connections: u64,
    /// How the log on standard error is written.
    #[arg(long, env = "MALLBOX_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// How far an answer can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DurabilityChoice {
    /// An answer survives a power cut.
    Power,
    /// An answer survives the end of the process, not of the machine.
    Process,
    /// Written every 200 ms.
    Relaxed,
}

impl From<DurabilityChoice> for Durability {
    fn from(choice: DurabilityChoice) -> Self {
        match choice {
            DurabilityChoice::Power => Self::Power,
            DurabilityChoice::Process => Self::Process,
            DurabilityChoice::Relaxed => Self::Relaxed,
        }
    }
}

/// How foreign clients are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ProfileChoice {
    /// As the pages of hm-dianping expect.
    Original,
    /// As the API's document says.
    Strict,
}

impl From<ProfileChoice> for Profile {
    fn from(choice: ProfileChoice) -> Self {
        match choice {
            ProfileChoice::Original => Self::Original,
            ProfileChoice::Strict => Self::Strict,
        }
    }
}

/// How orders are paid for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PaymentChoice {
    /// Not at all: an order is final, as in hm-dianping.
    None,
    /// With imaginary money: an unpaid order is cancelled at its deadline.
    Sandbox,
}

impl From<PaymentChoice> for PaymentMode {
    fn from(choice: PaymentChoice) -> Self {
        match choice {
            PaymentChoice::None => Self::None,
            PaymentChoice::Sandbox => Self::Sandbox,
        }
    }
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Switch {
    /// In force.
    On,
    /// Not in force.
    Off,
}

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl SiteConfig {
    /// How orders of a mall are paid for that keeps no mode yet: pages of hm-dianping have no button to pay.
    #[must_use]
    pub fn first_payment_mode(&self) -> PaymentMode {
        if self.web.is_some() { PaymentMode::None } else { PaymentMode::Sandbox }
    }

    /// How clients other than mallbox's own pages are answered.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let is_foreign = self.web.is_some() || self.api_prefix.is_empty();
        let usual = if is_foreign { Profile::Original } else { Profile::Strict };
        self.profile.map_or(usual, Profile::from)
    }
}

impl ServeConfig {
    /// Where the mall is, and how it is to be opened.
    ///
    /// # Errors
    /// [`PlaceMistake`]: nowhere, in two places, or with flags that mean nothing there.
    pub fn place(&self) -> Result<Place, PlaceMistake> {
        match self.mall.place()? {
            Place::Embedded(_) if self.uploads.is_some() => Err(PlaceMistake::OnlyOnServers("--uploads")),
            Place::Embedded(options) => Ok(Place::Embedded(EmbeddedOptions {
                durability: self.durability.map_or(options.durability, Durability::from),
                accept_lost_log: self.accept_lost_log.flatten(),
                ..options
            })),
            production @ Place::Production(_) => {
                let foreign = [
                    ("--durability", self.durability.is_some()),
                    ("--accept-lost-log", self.accept_lost_log.is_some()),
                    ("--demo-data", self.demo_data),
                ];
                match foreign.into_iter().find(|(_, is_given)| *is_given) {
                    Some((flag, _)) => Err(PlaceMistake::OnlyInDirectory(flag)),
                    None => Ok(production),
                }
            }
        }
    }

    /// How the mall is to behave.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.limits.settings()
    }
}

/// None at all would be a mall that answers nobody.
pub(crate) fn at_least_one() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

/// A time zone by its name.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| format!("there is no time zone {name}; one is Asia/Shanghai"))
}

fn prefix(text: &str) -> Result<String, String> {
    let prefix = text.trim_end_matches('/');
    let is_path = prefix.starts_with('/') && !prefix.contains("//") && !prefix.contains(['?', '#', '%', ' ']);
    if prefix.is_empty() || is_path {
        Ok(prefix.to_owned())
    } else {
        Err("it has to be a path like /api, or empty".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_path_or_nothing() {
        assert_eq!(prefix("/api").as_deref(), Ok("/api"));
        assert_eq!(prefix("/mall/api/").as_deref(), Ok("/mall/api"));
        assert_eq!(prefix("").as_deref(), Ok(""));
        assert_eq!(prefix("/").as_deref(), Ok(""));
        for bad in ["api", "//api", "/a?b", "/a b"] {
            assert!(prefix(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_zone_that_is_none_is_refused_in_words() {
        assert!(zone("Asia/Shanghai").is_ok());
        assert!(zone("Asia/Atlantis").unwrap_err().contains("Atlantis"));
    }
}
