//! Checks flows that wait for other flows.

use crate::ImportedFlow;

/// Fails with the line and the cause if a flow would never start. O(flows + waits).
pub(crate) fn check(flows: &[ImportedFlow]) -> Result<(), String> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); flows.len()];
    for (place, flow) in flows.iter().enumerate() {
        for (before, _) in flow.wait.iter().flat_map(|wait| &wait.on) {
            followers[*before as usize].push(place);
        }
    }
    let needs = |flow: &ImportedFlow| flow.wait.as_ref().map_or(0, |wait| wait.needs);
    let mut needs: Vec<u32> = flows.iter().map(needs).collect();
    let starts = needs.iter().enumerate().filter(|(_, needs)| **needs == 0);
    let mut ready: Vec<usize> = starts.map(|(place, _)| place).collect();
    while let Some(done) = ready.pop() {
        for follower in &followers[done] {
            if needs[*follower] == 1 {
                ready.push(*follower);
            }
            needs[*follower] = needs[*follower].saturating_sub(1);
        }
    }
    let stuck = needs.iter().position(|needs| *needs > 0);
    let Some(wait) = stuck.and_then(|place| flows[place].wait.as_ref()) else {
        return Ok(());
    };
    Err(format!(
        "line {}: this flow never starts, because it waits for itself through others: remove one flow of the circle",
        wait.line
    ))
}
