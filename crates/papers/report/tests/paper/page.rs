//! Pages of papers: complete, without outside references, the same every time, and drawn by a browser.

use std::fs;

use claims::judge::Verdict;

use crate::browser::{SCROLLED, told};
use crate::judgement::Judgement;
use crate::run::Temporary;

/// A folder with the page of a paper that is `about` something.
fn written(name: &str, about: &str) -> (String, Temporary) {
    let temporary = Temporary::new(name);
    let judgement = Judgement::of(&temporary.0, about);
    let figures = judgement.figures();
    let page = temporary.0.join("report.html");
    let written = report::write_paper(&judgement.reproduction(&figures), &page);
    written.expect("a page of a test is whole");
    let text = fs::read_to_string(&page).expect("a page of a test is whole");
    (text, temporary)
}

#[test]
fn every_claim_stands_in_the_table_and_beside_its_figure() {
    let (html, _kept) = written("paper-claims", "queues");
    assert!(html.contains(
        "2 figures and tables, 2 claims: 1 reproduced, 1 not testable; 2 more claims hanging on the order of events."
    ));
    for (id, verdict) in [
        ("paper-fig1-no-drops", Verdict::Reproduced),
        ("paper-fig1-below-dctcp", Verdict::NotReproduced),
        ("paper-fig1-collapse", Verdict::NotReproduced),
        ("paper-text-linux", Verdict::NotTestable),
    ] {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1);
        let card = &html[html.find(&format!("id=\"{id}\"")).unwrap()..];
        let card = &card[..card.find("</article>").unwrap()];
        assert!(
            card.contains(&format!(">{}</span>", verdict.name())),
            "{card}"
        );
        // The table links to it, and it to itself.
        assert_eq!(html.matches(&format!("href=\"#{id}\"")).count(), 2);
    }
    let cause = html.find("<strong>Cause:</strong>").unwrap();
    assert!(html[cause..].contains("<code>switch.buffer = 40pkt</code> 38.2 %"));
    assert!(html[cause..].contains("it explains 2, breaks 1 in fig1, fig2"));
    for (word, says) in [
        ("By code", "as code has it"),
        ("Hangs on the order of events", "as 100ns has it"),
    ] {
        let read = html.find(&format!("<strong>{word}:</strong> {says}"));
        assert!(html[read.unwrap()..].contains("<code>tcp.sack = false</code> 47 %"));
    }
    // A user's own paper is named by its files.
    assert!(html.contains("paper/fig1.toml</dd>"));
}

#[test]
fn every_panel_is_drawn_in_order_and_saved_beside_the_page() {
    let (html, folder) = written("paper-panels", "queues");
    let places = ["(a) queues", "(b) Drops", "(c) Completion", "(d) Goodput"]
        .map(|title| html.find(&format!("<h3>{title}</h3>")).unwrap());
    assert!(places.is_sorted());
    for number in 1..=4 {
        let file = format!("figures/fig1-{number}.svg");
        assert!(html.contains(&format!("href=\"{file}\"")));
        let svg = fs::read_to_string(folder.0.join(file)).unwrap();
        assert!(svg.starts_with("<svg"));
    }
    assert!(html.contains("its claims stand in the text"));
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let (html, folder) = written("paper-closed", "queues");
    // The paper's address is plain text, and the name of a drawing format is not an address.
    let own = html.replace("https://example.org/paper", "");
    let own = own.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http://", "https://", "@import", " url(", "src="] {
        assert!(!own.contains(outside), "{outside}");
    }
    for link in own.split("href=\"").skip(1) {
        let target = &link[..link.find('"').unwrap()];
        let inside = match target.strip_prefix('#') {
            Some(id) => own.contains(&format!("id=\"{id}\"")),
            None => target == "data:," || folder.0.join(target).exists(),
        };
        assert!(inside, "{target}");
    }
}

#[test]
fn the_same_reproduction_gives_the_same_bytes() {
    let temporary = Temporary::new("paper-again");
    let judgement = Judgement::of(&temporary.0, "queues");
    let page = temporary.0.join("report.html");
    let written = || {
        let figures = judgement.figures();
        let written = report::write_paper(&judgement.reproduction(&figures), &page);
        written.expect("a page of a test is whole");
        fs::read(&page).expect("a page of a test is whole")
    };
    // This does not show the whole page if they differ.
    assert!(written() == written());
}

#[test]
fn texts_of_an_experiment_stay_text() {
    let hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&";
    let (html, _kept) = written("paper-hostile", hostile);
    assert!(!html.contains("<img"));
    assert!(!html.contains("alert(2)</script>"));
}

#[test]
fn a_browser_without_network_draws_every_panel_without_complaint() {
    let Some(mut chromium) = testing::chromium() else {
        return;
    };
    let (html, folder) = written("paper-browser", "queues");
    let page = folder.0.join("report.html").canonicalize().unwrap();
    let profile = folder.0.join("profile");
    let output = chromium
        .arg(format!("--user-data-dir={}", profile.display()))
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    let complaint = complaints.lines().find(|line| line.contains("CONSOLE"));
    assert_eq!(complaint, None);
    let document = String::from_utf8_lossy(&output.stdout);
    assert_eq!(html.matches("<figure class=\"chart").count(), 4);
    // The script has made every drawing a stop of the Tab key.
    let drawings = html.matches("data-reading='").count();
    assert!(drawings >= 4, "{drawings}");
    assert_eq!(document.matches("tabindex=\"0\"").count(), drawings);
}

#[test]
fn the_page_needs_no_scrolling_sideways_on_a_phone() {
    let (html, folder) = written("paper-phone", "queues");
    if let Some(width) = told(&folder.0, &html, 390, SCROLLED) {
        assert_eq!(width, "390");
    }
}

#[test]
fn the_page_holds_drawings_and_no_library_that_draws() {
    let (html, _kept) = written("paper-small", "queues");
    // The parts that do not depend on the figures: scripts and styles.
    let parts = [("<script>", "</script>"), ("<style>", "</style>")].map(|(start, end)| {
        let parts = html.split(start).skip(1);
        let lengths = parts.map(|part| part.find(end).expect("a whole page"));
        lengths.sum::<usize>()
    });
    let fixed: usize = parts.iter().sum();
    assert!(fixed < 60_000, "{parts:?}");
    // The fifty panels of a long paper leave room for its claims in a megabyte.
    let panels = html.split("<svg ").skip(1);
    let longest = panels
        .map(|panel| panel.find("</svg>").expect("a whole drawing"))
        .max();
    assert!(longest.expect("drawings") < 12_000, "{longest:?}");
}
