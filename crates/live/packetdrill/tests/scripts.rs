//! All scripts of this repository pass, one test for each: `scripts/GROUP/NAME.pkt`.

use std::fs;
use std::path::{Path, PathBuf};

use packetdrill::{DefaultHost, run};

fn scripts() -> Vec<PathBuf> {
    let listed = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut found: Vec<PathBuf> = listed(&folder).flat_map(|group| listed(&group)).collect();
    found.sort();
    found
}

#[test]
fn every_script_passes() {
    let scripts = scripts();
    let failed: Vec<String> = scripts
        .iter()
        .filter_map(|path| {
            let failure = run(&fs::read_to_string(path).unwrap(), &DefaultHost).err()?;
            Some(format!("{}: {failure}", path.display()))
        })
        .collect();
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
    assert!(scripts.len() >= 60, "{} scripts", scripts.len());
}

/// A connection that the peer has opened, with a write of three segments.
const OPEN: &str = "--tcp.mss=1000 --tcp.receive_buffer=60000B
0  socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK>
+0 > S. 0:0(0) ack 1 win 60000 <mss 1000,sackOK>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 3000) = 3000
";

fn failure(rest: &str) -> String {
    let failed = run(&format!("{OPEN}{rest}"), &DefaultHost);
    failed.expect_err("it differs").to_string()
}

#[test]
fn what_leaves_otherwise_fails_with_its_line() {
    assert_eq!(
        run(&format!("{OPEN}+0 > . 1:3001(3000) ack 1\n"), &DefaultHost),
        Ok(())
    );
    let left = ". 1:1001(1000) ack 1 win 60000";
    for (rest, told) in [
        (
            "+0 > . 1:1001(1000) ack 2",
            "another acknowledgement; left:",
        ),
        ("+0 > . 1:1001(1000) ack 1 win 7", "another window; left:"),
        ("+0 > [ce] . 1:1001(1000) ack 1", "another ECN field; left:"),
        ("+0 > F. 1:1001(1000) ack 1", "other flags; left:"),
        ("+0 > . 2:1002(1000) ack 1", "other numbers; left:"),
        (
            "+0 > . 1:1001(1000) ack 1 <sack 3:4>",
            "other options; left:",
        ),
        (
            "+.1 > . 1:1001(1000) ack 1",
            "expected at 0.200000 s, left at 0.100000 s:",
        ),
    ] {
        assert_eq!(failure(rest), format!("line 9: {told} {left}"), "{rest}");
    }
    assert_eq!(failure(""), format!("line 8: at the end: {left}"));
    let rest = "+0 > . 1:3001(3000) ack 1\n+0 > . 3001:3002(1) ack 1";
    assert_eq!(failure(rest), "line 10: nothing leaves");
}

#[test]
fn what_is_not_there_is_named() {
    let sent = "+0 > . 1:3001(3000) ack 1\n";
    for (rest, told) in [
        (
            "+0 poll([{fd=4}], 1, 0) = 1",
            "a call that is not driven: poll([{fd=4}], 1, 0)",
        ),
        (
            "+0 %{ assert tcpi_backoff == 1 }%",
            "a value of tcp_info that is not kept: tcpi_backoff",
        ),
        (
            "+0 `ip link`",
            "a command or setting of the kernel without a counterpart: ip link",
        ),
        ("+0 %{ import os }%", "syntax that is not read: import os"),
        ("+0 read(4, ..., 10) = 10", "0 bytes are read and not 10"),
        (
            "+0 %{ assert tcpi_unacked == 4 }%",
            "assert tcpi_unacked == 4 (tcpi_unacked = 3)",
        ),
    ] {
        assert_eq!(
            failure(&format!("{sent}{rest}")),
            format!("line 10: {told}")
        );
    }
    let unknown = run("--tcp.far=1\n0 close(3) = 0", &DefaultHost).unwrap_err();
    assert!(unknown.to_string().contains("tcp.far"), "{unknown}");
}
