//! Window assignment: how the budget is divided among connections.

use super::params::Surplus;
use base::Sort as _;
use base::cast::{real, whole};

/// A connection as Algorithm 1 sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// The bytes that decide its share: the remaining or the initial size. `None` without priority.
    pub(super) priority: Option<u64>,
    /// Segments it still needs; `u64::MAX` if its size is not known.
    pub(super) need: u64,
}

/// RCC Alg. 1: windows in packets for `claims`, in order of registration, out of `budget` packets.
/// Every window is at least 1, so more connections than packets exceed the budget.
///
/// O(n log n + budget), where n is less than the budget.
pub(super) fn assign(claims: &[Claim], budget: u64, surplus: Surplus) -> Vec<u64> {
    if is_crowded(claims.len(), budget) {
        return vec![1; claims.len()];
    }
    // Sizes known for all, or priority is off (RCC §4.1).
    let sizes: Option<Vec<u64>> = claims.iter().map(|claim| claim.priority).collect();
    let Some(sizes) = sizes else {
        let share = budget / claims.len() as u64;
        let equal = claims.iter().map(|claim| share.min(claim.need).max(1));
        let mut windows: Vec<u64> = equal.collect();
        if surplus == Surplus::Always {
            let order: Vec<usize> = (0..claims.len()).collect();
            give_surplus(&mut windows, &order, claims, budget);
        }
        return windows;
    };
    // Alg. 1 l. 3: p_i = 1 / size, the only reading that favours short flows.
    let total: f64 = sizes.iter().map(|size| 1.0 / real(*size)).sum();
    let share = |size: u64| whole(1.0 / real(size) / total * real(budget));
    // Alg. 1 l. 4-8: at least 1, at most the need.
    let mut windows: Vec<u64> = sizes
        .iter()
        .zip(claims)
        .map(|(size, claim)| share(*size).max(1).min(claim.need.max(1)))
        .collect();
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.order_by_key(|index| sizes[*index]);
    take_excess(&mut windows, &order, budget);
    if surplus == Surplus::Largest {
        order.reverse();
    }
    give_surplus(&mut windows, &order, claims, budget);
    windows
}

/// Whether there are too many connections to give any of them more than one packet: what Alg. 1 comes
/// to when there are at least as many as packets, whatever their sizes.
pub(super) const fn is_crowded(connections: usize, budget: u64) -> bool {
    connections as u64 >= budget
}

/// What raising small shares to 1 spent beyond the budget comes back from the lowest priorities.
// DEVIATION(RCC Alg. 1 l. 5): as printed, one short flow among 39 long ones makes the sum 41 of 40.
fn take_excess(windows: &mut [u64], order: &[usize], budget: u64) {
    let sum: u64 = windows.iter().sum();
    let mut excess = sum.saturating_sub(budget.max(windows.len() as u64));
    for index in order.iter().rev() {
        let taken = excess.min(windows[*index] - 1);
        windows[*index] -= taken;
        excess -= taken;
    }
}

/// RCC Alg. 1 l. 10-17: what rounding left over goes round by round to the first of `order` first.
// DEVIATION(RCC Alg. 1 l. 1, 11): as printed the list is sorted from high priority to low and walked from its end, so that
// the largest flow comes first. RDTCP has the highest priority at the tail, which is the default here.
// DEVIATION(RCC Alg. 1 l. 12): a window grows up to the need; the printed condition stops a packet
// short and withholds the last packet of a flow for a round trip.
fn give_surplus(windows: &mut [u64], order: &[usize], claims: &[Claim], budget: u64) {
    let mut sum: u64 = windows.iter().sum();
    loop {
        let before = sum;
        for index in order {
            if sum < budget && windows[*index] < claims[*index].need {
                windows[*index] += 1;
                sum += 1;
            }
        }
        if sum == before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1446;

    fn windows(sizes: &[u64]) -> Vec<u64> {
        let claim = |size: &u64| Claim {
            priority: Some(*size),
            need: size.div_ceil(MSS),
        };
        let claims: Vec<Claim> = sizes.iter().map(claim).collect();
        assign(&claims, 40, Surplus::Priority)
    }

    // Clauses: RCC-alg1-5
    #[test]
    fn a_hundred_equal_flows_get_one_packet_each() {
        assert_eq!(windows(&[32_768; 100]), [1; 100]);
    }

    // Clauses: RCC-alg1-4
    #[test]
    fn twenty_one_equal_flows_share_forty_packets() {
        let windows = windows(&[1_000_000; 21]);
        assert_eq!(windows.iter().filter(|w| **w == 2).count(), 19);
        assert_eq!(windows[19..], [1, 1], "the earlier flows get the surplus");
    }

    // Clauses: RDTCP-alg1-7, RCC-alg1-3, RCC-alg1-7
    #[test]
    fn a_short_flow_gets_what_it_needs_and_the_long_one_the_rest() {
        // Before the cap the shares are 1 and 39; 2 KB need two packets.
        assert_eq!(windows(&[30_000_000, 2_000]), [38, 2]);
    }

    // Clauses: RCC-alg1-5
    #[test]
    fn the_long_flows_give_back_what_raising_their_shares_to_a_packet_cost() {
        // Before the caps the shares are 26, 13 and 0: with 10, 13 and 20 times 1 the sum is 43. The
        // longest have nothing to give, so the second shortest gives 3 and the shortest keeps its need.
        let mut sizes = vec![10_000 * MSS; 20];
        sizes.extend([10 * MSS, 20 * MSS]);
        let windows = windows(&sizes);
        assert_eq!(windows[..20], [1; 20]);
        assert_eq!(windows[20..], [10, 10]);
    }

    // Clauses: RCC-alg1-11, RCC-alg1-12
    #[test]
    fn what_rounding_leaves_goes_to_the_shortest_first() {
        // Shares of 9.2, 12.3 and 18.5 make 39; of 5.7, 7.6 and 26.7 make 38, two of the shorter ones
        // get one more.
        assert_eq!(windows(&[200, 150, 100].map(|n| n * MSS)), [9, 12, 19]);
        assert_eq!(windows(&[280, 210, 60].map(|n| n * MSS)), [5, 8, 27]);
    }

    // RCC Alg. 1 as printed: the largest flow first.
    // Clauses: RCC-alg1-11
    #[test]
    fn what_rounding_leaves_goes_to_the_longest_first_if_asked_for() {
        let claims = [280, 210, 60].map(|packets| Claim {
            priority: Some(packets * MSS),
            need: packets,
        });
        assert_eq!(assign(&claims, 40, Surplus::Largest), [6, 8, 26]);
    }

    // Clauses: RCC-alg1-10
    #[test]
    fn without_sizes_every_flow_gets_the_same_and_nothing_is_handed_out_twice() {
        let unknown = Claim {
            priority: None,
            need: u64::MAX,
        };
        assert_eq!(assign(&[unknown; 3], 40, Surplus::Priority), [13; 3]);
        assert_eq!(assign(&[unknown; 60], 40, Surplus::Priority), [1; 60]);
    }

    // Clauses: RCC-alg1-10
    #[test]
    fn the_surplus_of_equal_windows_goes_to_the_earlier_connections_if_asked_for() {
        let unknown = Claim {
            priority: None,
            need: u64::MAX,
        };
        let short = Claim { need: 5, ..unknown };
        // 40 / 3 = 13, and 1 is left; with a flow that needs 5 there are 9 left for two.
        assert_eq!(assign(&[unknown; 3], 40, Surplus::Always), [14, 13, 13]);
        assert_eq!(
            assign(&[short, unknown, unknown], 40, Surplus::Always),
            [5, 18, 17]
        );
    }

    // Clauses: RCC-alg1-17
    #[test]
    fn the_sum_never_exceeds_the_budget_unless_every_window_is_one() {
        for n in 1..80_u64 {
            let sizes: Vec<u64> = (1..=n).map(|i| i * i * 700).collect();
            let windows = windows(&sizes);
            let sum: u64 = windows.iter().sum();
            assert!(
                sum <= 40.max(n) && windows.iter().all(|w| *w >= 1),
                "{n}: {windows:?}"
            );
        }
    }
}
