//! Shards of a sweep before they run.

use std::fmt::Write;

use plan::words::bytes;
use results::shard::ShardEstimate;
use serde_json::json;

use crate::layout::aligned;
use crate::words::{counted, time};

/// A table of all shards, and their total cost.
pub fn table(shards: &[ShardEstimate]) -> String {
    let head = [
        "shard",
        "points",
        "simulations",
        "CPU time",
        "memory",
        "disk",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(shards.iter().map(|own| {
        vec![
            own.shard.to_string(),
            own.points.to_string(),
            own.simulations.to_string(),
            seconds(own.processor_s),
            bytes(own.memory_bytes),
            bytes(own.disk_bytes),
        ]
    }));
    let mut out = aligned(&lines, "", |_| true);
    let points: u64 = shards.iter().map(|own| own.points).sum();
    let all: f64 = shards.iter().map(|own| own.processor_s).sum();
    let most = shards.iter().map(|own| own.processor_s).fold(0.0, f64::max);
    writeln!(
        out,
        "\n{} in {}: {} of CPU time, {} in the longest shard",
        counted(points, "point"),
        counted(shards.len(), "shard"),
        seconds(all),
        seconds(most)
    )
    .expect("writing to a string succeeds");
    out
}

/// The estimates of the shards as JSON.
pub fn json(shards: &[ShardEstimate]) -> String {
    format!("{:#}\n", json!({ "shards": shards }))
}

fn seconds(seconds: f64) -> String {
    match seconds {
        long if long >= 3600.0 => format!("{:.1} h", long / 3600.0),
        long if long >= 120.0 => format!("{:.1} min", long / 60.0),
        short => time(short * 1e6),
    }
}
