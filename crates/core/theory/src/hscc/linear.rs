//! The model near its equilibrium (eq. 3): eigenvalues and whether all decay.
//!
//! The paper's equation 3 linearises its equation 1; the linearisation here is derived anew, from the
//! equation as corrected or as printed, since the corrected terms change it. With the state
//! x = (w - w0, q - q0) and the delay tau of the equilibrium it is `x'(t) = A x(t) + B x(t - tau)`. That
//! tau varies with the queue adds nothing of first order: the solution it delays stands still.
//!
//! The delay is kept as it is: a Padé approximant would make it a polynomial that is wrong for fast
//! modes, and a Nyquist plot gives the verdict without the eigenvalues. The eigenvalues are the roots of the
//! characteristic function `det(s I - A - B exp(-s tau))`, which Newton's method finds. The dominant one is the
//! rightmost of those reached from a grid of starts. The grid covers the part of the plane that can hold it: with the
//! delay as the unit of time, roots of a chain are 2 pi apart, starts only 1, and roots to the right of any line have
//! a bounded size. A test shows with the argument principle, which uses neither, that no root is further to the right.

use base::cast::real;
use num_complex::Complex;

use super::fluid::{Equilibrium, Fluid, Increase};

/// A matrix of two rows.
type Matrix = [[f64; 2]; 2];

/// `x'(t) = now x(t) + then x(t - delay)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// The rows of A in 1/s.
    pub now: [[f64; 2]; 2],
    /// The rows of B in 1/s.
    pub then: [[f64; 2]; 2],
    /// tau in s.
    pub delay: f64,
}

impl Linear {
    /// Eq. 3 at an equilibrium of `fluid`, probabilities following the queue.
    pub fn of(fluid: &Fluid, still: &Equilibrium) -> Self {
        let (w, tau) = (still.window, still.rtt);
        let (kappa, pl, pu) = (fluid.kappa(), still.lost, still.clamped);
        let beta = (1.0 - pu) * w + pu;
        let gain = fluid.gain(w, tau);
        // Derivatives of the gain by the window and by the round trip.
        let (gain_w, gain_tau) = match fluid.increase {
            Increase::Corrected => (-gain / w, 0.0),
            Increase::Printed(_) => (0.0, -gain / tau),
        };
        // w' = w(t - tau) / tau(t - tau) * G with G = (1 - Pu + Pu / w) gain - w Pl / 2, which is zero at
        // the equilibrium, so that only the derivatives of G count.
        let acks = w / tau;
        let w_w = acks * (-pu / (w * w) * gain + beta / w * gain_w - pl / 2.0);
        let w_q = acks * beta / w * gain_tau / fluid.rate;
        let w_p = acks * (-kappa * (1.0 - 1.0 / w) * gain - w / 2.0);
        // q' = N ((1 - Pu) w + Pu) / tau - C, and N beta / tau = C.
        let q_w = fluid.flows * (1.0 - pu) / tau;
        let q_q = -1.0 / tau;
        let q_p = -fluid.flows * kappa * (w - 1.0) / tau;
        let slope = fluid.loss_slope();
        Self {
            now: [[w_w, w_q], [q_w, q_q]],
            then: [[0.0, w_p * slope], [0.0, q_p * slope]],
            delay: tau,
        }
    }

    /// The same with probabilities held constant, as inputs. Both eigenvalues then have negative real
    /// parts: the trace is negative, and in the determinant `w_q q_w` is not positive.
    #[must_use]
    pub fn held(&self) -> Self {
        Self {
            then: [[0.0; 2]; 2],
            ..*self
        }
    }

    /// The eigenvalue with the greatest real part as if nothing were delayed, in 1/s, of a pair the upper one.
    pub fn undelayed(&self) -> Complex<f64> {
        let (trace, determinant) = invariants(&self.sum());
        let (half, square) = (trace / 2.0, trace * trace / 4.0 - determinant);
        let root = libm::sqrt(square.abs());
        if square < 0.0 {
            Complex::new(half, root)
        } else {
            Complex::new(half + root, 0.0)
        }
    }

    /// The eigenvalue with the greatest real part, in 1/s, of a pair the upper one.
    pub fn dominant(&self) -> Complex<f64> {
        // With the delay as the unit of time.
        let scaled = self.scaled();
        let mut best = Complex::new(f64::NEG_INFINITY, 0.0);
        for line in scaled.lines() {
            // Starts further to the left lead to roots further to the left.
            if best.re >= line + LINES {
                break;
            }
            let highest = crate::number::whole(scaled.farthest(line).min(HIGHEST)) + 1;
            let starts = (0..=highest).map(|height| Complex::new(line, real(height as u64)));
            for root in starts.filter_map(|start| scaled.root(start)) {
                if root.re > best.re {
                    best = root;
                }
            }
        }
        Complex::new(best.re, best.im.abs()) / self.delay
    }

    fn scaled(&self) -> Self {
        let scaled = |matrix: &Matrix| matrix.map(|row| row.map(|entry| entry * self.delay));
        Self {
            now: scaled(&self.now),
            then: scaled(&self.then),
            delay: 1.0,
        }
    }

    /// A + B.
    fn sum(&self) -> Matrix {
        std::array::from_fn(|row| {
            std::array::from_fn(|column| self.now[row][column] + self.then[row][column])
        })
    }

    /// Real parts at which to begin, from the right: no root is further to the right than the first.
    fn lines(&self) -> impl Iterator<Item = f64> {
        let right = std::iter::successors(Some(self.farthest(0.0)), |line| Some(line / 2.0));
        let right = right.take_while(|line| *line > LINES).take(64);
        let left = (0_u32..16).map(|line| LINES * (1.0 - f64::from(line)));
        right.chain(left)
    }

    /// A bound for the size of all roots with a real part of at least `line`; the delay is 1. There `exp(-s)` is at most
    /// e, and the characteristic function is `s^2 - (T + e t) s + D + e d + e^2 E` with traces T and t and determinants
    /// D and E of A and B.
    fn farthest(&self, line: f64) -> f64 {
        let late = libm::exp(-line);
        let ((trace, determinant), (late_trace, late_determinant)) =
            (invariants(&self.now), invariants(&self.then));
        let mixed = invariants(&self.sum()).1 - determinant - late_determinant;
        let half = f64::midpoint(trace.abs(), late * late_trace.abs());
        let rest = determinant.abs() + late * mixed.abs() + late * late * late_determinant.abs();
        half + libm::sqrt(half * half + rest)
    }

    /// The root to which Newton's method leads from `start`; `None` if it leads to none.
    fn root(&self, start: Complex<f64>) -> Option<Complex<f64>> {
        let mut s = start;
        for _ in 0..STEPS {
            let (value, slope) = self.determinant(s);
            let step = value / slope;
            s -= step;
            // Digits double with each step, so one more step after nine digits has all.
            if step.norm_sqr() <= 1e-18 * (1e-9 + s.norm_sqr()) {
                let (value, slope) = self.determinant(s);
                let last = value / slope;
                return Some(if last.re.is_finite() { s - last } else { s });
            }
        }
        None
    }

    /// The characteristic function with its derivative; the delay is 1.
    fn determinant(&self, s: Complex<f64>) -> Pair {
        let size = libm::exp(-s.re);
        let late = Complex::new(size * libm::cos(s.im), -size * libm::sin(s.im));
        // Each entry with its derivative.
        let entry = |row: usize, column: usize| {
            let one = f64::from(u8::from(row == column));
            let then = late * self.then[row][column];
            (s * one - self.now[row][column] - then, then + one)
        };
        let product = |(left, left_slope): Pair, (right, right_slope): Pair| {
            (left * right, left_slope * right + left * right_slope)
        };
        let main = product(entry(0, 0), entry(1, 1));
        let other = product(entry(0, 1), entry(1, 0));
        (main.0 - other.0, main.1 - other.1)
    }
}

/// A value and its derivative.
type Pair = (Complex<f64>, Complex<f64>);

/// Trace and determinant.
fn invariants(matrix: &Matrix) -> (f64, f64) {
    let [[a, b], [c, d]] = matrix;
    (a + d, a * d - b * c)
}

/// How far lines of starts are apart.
const LINES: f64 = 2.0;

/// The largest imaginary part of a start: far above the modes of any network, whose period is no fraction of a delay.
const HIGHEST: f64 = 500.0;

/// Newton's method takes five to ten steps where it leads to a root.
const STEPS: usize = 40;

#[cfg(test)]
mod tests {
    use super::super::fluid::tests::testbed;
    use super::*;
    use crate::dde::{self, Equation};

    /// Fluids over several decades, with their equilibria.
    fn grid() -> Vec<(Fluid, Equilibrium)> {
        let mut grid = Vec::new();
        for flows in [2.0, 5.0, 12.0, 36.0, 90.0, 200.0] {
            for rtt in [20e-6, 100e-6, 500e-6, 2e-3] {
                for buffer in [84.0, 183.0, 600.0] {
                    let fluid = Fluid {
                        rtt,
                        buffer,
                        ..testbed(flows)
                    };
                    grid.extend(fluid.equilibrium().ok().map(|still| (fluid, still)));
                }
            }
        }
        grid
    }

    /// The sum of the sizes of all entries.
    fn size(matrix: &Matrix) -> f64 {
        matrix.iter().flatten().map(|entry| entry.abs()).sum()
    }

    /// Roots right of the line with this real part, in units of the delay, by the argument principle. The characteristic
    /// function is s^2 far out, so that along the line from the real axis upwards its argument turns by
    /// (2 - 2 * roots) / 2 * pi (Mikhailov's criterion).
    fn roots_right_of(linear: &Linear, line: f64) -> i32 {
        let scaled = linear.scaled();
        let late = libm::exp(-line).max(1.0);
        let bound = 4.0 * (line.abs() + size(&scaled.now) + late * size(&scaled.then) + 1.0);
        let steps = 400_000_u32;
        let (mut turned, mut last) = (0.0, None);
        for step in 0..=steps {
            // Dense near zero.
            let share = f64::from(step) / f64::from(steps);
            let s = Complex::new(line, bound * share * share);
            let value = scaled.determinant(s).0;
            let argument = libm::atan2(value.im, value.re);
            if let Some(last) = last {
                let mut turn: f64 = argument - last;
                turn -= std::f64::consts::TAU * libm::rint(turn / std::f64::consts::TAU);
                turned += turn;
            }
            last = Some(argument);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        let roots = libm::rint(1.0 - turned / std::f64::consts::PI) as i32;
        roots
    }

    // Clauses: HSCC-eq3
    #[test]
    fn derivatives_are_those_of_the_equations() {
        // Central differences of eq. 1, for both readings.
        for increase in [Increase::Corrected, Increase::Printed(1e-3)] {
            for (fluid, _) in grid() {
                let fluid = Fluid { increase, ..fluid };
                let Ok(still) = fluid.equilibrium() else {
                    continue;
                };
                let linear = Linear::of(&fluid, &still);
                let at = [still.window, still.queue];
                for part in 0..2 {
                    let h = 1e-6 * at[part];
                    let moved = |by: f64| {
                        let mut state = at;
                        state[part] += by;
                        state
                    };
                    let now = |by: f64| fluid.slope(&moved(by), 9.0, &|_| at);
                    let then = |by: f64| fluid.slope(&at, 9.0, &|_| moved(by));
                    for row in 0..2 {
                        let scale = size(&linear.now) + size(&linear.then);
                        for (found, exact) in [
                            ((now(h)[row] - now(-h)[row]) / (2.0 * h), linear.now),
                            ((then(h)[row] - then(-h)[row]) / (2.0 * h), linear.then),
                        ] {
                            let error = found - exact[row][part];
                            assert!(error.abs() < 1e-5 * scale, "{fluid:?} {row} {part} {error}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn known_roots_are_found() {
        // x' = -x(t - 1): s = W(-1) = -0.318131505204764 + 1.337235701430689 i, beside a mode that decays
        // faster.
        let linear = Linear {
            now: [[0.0, 0.0], [0.0, -5.0]],
            then: [[-1.0, 0.0], [0.0, 0.0]],
            delay: 1.0,
        };
        let root = linear.dominant();
        assert!((root.re + 0.318_131_505_204_764).abs() < 1e-12, "{root}");
        assert!((root.im - 1.337_235_701_430_689).abs() < 1e-12, "{root}");
        // x' = -pi/2 x(t - 1) is at the edge: s = i pi/2.
        let edge = Linear {
            then: [[-std::f64::consts::FRAC_PI_2, 0.0], [0.0, 0.0]],
            ..linear
        };
        let root = edge.dominant();
        assert!(root.re.abs() < 1e-12 && (root.im - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    }

    #[test]
    fn eigenvalues_solve_the_characteristic_equation() {
        for (fluid, still) in grid() {
            let linear = Linear::of(&fluid, &still);
            let root = linear.dominant();
            let scaled = linear.scaled();
            let scale = size(&scaled.now) + size(&scaled.then) + 1.0;
            let left = scaled.determinant(root * linear.delay).0.norm_sqr();
            assert!(left < 1e-16 * scale * scale, "{fluid:?}: {root} {left}");
        }
    }

    #[test]
    fn no_eigenvalue_lies_right_of_the_dominant_one() {
        let (mut stable, mut unstable) = (0, 0);
        for (fluid, still) in grid() {
            let linear = Linear::of(&fluid, &still);
            let root = linear.dominant() * linear.delay;
            assert_eq!(roots_right_of(&linear, root.re + 1e-3), 0, "{fluid:?}");
            assert!(roots_right_of(&linear, root.re - 1e-3) > 0, "{fluid:?}");
            stable += u32::from(root.re < 0.0);
            unstable += u32::from(root.re > 0.0);
        }
        assert!(stable > 5 && unstable > 5, "{stable} {unstable}");
    }

    #[test]
    fn nor_does_one_of_other_equations() {
        // Entries over three decades, with both signs, from a sequence without a pattern.
        let mut state = 1.0_f64;
        let mut entry = |size: f64| {
            state = (state * 997.0 + 0.3) % 1.0;
            size * (2.0 * state - 1.0)
        };
        for case in 0..60 {
            let now = [0.1, 1.0, 10.0][case % 3];
            let then = [0.1, 1.0, 10.0][case / 3 % 3];
            let linear = Linear {
                now: [[entry(now), entry(now)], [entry(now), entry(now)]],
                then: [[entry(then), entry(then)], [entry(then), entry(then)]],
                delay: 1.0,
            };
            let root = linear.dominant();
            assert_eq!(roots_right_of(&linear, root.re + 1e-3), 0, "{linear:?}");
            assert!(roots_right_of(&linear, root.re - 1e-3) > 0, "{linear:?}");
        }
    }

    #[test]
    fn without_delay_the_verdict_is_that_of_routh_and_hurwitz() {
        // s^2 - trace s + det: both coefficients positive.
        for (fluid, still) in grid() {
            let linear = Linear::of(&fluid, &still);
            let (trace, determinant) = invariants(&linear.sum());
            let hurwitz = trace < 0.0 && determinant > 0.0;
            assert_eq!(hurwitz, linear.undelayed().re < 0.0, "{fluid:?}");
            assert!(hurwitz, "the delay alone makes it oscillate: {fluid:?}");
            // Probabilities held, both eigenvalues are real and negative: -1/tau and another.
            let held = linear.held().dominant();
            assert!(held.re < 0.0 && held.im.abs() < 1e-6 * held.re.abs());
        }
    }

    // Clauses: HSCC-eq3
    #[test]
    fn a_small_disturbance_decays_or_grows_as_the_eigenvalue_says() {
        // The nonlinear model, integrated: the envelope of a disturbance of 0.01 % over ten periods.
        for flows in [12.0, 36.0, 60.0] {
            for rtt in [100e-6, 500e-6] {
                let fluid = Fluid {
                    rtt,
                    buffer: 600.0,
                    ..testbed(flows)
                };
                let still = fluid.equilibrium().unwrap();
                let root = Linear::of(&fluid, &still).dominant();
                let step = still.rtt / 100.0;
                let first = [still.window * (1.0 + 1e-4), still.queue];
                let steps = 30_000;
                let line = dde::solve(&fluid, first, step, steps);
                // Largest deviation of the queue in two windows of time.
                let largest = |from: usize, to: usize| {
                    let part = line.states[from..to].iter();
                    part.map(|state| (state[1] - still.queue).abs())
                        .fold(0.0, f64::max)
                };
                let period = crate::number::whole(std::f64::consts::TAU / root.im / step);
                let (early, late) = (4 * period, 8 * period);
                assert!(late + period < steps, "{period}");
                let growth =
                    libm::log(largest(late, late + period) / largest(early, early + period))
                        / (real((late - early) as u64) * step);
                let error = (growth - root.re).abs();
                assert!(
                    error < 0.05 * root.re.abs() + 1.0,
                    "{fluid:?}: {growth} {root}"
                );
            }
        }
    }
}
