//! Milliseconds in which many flows went to one receiver, and the losses that followed them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::sample::Sample;
use crate::seen::VerdictEvidence;

/// A packet that was dropped, or a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedLoss {
    /// Since the observation began.
    pub at: Duration,
    /// When its flow began.
    pub flow_since: Duration,
    /// Whether it is a timeout, or a packet that was dropped.
    pub is_timeout: bool,
}

/// All crowds: milliseconds with many flows to one receiver, which is an `R`. Those of the last 20 s are kept, with
/// the losses; of earlier ones only numbers, so that memory does not grow with time.
///
/// For a crowd the decisive number is the time until the first loss of one of its flows, and for a timeout the time
/// since the last crowd in which its flow took part. Both are looked for as far as 10 s, and compared with the
/// minimum RTO when the verdict is asked for.
#[derive(Clone, Debug)]
pub struct Crowds<R> {
    all: u64,
    most: u32,
    receivers: BTreeMap<R, Receiver>,
    timeouts: u64,
    /// Nanoseconds from each crowd to its first loss, and from the last crowd to each timeout.
    until_loss: Sample,
    until_timeout: Sample,
    /// The number of crowds and losses that are kept.
    held: usize,
}

#[derive(Clone, Debug, Default)]
struct Receiver {
    crowds: u64,
    /// When a crowd began, and the time until its first loss.
    recent: Vec<(Duration, Option<Duration>)>,
    losses: Vec<ObservedLoss>,
}

impl<R> Default for Crowds<R> {
    fn default() -> Self {
        Self {
            all: 0,
            most: 0,
            receivers: BTreeMap::new(),
            timeouts: 0,
            until_loss: Sample::default(),
            until_timeout: Sample::default(),
            held: 0,
        }
    }
}

impl<R: Ord + Clone + ToString> Crowds<R> {
    /// Adds a crowd of `degree` flows, which began `at` this time since the observation did.
    pub fn add(&mut self, receiver: R, at: Duration, degree: u32) {
        self.all += 1;
        self.most = self.most.max(degree);
        self.held += 1;
        let of = self.receivers.entry(receiver).or_default();
        of.crowds += 1;
        of.recent.push((at, None));
    }

    /// Adds a loss of a flow to this receiver.
    pub fn lose(&mut self, receiver: R, loss: ObservedLoss) {
        self.timeouts += u64::from(loss.is_timeout);
        self.held += 1;
        self.receivers
            .entry(receiver)
            .or_default()
            .losses
            .push(loss);
    }

    /// Frees the memory of crowds and losses of long ago. `now` is the time since the observation began.
    pub fn fold(&mut self, now: Duration) {
        let before = |time: Duration| now.checked_sub(time);
        // A crowd is reported with the next packet to its receiver, and may come later than a loss that follows it.
        if let Some(until) = before(REACH) {
            self.settle(until);
        }
        let Some(until) = before(KEPT) else { return };
        for of in self.receivers.values_mut() {
            let old = of.recent.iter().filter(|(at, _)| *at < until);
            for lag in old.filter_map(|(_, lag)| *lag) {
                self.until_loss.add(nanoseconds(lag));
            }
            of.recent.retain(|(at, _)| *at >= until);
        }
        self.receivers
            .retain(|_, of| of.crowds > 0 || !of.losses.is_empty());
        let held = |of: &Receiver| of.recent.len() + of.losses.len();
        self.held = self.receivers.values().map(held).sum();
    }

    /// The crowds and losses that are held in memory.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }

    /// Numbers of earlier ones that are held in memory.
    #[must_use]
    pub fn held_numbers(&self) -> usize {
        self.receivers.len() + self.until_loss.held() + self.until_timeout.held()
    }

    /// The numbers of crowds, if losses `within_s` seconds follow them. Those of the receiver with most of them name it.
    pub(crate) fn judged(&self, within_s: f64) -> VerdictEvidence {
        let within = Duration::try_from_secs_f64(within_s).unwrap_or(REACH);
        let mut now = self.clone();
        now.settle(Duration::MAX);
        let recent = now.receivers.values().flat_map(|of| &of.recent);
        let recent = recent.filter(|(_, lag)| lag.is_some_and(|lag| lag <= within));
        let receivers = self.receivers.iter().filter(|(_, of)| of.crowds > 0);
        let name = receivers.map(|(receiver, of)| (of.crowds, receiver.to_string()));
        VerdictEvidence {
            crowds: self.all,
            most: self.most,
            followed: recent.count() as u64 + now.until_loss.up_to(nanoseconds(within)),
            receiver: name.max().map(|(_, name)| name),
            timeouts: self.timeouts,
            timeouts_following: now.until_timeout.up_to(nanoseconds(within)),
            ..VerdictEvidence::default()
        }
    }

    /// Finds the crowds before each loss until this time.
    fn settle(&mut self, until: Duration) {
        for of in self.receivers.values_mut() {
            of.recent.sort_by_key(|(at, _)| *at);
            for loss in of.losses.iter().filter(|loss| loss.at <= until) {
                // The time of a crowd is the beginning of its millisecond.
                let flow_since = loss.flow_since.saturating_sub(MILLISECOND);
                let earliest = flow_since.max(loss.at.saturating_sub(REACH));
                let from = of.recent.partition_point(|(at, _)| *at < earliest);
                let end = of.recent.partition_point(|(at, _)| *at <= loss.at);
                let before = of.recent.get_mut(from..end).unwrap_or_default();
                for (at, lag) in &mut *before {
                    let this = loss.at.saturating_sub(*at);
                    *lag = Some(lag.map_or(this, |first| first.min(this)));
                }
                if let Some((at, _)) = before.last().filter(|_| loss.is_timeout) {
                    let lag = loss.at.saturating_sub(*at);
                    self.until_timeout.add(nanoseconds(lag));
                }
            }
            of.losses.retain(|loss| loss.at > until);
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

const MILLISECOND: Duration = Duration::from_millis(1);
/// The longest time between a crowd and a loss that follows it: two minimum RTOs of 5 s, 25 times Linux's.
const REACH: Duration = Duration::from_secs(10);
/// Losses wait for late crowds for as long again.
const KEPT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour with a crowd a second; a timeout follows every second one by 0.3 s, and a timer of 0.5 s every third.
    fn hour(fold: bool) -> (Crowds<String>, usize) {
        let (mut crowds, mut most) = (Crowds::default(), 0);
        for second in 0..3_600_u64 {
            let at = Duration::from_secs(second);
            let lose = |after_ms| ObservedLoss {
                at: at + Duration::from_millis(after_ms),
                flow_since: at,
                is_timeout: after_ms == 300,
            };
            let receiver = || format!("10.0.0.{}", second % 5);
            // A loss is reported before its crowd.
            if second % 2 == 0 {
                crowds.lose(receiver(), lose(300));
            }
            if second % 3 == 0 {
                crowds.lose(receiver(), lose(500));
            }
            crowds.add(receiver(), at, 20);
            if fold {
                crowds.fold(at);
            }
            most = most.max(crowds.held());
        }
        (crowds, most)
    }

    #[test]
    fn what_is_folded_is_judged_as_if_it_were_kept() {
        let ((folded, held), (kept, all)) = (hour(true), hour(false));
        assert_eq!(all, 3_600 + 1_800 + 1_200);
        assert!(held < 60, "{held}");
        for within_s in [0.2, 0.4, 1.0] {
            assert_eq!(folded.judged(within_s), kept.judged(within_s));
        }
        let judged = folded.judged(0.4);
        assert_eq!((judged.crowds, judged.followed), (3_600, 1_800));
        assert_eq!((judged.timeouts, judged.timeouts_following), (1_800, 1_800));
        assert_eq!(judged.receiver.as_deref(), Some("10.0.0.4"));
        // Of every six seconds the first, third, fourth and fifth.
        assert_eq!(folded.judged(1.0).followed, 2_400);
        assert_eq!(folded.judged(0.2).timeouts_following, 0);
    }
}
