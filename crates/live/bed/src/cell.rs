//! Points that share a network.

use machine::kernel;
use plan::PointSpec;
use scenario::{Problems, Scenario};

use crate::ports::loaded;
use crate::stack::{Law, Stack};
use crate::testbed::Testbed;

/// Points that only differ in scheme and seed.
pub(crate) struct Cell<'a> {
    /// Schemes that this build and this kernel have.
    pub(crate) arms: Vec<Arm<'a>>,
    /// Points of the other schemes, each with the reason.
    pub(crate) left_out: Vec<(&'a PointSpec, String)>,
}

/// A scheme of a cell.
pub(crate) struct Arm<'a> {
    /// Its place among the arms of all cells, from 1.
    pub(crate) number: usize,
    /// By seed.
    pub(crate) points: Vec<&'a PointSpec>,
    pub(crate) stack: Stack,
}

/// The cells of `scenario`, or why Linux cannot run it.
pub(crate) fn all(scenario: &Scenario) -> Result<Vec<Cell<'_>>, Problems> {
    let controls = kernel::congestion_controls();
    let mut number = 0;
    let mut cells = Vec::new();
    for groups in by_settings(scenario) {
        let (mut arms, mut left_out) = (Vec::new(), Vec::new());
        for points in groups {
            let stack = Stack::of(points[0], &Testbed::of(points[0])?, &controls);
            match stack.and_then(|stack| loadable(&stack.laws).map(|()| stack)) {
                Ok(stack) => {
                    number += 1;
                    arms.push(Arm {
                        number,
                        points,
                        stack,
                    });
                }
                Err(reason) => left_out.push((points[0], reason)),
            }
        }
        cells.push(Cell { arms, left_out });
    }
    Ok(cells)
}

/// An error with the reason if the laws cannot be loaded.
fn loadable(laws: &[Law]) -> Result<(), String> {
    laws.iter().try_for_each(loaded::loadable)
}

/// Points by settings, then by scheme, then by seed.
fn by_settings(scenario: &Scenario) -> Vec<Vec<Vec<&PointSpec>>> {
    let mut cells: Vec<Vec<Vec<&PointSpec>>> = Vec::new();
    for point in scenario.points() {
        let place = cells.iter().position(|cell| cell[0][0].set == point.set);
        let place = place.unwrap_or_else(|| {
            cells.push(Vec::new());
            cells.len() - 1
        });
        let cell = &mut cells[place];
        match cell.iter_mut().find(|arm| arm[0].scheme == point.scheme) {
            Some(arm) => arm.push(point),
            None => cell.push(vec![point]),
        }
    }
    cells
}
