use super::*;

fn emulated(valid: bool) -> Emulated {
    let set = json!({ "workload.senders": "20" });
    let reasons = if valid {
        json!([])
    } else {
        json!(["cores 95 % busy"])
    };
    let linux = |run: u32, p50: f64| {
        json!({ "type": "point", "world": "linux", "scheme": "cubic", "run": run, "seed": 1, "set": set,
            "metrics": { "fct_p50_us": p50, "fct_p99_us": 30_000.0, "timeouts": 1, "drops": 50,
                "queue_mean_bytes": 61_200.0, "flows_completed": 1 + run, "flows_failed": 1 - run },
            "fct_us": if run == 0 { vec![24_000.0] } else { vec![20_000.0, 26_000.0] },
            "live": { "valid": valid, "reasons": reasons, "start_lateness_p99_us": 200.0,
                "busy_share": 0.71, "rate_share": 0.991, "reordered_share": 0.0 } })
    };
    let lines = vec![
        json!({ "type": "emulation", "scenario": "incast", "runs": 2, "version": "0.1.0" }),
        json!({ "type": "capture", "scheme": "cubic", "set": set, "file": "capture-1-cubic.pcapng",
            "packets": 1200, "lost": 3, "left_out": 0 }),
        json!({ "type": "skipped", "scheme": "dctcp", "set": set, "reason": "this kernel has no dctcp" }),
        json!({ "type": "bed", "set": set, "kernel": "6.18.44", "hosts": 21, "switches": 1,
            "rate_bps": 2e8, "scenario_rate_bps": 1e9, "burst_bytes": 1512, "rtt_us": 61.0,
            "different": [{ "key": "tcp.syn_rto", "instead": "1 s" }] }),
        linux(0, 25_000.0),
        linux(1, 27_000.0),
        json!({ "type": "point", "world": "simulated", "scheme": "cubic", "run": 0, "seed": 1, "set": set,
            "metrics": { "fct_p50_us": 26_100.0, "fct_p99_us": 27_000.0, "timeouts": 0, "drops": 99,
                "queue_mean_bytes": 70_000.0 } }),
    ];
    Emulated::new(lines)
}

#[test]
fn linux_stands_beside_the_simulation() {
    insta::assert_snapshot!(table(&emulated(true)));
}

#[test]
fn a_disturbed_run_is_disowned() {
    let text = table(&emulated(false));
    assert!(
        text.contains("NOT VALID, 2 of 2 runs: cores 95 % busy"),
        "{text}"
    );
}

#[test]
fn programs_get_every_run() {
    let text = csv(&emulated(true));
    assert_eq!(text.lines().count(), 4);
    let value: Value = serde_json::from_str(&json(&emulated(true))).unwrap();
    assert_eq!(value["points"][0]["world"], "linux");
    assert_eq!(value["points"].as_array().unwrap().len(), 3);
}

#[test]
fn a_folder_is_read_again_and_a_damaged_line_is_named() {
    let folder = std::env::temp_dir().join(format!("tailwater-lines-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    assert!(Emulated::read(&folder).is_none());
    let lines = emulated(true).lines;
    let ended = lines.iter().map(|line| [line.to_string(), "\n".to_owned()]);
    let mut text: String = ended.flatten().collect();
    fs::write(folder.join(LINES), &text).unwrap();
    let again = Emulated::read(&folder)
        .unwrap()
        .unwrap_or_else(|_| panic!("it was whole"));
    assert_eq!(table(&again), table(&emulated(true)));
    text += "{\"type\": ";
    fs::write(folder.join(LINES), &text).unwrap();
    let Err(Problems(problems)) = Emulated::read(&folder).unwrap() else {
        panic!("it is damaged")
    };
    let damaged = format!("live.jsonl, line {}:", lines.len() + 1);
    assert!(
        problems[0].to_string().contains(&damaged),
        "{}",
        problems[0]
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_page_has_every_scheme_with_its_flows() {
    let page = page(&emulated(true));
    let network = &page.networks[0];
    assert!(network.is_valid);
    assert_eq!(network.place, "workload.senders = 20");
    assert_eq!(network.left_out[0].0, "dctcp");
    assert_eq!(
        network.schemes[0].fct_us,
        [vec![20_000.0, 24_000.0, 26_000.0], vec![]]
    );
    assert_eq!(network.schemes[0].flows, [4, 0]);
    assert_eq!(network.schemes[0].estimates[0][0].mean, Some(26.0));
    assert!(
        page.files
            .iter()
            .any(|(name, _)| name == "capture-1-cubic.pcapng")
    );
    assert!(!super::page(&emulated(false)).networks[0].is_valid);
}

#[test]
fn reasons_of_one_kind_are_told_once() {
    let mut all = emulated(false);
    let points = all.lines.iter_mut().filter(|line| line["world"] == "linux");
    for (point, busy) in points.zip([94, 96]) {
        point["live"]["reasons"] = json!([
            format!("cores {busy} % busy"),
            "link at 91.5 % while queued"
        ]);
    }
    let text = table(&all);
    let line = text.lines().find(|line| line.starts_with("NOT VALID"));
    let expected = "NOT VALID, 2 of 2 runs: cores 94 % busy; link at 91.5 % while queued (starts";
    assert!(
        line.is_some_and(|line| line.starts_with(expected)),
        "{text}"
    );
}
