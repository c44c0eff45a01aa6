//! `cargo xtask imports`: checks that published files of other simulators load unchanged and run, and that a file with
//! a mistake is refused with its place and a remedy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::repository::{Failure, Repository};

/// Files of a public repository.
struct Published {
    /// Owner and name.
    repository: &'static str,
    /// The beginning and the end of their paths in it.
    begin: &'static str,
    end: &'static str,
    /// Arguments of the import.
    import: &'static [&'static str],
    /// Settings of the run: enough to show that it starts.
    run: &'static [&'static str],
}

/// The files that load.
const PUBLISHED: [Published; 16] = [
    Published {
        repository: "ultraethernet/uet-htsim",
        begin: "htsim/sim/datacenter/topologies/leaf_spine_8192_100g_8_to_1",
        end: ".topo",
        import: &[],
        run: FEW,
    },
    Published {
        repository: "ultraethernet/uet-htsim",
        begin: "htsim/sim/datacenter/connection_matrices/incast/gen_random_incast_8192n_",
        end: ".cm",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "Broadcom/csg-htsim",
        begin: "sim/datacenter/connection_matrices/incast_128",
        end: ".cm",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "Broadcom/csg-htsim",
        begin: "sim/datacenter/connection_matrices/outcast_incast",
        end: ".cm",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "Broadcom/csg-htsim",
        begin: "sim/datacenter/connection_matrices/perm_1024n_1024c_0u_2000000b",
        end: ".cm",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "Broadcom/csg-htsim",
        begin: "sim/EXAMPLES/collateral/incast",
        end: ".cm",
        // All of its flows are without an end.
        import: &["--size", "450KB"],
        run: BRIEF,
    },
    Published {
        repository: "alibaba-edu/High-Precision-Congestion-Control",
        begin: "simulation/mix/flow.txt",
        end: ".txt",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "alibaba-edu/High-Precision-Congestion-Control",
        begin: "simulation/mix/topology.txt",
        end: ".txt",
        import: &[],
        run: FEW,
    },
    Published {
        repository: "alibaba-edu/High-Precision-Congestion-Control",
        begin: "simulation/mix/fat.txt",
        end: ".txt",
        import: &[],
        run: FEW,
    },
    Published {
        repository: "alibaba-edu/High-Precision-Congestion-Control",
        begin: "traffic_gen/",
        end: ".txt",
        import: &[],
        run: &["workload.duration=100ms"],
    },
    Published {
        repository: "inet-tub/ns3-datacenter",
        begin: "simulator/ns-3.39/examples/PowerTCP/flow-burstExp-",
        end: ".txt",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "inet-tub/ns3-datacenter",
        begin: "simulator/ns-3.39/examples/PowerTCP/topology-256",
        end: ".txt",
        import: &[],
        run: FEW,
    },
    Published {
        repository: "spcl/HTSIM",
        begin: "htsim/sim/lgs/incast_8_1_2MiB",
        end: ".goal",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "spcl/HTSIM",
        begin: "htsim/sim/lgs/one_send",
        end: ".goal",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "spcl/HTSIM",
        // comp1.goal has no transfer.
        begin: "htsim/sim/lgs/comp",
        end: "comp.goal",
        import: &[],
        run: BRIEF,
    },
    Published {
        repository: "astra-sim/astra-sim",
        begin: "examples/workload/microbenchmarks/all_",
        // The other files of the folder are read together with it.
        end: ".0.et",
        import: &[],
        run: BRIEF,
    },
];

/// Flows start at 10 ms.
const BRIEF: &[&str] = &["run.duration=11ms"];
/// Flows for a network that has none.
const FEW: &[&str] = &[
    "workload.kind=pairs",
    "workload.senders=2",
    "workload.size=30KB",
];

/// Imports and runs every published file below `folder`, which has a folder OWNER/NAME for each repository; then
/// imports each with a mistake in it.
pub(crate) fn run(repository: &Repository, folder: &Path) -> Result<(), Failure> {
    let built = repository.built(&["build", "--release", "--package", "tailwater"])?;
    let program = built
        .first()
        .ok_or_else(|| Failure("cargo built no program".to_owned()))?;
    let own = std::env::temp_dir().join(format!("imports-{}", std::process::id()));
    let trial = Trial {
        program: program.clone(),
        scratch: own.join("written"),
        copies: own.join("mistaken"),
    };
    for folder in [&trial.scratch, &trial.copies] {
        fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    }
    let mut wrong = Vec::new();
    let mut done: Vec<PathBuf> = Vec::new();
    for published in &PUBLISHED {
        let root = folder.join(published.repository);
        let mut files = Vec::new();
        find(&root, &mut files)?;
        files.retain(|file| {
            let path = file.strip_prefix(&root).unwrap_or(file);
            let path = path.to_string_lossy();
            path.starts_with(published.begin) && path.ends_with(published.end)
        });
        files.sort();
        // A file belongs to the first entry that fits it.
        files.retain(|file| !done.contains(file));
        let (begin, end) = (published.begin, published.end);
        // A full name needs no wildcard.
        let rest = if begin.ends_with(end) { "" } else { "*" };
        let end = if rest.is_empty() { "" } else { end };
        let name = format!("{}/{begin}{rest}{end}", published.repository);
        let before = wrong.len();
        if files.is_empty() {
            wrong.push(format!("{name}: no such file below {}", folder.display()));
        }
        for file in &files {
            wrong.extend(trial.of(file, published)?);
        }
        println!(
            "{:4} files, {} wrong: {name}",
            files.len(),
            wrong.len() - before
        );
        done.append(&mut files);
    }
    fs::remove_dir_all(&own).map_err(|error| Failure::file("remove", &own, &error))?;
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(wrong.join("\n")))
}

/// The tested program and its folders.
struct Trial {
    program: PathBuf,
    /// The program's working folder, emptied before each import.
    scratch: PathBuf,
    /// Files with mistakes.
    copies: PathBuf,
}

impl Trial {
    /// Imports and runs a file, then imports it with a mistake. Returns a sentence if one of these goes wrong.
    fn of(&self, file: &Path, published: &Published) -> Result<Option<String>, Failure> {
        let name = file.display();
        let imported = self.import(file, published.import)?;
        let text = String::from_utf8_lossy(&imported.stdout);
        let next = text.lines().last().unwrap_or_default().trim();
        let Some(next) = next.strip_prefix("tailwater run ") else {
            return Ok(Some(format!("{name} does not load: {}", said(&imported))));
        };
        // A command for a network contains a trace of the user.
        let words = next.split(" --set workload.kind=trace").next();
        let script = format!("exec \"$0\" run {} \"$@\"", words.unwrap_or(next));
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(&self.program);
        command.args([
            "--scheme",
            "newreno",
            "--seeds",
            "1",
            "--no-save",
            "--quiet",
        ]);
        for set in published.run {
            command.args(["--set", set]);
        }
        command.current_dir(&self.scratch);
        let ran = output(&mut command)?;
        if !ran.status.success() {
            return Ok(Some(format!("{name} does not run: {}", said(&ran))));
        }
        let bytes = fs::read(file).map_err(|error| Failure::file("read", file, &error))?;
        let (broken, place) = mutilated(&bytes);
        let copy = self.copies.join(file.file_name().unwrap_or_default());
        fs::write(&copy, broken).map_err(|error| Failure::file("write", &copy, &error))?;
        let refused = self.import(&copy, published.import)?;
        let text = said(&refused);
        let is_named = refused.status.code() == Some(2)
            && place.iter().all(|part| text.contains(part.as_str()))
            && text.contains("help: ");
        Ok((!is_named).then(|| format!("{name} with a mistake, {}: {text}", place.join(", "))))
    }

    fn import(&self, file: &Path, arguments: &[&str]) -> Result<Output, Failure> {
        // Without an output name the command writes a new file here, and does not replace one.
        fs::remove_dir_all(&self.scratch)
            .and_then(|()| fs::create_dir_all(&self.scratch))
            .map_err(|error| Failure::file("empty", &self.scratch, &error))?;
        let file = fs::canonicalize(file).map_err(|error| Failure::file("find", file, &error))?;
        let mut command = Command::new(&self.program);
        command.arg("import").arg(file).args(arguments);
        output(command.current_dir(&self.scratch))
    }
}

/// A file with a mistake, and the place that its refusal must name. In a text the last word of the third line is
/// changed; another file is cut.
fn mutilated(bytes: &[u8]) -> (Vec<u8>, Vec<String>) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return (bytes[..bytes.len() / 2].to_vec(), vec!["byte ".to_owned()]);
    };
    let lines: Vec<&str> = text.lines().collect();
    let full = lines.iter().enumerate();
    let mut full = full.filter(|(_, line)| !line.trim().is_empty());
    let Some((index, line)) = full.nth(2) else {
        return (Vec::new(), Vec::new());
    };
    let line = line.trim_end();
    let last = line.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let changed = format!("{}?!", &line[..last]);
    let mut lines = lines.clone();
    lines[index] = &changed;
    let place = vec![format!("line {}", index + 1), "column ".to_owned()];
    (lines.join("\n").into_bytes(), place)
}

/// The whole output of a program, on one line.
fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    let words = text.split_whitespace().filter(|word| *word != "|");
    words.collect::<Vec<_>>().join(" ")
}

fn output(command: &mut Command) -> Result<Output, Failure> {
    let program = PathBuf::from(command.get_program());
    command
        .output()
        .map_err(|error| Failure::file("start", &program, &error))
}

/// Every file below `folder`; none if it does not exist.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(|error| Failure::file("read", folder, &error))?;
    for entry in entries {
        let path = entry
            .map_err(|error| Failure::file("read", folder, &error))?
            .path();
        if path.is_dir() {
            find(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_in_the_third_line_of_text() {
        let text = "Nodes 3\nConnections 1\n\n0->1 start 0 size 5\n";
        let (broken, place) = mutilated(text.as_bytes());
        assert_eq!(
            String::from_utf8_lossy(&broken),
            "Nodes 3\nConnections 1\n\n0->1 start 0 size ?!"
        );
        assert_eq!(place, ["line 4", "column "]);
        let (broken, place) = mutilated(&[0xff, 0xfe, 0, 1]);
        assert_eq!((broken.len(), place), (2, vec!["byte ".to_owned()]));
    }
}
