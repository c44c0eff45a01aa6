//! DCQCN's fluid model: where its rates and its queue come to rest (DCQCN §5.1).
//!
//! N flows share a link of C packets per second, and every packet is marked with probability p. The model
//! lets a flow's rate, target and alpha move by the expected notices, expiries of the timer T and of the byte counter B.
//! Where none moves, with `R_C` = C/N:
//!
//! ```text
//! alpha = 1 - (1-p)^(tau' R_C)                                 a = 1 - (1-p)^(tau R_C)
//! R_T - R_C = tau R_AI R_C (c d + e f) / a                     from dR_T/dt = 0
//! alpha a / tau = (R_T - R_C) (c + e)                          from dR_C/dt = 0
//! c = p / ((1-p)^-B - 1)    e = p / ((1-p)^-(T R_C) - 1)       expiries per packet, by counter and by timer
//! d = (1-p)^(F B)           f = (1-p)^(F T R_C)                the share of them behind fast recovery
//! ```
//!
//! Together `alpha a^2 = tau^2 R_AI R_C (c d + e f) (c + e)`, whose left side grows with p and whose right side falls. For
//! small p it is `p^3 = R_AI / (tau' R_C^2) (1/B + 1/(T R_C))^2`. The queue follows from p by the ramp of marks.
//!
//! Deviations: none. Hyper increase, which needs more than F expiries of both, is not in the model.

/// A network and the constants of its senders, in packets and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// Rate of the link, packets/s.
    pub rate: f64,
    /// N.
    pub flows: f64,
    /// Least time between two notices (tau), s.
    pub cnp_interval: f64,
    /// Time after which alpha decays (tau'), s.
    pub alpha_timer: f64,
    /// T, s.
    pub timer: f64,
    /// B, packets.
    pub byte_counter: f64,
    /// F.
    pub fast_recovery: f64,
    /// `R_AI`, packets/s.
    pub additive: f64,
}

/// Marks by the length of the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Kmin, in the unit of queues.
    pub min: f64,
    /// Kmax.
    pub max: f64,
    /// Pmax.
    pub most: f64,
}

impl Fluid {
    /// The probability of a mark at which nothing moves.
    pub fn mark_probability(&self) -> f64 {
        let (mut low, mut high) = (1e-12_f64, 1.0 - 1e-12);
        // The product of the ratio of the ends shrinks below the precision of a number in this many halvings.
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if self.excess(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low * high).sqrt()
    }

    /// The queue at which nothing moves, in the unit of `ramp`; `None` where all packets would have to be marked.
    pub fn queue(&self, ramp: &Ramp) -> Option<f64> {
        let share = self.mark_probability() / ramp.most;
        (share <= 1.0).then_some(ramp.min + share * (ramp.max - ramp.min))
    }

    /// The left side of the condition less the right one.
    fn excess(&self, p: f64) -> f64 {
        let share = self.rate / self.flows;
        // 1 - (1-p)^n, and p / ((1-p)^-n - 1), without the loss of digits that small p bring.
        let some_of = |n: f64| -libm::expm1(n * libm::log1p(-p));
        let expiries = |n: f64| p / libm::expm1(-n * libm::log1p(-p));
        let behind = |n: f64| libm::exp(self.fast_recovery * n * libm::log1p(-p));
        let (counter, timer) = (self.byte_counter, self.timer * share);
        // c and e; then c d + e f.
        let (by_counter, by_timer) = (expiries(counter), expiries(timer));
        let raising = by_counter * behind(counter) + by_timer * behind(timer);
        let noticed = some_of(self.cnp_interval * share);
        let alpha = some_of(self.alpha_timer * share);
        let tau = self.cnp_interval;
        let rises = tau * tau * self.additive * share * raising * (by_counter + by_timer);
        alpha * noticed * noticed - rises
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's constants at 40 Gbit/s with packets of 1000 bytes.
    fn of(flows: f64) -> Fluid {
        Fluid {
            rate: 5e6,
            flows,
            cnp_interval: 50e-6,
            alpha_timer: 55e-6,
            timer: 55e-6,
            byte_counter: 1e4,
            fast_recovery: 5.0,
            additive: 5e3,
        }
    }

    const RAMP: Ramp = Ramp {
        min: 5.0,
        max: 200.0,
        most: 0.01,
    };

    // Two flows: R_C = 2.5e6/s and T R_C = 137.5, so p^3 = 5e3 / (55e-6 x 6.25e12) (1e-4 + 1/137.5)^2
    // = 1.4545e-5 x 5.4363e-5 = 7.907e-10, p = 9.247e-4.
    #[test]
    fn few_marks_follow_from_a_cube_root() {
        let small = 9.247e-4;
        // Of the expiries only the share f = (1-p)^(5 x 137.5), 0.59, raises the target: the exact one is 0.59^(1/3) of that.
        let exact = of(2.0).mark_probability();
        assert!((0.83..0.85).contains(&(exact / small)), "{exact}");
        assert!(of(2.0).excess(exact).abs() < 1e-12);
    }

    #[test]
    fn more_flows_have_more_marks_and_a_longer_queue_until_the_ramp_ends() {
        let queues = [1.0, 2.0, 4.0, 8.0].map(|flows| of(flows).queue(&RAMP));
        assert!(queues.is_sorted() && queues[3] > queues[0], "{queues:?}");
        assert_eq!(of(1000.0).queue(&RAMP), None);
    }
}
