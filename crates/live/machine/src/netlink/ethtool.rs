//! Offloads of links, through generic netlink (`linux/ethtool_netlink.h`).

use std::io;

use netlink_packet_core::DefaultNla;
use netlink_sys::protocols::NETLINK_GENERIC;

use super::socket::{Netlink, Raw, attributes, find};

/// The family "ethtool" in one namespace.
pub struct Ethtool {
    netlink: Netlink,
    family: u16,
}

impl Ethtool {
    /// Opens a socket in the namespace of this thread.
    pub fn open() -> io::Result<Self> {
        let mut netlink = Netlink::open(NETLINK_GENERIC)?;
        let name = DefaultNla::new(FAMILY_NAME, b"ethtool\0".to_vec());
        let answers = netlink.ask("ethtool", generic(CONTROL, GET_FAMILY, &[name]), 0)?;
        let family = answers.first().and_then(|answer| {
            let value = find(answer.payload.get(GENERIC_HEADER..)?, FAMILY_ID)?;
            Some(u16::from_ne_bytes(value.try_into().ok()?))
        });
        let family = family.ok_or_else(|| io::Error::other("the kernel has no ethtool family"))?;
        Ok(Self { netlink, family })
    }

    /// Switches off segmentation in the kernel and at the link.
    ///
    /// Receive offload stays on, because a virtual link without it has one queue per core and reorders packets. The
    /// link's `gro_max_size` prevents merging.
    pub fn set_offloads(&mut self, link: u32) -> io::Result<()> {
        let bits = FEATURES.iter().map(|(name, on)| {
            let mut name = name.as_bytes().to_vec();
            name.push(0);
            let mut bit = vec![DefaultNla::new(BIT_NAME, name)];
            bit.extend(on.then(|| DefaultNla::new(BIT_VALUE, Vec::new())));
            nested(BIT, &bit)
        });
        let bits: Vec<_> = bits.collect();
        let index = DefaultNla::new(DEVICE_INDEX, link.to_ne_bytes().to_vec());
        let request = [
            nested(HEADER, &[index]),
            nested(WANTED, &[nested(BITS, &bits)]),
        ];
        let message = generic(self.family, SET_FEATURES, &request);
        self.netlink.ask("offloads", message, 0).map(drop)
    }
}

fn generic(family: u16, command: u8, all: &[DefaultNla]) -> Raw {
    let mut payload = vec![command, 1, 0, 0];
    payload.extend(attributes(all));
    Raw {
        kind: family,
        payload,
    }
}

fn nested(kind: u16, all: &[DefaultNla]) -> DefaultNla {
    DefaultNla::new(kind | NESTED, attributes(all))
}

const FEATURES: [(&str, bool); 5] = [
    ("tx-generic-segmentation", false),
    ("tx-tcp-segmentation", false),
    ("tx-tcp-ecn-segmentation", false),
    ("tx-tcp-mangleid-segmentation", false),
    ("rx-gro", true),
];

const GENERIC_HEADER: usize = 4;
const NESTED: u16 = 0x8000;

// `linux/genetlink.h`
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

// `linux/ethtool_netlink.h`
const SET_FEATURES: u8 = 12;
const HEADER: u16 = 1;
const DEVICE_INDEX: u16 = 1;
const WANTED: u16 = 3;
const BITS: u16 = 3;
const BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;
