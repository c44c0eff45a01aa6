use plan::PointSpec;
use plan::metric::Selector;

use crate::{Overrides, Scenario, Source};

#[test]
fn a_metric_goes_by_its_column_without_the_unit_and_by_the_statistic() {
    for word in ["fct_p99_us", "fct_p99", "p99"] {
        assert_eq!(Selector::parse(word).unwrap().metric, "fct_p99_us");
    }
    let class = Selector::parse("<=1.5MB.p99").unwrap();
    assert_eq!(class.of.as_deref(), Some("<=1.5MB"));
    assert_eq!(class.to_string(), "<=1.5MB.fct_p99");
    assert_eq!(Selector::parse("goodput").unwrap().metric, "goodput_bps");
}

#[test]
fn what_no_metric_is_called_is_refused_with_the_nearest() {
    let unknown = Selector::parse("reads.fct_p98").unwrap_err();
    assert!(unknown.remedy.contains("`fct_p9"), "{}", unknown.remedy);
    assert!(
        Selector::parse("reads.queue_mean")
            .unwrap_err()
            .cause
            .contains("network")
    );
}

#[test]
fn times_of_rounds_are_refused_where_no_flow_has_a_round() {
    let points = |text: &str| {
        let overrides = Overrides {
            schemes: Some("newreno".to_owned()),
            ..Overrides::default()
        };
        let scenario = Scenario::load(Source::new("test.toml", text), &overrides);
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        scenario.points().to_vec()
    };
    let check = |word: &str, points: &[PointSpec]| Selector::parse(word).unwrap().check(points);
    let mixed = points(
        "run.classes = \"100KB\"\n[group.reads]\nworkload.senders = 3\n\
         [group.others]\nworkload.kind = \"requests\"\nworkload.senders = 3\n",
    );
    assert_eq!(check("round_p99", &mixed), Ok(()));
    assert_eq!(check("reads.round_p99", &mixed), Ok(()));
    for of in ["others", "<=100KB"] {
        let unknown = check(&format!("{of}.rounds_unfinished"), &mixed).unwrap_err();
        assert!(unknown.cause.contains(of), "{}", unknown.cause);
        assert!(unknown.remedy.contains("fct_p99"), "{}", unknown.remedy);
    }
    let single = points("[workload]\nkind = \"requests\"\nsenders = 3\n");
    assert!(check("round_max", &single).is_err());
    assert_eq!(check("fct_max", &single), Ok(()));
}
