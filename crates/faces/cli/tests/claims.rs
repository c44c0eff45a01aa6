//! The page of claims names exactly the claims of the catalogue.
//!
//! It would take a run of every figure to know whether the page's results are still those of today. CI has no time for
//! that; `cargo xtask claims` is that run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use claims::catalogue;

#[test]
fn the_page_of_claims_names_every_claim_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/claims.md");
    let page = fs::read_to_string(path).expect("the page is in the repository");
    let named = page.lines().filter_map(|line| {
        // The verdict comes first.
        let (_, name) = line.strip_prefix("| ")?.split_once(" | `")?;
        name.split_once("` |").map(|(name, _)| name.to_owned())
    });
    let named: Vec<String> = named.collect();
    let mut claims = BTreeSet::new();
    for name in catalogue::names() {
        let paper = catalogue::paper(name).expect("the catalogue can be read");
        for figure in &paper.experiments {
            let ids = figure.claims.iter().map(|claim| &claim.id);
            claims.extend(ids.map(|id| format!("{}/{id}", figure.id())));
        }
    }
    assert!(!claims.is_empty());
    let listed: BTreeSet<String> = named.iter().cloned().collect();
    let missing: Vec<_> = claims.difference(&listed).collect();
    let unknown: Vec<_> = listed.difference(&claims).collect();
    let help = "run `cargo xtask claims`";
    assert!(missing.is_empty(), "the page lacks {missing:?}: {help}");
    assert!(unknown.is_empty(), "the page has {unknown:?} too: {help}");
    assert_eq!(named.len(), listed.len(), "a claim is listed twice");
}
