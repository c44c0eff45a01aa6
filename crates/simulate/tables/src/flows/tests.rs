use std::fs;

use base::Quantity;

use super::*;

fn read(text: &str) -> Result<FlowTrace, String> {
    FlowTrace::of_csv("flows.csv", text.as_bytes(), &TraceFileSettings::default())
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
        (
            "x,1,0,1,6",
            "start_us is a number of microseconds or a date",
        ),
        ("-1,1,0,1,6", "start_us is -1, before the beginning of time"),
        ("1e40,1,0,1,6", "start_us is 1e40, later than the year 9999"),
        ("1,0,0,1,6", "size_bytes is a whole number above 0"),
        ("1,1.5,0,1,6", "size_bytes is a whole number above 0"),
        ("1,1e17,0,1,6", "size_bytes is at most 2^53 bytes"),
        ("1,1,a,1,6", "sender is the number of a host"),
        ("1,1,0,,6", "receiver is empty"),
        (
            "1,1,4294967295,1,6",
            "sender is the number of a host, from 0 to 4294967294",
        ),
        ("1,1,3,3,6", "host 3 would send to itself"),
        ("1,1,0,1,", "connection is a whole number"),
        ("1,1,0,2,5", "connection 5 connects host 0 with host 1"),
        ("1,1,0", "3 fields, and the first line names 5"),
    ] {
        let error = read(&format!("{head}{line}\n1,1,0,1,7\n")).unwrap_err();
        assert!(error.starts_with("flows.csv, line 3: "), "{error}");
        assert!(error.contains(cause), "{line}: {error}");
    }
    let points = "point,start_us,size_bytes,sender,receiver\n0,1,1,0,1\n1,1,1,0,1\n";
    let error = read(points).unwrap_err();
    assert!(
        error.contains("line 3: a flow of point 1 is among flows of point 0"),
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
    assert!(
        error.contains("open_us is a number of microseconds"),
        "{error}"
    );
}

#[test]
fn a_connection_opens_once() {
    let head = "start_us,open_us,size_bytes,sender,receiver,connection\n";
    for rows in ["5,2,1,0,1,7\n9,,1,0,1,7\n", "5,,1,0,1,7\n9,5,1,0,1,7\n"] {
        assert!(read(&format!("{head}{rows}")).is_ok(), "{rows}");
    }
    for rows in ["5,2,1,0,1,7\n9,8,1,0,1,7\n", "9,8,1,0,1,7\n5,,1,0,1,7\n"] {
        let error = read(&format!("{head}{rows}")).unwrap_err();
        assert!(
            error.contains("line 3: connection 7 opens after one of its flows has started"),
            "{error}"
        );
    }
}

#[test]
fn a_receiver_may_ask_for_a_flow() {
    let head = "start_us,request_bytes,size_bytes,sender,receiver,connection\n";
    let trace = read(&format!("{head}5,100,1,0,1,7\n6,100,1,0,1,7\n5,,1,0,1,8\n")).unwrap();
    let requests: Vec<_> = trace.flows().iter().map(|flow| flow.request).collect();
    assert_eq!(requests, [Some(100), Some(100), None]);
    assert!(trace.has_requests());
    for (rows, cause) in [
        (
            "5,0,1,0,1,7\n",
            "line 2: request_bytes is a whole number above 0",
        ),
        (
            "5,100,1,0,1,7\n6,90,1,0,1,7\n",
            "line 3: the request on connection 7 is 90 bytes, in an earlier row 100 bytes",
        ),
        (
            "5,,1,0,1,7\n6,90,1,0,1,7\n",
            "line 3: the request on connection 7 is 90 bytes, in an earlier row none",
        ),
    ] {
        let error = read(&format!("{head}{rows}")).unwrap_err();
        assert!(error.contains(cause), "{error}");
    }
}

#[test]
fn a_file_that_changes_is_read_anew() {
    let path = std::env::temp_dir().join(format!("tailwater-trace-{}.csv", std::process::id()));
    let flows = |text: &str| {
        fs::write(&path, text).unwrap();
        let trace =
            FlowTrace::open(&path.to_string_lossy(), &TraceFileSettings::default()).unwrap();
        (trace.flows().len(), trace.fingerprint().unwrap())
    };
    let head = "start_us,size_bytes,sender,receiver\n1,1,0,1\n";
    let (first, second) = (flows(head), flows(&format!("{head}2,1,0,1\n")));
    fs::remove_file(&path).unwrap();
    assert_eq!((first.0, second.0), (1, 2));
    assert_ne!(first.1, second.1);
}

/// The trace that `reading` makes from CSV.
fn read_as(text: &str, reading: &TraceFileSettings) -> Result<FlowTrace, String> {
    FlowTrace::of_csv("flows.csv", text.as_bytes(), reading)
}

/// Starts in microseconds.
fn starts(trace: &FlowTrace) -> Vec<u64> {
    let flows = trace.flows().iter();
    flows.map(|flow| flow.start.as_ps() / 1_000_000).collect()
}

const HEAD: &str = "start_us,size_bytes,sender,receiver\n";

#[test]
fn numbers_are_read_in_every_form_that_programs_write() {
    let trace = read(&format!(
        "{HEAD}1e4,1.5E3,1.0,0.0\n10000.2500004,1500.0,2,0\n10000.12345678901234,1,1,0\n"
    ));
    let trace = trace.unwrap();
    let all: Vec<_> = trace
        .flows()
        .iter()
        .map(|flow| (flow.start.as_ps(), flow.size))
        .collect();
    assert_eq!(
        all,
        [
            (10_000_000_000, 1500),
            (10_000_250_000, 1500),
            (10_000_123_457, 1)
        ]
    );
    let spreadsheet = "\u{feff}start_us;size_bytes;sender;receiver\n7;1;0;1\n";
    assert_eq!(starts(&read(spreadsheet).unwrap()), [7]);
}

#[test]
fn weeks_are_read_and_what_lies_beyond_the_clock_is_told_the_limit() {
    // A week and a second.
    let trace = read(&format!("{HEAD}0,1,0,1\n604801000000,1,0,1\n")).unwrap();
    assert_eq!(starts(&trace), [0, 604_801_000_000]);
    assert!(trace.notes().is_empty());
    // 201 days.
    let error = read(&format!("{HEAD}0,1,0,1\n17366400000000,1,0,1\n")).unwrap_err();
    assert!(
        error.contains("starts 201 days after the beginning, beyond the limit of 200 days"),
        "{error}"
    );
    assert!(error.contains("workload.window"), "{error}");
}

#[test]
fn unix_times_are_shifted_to_the_first_start() {
    let reading = |columns: &str| TraceFileSettings {
        columns: ColumnNames::parse(columns).unwrap(),
        start: Span::from_millis(10),
        ..TraceFileSettings::default()
    };
    let rest = "size_bytes,sender,receiver\n";
    for (column, unit, first, second) in [
        ("ts", "start=ts in s", "1700000000.5", "1.7000000015e9"),
        ("ts", "start=ts in ms", "1700000000500", "1700000001500.0"),
        ("start_us", "auto", "1700000000500000", "1700000001500000"),
        (
            "begin_ns",
            "start=begin_ns",
            "1700000000500000000",
            "1700000001500000000",
        ),
        (
            "ts",
            "start=ts",
            "2023-11-14 22:13:20.500",
            "2023-11-14T22:13:21.5Z",
        ),
    ] {
        let trace = read_as(
            &format!("{column},{rest}{second},1,0,1\n{first},1,0,1\n"),
            &reading(unit),
        )
        .unwrap();
        assert_eq!(starts(&trace), [1_010_000, 10_000], "{unit}");
        let note = "the first flow starts at 2023-11-14 22:13:20 UTC, which is put at 10ms of the simulation";
        assert_eq!(trace.notes(), [note], "{unit}");
    }
    // Nothing shows the unit of such numbers.
    let error = read_as(&format!("ts,{rest}5,1,0,1\n"), &reading("start=ts")).unwrap_err();
    assert!(
        error.contains("workload.columns = \"start=ts in s\""),
        "{error}"
    );
    let error = read(&format!("ts,{rest}5,1,0,1\n")).unwrap_err();
    assert!(
        error
            .contains("there is no column start_us; the file has ts, size_bytes, sender, receiver"),
        "{error}"
    );
}

#[test]
fn a_window_takes_the_flows_that_start_in_it() {
    let text = format!("{HEAD}5000,1,0,1\n3600000000,1,0,1\n3600000001,1,0,1\n7200000000,1,0,1\n");
    let window = |window: &str| {
        let reading = TraceFileSettings {
            window: TraceWindow::parse(window).unwrap(),
            start: Span::from_millis(10),
            ..TraceFileSettings::default()
        };
        read_as(&text, &reading)
    };
    let trace = window("1h..2h").unwrap();
    assert_eq!(starts(&trace), [10_000, 10_001]);
    let note = "workload.window takes 2 of 4 flows; it begins at 1 h, which is put at 10ms of the simulation";
    assert_eq!(trace.notes(), [note]);
    assert_eq!(starts(&window("..1h").unwrap()), [15_000]);
    assert_eq!(
        starts(&window("90min..").unwrap()),
        [10_000 + 1_800_000_000]
    );
    let error = window("3h..").unwrap_err();
    assert!(
        error.contains(
            "no flow starts in workload.window; the first starts at 5 ms, the last at 2 h"
        ),
        "{error}"
    );
    let error = window("2024-05-01..").unwrap_err();
    assert!(
        error.contains("the starts of the trace are not dates"),
        "{error}"
    );
}

#[test]
fn idle_times_are_shortened_and_nothing_else() {
    let text = "open_us,start_us,size_bytes,sender,receiver\n,1000000,1,0,1\n,1500000,1,0,1\n9000000,10000000,1,0,1\n";
    let reading = TraceFileSettings {
        max_gap: Some(Span::from_secs(2)),
        ..TraceFileSettings::default()
    };
    let trace = read_as(text, &reading).unwrap();
    assert_eq!(starts(&trace), [1_000_000, 1_500_000, 3_500_000]);
    // A connection that opens within a shortened period opens at its end.
    assert_eq!(
        trace.flows()[2].open,
        Some(Time::from_ps(3_500_000_000_000))
    );
    let note = "1 time of more than 2 s without a start is shortened to that, by 6.5 s together";
    assert_eq!(trace.notes(), [note]);
}

#[test]
fn addresses_become_hosts_in_the_order_of_their_appearance() {
    let text =
        format!("{HEAD}1,1,10.0.0.9,10.0.0.1\n2,1,10.0.0.7,10.0.0.1\n3,1,10.0.0.1,10.0.0.9\n");
    let trace = read(&text).unwrap();
    let pairs: Vec<_> = trace
        .flows()
        .iter()
        .map(|flow| (flow.sender.0, flow.receiver.0))
        .collect();
    assert_eq!(pairs, [(0, 1), (2, 1), (1, 0)]);
    let hosts = ["10.0.0.9", "10.0.0.1", "10.0.0.7"].map(str::to_owned);
    assert_eq!(trace.hosts(), (0..).zip(hosts).collect::<Vec<_>>());
    assert!(trace.notes()[0].starts_with("3 hosts have names and are numbered in the order"));
    // Numbers that are too large for hosts may count as names.
    let reading = TraceFileSettings {
        hosts: HostNames::Appearance,
        ..TraceFileSettings::default()
    };
    let trace = read_as(&format!("{HEAD}1,1,3232235777,3232235778\n"), &reading).unwrap();
    assert_eq!(trace.last_host(), 1);
}

#[test]
fn a_table_gives_hosts_their_numbers() {
    let folder = std::env::temp_dir().join(format!("tailwater-hosts-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    fs::write(path("flows.csv"), format!("{HEAD}1,1,web,db\n")).unwrap();
    let reading = TraceFileSettings {
        hosts: HostNames::parse(&path("hosts.csv")).unwrap(),
        ..TraceFileSettings::default()
    };
    let open = |hosts: &str| {
        fs::write(path("hosts.csv"), hosts).unwrap();
        FlowTrace::open(&path("flows.csv"), &reading)
    };
    let ends = |hosts: &str| {
        let flow = open(hosts).unwrap().flows()[0];
        (flow.sender.0, flow.receiver.0)
    };
    assert_eq!(ends("name,host\nweb,40\ndb,3\n"), (40, 3));
    assert_eq!(ends("db\nweb\n"), (1, 0));
    let refused = |hosts: &str| open(hosts).unwrap_err();
    assert!(
        refused("db\n")
            .contains("sender is \"web\", which the table of workload.host_names does not name")
    );
    assert!(refused("db,1\nweb,1\n").contains("host 1 would send to itself, the number of both"));
    assert!(refused("db,x\n").contains("hosts.csv, line 1: \"x\" is no number of a host"));
    assert!(refused("db\ndb\n").contains("hosts.csv, line 2: db stands further up"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn flows_of_a_round_have_the_same_number_and_others_none() {
    let head = "start_us,size_bytes,sender,receiver,round\n";
    let trace = read(&format!(
        "{head}1,1,1,0,70\n1,1,2,0,70.0\n2,1,3,0,\n3,1,1,0,9\n"
    ));
    let trace = trace.unwrap();
    let rounds: Vec<_> = trace.flows().iter().map(|flow| flow.round).collect();
    assert_eq!(rounds, [Some(0), Some(0), None, Some(1)]);
    assert!(trace.has_rounds());
    assert!(!read(&format!("{HEAD}1,1,1,0\n")).unwrap().has_rounds());
    let wrong = read(&format!("{head}1,1,1,0,first\n")).unwrap_err();
    assert!(
        wrong.contains("round is a whole number, not \"first\""),
        "{wrong}"
    );
}

const WAITING: &str = "id,start_us,after,delay_us,size_bytes,sender,receiver\n";

#[test]
fn a_flow_waits_for_others_that_may_stand_further_down() {
    let trace = read(&format!(
        "{WAITING}c,,a+b@12.5,2,1,2,0\na,10,,,1,0,1\nb,7,,0,1,1,2\nd,,2 of a+b+c,,1,2,1\n"
    ))
    .unwrap();
    let [c, a, _, d] = trace.flows() else {
        panic!("four flows")
    };
    assert_eq!(trace.wait(a), None);
    assert_eq!(c.start, Time::from_ps(2_000_000));
    let on = vec![(1, Span::ZERO), (2, Span::from_ps(12_500_000))];
    assert_eq!(trace.wait(c), Some(&Wait { needs: 2, on }));
    assert_eq!(trace.wait(d).map(|wait| wait.needs), Some(2));
    // Waiting flows do not count for the begin and end of the trace.
    let span = (Span::from_micros(7), Span::from_micros(10));
    assert_eq!(trace.span(), span);
}

#[test]
fn waits_that_cannot_end_are_named_by_line_and_cause() {
    let rows = "a,10,,,1,0,1\nb,,a,,1,1,2\n";
    for (line, at, cause) in [
        ("c,,x,,1,0,1", 4, "no flow has the id \"x\""),
        ("c,,,,1,0,1", 4, "start_us is a number"),
        ("c,5,a,,1,0,1", 4, "leave start_us or after empty"),
        ("c,5,,3,1,0,1", 4, "this flow waits for none"),
        ("c,,a@-1,,1,0,1", 4, "after @ expected a time"),
        (
            "c,,3 of a+b,,1,0,1",
            4,
            "with 2 flows, a flow can wait for 1 to 2 of them",
        ),
        ("c,,1 of a@1+b@2,,1,0,1", 4, "must then be the same"),
        ("a,5,,,1,0,1", 4, "another flow has the id a already"),
        ("a b,5,,,1,0,1", 4, "has a space"),
        ("c,,c,,1,0,1", 4, "c waits for c;"),
        (
            "c,,a+d,,1,0,1\nd,,e,,1,0,1\ne,,d+a,,1,0,1",
            5,
            "d waits for e, which waits for d;",
        ),
    ] {
        let error = read(&format!("{WAITING}{rows}{line}\n")).unwrap_err();
        let place = format!("flows.csv, line {at}: ");
        assert!(error.starts_with(&place), "{line}: {error}");
        assert!(error.contains(cause), "{line}: {error}");
    }
    let part = TraceFileSettings {
        window: TraceWindow::parse("1us..").unwrap(),
        ..TraceFileSettings::default()
    };
    let text = format!("{WAITING}{rows}");
    let error = FlowTrace::of_csv("flows.csv", text.as_bytes(), &part).unwrap_err();
    assert!(error.contains("leave workload.window out"), "{error}");
}

#[test]
fn an_id_is_some_other_column_where_nobody_waits() {
    let trace = read("id,start_us,size_bytes,sender,receiver\n7,1,1,0,1\n7,2,1,0,1\n").unwrap();
    assert_eq!(trace.flows().len(), 2);
}
