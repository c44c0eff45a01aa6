//! A window that grows with what the application reads, as in Linux (dynamic right-sizing).
//!
//! A receiver that reserves memory for each connection offers little at first. What its application reads in a round
//! trip tells how much a sender uses, and the window is to hold twice as much, so that the sender can double its rate.
//! It grows by two segments for each that arrives, and each that it grows with is acknowledged at once, whatever delays
//! ACKs.
// DEVIATION(RFC 9293 §3.8.6): the window is not the whole buffer; only `tcp.receive_window = "grows"` asks for that.

use base::{Span, Time};

use super::Arrival;
use crate::config::{Agreement, Config};

/// How far the window has grown and may.
#[derive(Debug)]
pub(super) struct Tuning {
    /// The window in force.
    window: u64,
    /// To what it grows now.
    room: u64,
    /// To what it may grow at all.
    most: u64,
    /// Own segment size, by which the window grows, and a full segment of the peer's; bytes.
    mss: u64,
    full: u64,
    /// Whether both sides have agreed on SACK.
    sack: bool,
    /// What was read in a round trip last.
    read: u64,
    /// When a round trip of reading began, and where.
    since: (Time, u64),
    /// The sender's round trip as it shows here, once it has.
    rtt: Option<Span>,
    /// When a window was offered, and its end.
    offered: Option<(Time, u64)>,
    /// The echo seen last.
    echo: u32,
}

impl Tuning {
    pub(super) fn new(config: &Config) -> Self {
        let mss = u64::from(config.mss);
        let most = config.receive_buffer;
        Self {
            window: FIRST.saturating_sub(mss).max(2 * mss).min(most),
            room: ROOM.min(most),
            most,
            mss,
            full: mss,
            read: READ * mss,
            since: (Time::ZERO, 1),
            sack: false,
            rtt: None,
            offered: None,
            echo: 0,
        }
    }

    /// What both SYNs have agreed on.
    pub(super) fn agree(&mut self, agreed: Agreement) {
        (self.full, self.sack) = (agreed.mss.into(), agreed.sack);
    }

    /// The handshake is over.
    pub(super) const fn begin(&mut self, now: Time) {
        self.since.0 = now;
    }

    /// The window in force.
    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// To what the window may grow at all.
    pub(super) const fn most(&self) -> u64 {
        self.most
    }

    /// The sender's round trip, once known.
    pub(super) const fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// A full segment echoes what left here so long ago, in ticks of the clock of timestamps.
    #[inline(always)]
    pub(super) fn on_echo(&mut self, echo: u32, age: Span, payload: u64) {
        if echo == self.echo {
            return;
        }
        self.echo = echo;
        if payload >= self.full && age > Span::ZERO {
            self.rtt = Some(match self.rtt {
                Some(old) if age >= old => old - old / 8 + age / 8,
                _ => age,
            });
        }
    }

    /// A segment has been stored. Returns whether the window grows.
    pub(super) fn on_data(&mut self, arrival: &Arrival, now: Time) -> bool {
        let Arrival {
            in_order,
            new_bytes,
            held,
            payload,
            ..
        } = *arrival;
        if new_bytes == 0 {
            return false;
        }
        let waits = if in_order > 0 {
            self.note_window(arrival.expected + payload, now);
            // What has come in order now has not been read.
            held + in_order
        } else {
            held - new_bytes
        };
        // Without SACK a duplicate ACK has to look like one: its window stays (RFC 5681 §2).
        let may_grow = if in_order > 0 {
            payload >= LEAST
        } else {
            self.sack
        };
        let free = self.room.saturating_sub(waits);
        if !may_grow || free <= self.window {
            return false;
        }
        self.window = (self.window + 2 * self.mss).min(free);
        true
    }

    /// The time in which a whole window comes is a round trip at most.
    fn note_window(&mut self, next: u64, now: Time) {
        if let Some((since, end)) = self.offered {
            if next < end {
                return;
            }
            let took = now.since(since);
            self.rtt = Some(self.rtt.map_or(took, |rtt| rtt.min(took)));
        }
        self.offered = Some((now, next + self.window));
    }

    /// The application reads up to `next` now, segment by segment: the first ends at `end`. What is still there then
    /// does not count as used.
    pub(super) fn on_read(&mut self, end: u64, next: u64, now: Time) {
        let (since, from) = self.since;
        if self.rtt.is_none_or(|rtt| now.since(since) < rtt) {
            return;
        }
        let read = (end - from).saturating_sub(next - end);
        self.since = (now, end);
        if read > self.read {
            let room = 2 * read + 16 * self.mss;
            let faster = u128::from(room) * u128::from(read - self.read) / u128::from(self.read);
            let faster = u64::try_from(2 * faster).unwrap_or(u64::MAX);
            self.room = room.saturating_add(faster).min(self.most).max(self.room);
            self.read = read;
        }
    }
}

/// Linux 6.12: a window is less by a segment than this at first, half of 128 KiB of buffer, and grows at once to what
/// these hold of full segments beside their headers, 158 of 256 (`tcp_rmem`, `tcp_win_from_space`).
const FIRST: u64 = 65_536;
const ROOM: u64 = 80_896;
/// Segments that count as read in a round trip at first.
const READ: u64 = 10;
/// In order, a window does not grow with fewer bytes (`tcp_event_data_recv`).
const LEAST: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReceiveWindow;

    const MSS: u64 = 1448;

    fn tuning(receive_buffer: u64) -> Tuning {
        let mut tuning = Tuning::new(&Config {
            mss: 1448,
            receive_buffer,
            receive_window: ReceiveWindow::Grows,
            ..Config::default()
        });
        tuning.agree(agreement(true));
        tuning
    }

    fn agreement(sack: bool) -> Agreement {
        Agreement {
            mss: 1448,
            sack,
            ecn: false,
        }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Segment `number` arrives in order at `us` and is read at once.
    fn step(tuning: &mut Tuning, number: u64, us: u64) -> bool {
        let offset = 1 + number * MSS;
        let arrival = Arrival {
            offset,
            expected: offset,
            payload: MSS,
            new_bytes: MSS,
            in_order: MSS,
            ..Arrival::default()
        };
        let grows = tuning.on_data(&arrival, at(us));
        tuning.on_read(offset + MSS, offset + MSS, at(us));
        grows
    }

    // Linux 6.12 on a loopback device: 64,088, 66,984, ... 78,568 and 79,450 bytes.
    #[test]
    fn the_first_six_segments_widen_the_window_to_what_the_buffer_holds() {
        let mut tuning = tuning(4 << 20);
        assert_eq!(tuning.window(), 64_088);
        let told: Vec<bool> = (0..9).map(|number| step(&mut tuning, number, 0)).collect();
        assert_eq!(told.iter().filter(|grows| **grows).count(), 6);
        assert!(told[..6].iter().all(|grows| *grows));
        assert_eq!(tuning.window(), ROOM - MSS);
    }

    #[test]
    fn more_than_was_read_in_a_round_trip_before_widens_it() {
        let mut tuning = tuning(4 << 20);
        for number in 0..6 {
            step(&mut tuning, number, 0);
        }
        // A round trip shows, and is over: 6 segments have been read, fewer than 10.
        tuning.on_echo(7, Span::from_millis(1), MSS);
        assert!(!step(&mut tuning, 6, 2000));
        for number in 7..30 {
            assert!(!step(&mut tuning, number, 2500));
        }
        // 24 in the next one: room for 64 and, as 2.4 times as many came, for 2.8 times 64 more.
        assert!(!step(&mut tuning, 30, 3000));
        assert!(step(&mut tuning, 31, 3001));
        assert_eq!(tuning.room, 64 * MSS + 2 * (64 * MSS * 14 / 10));
    }

    #[test]
    fn a_whole_window_takes_a_round_trip_at_most() {
        let mut tuning = tuning(4 << 20);
        for number in 0..60 {
            step(&mut tuning, number, 10 * number);
        }
        // 64,088 bytes behind the first segment are 45.
        assert_eq!(tuning.rtt(), Some(Span::from_micros(450)));
        tuning.on_echo(7, Span::from_millis(1), MSS);
        let smoothed = Span::from_nanos(518_750);
        assert_eq!(tuning.rtt(), Some(smoothed));
        // Once for each echo, and only for whole segments.
        tuning.on_echo(7, Span::from_millis(1), MSS);
        tuning.on_echo(8, Span::from_millis(1), MSS - 1);
        assert_eq!(tuning.rtt(), Some(smoothed));
    }

    #[test]
    fn what_waits_beyond_a_hole_and_what_comes_twice_leave_no_room() {
        let mut tuning = tuning(4 << 20);
        let beyond = Arrival {
            offset: 1 + 20 * MSS,
            expected: 1,
            payload: MSS,
            new_bytes: MSS,
            held: 13 * MSS,
            ..Arrival::default()
        };
        assert!(!tuning.on_data(&beyond, at(0)));
        let first = Arrival {
            held: MSS,
            ..beyond
        };
        assert!(tuning.on_data(&first, at(0)));
        let twice = Arrival {
            new_bytes: 0,
            ..first
        };
        assert!(!tuning.on_data(&twice, at(0)));
    }

    // RFC 5681 §2: an ACK with another window is no duplicate.
    #[test]
    fn without_sack_a_segment_beyond_a_hole_leaves_the_window_as_it_is() {
        for sack in [true, false] {
            let mut tuning = tuning(4 << 20);
            tuning.agree(agreement(sack));
            let beyond = Arrival {
                offset: 1 + MSS,
                expected: 1,
                payload: MSS,
                new_bytes: MSS,
                held: MSS,
                ..Arrival::default()
            };
            assert_eq!(tuning.on_data(&beyond, at(0)), sack);
        }
    }

    // Linux grows by two of its own segments, and measures by those of its peer.
    #[test]
    fn segments_of_a_peer_with_smaller_ones_are_full() {
        let mut tuning = tuning(4 << 20);
        tuning.agree(Agreement {
            mss: 536,
            ..agreement(true)
        });
        let before = tuning.window();
        assert!(step(&mut tuning, 0, 0));
        assert_eq!(tuning.window(), before + 2 * MSS);
        tuning.on_echo(7, Span::from_millis(1), 535);
        assert_eq!(tuning.rtt(), None);
        tuning.on_echo(8, Span::from_millis(1), 536);
        assert_eq!(tuning.rtt(), Some(Span::from_millis(1)));
    }

    #[test]
    fn a_small_buffer_is_offered_as_a_whole() {
        let mut tuning = tuning(20_000);
        assert_eq!(tuning.window(), 20_000);
        assert!((0..40).all(|number| !step(&mut tuning, number, 100 * number)));
        assert_eq!(tuning.window(), 20_000);
    }
}
