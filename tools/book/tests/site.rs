//! The documentation of this repository builds to a complete site.

use std::path::Path;
use std::process::Command;

#[test]
fn the_book_builds_and_none_of_its_links_leads_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let root = root.expect("this crate lies two folders below the root");
    let mut command = Command::new(env!("CARGO_BIN_EXE_book"));
    let output = command.current_dir(root).output().expect("it starts");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    assert!(root.join("target/book/index.html").is_file());
}
