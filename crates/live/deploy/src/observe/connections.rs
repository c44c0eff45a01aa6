//! The TCP state of connections of this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use observed::{Needless, Sample, SentAgain, needless};
use programs::observer::{FlowDirection, Socket};

/// Recent connections and sums of all earlier ones, so that memory does not grow with time. Memory is that of the connections that closed in the last [`SETTLED`], and of those with losses in the last
/// [`FORGOTTEN`].
#[derive(Default)]
pub(super) struct Connections {
    recent: BTreeMap<FlowDirection, Connection>,
    states: States,
    needless: Needless,
}

/// The connections with the same ends.
#[derive(Default)]
struct Connection {
    /// The last state.
    socket: Option<Socket>,
    /// Retransmitted on connections that are over.
    over: SentAgain,
    /// Timeouts and fast retransmissions of flows that ended.
    repairs: (u64, u64),
    /// Payload of flows that ended.
    bytes: u64,
    /// When any of this changed.
    changed: Duration,
}

/// The states of sockets: the last one of each connection. Where sockets differ, those decide that send most bytes: a
/// client that only requests has settings of its own.
#[derive(Clone, Default)]
pub(super) struct States {
    sockets: u64,
    /// The shortest round trip of any of them, in microseconds.
    pub(super) min_rtt_us: Option<u32>,
    /// Smoothed round-trip times, in microseconds.
    pub(super) srtt_us: Sample,
    /// By payload of a full segment, the bytes that sockets with it sent.
    pub(super) mss: BTreeMap<u32, u64>,
    /// Likewise by minimum RTO.
    pub(super) min_rto: BTreeMap<Duration, u64>,
    /// Likewise by congestion control.
    pub(super) control: BTreeMap<String, u64>,
    /// Likewise by first window, in segments.
    pub(super) first_window: BTreeMap<u32, u64>,
    /// Likewise by whether both ends agreed to use congestion marks.
    pub(super) ecn: BTreeMap<bool, u64>,
}

impl Connections {
    /// The state of a connection was reported at this time.
    pub(super) fn tell(&mut self, way: FlowDirection, mut socket: Socket, now: Duration) {
        let connection = self.recent.entry(way).or_default();
        if socket.is_over && socket.retransmitted > 0 {
            connection.over.segments += u64::from(socket.retransmitted);
            connection.over.needless += u64::from(socket.needless);
            // Another connection may have the same ports.
            (socket.retransmitted, socket.needless) = (0, 0);
        }
        connection.socket = Some(socket);
        connection.changed = now;
    }

    /// A flow with this payload has ended with these numbers of timeouts and fast retransmissions.
    pub(super) fn ended(
        &mut self,
        way: FlowDirection,
        bytes: u64,
        (timeouts, fast): (u32, u32),
        now: Duration,
    ) {
        let connection = self.recent.entry(way).or_default();
        connection.bytes += bytes;
        connection.repairs.0 += u64::from(timeouts);
        connection.repairs.1 += u64::from(fast);
        connection.changed = now;
    }

    /// Adds connections that are over to the sums, once their last flow was reported.
    pub(super) fn fold(&mut self, now: Duration) {
        let Self {
            recent,
            states,
            needless,
        } = self;
        recent.retain(|_, one| {
            let is_open = one.socket.as_ref().is_some_and(|socket| !socket.closes);
            let kept = if is_open { FORGOTTEN } else { SETTLED };
            if now.saturating_sub(one.changed) < kept {
                return true;
            }
            states.add(one);
            add(needless, one.needless());
            false
        });
    }

    /// The number of connections that are held in memory.
    pub(super) fn held(&self) -> usize {
        self.recent.len()
    }

    /// Numbers of earlier ones that are held in memory.
    #[cfg(test)]
    pub(super) fn held_numbers(&self) -> usize {
        let States {
            sockets: _,
            min_rtt_us: _,
            srtt_us,
            mss,
            min_rto,
            control,
            first_window,
            ecn,
        } = &self.states;
        let settings = mss.len() + min_rto.len() + control.len() + first_window.len() + ecn.len();
        srtt_us.held() + settings
    }

    /// The repairs of ended flows that no loss explains.
    pub(super) fn needless(&self) -> Needless {
        let mut sum = self.needless;
        for one in self.recent.values() {
            add(&mut sum, one.needless());
        }
        sum
    }

    /// The states of all sockets.
    pub(super) fn states(&self) -> States {
        let mut all = self.states.clone();
        self.recent.values().for_each(|one| all.add(one));
        all
    }
}

impl Connection {
    fn needless(&self) -> Needless {
        let open = self.socket.as_ref().map(|socket| SentAgain {
            segments: socket.retransmitted.into(),
            needless: socket.needless.into(),
        });
        let (timeouts, fast) = self.repairs;
        needless(timeouts, fast, &[self.over, open.unwrap_or_default()])
    }
}

impl States {
    /// Their number.
    pub(super) const fn sockets(&self) -> u64 {
        self.sockets
    }

    fn add(&mut self, connection: &Connection) {
        let Some(socket) = &connection.socket else {
            return;
        };
        // A connection that has sent nothing yet counts as one byte.
        let bytes = connection.bytes.max(1);
        self.sockets += 1;
        if socket.min_rtt_us > 0 {
            let least = self.min_rtt_us.unwrap_or(u32::MAX);
            self.min_rtt_us = Some(least.min(socket.min_rtt_us));
        }
        self.srtt_us.add(socket.srtt_us.into());
        *self.mss.entry(socket.mss).or_default() += bytes;
        *self.min_rto.entry(socket.min_rto).or_default() += bytes;
        *self.first_window.entry(socket.first_window).or_default() += bytes;
        *self.ecn.entry(socket.is_ecn_capable).or_default() += bytes;
        match self.control.get_mut(&socket.control) {
            Some(sum) => *sum += bytes,
            None => drop(self.control.insert(socket.control.clone(), bytes)),
        }
    }
}

/// The value with the largest sum.
pub(super) fn most_common<T: Ord>(sums: &BTreeMap<T, u64>) -> Option<&T> {
    let most = sums.iter().max_by_key(|(_, sum)| **sum);
    most.map(|(value, _)| value)
}

fn add(sum: &mut Needless, more: Needless) {
    sum.timeouts += more.timeouts;
    sum.fast_retransmits += more.fast_retransmits;
}

/// The flows of a connection are reported at most 31 s after its last packet.
const SETTLED: Duration = Duration::from_secs(40);
/// The end of a connection that was silent for long is not reported. A connection that is reported after this time counts
/// as another one.
const FORGOTTEN: Duration = Duration::from_mins(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn way(port: u16) -> FlowDirection {
        let end = |text: String| text.parse().expect("an address and a port");
        FlowDirection {
            from: end(format!("10.0.0.1:{port}")),
            to: end("10.0.0.9:80".to_owned()),
        }
    }

    fn socket(retransmitted: u32, needless: u32, (closes, is_over): (bool, bool)) -> Socket {
        Socket {
            mss: 1_448,
            srtt_us: 500,
            min_rtt_us: 100 + retransmitted,
            cwnd: 10,
            min_rto: Duration::from_millis(200),
            first_window: 10,
            is_ecn_capable: false,
            delivered_ce: 0,
            control: "cubic".to_owned(),
            retransmitted,
            needless,
            is_over,
            closes,
        }
    }

    const OPEN: (bool, bool) = (false, false);
    const CLOSES: (bool, bool) = (true, false);
    const OVER: (bool, bool) = (true, true);

    #[test]
    fn connections_that_ended_leave_sums_and_those_that_are_open_stay() {
        let mut all = Connections::default();
        let second = Duration::from_secs;
        // Needless repairs: of one that is over, of one with the same ports later, and of one that is open.
        for (port, at, end) in [(1, 0, OVER), (1, 100, OVER), (2, 100, OPEN)] {
            all.fold(second(at));
            all.tell(way(port), socket(3, 2, end), second(at));
            all.ended(way(port), 10, (1, 3), second(at));
        }
        // Nothing was sent again here, and nothing is known there.
        all.tell(way(3), socket(0, 0, CLOSES), second(100));
        all.ended(way(4), 10, (1, 1), second(100));
        assert_eq!((all.held(), all.needless().fast_retransmits), (4, 6));
        all.fold(second(139));
        assert_eq!(all.held(), 4);
        all.fold(second(140));
        assert_eq!((all.held(), all.needless().fast_retransmits), (1, 6));
        assert_eq!(
            (all.states().sockets(), all.states().min_rtt_us),
            (4, Some(100))
        );
        all.fold(second(700));
        let needless = all.needless();
        assert_eq!(
            (all.held(), needless.timeouts, needless.fast_retransmits),
            (0, 0, 6)
        );
        assert_eq!(
            most_common(&all.states().control).map(String::as_str),
            Some("cubic")
        );
    }

    #[test]
    fn sockets_that_send_most_bytes_decide_and_not_those_that_only_request() {
        let mut all = Connections::default();
        let now = Duration::from_secs(1);
        for port in 1..=3 {
            let request = Socket {
                control: "reno".to_owned(),
                min_rto: Duration::from_secs(1),
                ..socket(0, 0, CLOSES)
            };
            all.tell(way(port), request, now);
            all.ended(way(port), 8, (0, 0), now);
        }
        // The flow of the answer ends before its socket is reported.
        all.ended(way(4), 50_000, (0, 0), now);
        all.tell(way(4), socket(0, 0, CLOSES), now);
        let decided = |all: &Connections| {
            let states = all.states();
            let control = most_common(&states.control).cloned();
            (control, most_common(&states.min_rto).copied())
        };
        let answers = (Some("cubic".to_owned()), Some(Duration::from_millis(200)));
        assert_eq!(decided(&all), answers);
        all.fold(Duration::from_mins(1));
        assert_eq!((all.held(), decided(&all)), (0, answers));
    }
}
