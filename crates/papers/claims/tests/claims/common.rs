//! Tables that the figures of a paper share.

use claims::catalogue;
use scenario::{Overrides, Scenario, Source};

use crate::bench::{Folder, INCAST};

/// A paper with a figure that shares the paper's network with others, and has its own `[tcp]`.
fn sharing(name: &str) -> Folder {
    let net = "\n[net]\nheader_bytes = 54\n";
    assert!(INCAST.contains(net));
    let own = INCAST.replace(net, "common = \"network\"\n");
    let folder = Folder::with(name, &own);
    let shared = net.replace("[net]", "[common.network.net]");
    folder.write(
        "paper.toml",
        &format!(
            "title = \"A paper\"\ncitation = \"2017\"\n{shared}\n[common.network.tcp]\nmss = 9\n"
        ),
    );
    folder
}

fn settings(source: &Source) -> String {
    let scenario = Scenario::load(source.clone(), &Overrides::default());
    scenario
        .unwrap_or_else(|problems| panic!("{problems}"))
        .resolved()
}

#[test]
fn a_figure_has_the_shared_tables_that_it_does_not_write_itself() {
    let whole = Folder::with("common_whole", INCAST).paper();
    let folder = sharing("common_shared");
    let expected = settings(&whole.experiments[0].source);
    assert_eq!(settings(&folder.paper().experiments[0].source), expected);
    let alone = catalogue::scenario(&folder.path("fig1.toml")).expect("its paper is beside it");
    assert_eq!(settings(&alone), expected);
    let shown = catalogue::scenario_text(&alone).expect("it is correct");
    assert!(shown.contains("header_bytes = 54"), "{shown}");
    assert!(!shown.contains("common ="), "{shown}");
}

#[test]
fn causes_that_are_shared_follow_the_own_ones() {
    let cause = |head: &str, id: &str| {
        format!("[[{head}]]\nid = \"{id}\"\nsays = \"s\"\nset = {{ \"tcp.sack\" = true }}\n")
    };
    let own = INCAST.replace("seeds = 3\n", "seeds = 3\ncommon = [\"more\"]\n");
    let folder = Folder::with("common_causes", &format!("{own}{}", cause("cause", "own")));
    let paper = "title = \"A paper\"\ncitation = \"2017\"\n";
    let shared = cause("common.more.cause", "shared");
    folder.write("paper.toml", &format!("{paper}{shared}"));
    let paper = folder.paper();
    let causes = paper.experiments[0].causes.iter();
    assert_eq!(
        causes.map(|cause| &*cause.id).collect::<Vec<_>>(),
        ["own", "shared"]
    );
}

#[test]
fn shared_claims_have_the_values_of_each_figure() {
    let folder = Folder::with("common_values", "");
    let shared = "[[common.row.claim]]\nsays = \"{name} drops {drops} packets\"\nmeasure = \"drops\"\n\
                  paper = \"{drops}\"\nunit = \"packets\"\neach = [\n\
                  { id = \"tcp\", name = \"TCP\", of = \"newreno\", drops = \"{tcp}\" },\n\
                  { id = \"rcc\", name = \"RCC\", of = \"rcc\", drops = 0 },\n]\n";
    let paper = "title = \"A paper\"\ncitation = \"2017\"\n";
    folder.write("paper.toml", &format!("{paper}{shared}"));
    let figure = |values: &str| {
        let head = format!("seeds = 3\ncommon = \"row\"\n\n[values]\n{values}\n");
        folder.write("fig1.toml", &INCAST.replace("seeds = 3\n", &head));
    };
    figure("tcp = 71.80");
    let claims = &folder.paper().experiments[0].claims;
    let says: Vec<_> = claims.iter().map(|claim| &*claim.says).collect();
    assert_eq!(says, ["TCP drops 71.80 packets", "RCC drops 0 packets"]);
    assert_eq!(claims[0].place, "Fig. 1");
    let found = catalogue::find(&[folder.path("fig1.toml")]).expect("its paper is beside it");
    assert_eq!(found[0].paper.experiments[0].claims[0].says, says[0]);
    figure("tcp = 71.80\nother = 3");
    let said = folder.find().unwrap_err().to_string();
    assert!(said.contains("no table has {other}"), "{said}");
    figure("tcp = \"many\"");
    let said = folder.find().unwrap_err().to_string();
    assert!(said.contains("wrong value for paper"), "{said}");
}

#[test]
fn shared_tables_that_the_paper_does_not_have_are_refused_at_their_place() {
    let folder = sharing("common_unknown");
    let own = INCAST.replace("seeds = 3\n", "seeds = 3\ncommon = \"netwrok\"\n");
    folder.write("fig1.toml", &own);
    let said = format!(
        "{:?}",
        miette::Report::new(folder.find().unwrap_err().0.remove(0))
    );
    for part in [
        "the paper shares no tables as \"netwrok\"",
        "fig1.toml:7:10",
        "did you mean `network`?",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let wrong = folder.path("paper.toml");
    folder.write("fig1.toml", &own.replace("\"netwrok\"", "\"network\""));
    std::fs::remove_file(wrong).expect("the file of the paper");
    let said = catalogue::find(&[folder.path("fig1.toml")])
        .unwrap_err()
        .to_string();
    assert!(said.contains("the paper shares no tables"), "{said}");
}

#[test]
fn a_figure_that_the_paper_lists_has_its_shared_tables_without_asking() {
    let folder = Folder::with("common_listed", INCAST);
    let paper = |figures: &str| {
        format!(
            "title = \"A paper\"\ncitation = \"2017\"\n[common.more]\nfigures = {figures}\n\
             [common.more.reading.code]\nsays = \"s\"\nset = {{ \"tcp.sack\" = true }}\n\
             [[common.more.cause]]\nid = \"shared\"\nsays = \"s\"\nset = {{ \"tcp.sack\" = true }}\n"
        )
    };
    folder.write("paper.toml", &paper("[\"fig1\"]"));
    let found = folder.paper();
    let figure = &found.experiments[0];
    assert_eq!(figure.causes[0].id, "shared");
    assert_eq!(figure.readings[0].id, "code");
    folder.write("paper.toml", &paper("[\"fig2\"]"));
    let problems = folder.find().map(drop).unwrap_err().to_string();
    assert!(
        problems.contains("the paper has no figure \"fig2\""),
        "{problems}"
    );
}
