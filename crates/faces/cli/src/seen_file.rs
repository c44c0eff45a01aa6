//! The files of an observation: its scenario, and its flows as a trace beside it.

use std::fs;
use std::io::Write;
use std::path::Path;

use observed::{Flow, Observation};
use results::deliver;

use crate::output::{self, Stop};

/// Writes the scenario, and its flows as a trace beside it. Returns whether there was anything to write.
pub(crate) fn write(out: &Path, seen: &Observation, flows: &[Flow]) -> Result<bool, Stop> {
    if flows.is_empty() {
        output::complain("no flow was seen, so there is no scenario to write or simulate");
        return Ok(false);
    }
    if let Some(folder) = out.parent() {
        // If the folder cannot be made, writing the files below reports why.
        drop(fs::create_dir_all(folder));
    }
    let name = out.file_stem().unwrap_or_default().to_string_lossy();
    let trace = out.with_extension("csv");
    let file = trace.file_name().unwrap_or_default().to_string_lossy();
    for (path, text) in [
        (&*trace, seen.trace(flows)),
        (out, seen.scenario(&name, &file, flows)),
    ] {
        deliver(path, |file| file.write_all(text.as_bytes())).map_err(|error| {
            output::complain(&error.to_string());
            Stop::Failed
        })?;
    }
    output::complain(&format!(
        "wrote {} and {}; simulate it with: tailwater run {}",
        out.display(),
        trace.display(),
        out.display()
    ));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_scenario_is_written_to_where_a_link_leads() {
        let folder = std::env::temp_dir().join(format!("tw-out-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (link, file) = (folder.join("seen.toml"), folder.join("kept.toml"));
        fs::write(&file, "older").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let flow = json!({
            "start_s": 0.0, "fct_s": 0.1, "bytes": 1_000, "sender": "10.0.0.1:5", "receiver": "10.0.0.9:80",
            "timeouts": 0, "fast_retransmits": 0, "probes": 0, "repeats": 0, "drops": 0, "waited_s": 0.0,
            "leaves": true, "is_told": true, "closed": true
        });
        let flow: Flow = serde_json::from_value(flow).unwrap();
        assert!(matches!(
            write(&link, &Observation::default(), &[flow]),
            Ok(true)
        ));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&file).unwrap().contains("[workload]"));
        fs::remove_dir_all(folder).unwrap();
    }
}
