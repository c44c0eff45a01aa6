//! The connections of a receiver, for the law of the simulator: takes segments seen by a kernel and returns windows.

use std::collections::BTreeMap;
use std::time::Duration;

use base::cast::low_32;
use base::{FlowId, HostId, Packet, Time};
use programs::observer::FlowDirection;
use programs::{Segment, SegmentKind};
use tcp::{AckSent, Arrival, Assembler, Plays, ReceiverCc, Slot};

/// A receiver and its role.
#[derive(Debug)]
pub(super) struct Connections<R> {
    role: R,
    /// Payload of a full segment.
    mss: u16,
    /// The zero of the role's time.
    zero: Duration,
    /// The time of the last segment. Reports of several processors may be slightly out of order, but a role's time
    /// never goes back.
    now: Time,
    /// The open connections, by the direction of their acknowledgements.
    open: BTreeMap<FlowDirection, Slot>,
    /// By slot.
    all: Vec<Connection>,
    /// Directions of connections that have ended since the last call.
    ended: Vec<FlowDirection>,
}

#[derive(Debug)]
struct Connection {
    /// The sequence number of the SYN: offset 0 of the stream.
    first: u32,
    /// The offset of the next byte in order.
    expected: u64,
    held: Assembler,
    /// The offset after the last byte, once a FIN has arrived.
    end: Option<u64>,
    /// The current window in the kernel, in bytes; `None` before the first decision.
    told: Option<u64>,
}

impl<R: Plays<dyn ReceiverCc>> Connections<R> {
    /// No connections; time begins at `zero`.
    pub(super) const fn new(role: R, mss: u16, zero: Duration) -> Self {
        Self {
            role,
            mss,
            zero,
            now: Time::ZERO,
            open: BTreeMap::new(),
            all: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Processes segments, which are nearly in the order of time.
    pub(super) fn hear(&mut self, mut segments: Vec<Segment>) {
        segments.sort_by_key(|segment| segment.at);
        for segment in segments {
            let at = segment.at.saturating_sub(self.zero).as_nanos();
            let at = u64::try_from(at).unwrap_or(u64::MAX).saturating_mul(1_000);
            self.now = self.now.max(Time::from_ps(at));
            self.hear_one(&segment);
        }
    }

    /// Windows that have changed since the last call, by the direction of acknowledgements.
    pub(super) fn changed(&mut self) -> Vec<(FlowDirection, u32)> {
        let mut changed = Vec::new();
        for (way, slot) in &self.open {
            let window = self.role.as_role().window(*slot, u64::MAX);
            let connection = &mut self.all[slot.0 as usize];
            if connection.told != Some(window) {
                connection.told = Some(window);
                changed.push((*way, u32::try_from(window).unwrap_or(u32::MAX)));
            }
        }
        changed
    }

    /// Connections that have ended since the last call.
    pub(super) fn ended(&mut self) -> Vec<FlowDirection> {
        std::mem::take(&mut self.ended)
    }

    fn hear_one(&mut self, segment: &Segment) {
        if let SegmentKind::Opens(number) = segment.kind {
            self.begin(segment.way, number);
        }
        let Some(slot) = self.open.get(&segment.way).copied() else {
            return;
        };
        match segment.kind {
            SegmentKind::Opens(_) => {}
            SegmentKind::Carries {
                number,
                bytes,
                each,
            } => self.carry(slot, number, bytes, each),
            SegmentKind::Ends(number, bytes) => {
                self.carry(slot, number, bytes, 0);
                let connection = &mut self.all[slot.0 as usize];
                connection.end = connection.offset(number.wrapping_add(bytes));
            }
            SegmentKind::Breaks => self.close(segment.way),
            SegmentKind::Accepts(number, window) => self.acknowledge(slot, number, window, true),
            SegmentKind::Acknowledges(number, window) => {
                self.acknowledge(slot, number, window, false);
            }
        }
        if self.all[slot.0 as usize].is_complete() {
            self.close(segment.way);
        }
    }

    /// A SYN has arrived, perhaps again.
    fn begin(&mut self, way: FlowDirection, number: u32) {
        if let Some(slot) = self.open.get(&way) {
            if self.all[slot.0 as usize].first == number {
                return;
            }
            self.close(way);
        }
        let slot = Slot(u32::try_from(self.all.len()).expect("connections have 32-bit numbers"));
        self.ended.retain(|ended| *ended != way);
        self.open.insert(way, slot);
        self.all.push(Connection {
            first: number,
            expected: 1,
            held: Assembler::default(),
            end: None,
            told: None,
        });
        let syn = Packet::new(FlowId(slot.0), HostId(0));
        self.role
            .as_role_mut()
            .on_open(slot, &syn, self.mss, self.now);
    }

    /// Data has arrived, perhaps a train of segments that the kernel merged.
    fn carry(&mut self, slot: Slot, number: u32, bytes: u32, each: u32) {
        let each = if each == 0 { bytes } else { each };
        let mut done = 0;
        loop {
            let payload = each.min(bytes - done);
            let connection = &mut self.all[slot.0 as usize];
            if let Some(offset) = connection.offset(number.wrapping_add(done)) {
                let arrival = connection.store(offset, payload.into());
                self.role.as_role_mut().on_data(slot, &arrival, self.now);
            }
            done += payload;
            if done >= bytes {
                return;
            }
        }
    }

    fn acknowledge(&mut self, slot: Slot, number: u32, window: u32, syn: bool) {
        if let Some(ack) = self.all[slot.0 as usize].offset(number) {
            let window = window.into();
            let sent = AckSent { ack, window, syn };
            self.role.as_role_mut().on_ack_sent(slot, &sent, self.now);
        }
    }

    fn close(&mut self, way: FlowDirection) {
        if let Some(slot) = self.open.remove(&way) {
            self.role.as_role_mut().on_close(slot, self.now);
            self.ended.push(way);
        }
    }
}

impl Connection {
    /// The offset of a sequence number near the next one in order; `None` before the start of the stream.
    fn offset(&self, number: u32) -> Option<u64> {
        let next = self.first.wrapping_add(low_32(self.expected));
        let ahead = number.wrapping_sub(next);
        let offset = if ahead < 1 << 31 {
            self.expected + u64::from(ahead)
        } else {
            self.expected
                .checked_sub(next.wrapping_sub(number).into())?
        };
        (offset > 0).then_some(offset)
    }

    fn store(&mut self, offset: u64, payload: u64) -> Arrival {
        let expected = self.expected;
        let (new_bytes, in_order) = self.held.insert(offset, offset + payload, expected);
        self.expected = in_order;
        Arrival {
            offset,
            expected,
            payload,
            new_bytes,
            in_order: in_order - expected,
            held: self.held.held(),
            ..Arrival::default()
        }
    }

    fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| self.expected >= end)
    }
}

#[cfg(test)]
mod tests {
    use base::setting::Settings;
    use base::{OrOff, Rate, Span};
    use schemes::{HostInfo, ictcp};

    use super::*;

    const MSS: u32 = 1_446;
    const ZERO: Duration = Duration::from_secs(1_000);

    fn law() -> ictcp::Interface {
        let params = ictcp::Params {
            min_slot: OrOff(Some(Span::from_millis(1))),
            ..ictcp::Params::defaults()
        };
        params.law(&HostInfo {
            rate: Rate::from_bps(100_000_000),
            mss: 1_446,
            packet_bytes: 1_512,
        })
    }

    fn way(port: u16) -> FlowDirection {
        let end = |host: u8, port| std::net::SocketAddr::from(([10, 88, 0, host], port));
        FlowDirection {
            from: end(1, 7_000),
            to: end(2, port),
        }
    }

    fn segment(at_us: u64, kind: SegmentKind) -> Segment {
        Segment {
            at: ZERO + Duration::from_micros(at_us),
            way: way(4_000),
            kind,
        }
    }

    fn carries(number: u32, bytes: u32, each: u32) -> SegmentKind {
        SegmentKind::Carries {
            number,
            bytes,
            each,
        }
    }

    /// A sender that is limited only by the window and sends when an acknowledgement allows it. The kernel's sequence
    /// numbers begin near their maximum and wrap; the simulator's are offsets.
    #[test]
    fn the_law_decides_as_in_the_simulator_from_what_a_kernel_saw() {
        let first = u32::MAX - 10 * MSS;
        let mut kernel = Connections::new(law(), 1_446, ZERO);
        let mut own = law();
        let slot = Slot(0);
        let time = |at_us| Time::ZERO + Span::from_micros(at_us);
        let syn = Packet::new(FlowId(0), HostId(0));
        own.on_open(slot, &syn, 1_446, time(0));
        let mut batch = vec![segment(0, SegmentKind::Opens(first))];
        let (mut at, mut offset, mut windows) = (10, 1_u64, Vec::new());
        for _ in 0..400 {
            let window = own.window(slot, u64::MAX);
            let number = first.wrapping_add(low_32(offset));
            let sent = AckSent {
                ack: offset,
                window,
                syn: false,
            };
            own.on_ack_sent(slot, &sent, time(at));
            let told = u32::try_from(window).expect("a small window");
            batch.push(segment(at, SegmentKind::Acknowledges(number, told)));
            at += 2_000;
            // The whole window arrives as one train.
            let count = window / u64::from(MSS);
            for _ in 0..count {
                let arrival = Arrival {
                    offset,
                    expected: offset,
                    payload: MSS.into(),
                    new_bytes: MSS.into(),
                    in_order: MSS.into(),
                    ..Arrival::default()
                };
                own.on_data(slot, &arrival, time(at));
                offset += u64::from(MSS);
            }
            let bytes = u32::try_from(count).expect("few") * MSS;
            batch.push(segment(at, carries(number, bytes, MSS)));
            // User space gets the segments later, from two processors in turn.
            batch.reverse();
            kernel.hear(std::mem::take(&mut batch));
            let changed = kernel.changed();
            let after = own.window(slot, u64::MAX);
            assert_eq!(kernel.role.window(slot, u64::MAX), after, "at {at} us");
            let is_new = windows.last() != Some(&after);
            let expected = is_new.then(|| (way(4_000), u32::try_from(after).expect("small")));
            assert_eq!(changed, Vec::from_iter(expected));
            windows.extend(is_new.then_some(after));
        }
        assert!(windows.len() > 3, "windows have changed: {windows:?}");
    }

    #[test]
    fn a_connection_ends_with_its_last_byte_in_order() {
        let mut kernel = Connections::new(law(), 1_446, ZERO);
        let all = [
            SegmentKind::Opens(0),
            SegmentKind::Accepts(1, 2 * MSS),
            // The second segment is missing, and arrives after the FIN.
            carries(1, MSS, 0),
            SegmentKind::Ends(1 + 2 * MSS, 100),
        ];
        let all = (0..).zip(all).map(|(at, what)| segment(at, what));
        kernel.hear(all.collect());
        assert_eq!(kernel.changed(), [(way(4_000), 2 * MSS)]);
        assert_eq!(kernel.changed(), []);
        assert_eq!(kernel.ended(), []);
        assert_eq!(kernel.all[0].held.held(), 100);
        kernel.hear(vec![segment(9, carries(1 + MSS, MSS, 0))]);
        assert_eq!(kernel.ended(), [way(4_000)]);
        // The connection has ended, so data is ignored; with a SYN the ports are used again.
        kernel.hear(vec![segment(10, carries(1, MSS, 0))]);
        assert!(kernel.open.is_empty());
        kernel.hear(vec![
            segment(11, SegmentKind::Opens(77)),
            segment(12, SegmentKind::Opens(77)),
        ]);
        assert_eq!(kernel.all.len(), 2, "a SYN that comes again opens nothing");
        kernel.hear(vec![segment(13, SegmentKind::Breaks)]);
        assert_eq!(kernel.ended(), [way(4_000)]);
    }
}
