//! The part of a line within a rectangle.

/// A place, in points.
type At = (f64, f64);

/// The parts of a line between the corners `low` and `high`, in order.
pub(super) fn line(path: &[At], low: At, high: At) -> Vec<Vec<At>> {
    let mut parts: Vec<Vec<At>> = Vec::new();
    for ends in path.windows(2) {
        let Some((from, to)) = segment(ends[0], ends[1], low, high) else {
            continue;
        };
        match parts.last_mut() {
            // The comparison is exact, because an uncut segment begins where the last one ended.
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of a segment between the corners, by Liang and Barsky, "A new concept and method for
/// line clipping" (1984): of the parameters at which it crosses the four edges, the last that enters
/// and the first that leaves.
fn segment(from: At, to: At, low: At, high: At) -> Option<(At, At)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (step, room) in [
        (-dx, from.0 - low.0),
        (dx, high.0 - from.0),
        (-dy, from.1 - low.1),
        (dy, high.1 - from.1),
    ] {
        if step == 0.0 {
            if room < -CLOSE {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    let first = if enter > 0.0 { at(enter) } else { from };
    let last = if leave < 1.0 { at(leave) } else { to };
    (enter <= leave).then_some((first, last))
}

/// A line along an edge counts as within, despite rounding.
const CLOSE: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: At = (0.0, 0.0);
    const HIGH: At = (10.0, 10.0);

    #[test]
    fn a_line_inside_stays_whole() {
        let path = [(1.0, 1.0), (2.0, 9.0), (10.0, 0.0)];
        assert_eq!(line(&path, LOW, HIGH), [path]);
    }

    #[test]
    fn a_line_that_leaves_and_returns_is_cut_at_the_edge() {
        let path = [(0.0, 5.0), (5.0, 15.0), (10.0, 5.0)];
        let parts = line(&path, LOW, HIGH);
        assert_eq!(
            parts,
            [[(0.0, 5.0), (2.5, 10.0)], [(7.5, 10.0), (10.0, 5.0)]]
        );
    }

    #[test]
    fn a_line_beside_the_rectangle_is_not_drawn() {
        let path = [(-1.0, 0.0), (-1.0, 10.0), (-3.0, 4.0)];
        assert!(line(&path, LOW, HIGH).is_empty());
        // Both ends lie outside, and so does all between them, past a corner.
        assert!(line(&[(-6.0, 5.0), (5.0, 16.0)], LOW, HIGH).is_empty());
    }
}
