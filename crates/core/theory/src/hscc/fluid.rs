//! The fluid model (eq. 1) and its equilibrium (eq. 2).

use crate::dde::Equation;

/// The fluid model: window w of each of N flows and queue q of their bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// C in packets/s.
    pub rate: f64,
    /// Round trip without a queue in s.
    pub rtt: f64,
    /// N.
    pub flows: f64,
    /// M in packets.
    pub buffer: f64,
    /// alpha1 and alpha2, shares of the buffer.
    pub low: f64,
    /// The upper one.
    pub high: f64,
    /// How much a window grows with every ACK.
    pub increase: Increase,
}

/// How much a window grows with every ACK, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Increase {
    /// As TCP's congestion avoidance: 1/w.
    Corrected,
    /// As equation 1 is printed: 1/tau. This is no number of packets; what it comes to depends on the
    /// unit of time, which is given here in s.
    Printed(f64),
}

/// Where the fluid model stands still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// w in packets.
    pub window: f64,
    /// q in packets.
    pub queue: f64,
    /// tau in s.
    pub rtt: f64,
    /// Pu, the share of time that a flow is held at one packet per round trip.
    pub clamped: f64,
    /// Pl, the share of packets lost.
    pub lost: f64,
}

/// Why there is no equilibrium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEquilibrium {
    /// One packet of every flow per round trip keeps the queue above the upper threshold.
    ClampedForEver,
    /// Flows want more than the loss that the thresholds allow can hold back.
    TooLittleLoss,
}

impl Fluid {
    /// kappa: how many times as often as a packet is lost a flow is clamped. What lies above the
    /// upper threshold holds this many packets of each flow.
    pub fn kappa(&self) -> f64 {
        (1.0 - self.high) * self.buffer / self.flows
    }

    /// tau with a queue of this many packets.
    pub fn round_trip(&self, queue: f64) -> f64 {
        self.rtt + queue / self.rate
    }

    /// Pl with a queue of this many packets: our closure, since the paper does not say. Pu rises linearly
    /// from 0 at the lower threshold to 1 at the upper one, as if the queue's fluctuations were spread
    /// evenly over the hysteresis, and Pl = Pu / kappa, at most 1.
    pub fn loss(&self, queue: f64) -> f64 {
        let (from, to) = (self.low * self.buffer, self.high * self.buffer);
        ((queue - from) / (to - from)).clamp(0.0, 1.0) * self.highest_loss()
    }

    /// Slope of [`Self::loss`] between the thresholds, per packet.
    pub fn loss_slope(&self) -> f64 {
        self.highest_loss() / ((self.high - self.low) * self.buffer)
    }

    fn highest_loss(&self) -> f64 {
        (1.0 / self.kappa()).min(1.0)
    }

    /// What a window of `window` packets gains with an ACK when the round trip is `rtt`.
    pub(super) fn gain(&self, window: f64, rtt: f64) -> f64 {
        match self.increase {
            Increase::Corrected => 1.0 / window,
            Increase::Printed(unit) => unit / rtt,
        }
    }

    /// Eq. 2. Windows stand still if what ACKs add is what losses take; with
    /// `beta = (1 - Pu) w + Pu`, the packets of a flow per round trip, that is
    /// `gain * beta / w = w Pl / 2`. The queue stands still if `N beta = C tau`.
    ///
    /// The first gives, for a queue q, beta and then w and Pl; the queue at which this Pl is that of
    /// [`Self::loss`] is found by bisection: the wanted loss falls with q and the given one rises.
    pub fn equilibrium(&self) -> Result<Equilibrium, NoEquilibrium> {
        let (low, high) = (self.low * self.buffer, self.high * self.buffer);
        // Below one packet per flow and round trip nobody can be slower.
        let least = self.flows - self.rate * self.rtt;
        if least >= high {
            return Err(NoEquilibrium::ClampedForEver);
        }
        let excess = |queue: f64| self.loss(queue) - self.wanted(queue).1;
        if excess(high) < 0.0 {
            return Err(NoEquilibrium::TooLittleLoss);
        }
        let queue = bisect(low.max(least), high, excess);
        let (window, lost) = self.wanted(queue);
        Ok(Equilibrium {
            window,
            queue,
            rtt: self.round_trip(queue),
            clamped: self.kappa() * lost,
            lost,
        })
    }

    /// The window and the loss at which windows stand still and the link is just full, for a queue.
    ///
    /// With `Pl = 2 gain beta / w^2` the load is `w - kappa Pl (w - 1) = beta`. Times a power of w this
    /// is a polynomial with two changes of sign; one root lies below 1, the other, the only one
    /// that is a window, above beta.
    fn wanted(&self, queue: f64) -> (f64, f64) {
        let rtt = self.round_trip(queue);
        let beta = self.rate * rtt / self.flows;
        let lost = |window: f64| 2.0 * self.gain(window, rtt) * beta / (window * window);
        let load = |window: f64| window - self.kappa() * lost(window) * (window - 1.0) - beta;
        let from = beta.max(1.0);
        let mut to = 2.0 * from;
        while load(to) < 0.0 {
            to *= 2.0;
        }
        let window = bisect(from, to, load);
        (window, lost(window))
    }
}

/// Eq. 1: `[w, q]`. Rates of ACKs and probabilities are those of a round trip ago.
impl Equation<2> for Fluid {
    fn slope(&self, state: &[f64; 2], at: f64, past: &dyn Fn(f64) -> [f64; 2]) -> [f64; 2] {
        let [window, queue] = *state;
        let window = window.max(1.0);
        let rtt = self.round_trip(queue.max(0.0));
        let [past_window, past_queue] = past(at - rtt);
        let acks = past_window / self.round_trip(past_queue);
        let lost = self.loss(past_queue);
        let clamped = self.kappa() * lost;
        let share = 1.0 - clamped + clamped / window;
        [
            acks * (share * self.gain(window, rtt) - window * lost / 2.0),
            self.flows * share * window / rtt - self.rate,
        ]
    }

    fn confine(&self, state: &mut [f64; 2]) {
        state[0] = state[0].max(1.0);
        state[1] = state[1].clamp(0.0, self.buffer);
    }
}

/// A zero of a function that rises through it between `low` and `high`.
pub(super) fn bisect(mut low: f64, mut high: f64, rises: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if rises(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Beyond the 52 bits of a fraction nothing changes.
const HALVINGS: u32 = 56;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::dde;

    /// The test bed of the paper (§VI): 1 Gbit/s, 100 us, 287 kB in the path and the buffer.
    pub(crate) fn testbed(flows: f64) -> Fluid {
        Fluid {
            rate: 1e9 / 12_000.0,
            rtt: 100e-6,
            flows,
            buffer: 183.0,
            low: 0.25,
            high: 0.5,
            increase: Increase::Corrected,
        }
    }

    fn assert_close(left: f64, right: f64, tolerance: f64) {
        assert!(
            (left - right).abs() <= tolerance * right.abs().max(1e-9),
            "{left} {right}"
        );
    }

    // Clauses: HSCC-eq2
    #[test]
    fn the_equilibrium_stands_still() {
        for flows in [4.0, 12.0, 36.0, 60.0, 90.0] {
            let fluid = testbed(flows);
            let still = fluid.equilibrium().unwrap();
            let state = [still.window, still.queue];
            let [dw, dq] = fluid.slope(&state, 1.0, &|_| state);
            assert!(dw.abs() * still.rtt < 1e-9 * still.window, "{flows}: {dw}");
            assert!(dq.abs() < 1e-9 * fluid.rate, "{flows}: {dq}");
            assert!((0.0..=1.0).contains(&still.clamped) && (0.0..=1.0).contains(&still.lost));
        }
    }

    // Clauses: HSCC-eq2
    #[test]
    fn the_window_is_the_greatest_root_of_a_quartic() {
        // With gain 1/w: w^4 - beta w^3 - 2 kappa beta w + 2 kappa beta = 0. No root of a polynomial is larger than twice
        // the largest of the roots |a_i|^(1/i) of its coefficients (Fujiwara's bound), and between roots signs alternate.
        for flows in [4.0, 12.0, 36.0, 60.0] {
            let fluid = testbed(flows);
            for queue in [46.0, 60.0, 91.0] {
                let beta = fluid.rate * fluid.round_trip(queue) / flows;
                let c = 2.0 * fluid.kappa() * beta;
                let quartic = |w: f64| ((w - beta) * w * w - c) * w + c;
                let root = fluid.wanted(queue).0;
                assert!(quartic(root * (1.0 - 1e-9)) < 0.0, "{flows} {queue}");
                assert!(quartic(root * (1.0 + 1e-9)) > 0.0, "{flows} {queue}");
                let bound = 2.0 * beta.max(libm::cbrt(c)).max(libm::pow(c, 0.25));
                for step in 1..=10_000 {
                    let w = root + (bound - root) * f64::from(step) / 10_000.0;
                    assert!(quartic(w) > 0.0, "{flows} {queue}: {w}");
                }
            }
        }
    }

    #[test]
    fn without_clamping_the_window_is_that_of_tcp() {
        // kappa = 0 where the upper threshold is the whole buffer: w = sqrt(2 / Pl).
        let mut fluid = testbed(12.0);
        fluid.high = 1.0;
        let (window, lost) = fluid.wanted(60.0);
        assert_close(window, libm::sqrt(2.0 / lost), 1e-12);
    }

    // Clauses: HSCC-eq1
    #[test]
    fn the_fluid_comes_to_rest_at_the_equilibrium() {
        // A second way to it: integration of eq. 1 from elsewhere, where it is stable.
        let mut fluid = testbed(60.0);
        fluid.rtt = 500e-6;
        fluid.buffer = 600.0;
        let still = fluid.equilibrium().unwrap();
        let line = dde::solve(&fluid, [1.5 * still.window, still.queue], 20e-6, 40_000);
        let [window, queue] = line.last();
        assert_close(window, still.window, 1e-6);
        assert_close(queue, still.queue, 1e-6);
    }

    #[test]
    fn many_flows_are_clamped_for_ever() {
        // HSCC: N packets per round trip fill the path and the queue up to the upper threshold.
        let bound = testbed(1.0).rate * 100e-6 + 0.5 * 183.0;
        assert!(testbed(bound - 5.0).equilibrium().is_ok());
        let beyond = testbed(bound + 1.0).equilibrium();
        assert_eq!(beyond, Err(NoEquilibrium::ClampedForEver));
        assert_eq!(
            testbed(630.0).equilibrium(),
            Err(NoEquilibrium::ClampedForEver)
        );
    }

    // Clauses: HSCC-eq1
    #[test]
    fn the_printed_equation_depends_on_the_unit_of_time() {
        let printed = |unit: f64| {
            let fluid = Fluid {
                increase: Increase::Printed(unit),
                ..testbed(36.0)
            };
            fluid.equilibrium().map(|still| still.window)
        };
        let (seconds, millis) = (printed(1.0).unwrap(), printed(1e-3).unwrap());
        assert!(seconds > 10.0 * millis, "{seconds} {millis}");
        let corrected = testbed(36.0).equilibrium().unwrap().window;
        assert!(seconds > 20.0 * corrected, "{seconds} {corrected}");
    }
}
