//! Start-up configuration: flags override environment variables, which override the configuration file.

mod alert;
mod challenge;
mod file;
mod limits;
mod memory;
mod payment;
mod place;
mod printer;
#[cfg(feature = "otlp")]
mod trace;
mod values;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ipnet::IpNet;
use jiff::tz::TimeZone;
use mallbox_storage::{Durability, PaymentMode};
use mallbox_storage_embedded::EmbeddedOptions;

use crate::http::{CONNECTIONS_PER_ADDRESS, EndpointLimit, Profile, ProxyHeader, TrustedProxies};
use crate::mall::Settings;
use crate::place::Place;

use self::values::network;

pub use alert::AlertConfig;
pub use challenge::{ChallengeChoice, ChallengeConfig, ChallengeConfigError};
pub use file::{ConfigFileError, example, flags};
pub use limits::LimitsConfig;
pub use memory::{MemoryConfig, memory_of_machine};
pub use payment::{PaymentChoice, PaymentConfig};
pub use place::{LocationError, PlaceConfig, ServerUrl, ServersConfig};
pub use printer::{PrinterConfig, PrinterConfigError};
#[cfg(feature = "otlp")]
pub use trace::{CollectorUrlError, TraceConfig};
pub(crate) use values::{DAY_S, MINUTE_S, at_least_one, span};
pub use values::{HiddenText, Switch};

/// The flags of `serve`. A configuration file sets them by the same names.
#[derive(Args, Clone, Debug)]
pub struct ServeConfig {
    /// A TOML file with settings; flags and environment variables override the file.
    #[arg(long, env = "MALLBOX_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Prints a configuration file with every setting, its default and an explanation, and exits.
    #[arg(long)]
    pub print_config: bool,
    /// Location of the mall.
    #[command(flatten)]
    pub mall: PlaceConfig,
    /// Durability of acknowledged results in a directory, from the safest to the fastest; default: `power`.
    #[arg(long, env = "MALLBOX_DURABILITY")]
    pub durability: Option<DurabilityChoice>,
    /// Starts although accepted claims are lost from a directory's order log: the number must equal the loss
    /// reported by the refusal to start. Without a number, only reports the loss.
    #[arg(long, value_name = "CLAIMS", num_args = 0..=1)]
    pub accept_lost_log: Option<Option<u64>>,
    /// Starts although a directory's database is damaged: the number must equal the lost commits or damaged
    /// pages reported by the refusal to start. Without a number, only reports the loss.
    #[arg(long, value_name = "NUMBER", num_args = 0..=1)]
    pub accept_damaged_database: Option<Option<u64>>,
    /// Upgrades a directory of an earlier version without keeping a copy of the mall before: for a disk
    /// without room for one. Take a backup first, with the version before.
    #[arg(long)]
    pub upgrade_without_copy: bool,
    /// The folder of pictures of a mall in Redis and MySQL; a mall in a directory keeps pictures inside.
    #[arg(long, env = "MALLBOX_UPLOADS", value_name = "DIR")]
    pub uploads: Option<PathBuf>,
    /// A second address, for operators alone: the console, the calls of operators, metrics and the details of
    /// readiness are then missing from --listen.
    #[arg(long, env = "MALLBOX_ADMIN_LISTEN", value_name = "ADDRESS")]
    pub admin_listen: Option<SocketAddr>,
    /// Requires a second factor of operators: codes of an authenticator app (TOTP). An operator without one
    /// can only set it up.
    #[arg(long, env = "MALLBOX_OPERATOR_SECOND_FACTOR")]
    pub operator_second_factor: bool,
    /// Lets staff at a counter make login codes for customers, for a shop without text messages. The maker of
    /// a code could log in with it: as a customer, never as an operator.
    #[arg(long, env = "MALLBOX_COUNTER_CODES")]
    pub counter_codes: bool,
    /// Delivery of login codes: `console`, or the URL of a gateway to post them to: https://, or http:// on
    /// this machine. Better put a URL with a key into the environment variable than on the command line.
    #[arg(
        long,
        env = "MALLBOX_SMS",
        hide_env_values = true,
        default_value = "console",
        value_name = "console|URL"
    )]
    pub sms: HiddenText,
    /// Signs requests to the gateway of --sms: HMAC-SHA-256 with a timestamp, in the header
    /// x-mallbox-signature. Better put the secret into the environment variable than on the command line.
    #[arg(long, env = "MALLBOX_SMS_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub sms_secret: Option<HiddenText>,
    /// Protects the PINs of staff if the database is stolen; the same for all processes of a mall on servers.
    /// Without it, a mall in a directory has a secret beside its database. Another secret voids all PINs.
    /// Better put the secret into the environment variable than on the command line.
    #[arg(long, env = "MALLBOX_STAFF_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub staff_secret: Option<HiddenText>,
    /// Alerts.
    #[command(flatten)]
    pub alerts: AlertConfig,
    /// The external challenge service of guarded sales.
    #[command(flatten)]
    pub challenges: ChallengeConfig,
    /// Serves a directory created by `mallbox demo`.
    #[arg(long)]
    pub demo_data: bool,
    /// Rate limits, quotas and lifetimes.
    #[command(flatten)]
    pub limits: LimitsConfig,
    /// Address, web pages and API of the mall.
    #[command(flatten)]
    pub site: SiteConfig,
}

/// The flags that `serve` and `demo` share.
#[derive(Args, Clone, Debug)]
pub struct SiteConfig {
    /// The address to listen on; port 0 takes any free port.
    #[arg(long, env = "MALLBOX_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// The time zone of the mall, such as Asia/Shanghai; default: the machine's. A new mall stores the zone
    /// permanently.
    #[arg(long, env = "MALLBOX_ZONE", value_name = "NAME", value_parser = zone)]
    pub zone: Option<TimeZone>,
    /// The folder of another front end, served at `/`; mallbox's own pages are then at `/mall/`.
    #[arg(long, env = "MALLBOX_WEB", value_name = "DIR")]
    pub web: Option<PathBuf>,
    /// The path prefix of the API; `""` behind a proxy that strips the prefix.
    #[arg(long, env = "MALLBOX_API_PREFIX", default_value = "/api", value_name = "PATH", value_parser = prefix)]
    pub api_prefix: String,
    /// Responses to calls from clients other than mallbox's own pages: `original` as hm-dianping's pages
    /// expect, `strict` as the API document describes. Default: `original` with --web or --api-prefix "",
    /// otherwise `strict`.
    #[arg(long, env = "MALLBOX_PROFILE", value_name = "original|strict")]
    pub profile: Option<ProfileChoice>,
    /// Payments.
    #[command(flatten)]
    pub payments: PaymentConfig,
    /// The receipt printer.
    #[command(flatten)]
    pub printer: PrinterConfig,
    /// Proxies whose reports of client addresses are believed: addresses or networks, separated by commas.
    #[arg(long, env = "MALLBOX_TRUSTED_PROXY", value_name = "CIDR", num_args = 1.., value_delimiter = ',', value_parser = network)]
    pub trusted_proxy: Vec<IpNet>,
    /// The header in which trusted proxies report client addresses.
    #[arg(long, env = "MALLBOX_PROXY_HEADER", default_value = "x-forwarded-for")]
    pub proxy_header: ProxyHeaderChoice,
    /// Names by which clients may call the mall, separated by commas, besides IP addresses and localhost.
    /// Default: any name for `serve`, no other name for `demo`.
    #[arg(long, env = "MALLBOX_HOST", value_name = "DOMAIN", num_args = 1.., value_delimiter = ',', value_parser = host)]
    pub host: Vec<String>,
    /// Maximum number of open connections; at the limit, the connection idle the longest is closed.
    #[arg(long, env = "MALLBOX_CONNECTIONS", default_value_t = 20_000, value_name = "NUMBER", value_parser = at_least_one())]
    pub connections: u64,
    /// Maximum number of open connections per client address, except for loopback and trusted proxies; 0 = no
    /// limit.
    #[arg(long, env = "MALLBOX_CONNECTIONS_PER_ADDRESS", default_value_t = CONNECTIONS_PER_ADDRESS, value_name = "NUMBER")]
    pub connections_per_address: u64,
    /// Limits on the calls of an endpoint per second and process, of all clients together and for one value
    /// of the path's first parameter: `METHOD PATH=CALLS/CALLS-OF-ONE-VALUE`, separated by commas; 0 = no
    /// limit.
    #[arg(long, env = "MALLBOX_ENDPOINT_LIMIT", value_name = "LIMIT", num_args = 1.., value_delimiter = ',')]
    pub endpoint_limit: Vec<EndpointLimit>,
    /// The memory budget.
    #[command(flatten)]
    pub memory: MemoryConfig,
    /// The format of the log on standard error.
    #[arg(long, env = "MALLBOX_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    /// Traces.
    #[cfg(feature = "otlp")]
    #[command(flatten)]
    pub traces: TraceConfig,
}

/// Durability of an acknowledged result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DurabilityChoice {
    /// An acknowledged result survives a power cut.
    Power,
    /// An acknowledged result survives a crash of the process, but not of the machine.
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

/// Responses to clients other than mallbox's own pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ProfileChoice {
    /// As the pages of hm-dianping expect.
    Original,
    /// As the API document describes.
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

/// Header in which proxies report client addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ProxyHeaderChoice {
    /// A list of addresses.
    XForwardedFor,
    /// The header of RFC 7239.
    Forwarded,
}

impl From<ProxyHeaderChoice> for ProxyHeader {
    fn from(choice: ProxyHeaderChoice) -> Self {
        match choice {
            ProxyHeaderChoice::XForwardedFor => Self::XForwardedFor,
            ProxyHeaderChoice::Forwarded => Self::Forwarded,
        }
    }
}

/// Format of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogFormat {
    /// Lines of text, for people.
    Text,
    /// One JSON object a line.
    Json,
}

impl SiteConfig {
    /// Returns the payment mode of a mall without a stored mode: `usual`, but none for pages of hm-dianping,
    /// which have no button to pay.
    #[must_use]
    pub fn first_payment_mode(&self, usual: PaymentMode) -> PaymentMode {
        if self.web.is_some() { PaymentMode::None } else { usual }
    }

    /// Returns the proxies that report the addresses of their clients.
    #[must_use]
    pub fn proxies(&self) -> TrustedProxies {
        TrustedProxies::new(&self.trusted_proxy, self.proxy_header.into())
    }

    /// Returns the share of requests to trace, from 0 to 1.
    #[must_use]
    pub fn traced_share(&self) -> f64 {
        #[cfg(feature = "otlp")]
        let share = self.traces.share();
        #[cfg(not(feature = "otlp"))]
        let share = 0.0;
        share
    }

    /// Returns the profile of clients other than mallbox's own pages.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let is_foreign = self.web.is_some() || self.api_prefix.is_empty();
        let usual = if is_foreign { Profile::Original } else { Profile::Strict };
        self.profile.map_or(usual, Profile::from)
    }
}

impl ServeConfig {
    /// Returns the location of the mall with the options to open the storage.
    ///
    /// # Errors
    /// [`LocationError`]: no location, two locations, or flags without a meaning there.
    pub fn place(&self) -> Result<Place, LocationError> {
        match self.mall.place()? {
            Place::Embedded(_) if self.uploads.is_some() => Err(LocationError::OnlyOnServers("--uploads")),
            Place::Embedded(options) => Ok(Place::Embedded(EmbeddedOptions {
                durability: self.durability.map_or(options.durability, Durability::from),
                accept_lost_log: self.accept_lost_log.flatten(),
                accept_damaged_database: self.accept_damaged_database.flatten(),
                upgrade_without_copy: self.upgrade_without_copy,
                cache_bytes: self.site.memory.budget().storage_cache_bytes(),
                ..options
            })),
            #[cfg(feature = "production")]
            production @ Place::Production(_) => {
                let foreign = [
                    ("--durability", self.durability.is_some()),
                    ("--accept-lost-log", self.accept_lost_log.is_some()),
                    ("--accept-damaged-database", self.accept_damaged_database.is_some()),
                    ("--upgrade-without-copy", self.upgrade_without_copy),
                    ("--demo-data", self.demo_data),
                ];
                match foreign.into_iter().find(|(_, is_given)| *is_given) {
                    Some((flag, _)) => Err(LocationError::OnlyInDirectory(flag)),
                    None => Ok(production),
                }
            }
        }
    }

    /// Returns the settings of the mall.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let (operator_second_factor, counter_codes) = (self.operator_second_factor, self.counter_codes);
        Settings { operator_second_factor, counter_codes, ..self.limits.settings() }
    }
}

/// Parses the name of a time zone.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| format!("unknown time zone {name}; a known one is Asia/Shanghai"))
}

/// Parses the name of a host, without scheme, port and path.
pub(crate) fn host(text: &str) -> Result<String, String> {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if text.trim_end_matches('.').split('.').all(is_part) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("expected a name such as mall.example.com".to_owned())
    }
}

fn prefix(text: &str) -> Result<String, String> {
    let prefix = text.trim_end_matches('/');
    let is_path = prefix.starts_with('/') && !prefix.contains("//") && !prefix.contains(['?', '#', '%', ' ']);
    if prefix.is_empty() || is_path {
        Ok(prefix.to_owned())
    } else {
        Err("expected a path such as /api, or nothing".to_owned())
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
    fn a_host_is_a_bare_name() {
        assert_eq!(host("Mall.Example.com").as_deref(), Ok("mall.example.com"));
        assert!(host("localhost").is_ok() && host("my_host-1").is_ok());
        for bad in ["", "https://mall.example.com", "mall.example.com:80", "a/b", "a..b", "*.example.com"] {
            assert!(host(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_zone_that_is_none_is_refused_in_words() {
        assert!(zone("Asia/Shanghai").is_ok());
        assert!(zone("Asia/Atlantis").unwrap_err().contains("Atlantis"));
    }
}
