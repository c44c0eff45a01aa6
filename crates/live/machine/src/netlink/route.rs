//! Links, addresses, routes, neighbours and queues.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_ECHO, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteNextHop,
    RouteNextHopFlags, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption, TcStats2};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;

use super::socket::Netlink;
use crate::route::RouteOptions;

/// Does the work of `ip` and `tc` in one namespace.
pub struct Routing(Netlink);

/// One end of a virtual link.
#[derive(Clone, Debug)]
pub struct LinkEnd {
    /// The name of the interface.
    pub name: String,
    /// The number of the interface, chosen by the caller.
    pub index: u32,
    /// The address of the interface.
    pub mac: [u8; 6],
}

/// A route to some hosts, over one way or over several among which connections are spread.
#[derive(Clone, Debug)]
pub struct Route {
    /// The first address of these hosts.
    pub to: Ipv4Addr,
    /// The number of common leading bits of their addresses.
    pub prefix: u8,
    /// Links and the next nodes on them.
    pub ways: Vec<(u32, Ipv4Addr)>,
    /// TCP settings of a host on this route.
    pub options: Option<RouteOptions>,
}

/// A token bucket on a link.
#[derive(Clone, Copy, Debug)]
pub struct Tbf {
    /// Rate in bit/s.
    pub rate_bps: u64,
    /// Bytes that it may send at once after an idle time.
    pub burst: u32,
    /// Room for packets that wait, in bytes.
    pub limit: u32,
}

/// The counters of a queue.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Bytes sent.
    pub bytes: u64,
    /// Bytes that wait.
    pub backlog: u32,
    /// Packets dropped.
    pub drops: u32,
}

impl Routing {
    /// A socket for the namespace of this thread.
    pub fn open() -> io::Result<Self> {
        Netlink::open(NETLINK_ROUTE).map(Self)
    }

    /// Makes a virtual link from here into the namespace `there`.
    pub fn add_link(
        &mut self,
        end: &LinkEnd,
        peer: &LinkEnd,
        there: BorrowedFd<'_>,
        mtu: u32,
    ) -> io::Result<()> {
        let mut far = link(peer, mtu);
        far.attributes
            .push(LinkAttribute::NetNsFd(there.as_raw_fd()));
        let mut near = link(end, mtu);
        near.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
        ]));
        self.tell(
            "a link",
            RouteNetlinkMessage::NewLink(near),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Sets a link up. It sends every segment separately and merges no arriving ones.
    pub fn set_up(&mut self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes = vec![
            LinkAttribute::GsoMaxSegs(1),
            LinkAttribute::GroMaxSize(1),
            LinkAttribute::GroIpv4MaxSize(1),
        ];
        self.tell("a link up", RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives an interface an address.
    pub fn add_address(&mut self, index: u32, address: Ipv4Addr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = index;
        let address = IpAddr::V4(address);
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
        ];
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.tell(
            "an address",
            RouteNetlinkMessage::NewAddress(message),
            flags,
        )
    }

    /// Adds a permanent neighbour, so that no host sends ARP requests for its address.
    pub fn add_neighbour(&mut self, index: u32, address: Ipv4Addr, mac: [u8; 6]) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.ifindex = index;
        message.header.state = NeighbourState::Permanent;
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.tell(
            "a neighbour",
            RouteNetlinkMessage::NewNeighbour(message),
            flags,
        )
    }

    /// Adds a route.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = route.prefix;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        let to = RouteAddress::Inet(route.to);
        message.attributes = vec![RouteAttribute::Destination(to)];
        match route.ways.as_slice() {
            [(index, via)] => {
                message.header.flags = RouteFlags::Onlink;
                let via = RouteAddress::Inet(*via);
                message.attributes.push(RouteAttribute::Gateway(via));
                message.attributes.push(RouteAttribute::Oif(*index));
            }
            ways => {
                let hops = ways.iter().map(|(index, via)| {
                    let mut hop = RouteNextHop::default();
                    hop.flags = RouteNextHopFlags::Onlink;
                    hop.interface_index = *index;
                    let via = RouteAddress::Inet(*via);
                    hop.attributes = vec![RouteAttribute::Gateway(via)];
                    hop
                });
                let hops = RouteAttribute::MultiPath(hops.collect());
                message.attributes.push(hops);
            }
        }
        let metrics = route.options.map(|options| metrics(&options));
        message
            .attributes
            .extend(metrics.map(RouteAttribute::Metrics));
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.tell("a route", RouteNetlinkMessage::NewRoute(message), flags)
    }

    /// Adds a token bucket to a link, or changes the numbers of the existing one.
    pub fn set_queue(&mut self, index: u32, tbf: Tbf) -> io::Result<()> {
        let mut message = queue(index);
        message.header.handle = TcHandle { major: 1, minor: 0 };
        let options = tbf_options(tbf).into_iter().map(TcOption::Other);
        message.attributes = vec![
            TcAttribute::Kind("tbf".to_owned()),
            TcAttribute::Options(options.collect()),
        ];
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.tell(
            "a token bucket",
            RouteNetlinkMessage::NewQueueDiscipline(message),
            flags,
        )
    }

    /// Lets the token bucket of a link serve packets by priority: replaces its inner queue by three queues with room
    /// for this many packets each. Do not change the bucket's numbers before [`Self::remove_bands`]: old kernels take
    /// bands for a queue whose limit can be set (`fifo_set_limit` in `net/sched/sch_fifo.c`).
    pub fn set_bands(&mut self, index: u32, packets: u32) -> io::Result<()> {
        // A queue of a band gets its limit when it is created.
        let length = RouteNetlinkMessage::SetLink(length(index, packets));
        self.tell("the length of a queue", length, 0)?;
        let message = RouteNetlinkMessage::NewQueueDiscipline(bands(index));
        self.tell("bands", message, NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Undoes [`Self::set_bands`]. The bucket then accepts no packet until [`Self::set_queue`].
    pub fn remove_bands(&mut self, index: u32) -> io::Result<()> {
        let message = RouteNetlinkMessage::DelQueueDiscipline(bands(index));
        self.tell("bands", message, 0)
    }

    /// The counters of the queue in front of a link.
    pub fn counters(&mut self, index: u32) -> io::Result<Counters> {
        // Without the echo flag only listeners get the answer.
        let request = RouteNetlinkMessage::GetQueueDiscipline(queue(index));
        let answers = self.0.ask("counters of a queue", request, NLM_F_ECHO)?;
        let mut counters = Counters::default();
        for answer in answers {
            let RouteNetlinkMessage::NewQueueDiscipline(message) = answer else {
                continue;
            };
            for attribute in message.attributes {
                let TcAttribute::Stats2(all) = attribute else {
                    continue;
                };
                for stats in all {
                    match stats {
                        TcStats2::Basic(basic) => counters.bytes = basic.bytes,
                        TcStats2::Queue(queue) => {
                            counters.backlog = queue.backlog;
                            counters.drops = queue.drops;
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(counters)
    }

    fn tell(&mut self, what: &str, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.0.ask(what, message, flags).map(drop)
    }
}

fn link(end: &LinkEnd, mtu: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = end.index;
    message.attributes = vec![
        LinkAttribute::IfName(end.name.clone()),
        LinkAttribute::Address(end.mac.to_vec()),
        LinkAttribute::Mtu(mtu),
        // Several queues reorder.
        LinkAttribute::NumTxQueues(1),
        LinkAttribute::NumRxQueues(1),
    ];
    message
}

fn queue(index: u32) -> TcMessage {
    let mut message = TcMessage::default();
    message.header.index = i32::try_from(index).expect("interfaces have small numbers");
    message.header.parent = TcHandle::ROOT;
    message
}

/// The bands below the token bucket.
fn bands(index: u32) -> TcMessage {
    let mut message = queue(index);
    message.header.parent = TcHandle { major: 1, minor: 1 };
    message.header.handle = TcHandle { major: 2, minor: 0 };
    message.attributes = vec![TcAttribute::Kind("pfifo_fast".to_owned())];
    message
}

/// Sets the number of packets that a later queue can hold.
fn length(index: u32, packets: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.attributes = vec![LinkAttribute::TxQueueLen(packets)];
    message
}

fn metrics(options: &RouteOptions) -> Vec<RouteMetric> {
    vec![
        // TCP uses the least timeout of a route only if it is locked.
        RouteMetric::Lock(1 << RTO_MIN),
        RouteMetric::Advmss(options.advertised_mss),
        RouteMetric::InitCwnd(options.initial_window),
        RouteMetric::RtoMin(options.min_rto_ms),
        RouteMetric::Window(options.window),
        RouteMetric::QuickAck(options.quick_ack.into()),
    ]
}

/// Struct `tc_tbf_qopt` and further attributes (`linux/pkt_sched.h`). The table of rates that older programs send is
/// not needed if the link layer is given.
fn tbf_options(tbf: Tbf) -> Vec<DefaultNla> {
    let bytes_per_s = tbf.rate_bps / 8;
    let rate = u32::try_from(bytes_per_s).unwrap_or(u32::MAX);
    let mut parameters = vec![0, ETHERNET, 0, 0, 0, 0, 0, 0];
    parameters.extend(rate.to_ne_bytes());
    parameters.extend([0; 12]);
    parameters.extend(tbf.limit.to_ne_bytes());
    // The kernel computes the time of the bucket from its bytes.
    parameters.extend([0; 8]);
    vec![
        DefaultNla::new(TBF_PARAMETERS, parameters),
        DefaultNla::new(TBF_RATE, bytes_per_s.to_ne_bytes().to_vec()),
        DefaultNla::new(TBF_BURST, tbf.burst.to_ne_bytes().to_vec()),
    ]
}

/// `RTAX_RTO_MIN` (`linux/rtnetlink.h`).
const RTO_MIN: u32 = 13;

const ETHERNET: u8 = 1;
pub(crate) const TBF_PARAMETERS: u16 = 1;
pub(crate) const TBF_RATE: u16 = 4;
const TBF_BURST: u16 = 6;

#[cfg(test)]
mod tests {
    use netlink_packet_core::NetlinkSerializable;

    use super::super::socket::{attributes, find};
    use super::*;

    #[test]
    fn a_token_bucket_has_the_layout_of_the_kernel() {
        let tbf = Tbf {
            rate_bps: 200_000_000,
            burst: 1512,
            limit: 120_960,
        };
        let bytes = attributes(&tbf_options(tbf));
        let parameters = find(&bytes, TBF_PARAMETERS).unwrap();
        assert_eq!(parameters.len(), 36);
        assert_eq!(parameters[8..12], 25_000_000_u32.to_ne_bytes());
        assert_eq!(parameters[24..28], 120_960_u32.to_ne_bytes());
    }

    #[test]
    fn bands_are_below_the_only_class_of_the_bucket() {
        let bytes = sent(&RouteNetlinkMessage::NewQueueDiscipline(bands(17)));
        // `struct tcmsg` (`linux/rtnetlink.h`): family and padding, interface, handle 2:0, parent 1:1.
        assert_eq!(bytes[4..8], 17_i32.to_ne_bytes());
        assert_eq!(bytes[8..12], 0x0002_0000_u32.to_ne_bytes());
        assert_eq!(bytes[12..16], 0x0001_0001_u32.to_ne_bytes());
        assert_eq!(find(&bytes[20..], TCA_KIND), Some(&b"pfifo_fast\0"[..]));
    }

    #[test]
    fn the_length_of_a_queue_is_in_packets() {
        let bytes = sent(&RouteNetlinkMessage::SetLink(length(17, 80)));
        // After `struct ifinfomsg`, which names the interface and changes no flag.
        assert_eq!(bytes[4..8], 17_i32.to_ne_bytes());
        assert_eq!(bytes[12..16], [0; 4]);
        assert_eq!(
            find(&bytes[16..], IFLA_TXQLEN),
            Some(&80_u32.to_ne_bytes()[..])
        );
    }

    fn sent(message: &RouteNetlinkMessage) -> Vec<u8> {
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }

    const TCA_KIND: u16 = 1;
    const IFLA_TXQLEN: u16 = 13;
}
