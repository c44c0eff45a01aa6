//! `--ties` compares orders of simultaneous events, and its findings stay with the run.

use std::fs;

use crate::workspace::Workspace;

#[test]
fn what_orders_of_events_change_stays_with_the_run_and_is_on_its_page() {
    let workspace = Workspace::new("ties");
    let run = "run incast --set workload.senders=4 --out run --quiet";
    let first = workspace.answer(&format!("{run} --ties 3"));
    assert!(first.contains("under 3 orders"), "{first}");
    let page = || fs::read_to_string(workspace.path("run/report.html")).expect("a report");
    assert!(page().contains("Under 3 orders of simultaneous events"));
    assert_eq!(workspace.json("run/summary.json")["ties"]["orders"], 3);
    // A run that does not ask for orders reports those that are there; one that asks for others gets others.
    let again = workspace.answer(&format!("{run} --resume"));
    assert!(again.contains("under 3 orders"), "{again}");
    workspace.answer(&format!("{run} --resume --ties 2"));
    assert_eq!(workspace.json("run/summary.json")["ties"]["orders"], 2);
    assert!(page().contains("Under 2 orders of simultaneous events"));
}

#[test]
fn one_order_is_no_comparison() {
    let workspace = Workspace::new("one-order");
    let complaint = workspace.refusal("run incast --no-save --ties 1");
    assert!(complaint.contains("from 2 to"), "{complaint}");
}
