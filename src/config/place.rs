//! Location of a mall: a directory of this machine, or Redis and MySQL.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use mallbox_storage_embedded::EmbeddedOptions;
#[cfg(feature = "production")]
use mallbox_storage_production::ProductionOptions;

use crate::language::{Language, sentence};
use crate::place::Place;

/// The flags that locate a mall: either the directory, or both servers.
#[derive(Args, Clone, Debug)]
pub struct PlaceConfig {
    /// The directory of the mall.
    #[arg(long, env = "MALLBOX_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The servers of the mall.
    #[command(flatten)]
    pub servers: ServersConfig,
}

/// The flags that locate a mall on servers.
#[derive(Args, Clone, Default, Debug)]
pub struct ServersConfig {
    /// The Redis of a mall in Redis and MySQL: redis://, redis+sentinel:// or redis-cluster://. Better put a
    /// URL with a password into the environment variable than on the command line.
    #[arg(long, env = "MALLBOX_REDIS", hide_env_values = true, value_name = "URL")]
    pub redis: Option<ServerUrl>,
    /// The MySQL of the same mall: mysql://user:password@host/database.
    #[arg(long, env = "MALLBOX_MYSQL", hide_env_values = true, value_name = "URL")]
    pub mysql: Option<ServerUrl>,
    /// Prefix of the mall's keys in Redis, so that several malls can share a server; default: `mallbox`.
    #[arg(long, env = "MALLBOX_REDIS_PREFIX", value_name = "NAME")]
    pub redis_prefix: Option<String>,
}

impl ServersConfig {
    /// Returns whether a server is named.
    #[must_use]
    pub fn is_any_named(&self) -> bool {
        self.redis.is_some() || self.mysql.is_some()
    }
}

/// The URL of a server. The URL may contain a password, so `Debug` hides the value.
#[derive(Clone)]
pub struct ServerUrl(
    #[cfg_attr(not(feature = "production"), expect(dead_code, reason = "only servers have a URL"))] String,
);

#[cfg(feature = "production")]
impl ServerUrl {
    /// Returns the URL, with its password.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ServerUrl {
    fn from(url: &str) -> Self {
        Self(url.to_owned())
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerUrl(..)")
    }
}

/// The flags do not name exactly one location of the mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocationError {
    /// No location at all.
    Missing,
    /// Servers, by a binary built without the back end for servers.
    NotBuilt,
    /// Two locations: a directory and servers.
    Both,
    /// Only one of the two servers.
    Half {
        /// The flag that is present.
        given: &'static str,
        /// The flag required in addition.
        missing: &'static str,
    },
    /// A flag for malls in Redis and MySQL, used with a directory.
    OnlyOnServers(&'static str),
    /// A flag for malls in a directory, used with Redis and MySQL.
    OnlyInDirectory(&'static str),
}

impl LocationError {
    /// Returns the message: the mistake, and the flags to use instead.
    #[must_use]
    pub fn words(self, l: Language) -> String {
        match self {
            Self::Missing => sentence!(
                l,
                "请指明商城的位置：--data 目录，或同时给出--redis URL和--mysql URL",
                "no mall given; pass --data DIR, or --redis URL and --mysql URL"
            ),
            Self::NotBuilt => sentence!(
                l,
                "本程序未编译Redis和MySQL后端；请使用--data，或以cargo的production特性重新编译",
                "this binary was built without the back end for Redis and MySQL: use --data, or build it with the feature \
                 production"
            ),
            Self::Both => sentence!(
                l,
                "--data与--redis、--mysql不能同时使用（环境变量MALLBOX_DATA、MALLBOX_REDIS、MALLBOX_MYSQL和配置文件也算在内）",
                "--data cannot be combined with --redis and --mysql (MALLBOX_DATA, MALLBOX_REDIS, \
                 MALLBOX_MYSQL and the configuration file count as well)"
            ),
            Self::Half { given, missing } => sentence!(
                l,
                "{given}还需要{missing} URL：商城同时使用Redis和MySQL",
                "{given} also needs {missing} URL: a mall uses both Redis and MySQL"
            ),
            Self::OnlyOnServers(flag) => sentence!(
                l,
                "{flag}仅用于Redis和MySQL里的商城；商城在目录里时请去掉",
                "{flag} is for malls in Redis and MySQL; remove it for a mall in a directory"
            ),
            Self::OnlyInDirectory(flag) => sentence!(
                l,
                "{flag}仅用于目录里的商城；使用--redis和--mysql时请去掉",
                "{flag} is for malls in a directory; remove it with --redis and --mysql"
            ),
        }
    }
}

impl PlaceConfig {
    /// Returns the one location that the flags name.
    ///
    /// # Errors
    /// [`LocationError`]: the flags name no location, or two.
    pub fn place(&self) -> Result<Place, LocationError> {
        let half = |given, missing| Err(LocationError::Half { given, missing });
        let ServersConfig { redis, mysql, redis_prefix } = &self.servers;
        match (&self.data, redis, mysql) {
            (None, None, None) => Err(LocationError::Missing),
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(LocationError::Both),
            (None, Some(_), None) => half("--redis", "--mysql"),
            (None, None, Some(_)) => half("--mysql", "--redis"),
            (Some(_), None, None) if redis_prefix.is_some() => {
                Err(LocationError::OnlyOnServers("--redis-prefix"))
            }
            (Some(dir), None, None) => Ok(Place::Embedded(EmbeddedOptions::new(dir))),
            #[cfg(not(feature = "production"))]
            (None, Some(_), Some(_)) => Err(LocationError::NotBuilt),
            #[cfg(feature = "production")]
            (None, Some(redis), Some(mysql)) => {
                let mut options = ProductionOptions::new(&redis.0, &mysql.0);
                if let Some(prefix) = redis_prefix {
                    options.redis.prefix.clone_from(prefix);
                }
                Ok(Place::Production(options))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(
        data: Option<&str>,
        redis: Option<&str>,
        mysql: Option<&str>,
        prefix: Option<&str>,
    ) -> PlaceConfig {
        PlaceConfig {
            data: data.map(PathBuf::from),
            servers: ServersConfig {
                redis: redis.map(ServerUrl::from),
                mysql: mysql.map(ServerUrl::from),
                redis_prefix: prefix.map(str::to_owned),
            },
        }
    }

    #[test]
    fn a_mall_is_in_one_place() {
        let (dir, redis, mysql) = (Some("/srv/mall"), Some("redis://a"), Some("mysql://b/mall"));
        for (flags, words) in [
            (flags(None, None, None, Some("a")), "no mall given"),
            (flags(None, redis, None, None), "--redis also needs --mysql"),
            (flags(None, None, mysql, None), "--mysql also needs --redis"),
            (flags(dir, redis, mysql, None), "cannot be combined"),
            (flags(dir, redis, None, None), "cannot be combined"),
            (flags(dir, None, mysql, None), "cannot be combined"),
            (flags(dir, None, None, Some("a")), "--redis-prefix is for malls in Redis and MySQL"),
        ] {
            let mistake = flags.place().unwrap_err().words(Language::En);
            assert!(mistake.contains(words), "{mistake}");
        }
        assert!(matches!(flags(dir, None, None, None).place(), Ok(Place::Embedded(_))));
        for (prefix, want) in [(None, "mallbox"), (Some("other"), "other")] {
            let Ok(Place::Production(options)) = flags(None, redis, mysql, prefix).place() else {
                panic!("both servers are named");
            };
            assert_eq!((options.redis.url.as_str(), options.redis.prefix.as_str()), ("redis://a", want));
            assert_eq!(options.mysql, "mysql://b/mall");
        }
    }

    #[test]
    fn a_url_is_not_shown() {
        let flags = flags(None, Some("redis://:secret@a"), Some("mysql://root:secret@b/mall"), None);
        assert!(!format!("{flags:?} {:?}", flags.place()).contains("secret"));
    }
}
