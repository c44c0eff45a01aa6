use std::fs;

use super::*;

fn read(text: &str) -> Result<FlowTrace, String> {
    FlowTrace::of_csv("flows.csv", text.as_bytes())
}

#[test]
fn rows_become_flows_to_the_picosecond() {
    let trace = read(
        "# observed\nsender,receiver,size_bytes,start_us,colour\n1,0,32768,10000.000001,red\n2,0,1,7,\n",
    )
    .unwrap();
    let [first, second] = trace.flows() else {
        panic!("two flows")
    };
    assert_eq!(first.start, Time::from_ps(10_000_000_001));
    assert_eq!(
        (first.size, first.sender, first.receiver),
        (32768, HostId(1), HostId(0))
    );
    assert_eq!(second.start, Time::from_ps(7_000_000));
    assert_eq!(
        trace.span(),
        (Span::from_micros(7), Span::from_ps(10_000_000_001))
    );
    assert_eq!((trace.last_host(), trace.receivers()), (2, 1));
}

#[test]
fn a_malformed_line_is_named_by_file_and_line() {
    let head = "start_us,size_bytes,sender,receiver,connection\n1,1,0,1,5\n";
    for (line, cause) in [
        ("x,1,0,1,6", "start_us is microseconds"),
        ("1.0000001,1,0,1,6", "six decimals"),
        ("-1,1,0,1,6", "start_us is microseconds"),
        ("1,0,0,1,6", "size_bytes is a whole number above 0"),
        ("1,1,a,1,6", "sender is the number of a host"),
        ("1,1,0,,6", "receiver is the number of a host"),
        ("1,1,3,3,6", "host 3 would send to itself"),
        ("1,1,0,1,", "connection is a whole number"),
        ("1,1,0,2,5", "connection 5 leads from host 0 to host 1"),
        ("1,1,0", "3 fields, and the first line names 5"),
    ] {
        let error = read(&format!("{head}{line}\n1,1,0,1,7\n")).unwrap_err();
        assert!(error.starts_with("flows.csv, line 3: "), "{error}");
        assert!(error.contains(cause), "{line}: {error}");
    }
    let points = "point,start_us,size_bytes,sender,receiver\n0,1,1,0,1\n1,1,1,0,1\n";
    let error = read(points).unwrap_err();
    assert!(
        error.contains("line 3: a flow of point 1 among flows of point 0"),
        "{error}"
    );
    let error = read("start_us,sender,receiver\n1,0,1\n").unwrap_err();
    assert!(
        error.contains("line 1: there is no column size_bytes"),
        "{error}"
    );
    let error = read("start_us,size_bytes,sender,receiver\n").unwrap_err();
    assert!(error.contains("no flow"), "{error}");
}

#[test]
fn a_group_has_its_own_rows() {
    let rows = "start_us,size_bytes,sender,receiver,group\n1,1,0,1,a\n2,1,0,1,b\n3,1,0,1,a\n";
    let trace = read(rows).unwrap();
    assert_eq!(trace.of("a").count(), 2);
    assert_eq!(trace.of("b").count(), 1);
    assert_eq!(trace.of("c").count(), 0);
    assert_eq!(trace.of("").count(), 3);
    let without = read("start_us,size_bytes,sender,receiver\n1,1,0,1\n").unwrap();
    assert_eq!(without.of("a").count(), 1);
}

#[test]
fn a_connection_may_open_before_its_flow_and_not_after() {
    let head = "start_us,open_us,size_bytes,sender,receiver\n";
    let trace = read(&format!("{head}5,2.5,1,0,1\n5,,1,0,1\n")).unwrap();
    let opens: Vec<_> = trace.flows().iter().map(|flow| flow.open).collect();
    assert_eq!(opens, [Some(Time::from_ps(2_500_000)), None]);
    let error = read(&format!("{head}5,5.1,1,0,1\n")).unwrap_err();
    assert!(
        error.contains("line 2: open_us is after start_us"),
        "{error}"
    );
    let error = read(&format!("{head}5,x,1,0,1\n")).unwrap_err();
    assert!(error.contains("open_us is microseconds"), "{error}");
}

#[test]
fn a_file_that_changes_is_read_anew() {
    let path = std::env::temp_dir().join(format!("tailwater-trace-{}.csv", std::process::id()));
    let flows = |text: &str| {
        fs::write(&path, text).unwrap();
        let trace = FlowTrace::open(&path.to_string_lossy()).unwrap();
        (trace.flows().len(), trace.fingerprint().unwrap())
    };
    let head = "start_us,size_bytes,sender,receiver\n1,1,0,1\n";
    let (first, second) = (flows(head), flows(&format!("{head}2,1,0,1\n")));
    fs::remove_file(&path).unwrap();
    assert_eq!((first.0, second.0), (1, 2));
    assert_ne!(first.1, second.1);
}
