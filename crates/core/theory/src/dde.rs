//! Delay-differential equations: the method of steps with the classical Runge-Kutta method.
//!
//! The slope of the state may depend on the state at any earlier time, at most one step ago or
//! earlier, so delays may depend on the state. The past is kept as states and slopes on a grid, between
//! which a cubic Hermite polynomial interpolates: its error is of the order of the method's, so the
//! whole is of order four wherever the solution is smooth.
//!
//! Own code, because of the two crates that solve such equations one may not be used commercially and
//! the other changes its interface with every release and computes with the platform's functions, which
//! differ between machines.
//!
//! ```
//! use theory::dde::{Equation, solve};
//!
//! /// y'(t) = -y(t - 1), which was 1 until 0: on [0, 1] it is 1 - t.
//! struct Decay;
//! impl Equation<1> for Decay {
//!     fn slope(&self, _: &[f64; 1], at: f64, past: &dyn Fn(f64) -> [f64; 1]) -> [f64; 1] {
//!         [-past(at - 1.0)[0]]
//!     }
//! }
//! let line = solve(&Decay, [1.0], 0.125, 8);
//! assert!(line.states[8][0].abs() < 1e-12);
//! ```

use base::cast::{count, index, whole};

/// A system whose slope depends on its past.
pub trait Equation<const N: usize> {
    /// The slope in `state` at the time `at`. `past` gives the state at times up to one step before
    /// `at`; before time 0 it was as at 0.
    fn slope(&self, state: &[f64; N], at: f64, past: &dyn Fn(f64) -> [f64; N]) -> [f64; N];

    /// Puts a state back to where the system can be, such as a queue that cannot be negative. Called
    /// after every step.
    fn confine(&self, state: &mut [f64; N]) {
        let _ = state;
    }
}

/// A solution on an even grid that begins at time 0.
#[derive(Clone, Debug)]
pub struct Trajectory<const N: usize> {
    /// Distance of the grid.
    pub step: f64,
    /// The state at each place of the grid.
    pub states: Vec<[f64; N]>,
    slopes: Vec<[f64; N]>,
}

/// `steps` steps of length `step` from `first`, which held at all times before.
///
/// # Panics
/// If the slope asks for a state later than a step ago: the step must not exceed the least delay.
pub fn solve<const N: usize>(
    equation: &impl Equation<N>,
    first: [f64; N],
    step: f64,
    steps: usize,
) -> Trajectory<N> {
    let mut line = Trajectory {
        step,
        states: vec![first],
        slopes: Vec::new(),
    };
    let mut at = 0.0;
    let mut state = first;
    for done in 0..steps {
        let slope = |state: &[f64; N], at: f64| equation.slope(state, at, &|when| line.past(when));
        let k1 = slope(&state, at);
        line.slopes.push(k1);
        let slope = |state: &[f64; N], at: f64| equation.slope(state, at, &|when| line.past(when));
        let k2 = slope(&along(&state, &k1, step / 2.0), at + step / 2.0);
        let k3 = slope(&along(&state, &k2, step / 2.0), at + step / 2.0);
        let k4 = slope(&along(&state, &k3, step), at + step);
        for (part, value) in state.iter_mut().enumerate() {
            *value += step / 6.0 * (k1[part] + 2.0 * k2[part] + 2.0 * k3[part] + k4[part]);
        }
        equation.confine(&mut state);
        line.states.push(state);
        at = step * count(done + 1);
    }
    line
}

impl<const N: usize> Trajectory<N> {
    /// The last state.
    ///
    /// # Panics
    /// Never: there is a first state.
    pub fn last(&self) -> [f64; N] {
        *self.states.last().expect("a trajectory has a first state")
    }

    /// The state at a time that lies within what has been solved.
    fn past(&self, when: f64) -> [f64; N] {
        if when <= 0.0 {
            return self.states[0];
        }
        let place = when / self.step;
        let from = index(whole(libm::floor(place)));
        let share = place - count(from);
        if share < ROUNDING {
            return self.states[from];
        }
        if 1.0 - share < ROUNDING {
            return self.states[from + 1];
        }
        assert!(
            from + 1 < self.slopes.len(),
            "a delay is shorter than a step"
        );
        // The slope at the end of the newest interval is known once the next step has begun.
        let (from_slope, to_slope) = (self.slopes[from], self.slopes[from + 1]);
        let (before, after) = (self.states[from], self.states[from + 1]);
        std::array::from_fn(|part| {
            let s = share;
            let (h, rest) = (self.step, 1.0 - s);
            before[part] * (1.0 + 2.0 * s) * rest * rest
                + h * from_slope[part] * s * rest * rest
                + after[part] * s * s * (3.0 - 2.0 * s)
                - h * to_slope[part] * s * s * rest
        })
    }
}

/// `state` moved by `slope` for `time`.
fn along<const N: usize>(state: &[f64; N], slope: &[f64; N], time: f64) -> [f64; N] {
    std::array::from_fn(|part| state[part] + time * slope[part])
}

/// A place this close to the grid is on it.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    /// y'(t) = -y(t - delay).
    struct Delayed(f64);

    impl Equation<1> for Delayed {
        fn slope(&self, _: &[f64; 1], at: f64, past: &dyn Fn(f64) -> [f64; 1]) -> [f64; 1] {
            [-past(at - self.0)[0]]
        }
    }

    /// The solution for delay 1 that was 1 until 0, by the method of steps on paper: the sum over k
    /// with k - 1 < t of (-1)^k (t - (k - 1))^k / k!.
    fn exact(t: f64) -> f64 {
        let mut sum = 0.0;
        let mut factorial = 1.0;
        for k in 0_u32..40 {
            let k_real = f64::from(k);
            factorial *= k_real.max(1.0);
            if k_real - 1.0 >= t {
                break;
            }
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * libm::pow(t - (k_real - 1.0), k_real) / factorial;
        }
        sum
    }

    #[test]
    fn polynomials_of_low_degree_are_exact() {
        // The solution has degree k on the k-th interval; the interpolation is exact up to degree 3 and
        // so the solution up to degree 4.
        let line = solve(&Delayed(1.0), [1.0], 0.25, 16);
        for (place, state) in line.states.iter().enumerate() {
            let error = state[0] - exact(0.25 * count(place));
            assert!(error.abs() < 1e-12, "{place}: {error}");
        }
    }

    /// y'(t) = y(t) (0.6 - y(t - d)) with d = 1/2 + y(t)/4.
    struct StateDependent;

    impl Equation<1> for StateDependent {
        fn slope(&self, state: &[f64; 1], at: f64, past: &dyn Fn(f64) -> [f64; 1]) -> [f64; 1] {
            let delayed = past(at - 0.5 - 0.25 * state[0].clamp(0.0, 1.0))[0];
            [state[0] * (0.6 - delayed)]
        }
    }

    fn order(errors: [f64; 2]) -> f64 {
        libm::log2(errors[0] / errors[1])
    }

    #[test]
    fn the_order_is_four() {
        // Against the exact solution at t = 8, where its degree is 9.
        let error = |steps: usize| {
            let line = solve(&Delayed(1.0), [1.0], 8.0 / count(steps), steps);
            (line.last()[0] - exact(8.0)).abs()
        };
        let found = order([error(32), error(64)]);
        assert!((3.8..4.5).contains(&found), "{found}");
        // With the delay between the places of the grid the interpolation takes part.
        let error = |steps: usize| {
            let line = solve(&Delayed(0.7), [1.0], 7.0 / count(steps), steps);
            let fine = solve(&Delayed(0.7), [1.0], 7.0 / 4000.0, 4000);
            (line.last()[0] - fine.last()[0]).abs()
        };
        let found = order([error(80), error(160)]);
        assert!((3.5..4.8).contains(&found), "{found}");
    }

    #[test]
    fn a_delay_that_depends_on_the_state_converges() {
        // The kink at time 0 comes back where the delayed time passes 0, inside a step: its jump of the
        // second derivative costs two orders there, more or less by where in the step it falls.
        let fine = solve(&StateDependent, [1.0], 4.0 / 64_000.0, 64_000).last()[0];
        let error = |steps: usize| {
            let line = solve(&StateDependent, [1.0], 4.0 / count(steps), steps);
            (line.last()[0] - fine).abs()
        };
        let found = order([error(50), error(1600)]) / 5.0;
        assert!(found > 1.5, "{found}");
        assert!(error(25) < 1e-6, "{}", error(25));
    }

    #[test]
    #[should_panic(expected = "a delay is shorter than a step")]
    fn a_delay_shorter_than_a_step_is_refused() {
        solve(&Delayed(0.05), [1.0], 0.2, 10);
    }

    /// Falls with slope 1 but not below 0.
    struct Queue;

    impl Equation<1> for Queue {
        fn slope(&self, _: &[f64; 1], _: f64, _: &dyn Fn(f64) -> [f64; 1]) -> [f64; 1] {
            [-1.0]
        }

        fn confine(&self, state: &mut [f64; 1]) {
            state[0] = state[0].max(0.0);
        }
    }

    #[test]
    fn states_are_confined() {
        let line = solve(&Queue, [0.35], 0.1, 10);
        assert!((line.states[3][0] - 0.05).abs() < 1e-12);
        assert!(line.last()[0].abs() < 1e-12);
    }
}
