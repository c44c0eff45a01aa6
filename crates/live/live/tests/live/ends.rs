//! Connections that share a port of their sender.

use std::fs;

use crate::{disturbances, emulated, machine};

/// Each of eight hosts sends to the seven others from six ports, so at least two connections share one. If connections
/// were told apart by their sender's end alone, these would be mixed up, and nobody would read the data.
#[test]
fn a_port_of_a_host_may_serve_several_receivers() {
    let Some(_machine) = machine() else { return };
    let file = std::env::temp_dir().join(format!("tailwater-ports-{}.toml", std::process::id()));
    let text = "name = \"ports\"\nschemes = [\"cubic\"]\ntcp.profile = \"linux\"\nlink.rate = \"50Mbps\"\n\
        switch.ecn_threshold = \"off\"\n[topology]\nkind = \"star\"\nhosts = 8\n[workload]\nkind = \"burst\"\n\
        size = \"20KB\"\n";
    fs::write(&file, text).expect("a file");
    let path = file.to_string_lossy();
    let words = ["emulate", &path, "--runs", "1", "--no-sim"];
    let ports = ["--sysctl", "net.ipv4.ip_local_port_range=40000 40005"];
    // Ports of connections that have ended are free at once.
    let free = ["--sysctl", "net.ipv4.tcp_max_tw_buckets=0"];
    let told = emulated(&[&words[..], &ports, &free].concat());
    fs::remove_file(&file).expect("the file goes");
    let Some((_, lines)) = told else { return };
    let point = lines.iter().find(|line| line["type"] == "point");
    let point = point.expect("a run");
    assert_eq!(point["metrics"]["flows_completed"], 56, "{point}");
    // This also checks what has arrived.
    drop(disturbances(&lines));
}
