//! Facts about a device and its queue.

use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_ECHO};
use netlink_sys::protocols::NETLINK_ROUTE;

use super::route::{TBF_PARAMETERS, TBF_RATE};
use super::socket::{Netlink, Raw, attributes, find};

/// A device of one namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Its number in its namespace.
    pub index: u32,
    /// Its name, as in `eth0`.
    pub name: String,
    /// The largest packet, in bytes.
    pub mtu: u32,
    /// Segments of a connection that it accepts as one packet.
    pub train: u32,
    /// Its kind as in `ip -details link`: `veth`, `bond`; empty for hardware.
    pub kind: String,
}

/// The root queue of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RootQdisc {
    /// Its kind as in `tc`: `tbf`, `fq_codel`.
    pub kind: String,
    /// Its handle, by which programs identify it.
    pub handle: u32,
    /// Its limit, if the kernel reports one.
    pub limit: Option<QdiscLimit>,
    /// Its rate in bits per second, if it has one.
    pub rate_bps: Option<u64>,
    /// Bytes that a token bucket sends at once; only if the bucket has no settings but this, its rate and its limit.
    pub burst_bytes: Option<u64>,
    /// Bytes that wait.
    pub backlog: u32,
    /// Packets that it has dropped.
    pub drops: u32,
}

/// How much may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QdiscLimit {
    /// In bytes.
    Bytes(u32),
    /// In packets.
    Packets(u32),
}

/// Queries about the devices of one namespace.
#[derive(Debug)]
pub struct Devices(Netlink);

impl Devices {
    /// For the namespace of this thread.
    pub fn open() -> io::Result<Self> {
        Netlink::open(NETLINK_ROUTE).map(Self)
    }

    /// The device of this name, if there is one.
    pub fn named(&mut self, name: &str) -> io::Result<Option<Device>> {
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        // struct ifinfomsg, all zero: selects by name.
        let mut payload = vec![0; LINK_MESSAGE];
        payload.extend(attributes(&[DefaultNla::new(LINK_NAME, text)]));
        let answers = match self.0.exchange(raw(GET_LINK, payload), 0) {
            // No device has a name that is too long.
            Err(error) if [NO_DEVICE, RANGE].map(Some).contains(&error.raw_os_error()) => {
                return Ok(None);
            }
            answers => answers?,
        };
        let answer = answers.first();
        Ok(answer.and_then(|answer| read_device(&answer.payload)))
    }

    /// The queue of a device; `None` if it sends packets at once.
    pub fn queue(&mut self, device: u32) -> io::Result<Option<RootQdisc>> {
        // struct tcmsg: family, padding, device, handle, parent, information.
        let mut payload = vec![0; 4];
        payload.extend(device.to_ne_bytes());
        payload.extend([0; 4]);
        payload.extend(ROOT.to_ne_bytes());
        payload.extend([0; 4]);
        // Without the echo flag only listeners get the answer.
        let request = raw(GET_QUEUE, payload);
        let answers = self.0.ask("the queue of a device", request, NLM_F_ECHO)?;
        let queue = answers.first();
        let queue = queue.and_then(|answer| read_queue(&answer.payload));
        Ok(queue.filter(|queue| queue.kind != "noqueue"))
    }
}

fn raw(kind: u16, payload: Vec<u8>) -> Raw {
    Raw { kind, payload }
}

fn read_device(message: &[u8]) -> Option<Device> {
    let all = message.get(LINK_MESSAGE..)?;
    let kind = find(all, LINK_INFO).and_then(|info| find(info, INFO_KIND));
    Some(Device {
        index: word(message, 4)?,
        name: text(find(all, LINK_NAME)?),
        mtu: word(find(all, LINK_MTU)?, 0)?,
        train: find(all, LINK_TRAIN)
            .and_then(|train| word(train, 0))
            .unwrap_or(1),
        kind: kind.map_or_else(String::new, text),
    })
}

fn read_queue(message: &[u8]) -> Option<RootQdisc> {
    let all = message.get(QUEUE_MESSAGE..)?;
    let kind = text(find(all, QUEUE_KIND)?);
    let options = find(all, QUEUE_OPTIONS).unwrap_or_default();
    let limit = match kind.as_str() {
        "tbf" => find(options, TBF_PARAMETERS).and_then(|all| word(all, TBF_LIMIT)),
        "pfifo" | "bfifo" => word(options, 0),
        _ => None,
    };
    let limit = limit.map(|limit| match kind.as_str() {
        "pfifo" => QdiscLimit::Packets(limit),
        _ => QdiscLimit::Bytes(limit),
    });
    let rate = match kind.as_str() {
        "tbf" => tbf_rate(options),
        _ => None,
    };
    let burst_bytes = match kind.as_str() {
        "tbf" => tbf_burst(options),
        _ => None,
    };
    let counts = find(all, QUEUE_STATISTICS).and_then(|all| find(all, STATISTICS_QUEUE));
    let counts = counts.unwrap_or_default();
    Some(RootQdisc {
        kind,
        handle: word(message, 8)?,
        limit,
        rate_bps: rate.map(|bytes| bytes.saturating_mul(8)),
        burst_bytes,
        backlog: word(counts, 4).unwrap_or(0),
        drops: word(counts, 8).unwrap_or(0),
    })
}

/// Bytes per second, from its own attribute if 32 bits are too few.
fn tbf_rate(options: &[u8]) -> Option<u64> {
    let long = find(options, TBF_RATE).and_then(|rate| rate.first_chunk().copied());
    let short = || find(options, TBF_PARAMETERS).and_then(|all| word(all, TBF_SHORT_RATE));
    long.map(u64::from_ne_bytes)
        .or_else(|| short().map(u64::from))
}

/// The burst, which the kernel reports as a time. `None` for a bucket with a peak rate or with an overhead per packet,
/// because changing it would require these, too.
fn tbf_burst(options: &[u8]) -> Option<u64> {
    let all = find(options, TBF_PARAMETERS)?;
    let is_plain = word(all, TBF_PEAK_RATE)? == 0 && all.get(TBF_OVERHEAD..)?.starts_with(&[0, 0]);
    let nanoseconds = u128::from(word(all, TBF_BURST)?) * NS_PER_TICK;
    let bytes = (nanoseconds * u128::from(tbf_rate(options)?)).div_ceil(1_000_000_000);
    u64::try_from(bytes).ok().filter(|_| is_plain)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk().copied();
    word.map(u32::from_ne_bytes)
}

/// A text that ends with a zero.
fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

// `asm-generic/errno-base.h`
const NO_DEVICE: i32 = 19;
const RANGE: i32 = 34;

// `linux/rtnetlink.h`, `linux/if_link.h`
const GET_LINK: u16 = 18;
const LINK_MESSAGE: usize = 16;
const LINK_NAME: u16 = 3;
const LINK_MTU: u16 = 4;
const LINK_INFO: u16 = 18;
const LINK_TRAIN: u16 = 40;
const INFO_KIND: u16 = 1;

const GET_QUEUE: u16 = 38;
const QUEUE_MESSAGE: usize = 20;
const ROOT: u32 = u32::MAX;
const QUEUE_KIND: u16 = 1;
const QUEUE_OPTIONS: u16 = 2;
const QUEUE_STATISTICS: u16 = 7;
const STATISTICS_QUEUE: u16 = 3;

/// Offset of the limit in struct `tc_tbf_qopt` (`linux/pkt_sched.h`).
const TBF_LIMIT: usize = 24;
/// Offset of the rate in its `tc_ratespec`.
const TBF_SHORT_RATE: usize = 8;
/// Offset of the overhead that is added to the length of each packet.
const TBF_OVERHEAD: usize = 2;
/// Offset of the peak rate in the second `tc_ratespec`.
const TBF_PEAK_RATE: usize = 20;
/// Offset of the time of a burst, in ticks.
const TBF_BURST: usize = 28;
/// `net/pkt_sched.h`: a tick of queues is 64 ns.
const NS_PER_TICK: u128 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_is_found_and_no_other_name_is() {
        let mut devices = Devices::open().unwrap();
        let device = devices.named("lo").unwrap();
        let device = device.expect("every namespace has it");
        assert_eq!((device.index, device.name.as_str()), (1, "lo"));
        for other in ["no-such-device", "a-name-that-is-too-long"] {
            assert!(devices.named(other).unwrap().is_none());
        }
    }

    #[test]
    fn limits_are_bytes_or_packets() {
        let message = |kind: &str, options: Vec<u8>| {
            let mut message = vec![0; QUEUE_MESSAGE];
            let kind = [kind.as_bytes(), &[0]].concat();
            message.extend(attributes(&[
                DefaultNla::new(QUEUE_KIND, kind),
                DefaultNla::new(QUEUE_OPTIONS, options),
            ]));
            read_queue(&message).expect("a queue").limit
        };
        let limit = 64_000_u32.to_ne_bytes().to_vec();
        assert_eq!(
            message("bfifo", limit.clone()),
            Some(QdiscLimit::Bytes(64_000))
        );
        assert_eq!(
            message("pfifo", limit.clone()),
            Some(QdiscLimit::Packets(64_000))
        );
        let mut tbf = [vec![0; TBF_LIMIT], limit, vec![0; 8]].concat();
        tbf[TBF_SHORT_RATE..12].copy_from_slice(&1_000_u32.to_ne_bytes());
        let short = DefaultNla::new(TBF_PARAMETERS, tbf);
        let long = DefaultNla::new(TBF_RATE, 5_000_000_000_u64.to_ne_bytes().to_vec());
        let tbf = attributes(&[short]);
        assert_eq!(tbf_rate(&tbf), Some(1_000));
        assert_eq!(
            tbf_rate(&[tbf.clone(), attributes(&[long])].concat()),
            Some(5_000_000_000)
        );
        assert_eq!(message("tbf", tbf), Some(QdiscLimit::Bytes(64_000)));
        assert_eq!(message("fq_codel", Vec::new()), None);
    }

    #[test]
    fn a_burst_is_told_of_a_bucket_of_which_all_is_known() {
        // 5,000 bytes at 100 Mbit/s take 400 us.
        let bucket = |at: usize, byte: u8| {
            let mut tbf = vec![0; 36];
            tbf[TBF_SHORT_RATE..12].copy_from_slice(&12_500_000_u32.to_ne_bytes());
            tbf[TBF_BURST..32].copy_from_slice(&6_250_u32.to_ne_bytes());
            tbf[at] |= byte;
            tbf_burst(&attributes(&[DefaultNla::new(TBF_PARAMETERS, tbf)]))
        };
        assert_eq!(bucket(0, 0), Some(5_000));
        assert_eq!(bucket(TBF_OVERHEAD, 4), None);
        assert_eq!(bucket(TBF_PEAK_RATE, 1), None);
    }
}
