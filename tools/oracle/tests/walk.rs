//! The walk is complete, its evidence exists, and the page matches its rows.

use std::path::{Path, PathBuf};

use oracle::walk::{self, Evidence, Names, RuleGroup};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn groups() -> Vec<RuleGroup> {
    walk::read(&repository().join("tools/oracle/walk")).expect("rows")
}

fn names() -> Names {
    Names::read(&repository().join("tools/oracle/walk.toml")).expect("names")
}

fn evidence() -> Evidence {
    Evidence::of_repository(&repository()).expect("the repository can be read")
}

#[test]
fn every_function_and_every_setting_of_the_kernels_tcp_stands_in_a_row() {
    let (names, groups) = (names(), groups());
    assert_eq!(names.functions.len(), 13, "files");
    assert!(names.sysctls.len() > 80, "{}", names.sysctls.len());
    assert_eq!(walk::missing(&groups, &names), [""; 0]);
    // Without one row, a name is missing.
    let most = &groups[1..];
    assert!(!walk::missing(most, &names).is_empty());
}

#[test]
fn rows_name_what_is_there() {
    let wrong = walk::mistakes(&groups(), &names(), &evidence());
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn what_is_simulated_is_shown() {
    let (simulated, shown) = walk::shown(&groups());
    assert!(simulated > 100, "{simulated} rows");
    assert!(100 * shown >= 95 * simulated, "{shown} of {simulated}");
}

#[test]
fn the_page_is_what_the_rows_say() {
    let page = walk::page(&groups(), &names(), &evidence());
    let written = std::fs::read_to_string(repository().join("docs/reference/linux.md")).unwrap();
    assert!(written == page, "run cargo xtask oracle linux --walk");
}
