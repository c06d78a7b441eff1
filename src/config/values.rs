//! Values of flags that several commands share.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::ValueEnum;
use ipnet::IpNet;

/// Seconds of a minute.
pub(crate) const MINUTE_S: u64 = 60;
/// Seconds of a day.
pub(crate) const DAY_S: u64 = 24 * 60 * MINUTE_S;

/// A text that may contain a secret, so `Debug` hides it.
#[derive(Clone)]
pub struct HiddenText(pub String);

impl From<&str> for HiddenText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HiddenText(..)")
    }
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Switch {
    /// The limits apply.
    On,
    /// No limit applies.
    Off,
}

/// Parses a number of at least 1: with 0 connections, for example, no client could connect.
pub(crate) fn at_least_one() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

/// Parses a span in minutes, hours or days, such as `15m`, `24h` or `3d`, if it is within `bounds` in
/// seconds.
pub(crate) fn span(text: &str, bounds: RangeInclusive<u64>) -> Option<Duration> {
    let (unit_at, unit) = text.char_indices().next_back()?;
    let unit_s: u64 = match unit {
        'm' => MINUTE_S,
        'h' => 60 * MINUTE_S,
        'd' => DAY_S,
        _ => return None,
    };
    let seconds = text[..unit_at].parse::<u64>().ok()?.checked_mul(unit_s)?;
    bounds.contains(&seconds).then(|| Duration::from_secs(seconds))
}

/// Parses an address or a network in CIDR notation. A network of all addresses is refused: every client could
/// then choose its own address, or have the limits of a shared network.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let single = || text.parse::<IpAddr>().ok().map(IpNet::from);
    let network = text.parse::<IpNet>().ok().or_else(single);
    match network {
        Some(network) if network.prefix_len() == 0 => Err("would trust every client".to_owned()),
        Some(network) => Ok(network.trunc()),
        None => Err("expected an address or a network such as 10.0.0.0/8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_address_or_more_but_not_everybody() {
        let named = |text| network(text).map(|network| network.to_string());
        assert_eq!(named("10.0.0.7/8").as_deref(), Ok("10.0.0.0/8"));
        assert_eq!(named("192.0.2.1").as_deref(), Ok("192.0.2.1/32"));
        assert_eq!(named("::1").as_deref(), Ok("::1/128"));
        for bad in ["0.0.0.0/0", "::/0", "10.0.0.0/33", "nginx", ""] {
            assert!(named(bad).is_err(), "{bad}");
        }
    }
}
