//! Wires that lose or damage packets.

use base::Time;
use engine::random::Stream;

use crate::watch::DropReason;

/// What happens at random to the packets on a wire. They use the link, and are not there at its end.
#[derive(Clone, Debug)]
pub struct Noise {
    kind: NoiseKind,
    /// From when on, and until when: the last moment is excluded.
    times: (Time, Time),
    stream: Stream,
    /// Whether the wire was in its bad state at the last packet; `None` before the first.
    bad: Option<bool>,
}

/// Which packets a wire loses or damages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoiseKind {
    /// Each packet is damaged with this probability, independently of all others. The node at the end of the wire finds
    /// that by the checksum and drops the packet.
    Corruption(f64),
    /// Losses that come together.
    GilbertElliott(GilbertElliott),
}

/// The model of Elliott ("Estimates of error rates for codes on burst-noise channels", 1963): a chain of two states
/// with a step per packet. The first state is drawn from those of the long run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Probability of a step from the good state to the bad one (p).
    pub worsens: f64,
    /// Probability of a step from the bad state to the good one (r); above zero.
    pub recovers: f64,
    /// Probability that a packet is lost in the good state (1 - k).
    pub good: f64,
    /// Probability that a packet is lost in the bad state (1 - h).
    pub bad: f64,
}

impl Noise {
    /// Noise between two times, the last excluded, whose numbers come from `stream`.
    pub const fn new(kind: NoiseKind, times: (Time, Time), stream: Stream) -> Self {
        Self {
            kind,
            times,
            stream,
            bad: None,
        }
    }

    /// Whether a packet is lost that arrives now, and why.
    pub(crate) fn loses(&mut self, now: Time) -> Option<DropReason> {
        let (from, until) = self.times;
        if !(from..until).contains(&now) {
            return None;
        }
        match self.kind {
            NoiseKind::Corruption(share) => {
                (self.stream.unit() < share).then_some(DropReason::Corrupt)
            }
            NoiseKind::GilbertElliott(model) => {
                let worse = match self.bad {
                    None => model.worsens / (model.worsens + model.recovers),
                    Some(false) => model.worsens,
                    Some(true) => 1.0 - model.recovers,
                };
                let bad = self.stream.unit() < worse;
                self.bad = Some(bad);
                let share = if bad { model.bad } else { model.good };
                (self.stream.unit() < share).then_some(DropReason::Lossy)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use base::cast::count;

    use super::*;

    const ALWAYS: (Time, Time) = (Time::ZERO, Time::NEVER);

    fn lost(kind: NoiseKind, packets: usize) -> Vec<usize> {
        let mut noise = Noise::new(kind, ALWAYS, Stream::new(7, "test", 0));
        let loses = |_: &usize| noise.loses(Time::ZERO).is_some();
        (0..packets).filter(loses).collect()
    }

    // Share p / (p + r) of bad states, each of which loses every second packet, and a hundredth in good ones.
    #[test]
    fn losses_have_the_share_and_the_lengths_of_the_model() {
        let model = GilbertElliott {
            worsens: 0.01,
            recovers: 0.1,
            good: 0.01,
            bad: 0.5,
        };
        let all = 400_000;
        let found = lost(NoiseKind::GilbertElliott(model), all);
        let (bad, good) = (0.01 / 0.11, 0.1 / 0.11);
        let share = count(found.len()) / count(all);
        assert!((share - (bad * 0.5 + good * 0.01)).abs() < 0.003, "{share}");
        // Behind a lost packet the state is bad with 0.5 bad / share, and stays so with 0.9; else it becomes bad with 0.01.
        let pairs = found.windows(2).filter(|pair| pair[1] == pair[0] + 1);
        let next = count(pairs.count()) / count(found.len());
        let was_bad = 0.5 * bad / (bad * 0.5 + good * 0.01);
        let is_bad = was_bad * 0.9 + (1.0 - was_bad) * 0.01;
        let expected = is_bad * 0.5 + (1.0 - is_bad) * 0.01;
        assert!((next - expected).abs() < 0.015, "{next} {expected}");
    }

    #[test]
    fn a_model_that_loses_all_in_its_bad_state_loses_runs_of_its_mean_length() {
        let model = GilbertElliott {
            worsens: 0.02,
            recovers: 0.25,
            good: 0.0,
            bad: 1.0,
        };
        let found = lost(NoiseKind::GilbertElliott(model), 200_000);
        let ends = found.windows(2).filter(|pair| pair[1] != pair[0] + 1);
        let mean = count(found.len()) / count(ends.count() + 1);
        assert!((mean - 4.0).abs() < 0.2, "{mean}");
    }

    #[test]
    fn damage_has_its_share_and_its_time() {
        let share = count(lost(NoiseKind::Corruption(0.1), 100_000).len()) / 1e5;
        assert!((share - 0.1).abs() < 0.005, "{share}");
        let [from, until] = [10, 20].map(|ms| Time::ZERO + Span::from_millis(ms));
        let stream = Stream::new(7, "test", 0);
        let mut noise = Noise::new(NoiseKind::Corruption(1.0), (from, until), stream);
        assert_eq!(noise.loses(Time::ZERO), None);
        assert_eq!(noise.loses(from), Some(DropReason::Corrupt));
        assert_eq!(noise.loses(until), None);
    }
}
