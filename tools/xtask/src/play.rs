//! The program inside the pages of `tailwater explore`: built from the sources, and committed, so that nobody else
//! needs Clang and the target.

use std::fs;
use std::process::{Command, Stdio};

use crate::repository::{Failure, Repository, run};

/// Builds the program, makes it small, writes it beside the crate `play`, and compares what it answers with what this
/// machine's own program does.
pub(crate) fn write(repository: &Repository) -> Result<(), Failure> {
    let arguments = [
        "rustc",
        "--package",
        "play",
        "--profile",
        "page",
        "--target",
        TARGET,
        "--crate-type",
        "cdylib",
    ];
    run(&mut repository.cargo(&arguments))?;
    let built = repository.path(&format!("target/{TARGET}/page/play.wasm"));
    let program = fs::read(&built)
        .map_err(|error| Failure(format!("cannot read {}: {error}", built.display())))?;
    let small = without_names(&program)
        .ok_or_else(|| Failure(format!("{} is no WebAssembly", built.display())))?;
    let written = repository.path(&format!("{ASSETS}/play.wasm"));
    fs::write(&written, &small)
        .map_err(|error| Failure(format!("cannot write {}: {error}", written.display())))?;
    let mut gzip = Command::new("gzip");
    run(gzip.args(["-9", "--no-name", "--force"]).arg(&written))?;
    let version = version(repository)?;
    let file = repository.path(&format!("{ASSETS}/play.version"));
    fs::write(&file, version)
        .map_err(|error| Failure(format!("cannot write {}: {error}", file.display())))?;
    run(&mut repository.cargo(&["test", "--package", "play", "--lib", "program"]))
}

/// The version of the simulator that the program says it is of.
fn version(repository: &Repository) -> Result<String, Failure> {
    let folder = "crates/faces/play";
    let mut node = Command::new("node");
    node.arg(repository.path(&format!("{folder}/tests/program.mjs")));
    node.arg(repository.path(&format!("{folder}/templates/worker.js")));
    node.arg(repository.path(&format!("{ASSETS}/play.wasm.gz")));
    node.stdin(Stdio::piped()).stdout(Stdio::piped());
    let failed = |error: std::io::Error| Failure(format!("node: {error}"));
    let mut child = node.spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        use std::io::Write as _;
        input.write_all(b"\"version\"\n").map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure(format!("the program does not say its version: {error}")))?;
    let version = answer["version"].as_str();
    version
        .map(str::to_owned)
        .ok_or_else(|| Failure(format!("the program says no version: {answer}")))
}

/// A program without the sections that are for people, such as names of functions; none if it is no program.
fn without_names(program: &[u8]) -> Option<Vec<u8>> {
    let mut small = program.get(..HEADER)?.to_vec();
    let mut rest = &program[HEADER..];
    while let [kind, behind @ ..] = rest {
        let (length, digits) = leb128(behind)?;
        let whole = rest.get(..1 + digits + length)?;
        if *kind != CUSTOM {
            small.extend(whole);
        }
        rest = &rest[whole.len()..];
    }
    Some(small)
}

/// A number in LEB128, and how many bytes it takes.
fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number, place + 1));
        }
    }
    None
}

const TARGET: &str = "wasm32-wasip1";
const ASSETS: &str = "crates/faces/play/assets";
/// The magic number and the version of the format (WebAssembly Core §5.5.16).
const HEADER: usize = 8;
/// The kind of a section that a program does not need (WebAssembly Core §5.5.3).
const CUSTOM: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_for_people_are_left_out_and_others_stay() {
        let header = b"\0asm\x01\0\0\0";
        let program = [&header[..], b"\x01\x02ab", b"\x00\x83\x00xyz", b"\x0a\x01c"].concat();
        let small = [&header[..], b"\x01\x02ab", b"\x0a\x01c"].concat();
        assert_eq!(without_names(&program), Some(small));
        assert_eq!(without_names(&program[..10]), None);
    }
}
