//! Tables give back, value for value, what simulations measured.

use std::fs;
use std::path::Path;

use results::{Access, Folder, RunInfo, Store};
use scenario::{Overrides, Scenario, Source};
use sim::run::{self, Limits, Watching};

#[test]
fn flows_and_ports_are_read_back_as_they_were_measured() {
    // Losses, marks and a deadline that leaves flows unfinished: no column has one value alone.
    let sets = [
        "workload.senders=20,100",
        "workload.jitter=100us",
        "run.duration=35ms",
    ];
    let overrides = Overrides {
        sets: sets.map(str::to_owned).into(),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::builtin("incast").unwrap(), &overrides);
    let Ok(scenario) = scenario else {
        panic!("a correct scenario");
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tables");
    drop(fs::remove_dir_all(&path));
    let store = Store::open(&path, &scenario, None, Access::New).unwrap();
    store.begin(&scenario).unwrap();
    let (mut flows, mut ports) = (Vec::new(), Vec::new());
    for point in scenario.points() {
        results::simulate(&store, point, &scenario, Limits::NONE).unwrap();
        let number = u32::try_from(point.index).unwrap();
        let watching = Watching {
            probe: None,
            breakdown: true,
        };
        let outcome = run::watch(Limits::NONE, point, watching).unwrap();
        flows.extend(
            outcome
                .flows
                .iter()
                .map(|flow| format!("{number} {flow:?}")),
        );
        ports.extend(
            outcome
                .ports
                .iter()
                .map(|port| format!("{number} {port:?}")),
        );
    }
    store.assemble(&scenario, |_| ()).unwrap();
    store.write_info(&RunInfo::default()).unwrap();
    drop(store);

    let folder = Folder::open(&path).unwrap();
    let (mut flows_read, mut ports_read) = (Vec::new(), Vec::new());
    folder
        .flows(&mut |point, flow| flows_read.push(format!("{point} {flow:?}")))
        .unwrap();
    folder
        .ports(&mut |point, port| ports_read.push(format!("{point} {port:?}")))
        .unwrap();
    assert_eq!(flows_read, flows);
    assert_eq!(ports_read, ports);
    let some = |text: &str| flows.iter().any(|flow| flow.contains(text));
    assert!(some("fct_us: None") && some("fct_us: Some") && some("timeouts: 1"));
    assert!(ports.iter().any(|port| port.contains("bottleneck: true")));
}
