//! IP address ranges: which addresses are public, and which a crawler must not connect to (SSRF protection).
//!
//! A name of the public Web may resolve to any address: this machine, the network behind it, the metadata
//! service of a cloud. So the address of every connection is checked, after DNS and before a byte is sent.
//! The ranges are those of the IANA special-purpose registries (RFC 6890 and its updates); an address that
//! embeds an IPv4 address is checked by that.
//!
//! # Promises
//! - An address that is not globally reachable by the registries is not public.
//! - An IPv6 address that embeds an IPv4 address (mapped, compatible, NAT64, 6to4) is as public as that one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The range that an address belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AddressRange {
    /// The public Internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network: RFC 1918, unique local (RFC 4193), or the old site-local addresses.
    Private,
    /// The same link.
    LinkLocal,
    /// Shared with a provider's customers (RFC 6598).
    Shared,
    /// A cloud's metadata or control service.
    Metadata,
    /// Multicast.
    Multicast,
    /// No machine in particular: unspecified, broadcast, documentation, benchmarks, tunnels, or not yet
    /// allocated.
    Reserved,
}

impl AddressRange {
    /// The range of an address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "shared by a provider",
            Self::Metadata => "metadata service",
            Self::Multicast => "multicast",
            Self::Reserved => "reserved",
        })
    }
}

/// Which non-public addresses may be visited.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum PrivateAddresses {
    /// None: the default.
    #[default]
    Refused,
    /// All.
    Allowed,
    /// Those of these networks.
    Only(Vec<Network>),
}

impl PrivateAddresses {
    /// The range because of which a connection to this address is forbidden; none if it is allowed.
    pub fn forbid(&self, address: IpAddr) -> Option<AddressRange> {
        let range = AddressRange::of(address);
        let allowed = match self {
            _ if range == AddressRange::Public => true,
            Self::Refused => false,
            Self::Allowed => true,
            Self::Only(networks) => networks.iter().any(|network| network.contains(address)),
        };
        (!allowed).then_some(range)
    }
}

/// A network: an address and its prefix length, as in `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Whether the address belongs to this network.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                leading(network.to_bits().into(), 32, self.prefix)
                    == leading(address.to_bits().into(), 32, self.prefix)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                leading(network.to_bits(), 128, self.prefix) == leading(address.to_bits(), 128, self.prefix)
            }
            _ => false,
        }
    }
}

/// Why a text is not a network.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a network such as 10.0.0.0/8, fd00::/8 or 192.168.1.7")]
pub struct NotANetwork(String);

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let refused = || NotANetwork(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u8>().map_err(|_| refused())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(bits);
        if bits < prefix { Err(refused()) } else { Ok(Self { address, prefix }) }
    }
}

/// The leading `prefix` bits of an address that has `bits` bits.
fn leading(address: u128, bits: u32, prefix: u8) -> u128 {
    address.checked_shr(bits - u32::from(prefix)).unwrap_or(0)
}

fn of_v4(address: Ipv4Addr) -> AddressRange {
    // Cloud services at addresses that are not link-local: Azure's (a public address), Alibaba's, Oracle's.
    const METADATA: [[u8; 4]; 4] =
        [[169, 254, 169, 254], [168, 63, 129, 16], [100, 100, 100, 200], [192, 0, 0, 192]];
    let octets = address.octets();
    if METADATA.contains(&octets) {
        return AddressRange::Metadata;
    }
    match octets {
        [127, ..] => AddressRange::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressRange::Private,
        [169, 254, ..] => AddressRange::LinkLocal,
        [100, 64..=127, ..] => AddressRange::Shared,
        [224..=239, ..] => AddressRange::Multicast,
        // "This network", reserved for the future, and broadcast.
        [0 | 240..=255, ..] => AddressRange::Reserved,
        // Protocol assignments and documentation; relays of 6to4.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] => AddressRange::Reserved,
        // Benchmarks; documentation.
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => AddressRange::Reserved,
        _ => AddressRange::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> AddressRange {
    // Amazon's metadata service.
    const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    if address == METADATA {
        return AddressRange::Metadata;
    }
    let carried = |high: u16, low: u16| of_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressRange::Loopback,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => carried(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => carried(high, low),
        [0xfe80..=0xfebf, ..] => AddressRange::LinkLocal,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => AddressRange::Private,
        [0xff00..=0xffff, ..] => AddressRange::Multicast,
        // Protocol assignments including Teredo; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressRange::Reserved,
        // Only 2000::/3 has been allocated as global unicast.
        [0x2000..=0x3fff, ..] => AddressRange::Public,
        _ => AddressRange::Reserved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(range: AddressRange, addresses: &str) {
        for address in addresses.split(' ') {
            assert_eq!(AddressRange::of(address.parse().unwrap()), range, "{address}");
        }
    }

    #[test]
    fn the_ranges_are_those_of_the_registries() {
        check(
            AddressRange::Public,
            "1.1.1.1 8.8.8.8 172.32.0.1 172.15.255.255 100.63.0.1 100.128.0.1 192.0.1.1",
        );
        check(AddressRange::Public, "2606:4700::1111 2001:4860:4860::8888 2a00:1450::1 64:ff9b::8.8.8.8");
        check(AddressRange::Public, "::ffff:8.8.8.8 2002:808:808::1 223.255.255.255");
        check(
            AddressRange::Loopback,
            "127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 ::127.0.0.1 2002:7f00:1::",
        );
        check(
            AddressRange::Private,
            "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fdff::1 fec0::1",
        );
        check(AddressRange::Private, "::ffff:10.1.2.3 64:ff9b::192.168.0.1 2002:a00:1::1 ::ffff:0:10.0.0.1");
        check(AddressRange::LinkLocal, "169.254.0.1 fe80::1 febf::1");
        check(AddressRange::Shared, "100.64.0.1 100.127.255.255");
        check(AddressRange::Metadata, "169.254.169.254 ::ffff:169.254.169.254 fd00:ec2::254 168.63.129.16");
        check(AddressRange::Metadata, "100.100.100.200 192.0.0.192 64:ff9b::169.254.169.254");
        check(AddressRange::Multicast, "224.0.0.1 239.255.255.255 ff02::1");
        check(
            AddressRange::Reserved,
            "0.0.0.0 0.1.2.3 192.0.2.1 198.51.100.1 203.0.113.9 198.18.0.1 240.0.0.1",
        );
        check(
            AddressRange::Reserved,
            "255.255.255.255 :: 2001:db8::1 2001::1 64:ff9b:1::1 100::1 4000::1 3fff::1",
        );
    }

    #[test]
    fn only_what_is_named_is_opened() {
        let only = PrivateAddresses::Only(vec!["127.0.0.1".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        let forbidden = |address: &str| only.forbid(address.parse().unwrap());
        assert_eq!(forbidden("127.0.0.1"), None);
        assert_eq!(forbidden("127.0.0.2"), Some(AddressRange::Loopback));
        assert_eq!(forbidden("fd12::9"), None);
        assert_eq!(forbidden("9.9.9.9"), None);
        assert_eq!(PrivateAddresses::Allowed.forbid("10.0.0.1".parse().unwrap()), None);
        assert!(PrivateAddresses::Refused.forbid("10.0.0.1".parse().unwrap()).is_some());
    }

    #[test]
    fn a_network_of_every_address_and_of_one_can_be_said() {
        for text in ["0.0.0.0/0", "::/0", "10.0.0.0/32", "::1/128"] {
            let network: Network = text.parse().unwrap();
            assert!(network.contains(network.address), "{text}");
        }
        for text in ["10.0.0.0/33", "::/129", "ten", "10.0.0.0/", "/8", ""] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_mapped_address_is_judged_by_what_it_carries(bits: u32) {
            let carried = Ipv4Addr::from_bits(bits);
            let mapped = AddressRange::of(carried.to_ipv6_mapped().into());
            prop_assert_eq!(mapped, AddressRange::of(carried.into()));
        }

        #[test]
        fn networks_are_read_without_a_fall(text in ".{0,20}") {
            let _ = text.parse::<Network>();
        }
    }
}
