//! Networks whose addresses many people share, such as those of a school or an office.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use mallbox_storage::Limit;

/// Factor of the limits per address within a shared network.
const SHARED_FACTOR: u32 = 10;

/// Networks named by the operator, in which an address has ten times the usual limits per address. Empty by
/// default. Limits per phone and per user stay the same.
#[derive(Clone, Debug, Default)]
pub struct SharedNetworks(Arc<[IpNet]>);

impl SharedNetworks {
    /// Creates a list of networks.
    #[must_use]
    pub fn new(networks: &[IpNet]) -> Self {
        Self(networks.into())
    }

    /// Returns the limit of one address, of the usual `limit` per address.
    #[must_use]
    pub fn limit_of(&self, limit: Limit, address: Option<IpAddr>) -> Limit {
        Limit { count: limit.count.saturating_mul(self.factor_of(address)), ..limit }
    }

    /// Returns the number of usual clients that an address counts for.
    #[must_use]
    pub fn factor_of(&self, address: Option<IpAddr>) -> u32 {
        if address.is_some_and(|address| self.contains(address)) { SHARED_FACTOR } else { 1 }
    }

    fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_address_of_a_shared_network_has_ten_times_the_limit() {
        let usual = Limit { count: 30, per: Duration::from_secs(3_600) };
        let networks = ["203.0.113.0/24", "2001:db8:1::/48"].map(|network| network.parse().unwrap());
        let shared = SharedNetworks::new(&networks);
        for (address, count) in [
            ("203.0.113.7", 300),
            ("::ffff:203.0.113.7", 300),
            ("2001:db8:1:2::3", 300),
            ("203.0.114.7", 30),
            ("2001:db8:2::3", 30),
        ] {
            let limit = shared.limit_of(usual, Some(address.parse().unwrap()));
            assert_eq!((limit.count, limit.per), (count, usual.per), "{address}");
            assert_eq!(SharedNetworks::default().limit_of(usual, Some(address.parse().unwrap())), usual);
        }
        assert_eq!(shared.limit_of(usual, None), usual);
        let most = shared.limit_of(Limit { count: u32::MAX, ..usual }, Some([203, 0, 113, 7].into()));
        assert_eq!(most.count, u32::MAX);
    }
}
