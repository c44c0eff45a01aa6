//! Compares leaving segments with the expected ones.

use std::collections::{BTreeMap, VecDeque};

use base::{Packet, Span, TcpFlags, Time};

use crate::segment::{OptionList, ScriptSegment};

/// Segments that have left but were not expected yet, oldest first, with their times.
pub(crate) type Sent = VecDeque<(Time, Packet)>;

/// Takes the oldest segment. With segmentation offload, a capture of the kernel shows several segments as one, so a
/// script may expect their data as one. Consecutive segments that left at the same instant are joined up to the
/// expected length.
pub(crate) fn take(sent: &mut Sent, expected: &ScriptSegment) -> Option<(Time, Packet, u32)> {
    let (time, mut packet) = sent.pop_front()?;
    let mut payload = u32::from(packet.payload);
    while payload < expected.payload
        && let Some((next_time, next)) = sent.front()
        && *next_time == time
        && next.seq == packet.seq.at(payload.into())
        && next.payload > 0
    {
        payload += u32::from(next.payload);
        packet.flags = packet.flags.with(next.flags);
        sent.pop_front();
    }
    Some((time, packet, payload))
}

/// The timestamp clocks of both sides: values in the script and actual values.
#[derive(Debug, Default)]
pub struct Clocks {
    /// Our first value: in the script, and actual.
    first: Option<(u32, u32)>,
    /// Our actual values, by the value in the script.
    ours: BTreeMap<u32, u32>,
}

impl Clocks {
    /// The actual value for our value in the script.
    pub(crate) fn ours(&self, written: u32) -> u32 {
        let by_distance = || {
            let (first_written, first) = self.first.unwrap_or_default();
            first.wrapping_add(written.wrapping_sub(first_written))
        };
        self.ours.get(&written).copied().unwrap_or_else(by_distance)
    }

    /// A segment left with the value `used`, where the script has `written`. Returns their difference in ticks, counted
    /// from the first.
    fn note(&mut self, written: u32, used: u32) -> u32 {
        self.first.get_or_insert((written, used));
        let expected = self.ours(written);
        self.ours.insert(written, used);
        used.abs_diff(expected)
    }
}

/// The exactness of timestamps: the period of their clock if they are compared, and the allowed difference.
pub type Exactness = (Option<Span>, Span);

/// Compares `packet`, with this many bytes of payload, with what is expected.
///
/// # Errors
/// The difference, in words.
pub fn compare(
    (packet, payload): (&Packet, u32),
    expected: &ScriptSegment,
    clocks: &mut Clocks,
    exactness: Exactness,
) -> Result<(), String> {
    let differs = |what: &str| Err(format!("{what}; left: {}", describe(packet, payload)));
    // The PSH flag only matters for retransmissions of some schemes.
    let push = TcpFlags::PSH;
    if packet.flags.with(push) != expected.flags.with(push) {
        return differs("other flags");
    }
    if (packet.seq.0, payload) != (expected.seq, expected.payload) {
        return differs("other numbers");
    }
    if expected.ack.is_some_and(|ack| ack != packet.ack.0) {
        return differs("another acknowledgement");
    }
    if expected
        .window
        .is_some_and(|window| window != packet.window)
    {
        return differs("another window");
    }
    if expected.ecn.is_some_and(|ecn| ecn != packet.ecn) {
        return differs("another ECN field");
    }
    let Some(options) = &expected.options else {
        return Ok(());
    };
    let found = options_of(packet);
    let times = |list: &OptionList| list.timestamps.map(|(_, echo)| echo);
    let others = |list: &OptionList| OptionList {
        timestamps: None,
        ..list.clone()
    };
    if others(&found) != others(options) || times(&found) != times(options) {
        return differs("other options");
    }
    if let (Some((used, _)), Some((written, _))) = (found.timestamps, options.timestamps) {
        let ticks = clocks.note(written, used);
        if let (Some(tick), tolerance) = exactness
            && tick * u64::from(ticks) > tolerance
        {
            return differs("another timestamp");
        }
    }
    Ok(())
}

fn options_of(packet: &Packet) -> OptionList {
    let syn = packet.options.syn();
    let blocks = packet.options.sack().map(base::SackBlocks::as_slice);
    let stamps = packet.options.timestamps();
    OptionList {
        mss: syn.map(|syn| syn.mss),
        window_scale: syn.and_then(|syn| syn.window_scale),
        sack_permitted: syn.is_some_and(|syn| syn.sack_permitted),
        timestamps: stamps.map(|stamps| (stamps.value, stamps.echo)),
        sack: blocks
            .unwrap_or_default()
            .iter()
            .map(|(start, end)| (start.0, end.0))
            .collect(),
    }
}

/// A segment in the notation of scripts.
pub(crate) fn describe(packet: &Packet, payload: u32) -> String {
    let letters = [
        (TcpFlags::SYN, 'S'),
        (TcpFlags::FIN, 'F'),
        (TcpFlags::RST, 'R'),
        (TcpFlags::ECE, 'E'),
        (TcpFlags::CWR, 'W'),
        (TcpFlags::ACK, '.'),
    ];
    let letters = letters
        .iter()
        .filter(|(flag, _)| packet.flags.has(*flag))
        .map(|(_, letter)| *letter);
    let end = packet.seq.at(payload.into());
    let mut words = vec![
        letters.collect(),
        format!("{:?}:{end:?}({payload})", packet.seq),
    ];
    if packet.flags.has(TcpFlags::ACK) {
        words.push(format!("ack {:?}", packet.ack));
    }
    words.push(format!("win {}", packet.window));
    let options = options_of(packet);
    let mut told = Vec::new();
    told.extend(options.mss.map(|mss| format!("mss {mss}")));
    told.extend(options.sack_permitted.then(|| "sackOK".to_owned()));
    told.extend(
        options
            .timestamps
            .map(|(value, echo)| format!("TS val {value} ecr {echo}")),
    );
    told.extend(options.window_scale.map(|shift| format!("wscale {shift}")));
    let blocks = options
        .sack
        .iter()
        .map(|(start, end)| format!("{start}:{end}"));
    let blocks: Vec<String> = blocks.collect();
    told.extend((!blocks.is_empty()).then(|| format!("sack {}", blocks.join(" "))));
    if !told.is_empty() {
        words.push(format!("<{}>", told.join(",")));
    }
    words.join(" ")
}
