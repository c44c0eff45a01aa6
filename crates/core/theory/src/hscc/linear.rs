//! The model near its equilibrium (eq. 3): eigenvalues and whether all decay.
//!
//! The paper's equation 3 linearises its equation 1; the linearisation here is derived anew, from the
//! equation as corrected or as printed, since the corrected terms change it. With the state
//! x = (w - w0, q - q0) and the delay tau of the equilibrium it is `x'(t) = A x(t) + B x(t - tau)`. That
//! tau varies with the queue adds nothing of first order: the solution it delays stands still.
//!
//! The delay is kept as it is: a Padé approximant would make it a polynomial that is wrong for fast
//! modes, and a Nyquist plot gives the verdict without the eigenvalues. The eigenvalues are those of the
//! generator of the equation's semigroup, a derivative on the interval of one delay, whose Chebyshev
//! collocation (Breda, Maset and Vermiglio, SIAM J. Sci. Comput. 27, 2005) converges faster than any power
//! of the number of nodes; the dominant one is then refined by Newton's method on the characteristic
//! equation `det(s I - A - B exp(-s tau)) = 0` itself. A test counts the unstable roots by the
//! argument principle, which uses neither.

use base::cast::real;
use nalgebra::{Complex, DMatrix, Matrix2, Schur};

use super::fluid::{Equilibrium, Fluid, Increase};

/// `x'(t) = now x(t) + then x(t - delay)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// A in 1/s.
    pub now: Matrix2<f64>,
    /// B in 1/s.
    pub then: Matrix2<f64>,
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
            now: Matrix2::new(w_w, w_q, q_w, q_q),
            then: Matrix2::new(0.0, w_p * slope, 0.0, q_p * slope),
            delay: tau,
        }
    }

    /// The same with probabilities held constant, as inputs. Both eigenvalues then have negative real
    /// parts: the trace is negative, and in the determinant `w_q q_w` is not positive.
    #[must_use]
    pub fn held(&self) -> Self {
        Self {
            then: Matrix2::zeros(),
            ..*self
        }
    }

    /// The same as if nothing were delayed.
    pub fn undelayed(&self) -> Matrix2<f64> {
        self.now + self.then
    }

    /// The eigenvalue with the greatest real part, in 1/s, of a pair the upper one.
    pub fn dominant(&self) -> Complex<f64> {
        // With the delay as the unit of time.
        let scaled = self.scaled();
        let roots = scaled.generator(NODES);
        let first = roots.into_iter().fold(
            Complex::new(f64::NEG_INFINITY, 0.0),
            |best: Complex<f64>, root| {
                if root.re > best.re { root } else { best }
            },
        );
        scaled.refined(Complex::new(first.re, first.im.abs())) / self.delay
    }

    fn scaled(&self) -> Self {
        Self {
            now: self.now * self.delay,
            then: self.then * self.delay,
            delay: 1.0,
        }
    }

    /// Eigenvalues of the generator on `nodes + 1` Chebyshev nodes of the interval [-1, 0].
    fn generator(&self, nodes: usize) -> Vec<Complex<f64>> {
        let size = nodes + 1;
        let derivative = chebyshev(nodes);
        let mut matrix = DMatrix::<f64>::zeros(2 * size, 2 * size);
        for row in 1..size {
            for column in 0..size {
                // An interval of length 1 rather than 2.
                let entry = 2.0 * derivative[(row, column)];
                matrix[(2 * row, 2 * column)] = entry;
                matrix[(2 * row + 1, 2 * column + 1)] = entry;
            }
        }
        // At time 0 the derivative is that of the equation.
        for row in 0..2 {
            for column in 0..2 {
                matrix[(row, column)] = self.now[(row, column)];
                matrix[(row, 2 * nodes + column)] += self.then[(row, column)];
            }
        }
        Schur::try_new(matrix, f64::EPSILON, ITERATIONS)
            .map(|schur| schur.complex_eigenvalues().iter().copied().collect())
            .unwrap_or_default()
    }

    /// Newton's method on the characteristic equation; `root` itself if it leads elsewhere.
    fn refined(&self, root: Complex<f64>) -> Complex<f64> {
        let mut s = root;
        for _ in 0..NEWTON {
            let (value, derivative) = self.determinant(s);
            if derivative.norm_sqr() == 0.0 {
                return root;
            }
            s -= value / derivative;
        }
        let moved = (s - root).norm_sqr();
        if moved <= 1e-4 * (1.0 + root.norm_sqr()) {
            s
        } else {
            root
        }
    }

    /// The characteristic function with its derivative; the delay is 1.
    fn determinant(&self, s: Complex<f64>) -> Pair {
        let size = libm::exp(-s.re);
        let late = Complex::new(size * libm::cos(s.im), -size * libm::sin(s.im));
        // Each entry with its derivative.
        let entry = |row, column| {
            let one = f64::from(u8::from(row == column));
            let then = late * self.then[(row, column)];
            (s * one - self.now[(row, column)] - then, then + one)
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

/// Derivatives of polynomials at the Chebyshev nodes cos(j pi / n) from their values there (Trefethen,
/// Spectral Methods in MATLAB, 2000, theorem 7).
fn chebyshev(n: usize) -> DMatrix<f64> {
    let place = |j: usize| libm::cos(std::f64::consts::PI * real(j as u64) / real(n as u64));
    let weight = |j: usize| {
        let end = if j == 0 || j == n { 2.0 } else { 1.0 };
        if j.is_multiple_of(2) { end } else { -end }
    };
    let mut matrix = DMatrix::<f64>::zeros(n + 1, n + 1);
    for i in 0..=n {
        let mut sum = 0.0;
        for j in (0..=n).filter(|j| *j != i) {
            let entry = weight(i) / weight(j) / (place(i) - place(j));
            matrix[(i, j)] = entry;
            sum += entry;
        }
        // Rows sum to zero: a constant has no slope.
        matrix[(i, i)] = -sum;
    }
    matrix
}

/// Enough that the dominant root has six digits before it is refined.
const NODES: usize = 14;

/// Far more than the decomposition ever takes.
const ITERATIONS: usize = 10_000;

/// Digits double with each.
const NEWTON: usize = 8;

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

    /// Roots right of the imaginary axis by the argument principle. The characteristic function is s^2 far
    /// out, so that along the imaginary axis from 0 upwards its argument turns by
    /// (2 - 2 * roots) / 2 * pi (Mikhailov's criterion).
    fn unstable_roots(linear: &Linear) -> i32 {
        let scaled = linear.scaled();
        let bound = 4.0 * (scaled.now.abs().sum() + scaled.then.abs().sum() + 1.0);
        let steps = 400_000_u32;
        let (mut turned, mut last) = (0.0, None);
        for step in 0..=steps {
            // Dense near zero.
            let share = f64::from(step) / f64::from(steps);
            let s = Complex::new(0.0, bound * share * share);
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
                        let scale = linear.now.abs().max() + linear.then.abs().max();
                        for (found, exact) in [
                            ((now(h)[row] - now(-h)[row]) / (2.0 * h), linear.now),
                            ((then(h)[row] - then(-h)[row]) / (2.0 * h), linear.then),
                        ] {
                            let error = found - exact[(row, part)];
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
            now: Matrix2::new(0.0, 0.0, 0.0, -5.0),
            then: Matrix2::new(-1.0, 0.0, 0.0, 0.0),
            delay: 1.0,
        };
        let root = linear.dominant();
        assert!((root.re + 0.318_131_505_204_764).abs() < 1e-12, "{root}");
        assert!((root.im - 1.337_235_701_430_689).abs() < 1e-12, "{root}");
        // x' = -pi/2 x(t - 1) is at the edge: s = i pi/2.
        let edge = Linear {
            then: linear.then * std::f64::consts::FRAC_PI_2,
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
            let scale = linear.scaled().now.abs().max() + linear.scaled().then.abs().max() + 1.0;
            let left = linear
                .scaled()
                .determinant(root * linear.delay)
                .0
                .norm_sqr();
            assert!(left < 1e-16 * scale * scale, "{fluid:?}: {root} {left}");
        }
    }

    #[test]
    fn the_verdict_is_that_of_the_argument_principle() {
        let (mut stable, mut unstable) = (0, 0);
        for (fluid, still) in grid() {
            let linear = Linear::of(&fluid, &still);
            let decays = linear.dominant().re < 0.0;
            assert_eq!(decays, unstable_roots(&linear) == 0, "{fluid:?}");
            stable += u32::from(decays);
            unstable += u32::from(!decays);
        }
        assert!(stable > 5 && unstable > 5, "{stable} {unstable}");
    }

    #[test]
    fn without_delay_the_verdict_is_that_of_routh_and_hurwitz() {
        // s^2 - trace s + det: both coefficients positive.
        for (fluid, still) in grid() {
            let linear = Linear::of(&fluid, &still);
            let whole = linear.undelayed();
            let hurwitz = whole.trace() < 0.0 && whole.determinant() > 0.0;
            let roots = whole.complex_eigenvalues();
            assert_eq!(hurwitz, roots.iter().all(|root| root.re < 0.0), "{fluid:?}");
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
