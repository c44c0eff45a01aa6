//! The program inside the pages of `tailwater explore`. It is built from the sources and committed, so that other
//! developers do not need Clang and the target.

mod measure;
mod wasm;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use zopfli::{Format, Options};

use crate::repository::{Failure, Repository, run};

/// Builds the program, writes it beside the crate `play`, and compares its answers with those of this machine's native
/// program.
pub(crate) fn write(repository: &Repository) -> Result<(), Failure> {
    let program = packed(repository)?;
    let file = repository.path(PROGRAM);
    put(&file, &program)?;
    put(
        &repository.path(VERSION),
        version(repository, &file)?.as_bytes(),
    )?;
    run(&mut repository.cargo(&["test", "--package", "play", "--lib", "program"]))
}

/// Builds the program and compares it with the committed one by the digests and numbers of their answers. Both must
/// match this machine's native program, in every scenario of a page and in 10,000 random states of it.
pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let built = repository.path("target/play.wasm.gz");
    put(&built, &packed(repository)?)?;
    let committed = repository.path(PROGRAM);
    for program in [&built, &committed] {
        eprintln!(
            "{} is of version {}",
            program.display(),
            version(repository, program)?
        );
        let mut test = repository.cargo(&["test", "--package", "play", "--lib", "program"]);
        test.env("TAILWATER_PLAY_PROGRAM", program);
        run(test.env("TAILWATER_PLAY_STATES", "10000"))?;
    }
    // The guide states how many panels of papers a page draws.
    let mut test = repository.cargo(&["test", "--package", "play", "--lib", "panel"]);
    run(test.env("TAILWATER_PLAY_PANELS", "1"))
}

/// Measures the pages in a browser.
pub(crate) fn measure(repository: &Repository) -> Result<(), Failure> {
    measure::measure(repository)
}

/// The program of these sources, as small as possible and compressed.
fn packed(repository: &Repository) -> Result<Vec<u8>, Failure> {
    let flags = [
        "--cfg".to_owned(),
        "page".to_owned(),
        // Messages name files of libraries without the folder that this machine has them in.
        format!("--remap-path-prefix={}=", libraries()?),
    ];
    let flags = format!("target.{TARGET}.rustflags = {flags:?}");
    let arguments = [
        "rustc",
        "--config",
        &flags,
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
    let folder = repository.path(&format!("target/{TARGET}/page"));
    let file = folder.join("ordered.wasm");
    order(&folder.join("play.wasm"), &file)?;
    let program = fs::read(&file)
        .map_err(|error| Failure(format!("cannot read {}: {error}", file.display())))?;
    let small = wasm::without_names(&program)
        .ok_or_else(|| Failure(format!("{} is no WebAssembly", file.display())))?;
    let sizes = wasm::sizes(&program).into_iter().flatten();
    for (name, bytes) in sizes.filter(|(_, bytes)| *bytes >= SHOWN) {
        println!("{name}: {bytes} bytes");
    }
    let mut packed = Vec::new();
    zopfli::compress(Options::default(), Format::Gzip, &*small, &mut packed)
        .map_err(|error| Failure(format!("cannot compress the program: {error}")))?;
    println!(
        "the program: {} bytes, {} compressed",
        small.len(),
        packed.len()
    );
    Ok(packed)
}

/// The folder of the sources that Cargo has fetched.
fn libraries() -> Result<String, Failure> {
    let own = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = own.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let home = home.ok_or_else(|| Failure("CARGO_HOME is not set".to_owned()))?;
    Ok(home.join("registry/src/").display().to_string())
}

/// Writes a program to `ordered`, optimised a little more and with its functions sorted by name. The instances of a
/// generic function are similar, and only compress well side by side. Stronger optimisation makes the program smaller,
/// but larger when compressed.
fn order(program: &Path, ordered: &Path) -> Result<(), Failure> {
    let mut command = Command::new("wasm-opt");
    command.args(["--debuginfo", "-O1"]).arg(program);
    command.args(["--reorder-functions-by-name", "--output"]);
    run(command.arg(ordered)).map_err(|Failure(why)| {
        Failure(format!(
            "{why}; `npm install --global binaryen@132.0.0` installs wasm-opt"
        ))
    })
}

fn put(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(file, bytes)
        .map_err(|error| Failure(format!("cannot write {}: {error}", file.display())))
}

/// The simulator version that the program reports.
fn version(repository: &Repository, program: &Path) -> Result<String, Failure> {
    let folder = "crates/faces/play";
    let mut node = Command::new("node");
    node.arg(repository.path(&format!("{folder}/tests/program.mjs")));
    node.arg(repository.path(&format!("{folder}/templates/worker.js")));
    node.arg(program);
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

const TARGET: &str = "wasm32-wasip1";
const PROGRAM: &str = "crates/faces/play/assets/play.wasm.gz";
const VERSION: &str = "crates/faces/play/assets/play.version";
/// Bytes of a crate that are worth a line.
const SHOWN: usize = 5000;
