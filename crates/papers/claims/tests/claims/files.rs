//! Mistakes in the files of a paper: all are reported at once, each with its place.

use claims::catalogue;
use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::bench::{Folder, INCAST};

/// All messages about a figure, as people see them.
fn problems(name: &str, figure: &str) -> String {
    let folder = Folder::with(name, figure);
    let problems = folder.find().map(drop).expect_err("the figure is wrong");
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::none()).with_width(100);
    let mut text = String::new();
    for problem in &problems.0 {
        handler
            .render_report(&mut text, problem)
            .expect("writing to a string succeeds");
    }
    // The folder of the test is not the same everywhere.
    let path = env!("CARGO_TARGET_TMPDIR").to_owned() + "/" + name + "/";
    text.replace(&path, "")
}

#[test]
fn a_correct_figure_is_found_with_what_it_says() {
    let folder = Folder::with("files_correct", INCAST);
    let paper = folder.paper();
    assert_eq!(paper.title, "A paper");
    assert_eq!(paper.experiments[0].figure, "Fig. 1");
    assert_eq!(paper.experiments[0].id(), "files_correct/fig1");
}

#[test]
fn mistakes_are_shown_at_their_places_all_at_once() {
    let claims = r#"
[[claim]]
id = "order"
kind = "order"
says = "RCC is best"
where = "§1"
measure = "queue_meen_bytes"
lowest = "rrc"
execpt = { "workload.senders" = 20 }

[[claim]]
id = "order"
kind = "number"
says = "RCC is best"
where = "§1"
measure = { flows = "fct_us", statistic = "p999" }
of = "rcc"
paper = "few"
at = { "workload.sender" = 40 }

[[cause]]
id = "two"
says = "two changes, of which one is swept"
set = { "workload.senders" = 5, "tcp.min_rot" = "1ms" }

[[cause]]
id = "draw"
says = "another draw"
set = { "topology.capacity_seed" = 8 }
"#;
    insta::assert_snapshot!(problems("files_mistakes", &format!("{INCAST}{claims}")));
}

#[test]
fn what_a_claim_is_about_follows_from_its_keys() {
    let kinds = |name: &str, kind: &str| {
        let claim = |id: &str, rest: &str| {
            format!("[[claim]]\nid = \"{id}\"\nsays = \"s\"\nmeasure = \"drops\"\n{rest}\n")
        };
        let claims = [
            claim("number", "of = \"rcc\"\npaper = 3"),
            claim("order", "sorted = [\"rcc\", \"newreno\"]"),
            claim("shape", "of = \"rcc\"\nshape = \"rising\""),
            claim("none", kind),
        ];
        problems(name, &(INCAST.to_owned() + &claims.concat()))
    };
    let said = kinds("files_kinds", "");
    assert!(
        said.contains("claim none is about no number, order or shape"),
        "{said}"
    );
    assert_eq!(said.matches("help: ").count(), 1, "{said}");
    let said = kinds("files_kinds", "kind = \"numbr\"");
    assert!(
        said.contains("wrong value for kind") || said.contains("\"numbr\""),
        "{said}"
    );
}

#[test]
fn a_mistake_in_a_row_is_shown_there() {
    let claim = "[[claim]]\nsays = \"{name} drops few\"\nmeasure = \"drops\"\nunit = \"packets\"\neach = [\n\
                 { id = \"tcp\", name = \"TCP\", of = \"newreno\", paper = \"few\" },\n\
                 { id = \"rcc\", nmae = \"RCC\", of = \"rcc\", paper = 0 },\n]\n";
    insta::assert_snapshot!(problems("files_rows", &format!("{INCAST}{claim}")));
}

#[test]
fn what_is_missing_is_named() {
    let figure = "seeds = 2\n[workload]\nsenders = 5\n[[plot]]\nkind = \"cdf\"\n\
                  lines = [\"drops\"]\n[[claim]]\nkind = \"shape\"\n";
    insta::assert_snapshot!(problems("files_missing", figure));
}

#[test]
fn a_mistake_of_the_scenario_is_at_its_line() {
    let figure = INCAST.replace("mss = 1446", "mss = 0");
    let text = problems("files_scenario", &figure);
    assert!(text.contains("fig1.toml:12:"), "{text}");
}

#[test]
fn a_figure_may_show_the_runs_of_another_but_set_nothing() {
    let uses = "title = \"t\"\nfigure = \"Fig. 2\"\nscale = \"s\"\nuses = \"fig1\"\n";
    let folder = Folder::with("files_uses", INCAST);
    folder.write("fig2.toml", uses);
    let paper = folder.paper();
    assert_eq!(paper.experiments[1].runs(), "fig1");
    let message = |text: &str| {
        folder.write("fig2.toml", text);
        folder.find().unwrap_err().to_string()
    };
    let settings = message(&format!("{uses}[workload]\nsenders = 3\n"));
    assert!(
        settings.contains("workload cannot be combined with `uses`"),
        "{settings}"
    );
    let cause = message(&format!("{uses}[[cause]]\nid = \"c\"\nsays = \"s\"\n"));
    assert!(
        cause.contains("cause cannot be combined with `uses`"),
        "{cause}"
    );
    let unknown = message(&uses.replace("fig1", "fig9"));
    assert!(unknown.contains("no figure \"fig9\""), "{unknown}");
}

#[test]
fn what_full_changes_must_be_a_correct_scenario_too() {
    let full = format!("{INCAST}\n[full]\nset = {{ \"switch.ecn_threshold\" = \"1MB\" }}\n");
    let text = problems("files_full", &full);
    assert!(text.contains("ecn_threshold"), "{text}");
}

#[test]
fn comparisons_of_schemes_must_be_whole() {
    let claim = |measure: &str| {
        format!(
            "[[claim]]\nid = \"c\"\nkind = \"number\"\nsays = \"s\"\nwhere = \"w\"\nof = \"rcc\"\n\
             measure = {measure}\npaper = 1\nunit = \"%\"\n"
        )
    };
    let saved = r#"{ flows = "fct_us", statistic = "mean", common_to = ["newreno", "rcc"], reduction_from = "newreno" }"#;
    let text = |measure: &str| problems("files_compared", &format!("{INCAST}{}", claim(measure)));
    let unknown = text(&saved.replace("= \"newreno\" }", "= \"tcp\" }"));
    assert!(
        unknown.contains("no scheme in this scenario called \"tcp\""),
        "{unknown}"
    );
    let unknown = text(&saved.replace("[\"newreno\", ", "[\"tcp\", "));
    assert!(
        unknown.contains("no scheme in this scenario called \"tcp\""),
        "{unknown}"
    );
    let cause = "[[cause]]\nid = \"why\"\nsays = \"s\"\nset = { \"tcp.sack\" = true }\nschemes = [\"rcc\"]\n";
    let folder = Folder::with("files_compared_cause", "");
    folder.write("fig1.toml", &format!("{INCAST}{}{cause}", claim(saved)));
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let runs: Vec<_> = figure.causes[0]
        .runs(figure.claims.iter())
        .into_iter()
        .collect();
    assert_eq!(
        runs,
        ["newreno", "rcc"],
        "what RCC is compared with runs again"
    );
    let series = text(r#"{ flows = "fct_us", reduction_from = "newreno" }"#);
    assert!(
        series.contains("only a number can be lower than another"),
        "{series}"
    );
    let share = text(r#"{ flows = "fct_us", statistic = "mean", during = ["40 percent", "end"] }"#);
    assert!(
        share.contains("a share of the simulation as in \"40%\""),
        "{share}"
    );
}

#[test]
fn equations_about_flows_need_a_size_and_an_axis_of_sizes_has_only_what_has_one() {
    let claim = |measure: &str| {
        format!(
            "{INCAST}[[claim]]\nid = \"c\"\nkind = \"number\"\nsays = \"s\"\nwhere = \"w\"\n\
             of = \"rcc\"\nmeasure = {measure}\npaper = 1\nunit = \"%\"\n"
        )
    };
    let text = problems("files_model", &claim(r#"{ model = "rc3.reduction" }"#));
    assert!(
        text.contains("rc3.reduction is about a flow of some size"),
        "{text}"
    );
    let text = problems(
        "files_model_size",
        &claim(r#"{ model = "rcc.ecn_amplitude", size = "1KB" }"#),
    );
    assert!(
        text.contains("rcc.ecn_amplitude is not about a flow"),
        "{text}"
    );
    let plot = |kind: &str, x: &str, line: &str| {
        let plot = format!("[[plot]]\nkind = \"{kind}\"\nx = {x}\nlines = [{line}]\n");
        let folder = Folder::with("files_sizes", &format!("{INCAST}{plot}"));
        folder.find().map(|found| found.paper)
    };
    let sizes = r#"{ sizes = ["10KB", "1MB"] }"#;
    let mean = r#"{ flows = "fct_us", statistic = "mean" }"#;
    let model = r#"{ model = "rc3.reduction" }"#;
    let paper = plot("sweep", sizes, &format!("{mean}, {model}")).unwrap();
    let x = &paper.experiments[0].plots[0].x;
    let classes = x.size_classes().into_iter();
    let classes: Vec<String> = classes
        .map(|class| format!("{} to {}", class.above, class.up_to.unwrap()))
        .collect();
    assert_eq!(classes, ["0 B to 10 KB", "10 KB to 1 MB"]);
    let wrong = |kind, x, line: &str| plot(kind, x, line).unwrap_err().to_string();
    let text = wrong("bars", sizes, "\"drops\"");
    assert!(
        text.contains("not measured at the sizes of the axis"),
        "{text}"
    );
    let text = wrong("cdf", sizes, r#"{ flows = "fct_us" }"#);
    assert!(text.contains("this plot cannot have sizes"), "{text}");
    let text = wrong("sweep", r#"{ sizes = ["1MB", "10KB"] }"#, mean);
    assert!(text.contains("wrong value for sizes"), "{text}");
    let text = wrong("sweep", "{ }", model);
    assert!(text.contains("is about a flow of some size"), "{text}");
}

#[test]
fn a_claim_that_cannot_fail_is_refused() {
    let claim = |rest: &str| {
        let claim = format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nwhere = \"w\"\n{rest}\n");
        let folder = Folder::with("files_hollow", &format!("{INCAST}{claim}"));
        folder.find().err().map(|problems| problems.to_string())
    };
    let share =
        "measure = { flows = \"fct_us\", statistic = \"share\", below = \"1ms\" }\nof = \"rcc\"";
    let drops = "measure = \"drops\"\nof = \"rcc\"";
    for hollow in [
        format!("kind = \"number\"\n{share}\npaper = [0, 100]\nunit = \"%\""),
        format!("kind = \"shape\"\n{drops}\nshape = \"above\"\nlevel = -1"),
        format!("kind = \"shape\"\n{drops}\nshape = \"reaches\"\nlevel = 0"),
        "kind = \"order\"\nmeasure = \"drops\"\nlowest = \"rcc\"\namong = [\"rcc\"]".to_owned(),
    ] {
        let said = claim(&hollow).unwrap_or_else(|| panic!("accepted: {hollow}"));
        assert!(said.contains("this claim cannot fail"), "{said}");
    }
    for sound in [
        format!("kind = \"number\"\n{share}\npaper = [1, 100]\nunit = \"%\""),
        format!("kind = \"shape\"\n{drops}\nshape = \"above\"\nlevel = 0"),
        "kind = \"order\"\nmeasure = \"drops\"\nlowest = \"rcc\"\namong = [\"rcc\", \"dctcp\"]"
            .to_owned(),
    ] {
        assert_eq!(claim(&sound), None, "{sound}");
    }
}

#[test]
fn a_tolerance_beyond_a_factor_of_2_is_refused_without_a_reason() {
    let claim = |rest: &str| {
        let claim = format!(
            "[[claim]]\nid = \"c\"\nsays = \"s\"\nwhere = \"w\"\nmeasure = \"drops\"\n{rest}\n"
        );
        let folder = Folder::with("files_tolerance", &format!("{INCAST}{claim}"));
        folder.find().err().map(|problems| problems.to_string())
    };
    let number = "kind = \"number\"\nof = \"rcc\"";
    let near = "kind = \"shape\"\nof = \"rcc\"\nshape = \"near\"\nlevel = 10";
    for (wide, narrow) in [
        (
            format!("{number}\npaper = 10\ntolerance = 0.6"),
            format!("{number}\npaper = 10\ntolerance = 0.5"),
        ),
        (
            format!("{number}\npaper = [10, 20]\nwithin = 6"),
            format!("{number}\npaper = 0\nwithin = 6"),
        ),
        (
            format!("{near}\ntolerance = 0.51"),
            format!("{near}\ntolerance = 0.4"),
        ),
    ] {
        let said = claim(&wide).unwrap_or_else(|| panic!("accepted: {wide}"));
        assert!(said.contains("less than half or more than twice"), "{said}");
        let excused = format!("{wide}\nwide = \"the paper says about\"");
        assert_eq!(claim(&excused), None, "{excused}");
        assert_eq!(claim(&narrow), None, "{narrow}");
        let said = claim(&format!("{narrow}\nwide = \"for nothing\"")).expect("an idle excuse");
        assert!(said.contains("needs no reason"), "{said}");
    }
}

#[test]
fn a_reading_of_the_text_is_the_figure_itself() {
    let said = |reading: &str| {
        let folder = Folder::with("files_readings", &format!("{INCAST}{reading}"));
        folder.find().err().map(|problems| problems.to_string())
    };
    let set = "says = \"s\"\nset = { \"tcp.sack\" = true }\n";
    assert_eq!(said(&format!("[reading.code]\n{set}")), None);
    for (reading, expected) in [
        (
            format!("[reading.text]\n{set}"),
            "the reading of the text is what the figure itself runs",
        ),
        (
            "[reading.text]\nsays = \"s\"\n[reading.code]\nsays = \"s\"\n".to_owned(),
            "two readings change nothing",
        ),
        (
            format!("[reading.code]\nat = {{ \"workload.senders\" = 10 }}\n{set}"),
            "at has no place in a reading",
        ),
        (
            "[reading.code]\nset = { \"tcp.sack\" = true }\n".to_owned(),
            "reading code has no says",
        ),
        (
            "[reading.code]\nsays = \"s\"\nset = { \"run.seed\" = 3 }\n".to_owned(),
            "picks a draw",
        ),
    ] {
        let found = said(&reading).unwrap_or_else(|| panic!("accepted: {reading}"));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn places_of_claims_are_checked_against_the_sections_of_the_paper() {
    let claim = "[[claim]]\nid = \"c\"\nkind = \"order\"\nsays = \"s\"\nmeasure = \"drops\"\nlowest = \"rcc\"\n";
    let folder = Folder::with("files_sections", INCAST);
    folder.write(
        "paper.toml",
        "title = \"A paper\"\ncitation = \"2017\"\n\
         [[section]]\nnumber = \"VI-A\"\ntitle = \"Traffic\"\nfigures = [5]\n\
         [[section]]\nnumber = \"VI-B\"\ntitle = \"Sensitivity\"\nfigures = [6]\n",
    );
    let said = |place: &str| {
        folder.write(
            "fig1.toml",
            &format!("{INCAST}{claim}where = \"{place}\"\n"),
        );
        folder.find().err().map(|problems| problems.to_string())
    };
    assert_eq!(said("§VI-A, Fig. 5(a)"), None);
    assert_eq!(said("§VI"), None);
    assert_eq!(said("Fig. 5(a), read off"), None);
    let unknown = said("§V-A, Fig. 5(a)").expect("there is no such section");
    assert!(unknown.contains("the paper has no §V-A"), "{unknown}");
    let elsewhere = said("§VI-B, Fig. 5(a)").expect("the figure is elsewhere");
    assert!(elsewhere.contains("Fig. 5 is not in §VI-B"), "{elsewhere}");
}

#[test]
fn several_files_of_a_paper_are_put_together() {
    let folder = Folder::with("files_several", INCAST);
    folder.write("fig2.toml", &INCAST.replace("Fig. 1", "Fig. 2"));
    let uses = "title = \"t\"\nfigure = \"Fig. 3\"\nscale = \"s\"\nuses = \"fig1\"\n";
    folder.write("fig3.toml", uses);
    let files = ["fig1", "fig3", "fig2"].map(|name| folder.path(&format!("{name}.toml")));
    let found = catalogue::find(&files).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].figures, ["fig1", "fig3", "fig2"]);
}

#[test]
fn figures_that_share_runs_share_their_scale_on_real_stacks() {
    let claim = "[[claim]]\nid = \"drops\"\nkind = \"order\"\nsays = \"s\"\nwhere = \"§1\"\n\
        measure = \"drops\"\nlowest = \"rcc\"\n";
    let uses = "title = \"t\"\nfigure = \"Fig. 2\"\nscale = \"s\"\nuses = \"fig1\"\n\
        [live]\nclaims = [\"drops\"]\n";
    let live = "[live]\nscale = \"a part\"\nrate = \"50Mbps\"\nclaims = []\n";
    let folder = Folder::with("files_live_uses", &format!("{INCAST}\n{live}"));
    folder.write("fig2.toml", &format!("{uses}{claim}"));
    let paper = folder.paper();
    let live = paper.experiments[1].live.clone().unwrap();
    assert_eq!(live.scale, "a part");
    assert_eq!(live.rate.as_deref(), Some("50Mbps"));
    assert_eq!(live.claims, ["drops"]);
    folder.write("fig2.toml", &format!("{uses}runs = 3\n{claim}"));
    let own = folder.find().unwrap_err().to_string();
    assert!(own.contains("runs"), "{own}");
    folder.write("fig2.toml", &format!("{uses}{claim}"));
    folder.write("fig1.toml", INCAST);
    let none = folder.find().unwrap_err().to_string();
    assert!(
        none.contains("is judged live, and fig1 does not run"),
        "{none}"
    );
}

#[test]
fn only_orders_and_ratios_about_what_linux_tells_are_judged_live() {
    let figure =
        |live: &str| format!("{INCAST}\n[live]\nscale = \"a part\"\n{live}\n{LIVE_CLAIMS}");
    let folder = Folder::with("files_live", &figure("claims = [\"share\", \"busy\"]"));
    let live = folder.paper().experiments[0].live.clone().unwrap();
    assert_eq!(
        (live.runs.get(), &*live.claims),
        (5, &["share".to_owned(), "busy".to_owned()][..])
    );
    for (number, (live, expected)) in [
        (
            "claims = [\"number\"]",
            "number is a number of the paper's own machines",
        ),
        (
            "claims = [\"marked\"]",
            "marked is about marks, which Linux does not tell",
        ),
        (
            "bed = \"tun\"\nrate = \"1Gbps\"\nclaims = [\"share\"]",
            "a TUN device has the rate of the scenario",
        ),
        ("bed = \"tap\"\nclaims = []", "tap"),
        ("claims = [\"shared\"]", "there is no claim \"shared\""),
        ("runs = 3", "live has no claims"),
        (
            "claims = [\"at-40\"]\nset = { \"workload.senders\" = [2, 4] }",
            "at-40 needs a value of workload.senders that is not emulated",
        ),
        (
            "claims = []\nset = { \"workload.senders\" = 9000000 }",
            "workload.senders",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let told = problems(&format!("files_live_{number}"), &figure(live));
        assert!(told.contains(expected), "{told}");
    }
}

/// Claims of which some may be judged on real stacks.
const LIVE_CLAIMS: &str = r#"
[[claim]]
id = "number"
kind = "number"
says = "a number"
where = "§1"
measure = "queue_mean_bytes"
of = "rcc"
paper = 7
unit = "KB"

[[claim]]
id = "share"
kind = "shape"
says = "a share of the buffer"
where = "§1"
measure = "queue_mean_bytes"
shape = "below"
level = "40pkt"
of = "rcc"

[[claim]]
id = "busy"
kind = "shape"
says = "a share of time"
where = "§1"
measure = { series = "queue_bytes", statistic = "share", above = "0B" }
shape = "above"
level = "90%"
of = "rcc"

[[claim]]
id = "at-40"
kind = "order"
says = "an order at 40 senders"
where = "§1"
measure = "drops"
at = { "workload.senders" = 40 }
lowest = "rcc"

[[claim]]
id = "marked"
kind = "order"
says = "an order of marks"
where = "§1"
measure = "marks"
lowest = "rcc"
"#;

#[test]
fn keys_of_measures_are_told_as_the_file_writes_them() {
    let claim = |measure: &str| {
        let claim = "[[claim]]\nid = \"c\"\nkind = \"order\"\nsays = \"s\"\nwhere = \"w\"\nlowest = \"rcc\"\n";
        problems(
            "files_keys",
            &format!("{INCAST}{claim}measure = {measure}\n"),
        )
    };
    for (measure, parts) in [
        (
            r#"{ flows = "fct_us", gruop = "mice", statistic = "mean" }"#,
            &[
                "flows has no key gruop",
                "did you mean `group`?",
                "common_to",
                "below",
                "35:31",
            ][..],
        ),
        (
            r#"{ flows = "fct_us", ports = "drops", statistic = "mean" }"#,
            &["a measure has one of metric, flows, ports, series, events and model"],
        ),
        (
            r#"{ series = "queue_bytes", statistic = "dips" }"#,
            &["has no below"],
        ),
        (
            r#"{ metric = "drops", statistic = "mean" }"#,
            &["drops is one number already"],
        ),
        (
            r#"{ flows = "fct_us", statistic = "share", below = "3KB" }"#,
            &[
                "3 KB is no value of what is measured",
                "one of the units us, ms, s, ns",
            ],
        ),
        (
            r#"{ flows = "fct_us", statistic = "p101" }"#,
            &["there is no statistic \"p101\"", "p99"],
        ),
    ] {
        let said = claim(measure);
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn a_claim_about_nothing_is_refused() {
    let claim = "[[claim]]\nid = \"c\"\nkind = \"shape\"\nshape = \"rising\"\nsays = \"s\"\nwhere = \"w\"\n";
    let none = format!("{claim}measure = \"drops\"\nof = []\n");
    let other = "{ scheme = \"newreno\", measure = \"drops\" }";
    let one_without = format!("{claim}of = [\"rcc\", {other}]\n").replace("rising", "equal");
    let said = problems("files_nothing", &format!("{INCAST}{none}"));
    assert!(said.contains("claim c has nothing to judge"), "{said}");
    let said = problems("files_nothing", &format!("{INCAST}{one_without}"));
    assert!(
        said.contains("claim c compares rcc without a measure"),
        "{said}"
    );
}

#[test]
fn the_contents_of_a_paper_leave_out_no_number_and_each_has_one_state() {
    let folder = Folder::with("files_contents", INCAST);
    let said = |text: &str| {
        folder.write("contents.toml", text);
        folder.find().err().map(|problems| problems.to_string())
    };
    let counts = "last_figure = 2\nlast_table = 0\nlast_equation = 3\nlast_algorithm = 0\n";
    let item =
        |name: &str, state: &str| format!("[[item]]\nname = \"{name}\"\ntitle = \"t\"\n{state}\n");
    let figures = item("Fig. 1(a)", "judged = [\"fig1\"]") + &item("Fig. 2", "diagram = \"d\"");
    let equations = item("Eqs. 1 to 3", "defined = \"here\"");
    let whole = format!("{counts}{figures}{equations}");
    assert_eq!(said(&whole), None);
    let contents = folder.paper().contents;
    let shown = contents
        .iter()
        .map(|item| format!("{}: {}", item.name, item.state));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "Fig. 1(a): judged in fig1",
            "Fig. 2: a diagram; d",
            "Eqs. 1 to 3: defined in here"
        ]
    );
    // For a kind that nobody has read, even the numbers are unknown.
    let unread = counts.replace("= 3", "= 0") + &figures + &item("Eqs.", "unread = \"all\"");
    assert_eq!(said(&unread), None);
    let contents = folder.paper().contents;
    let last = contents.last().expect("there are three");
    let state = last.state.to_string();
    assert_eq!(state, "a reader of the paper is wanted: all");
    for (text, complaint) in [
        (unread.replace("unread", "defined"), "Eqs. names no number"),
        (format!("{counts}{figures}"), "Eq. 1 is not in the list"),
        (whole.replace("= 3", "= 2"), "Eq. 3 is beyond the last, 2"),
        (
            whole.replace("diagram = \"d\"", ""),
            "Fig. 2 has no state, or several",
        ),
        (
            whole.replace("diagram", "untestable = \"u\"\ndiagram"),
            "Fig. 2 has no state, or several",
        ),
        (whole.replace("[\"fig1\"]", "[\"fig9\"]"), "fig9"),
        (
            whole.replace("Fig. 2", "Figure two"),
            "Figure two names no number",
        ),
    ] {
        let found = said(&text).unwrap_or_else(|| panic!("nothing for {complaint}"));
        assert!(found.contains(complaint), "{complaint}\n{found}");
    }
}
