//! A scene holds every packet of its port while it records, from before the first loss to the end of the repair.

use std::fs;
use std::path::Path;

use record::theatre::Theatre;
use sim::metrics::Outcome;
use sim::run;

use crate::support::points;

/// A simulation and its scene, if it has one.
fn played(name: &str, scheme: &str, sets: &[&str]) -> (Outcome, Option<String>) {
    let point = points("incast", scheme, sets).remove(0);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    drop(fs::remove_file(&path));
    let mut theatre = Theatre::new(&point);
    let outcome = run::observe(&point, &mut theatre).expect("a conserving run");
    theatre.finish(&path).expect("a file is written");
    (outcome, fs::read_to_string(&path).ok())
}

/// The numbers of a column: `"name":[1,2]` behind the first `"part":`.
fn column(scene: &str, part: &str, name: &str) -> Vec<i64> {
    let part = scene.split_once(&format!("\"{part}\":")).expect("a part").1;
    let rest = part
        .split_once(&format!("\"{name}\":["))
        .expect("a column")
        .1;
    let numbers = rest.split_once(']').expect("its end").0;
    let numbers = numbers.split(',').filter(|number| !number.is_empty());
    numbers
        .map(|number| number.parse().expect("a number"))
        .collect()
}

#[test]
fn a_scene_has_the_drops_of_its_port_and_the_first_timeout() {
    let (outcome, scene) = played("scene", "newreno", &["workload.senders=60"]);
    let scene = scene.expect("packets were dropped");
    let flags = column(&scene, "packets", "k");
    let dropped = flags.iter().filter(|flag| **flag & 2 != 0).count() as u64;
    assert!(outcome.metrics.timeouts > 0 && !scene.contains(r#""timeout":null"#));
    assert!(
        dropped > 100 && dropped <= outcome.metrics.drops,
        "{dropped}"
    );
    assert!(
        scene.contains(r#"["timeout","RFC 6298 §5.4","#),
        "with its clause"
    );
    // What was dropped was sent again, and passed.
    let later = column(&scene, "packets", "d");
    let again = flags.iter().zip(&later).filter(|(flag, _)| **flag & 6 == 4);
    assert!(again.clone().count() > 0 && again.clone().all(|(_, later)| *later != 0));
    assert_eq!(flags.len(), column(&scene, "packets", "t").len());
    assert_eq!(
        column(&scene, "states", "t").len(),
        column(&scene, "states", "r").len()
    );
}

#[test]
fn a_simulation_without_a_drop_has_no_scene() {
    let (outcome, scene) = played("no-scene", "dctcp", &["workload.senders=2"]);
    assert_eq!((outcome.metrics.drops, scene), (0, None));
}

#[test]
fn a_scene_of_many_packets_is_bounded_and_says_when_it_records() {
    let (_, scene) = played(
        "long-scene",
        "newreno",
        &[
            "workload.senders=150",
            "tcp.min_rto=40ms",
            "tcp.initial_rto=40ms",
        ],
    );
    let scene = scene.expect("packets were dropped");
    let packets = column(&scene, "packets", "t").len() + column(&scene, "states", "t").len();
    assert!(packets < 6000, "{packets}");
    let number = |text: &str| text.trim_end_matches(']').parse::<u64>().expect("a number");
    let end = scene.split_once(r#""end":"#).expect("an end").1;
    let end = number(end.split(',').next().unwrap_or(""));
    let spans = scene.split_once(r#""spans":[["#).expect("spans").1;
    let spans = spans.split_once("]]").expect("their end").0;
    let recorded = spans.rsplit(',').next().map(number).expect("a time");
    assert!(
        recorded < end,
        "the rest is not recorded: {recorded} of {end}"
    );
}
