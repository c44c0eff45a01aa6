//! The Python package: assembled, tested and type-checked, if there is Python.
//!
//! Cargo builds the extension module in the profile of the tests, so that everything compiled for them is used; maturin
//! only adds packaging. The package is assembled in a folder of the target directory, ready to be imported.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::repository::{Failure, PROGRAMS, Repository, run};

/// The modules that the tests import, and the type checkers.
const MODULES: [&str; 11] = [
    "pytest",
    "mypy",
    "pyright",
    "cloudpickle",
    "duckdb",
    "pandas",
    "polars",
    "pyarrow",
    "gymnasium",
    "nbclient",
    "ipykernel",
];

/// A missing requirement of this machine, if there is one.
pub(crate) fn lacks() -> Option<&'static str> {
    let mut command = Command::new(python());
    command.args(["-c", &format!("import {}", MODULES.join(", "))]);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = status.is_ok_and(|status| status.success());
    (!there).then_some(
        "there is no Python with the packages of .ci/requirements.txt (TAILWATER_PYTHON names one)",
    )
}

/// Builds the package, runs its tests, and meanwhile checks its types and its stubs. Each takes one core.
pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let package = PythonPackage::build(repository)?;
    let (tested, typed) = thread::scope(|scope| {
        let types = scope.spawn(|| check_types(repository, &package));
        let tested = run(package
            .python(repository, "pytest")
            .args(["--quiet", "python/tests"]));
        (tested, types.join().expect("it does not panic"))
    });
    tested.and(typed)
}

fn check_types(repository: &Repository, package: &PythonPackage) -> Result<(), Failure> {
    run(&mut package.python(repository, "mypy"))?;
    let names = ["tailwater", "--mypy-config-file", "pyproject.toml"];
    run(package.python(repository, "mypy.stubtest").args(names))?;
    let python = OsString::from("--pythonpath");
    let mut pyright = package.python(repository, "pyright");
    run(pyright
        .args([&python, &interpreter()?])
        .arg(package.folder.join("tailwater")))
}

/// Runs the slow tests: those tests of the package that have repetitions, with all of them.
pub(crate) fn trust(repository: &Repository) -> Result<(), Failure> {
    if let Some(lack) = lacks() {
        return Err(Failure(lack.to_owned()));
    }
    let package = PythonPackage::build(repository)?;
    let mut pytest = package.python(repository, "pytest");
    pytest.env("TAILWATER_TRUST", "1");
    run(pytest.args(["--durations=10", "-m", "trust", "python/tests"]))
}

/// The path of the interpreter itself, not of a launcher.
fn interpreter() -> Result<OsString, Failure> {
    let mut command = Command::new(python());
    let printed = command
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    let printed = printed.map_err(|error| Failure(format!("cannot run Python: {error}")))?;
    let path = String::from_utf8_lossy(&printed.stdout);
    Ok(OsString::from(path.trim()))
}

/// The package as installed, and the command from the same sources.
struct PythonPackage {
    folder: PathBuf,
    command: PathBuf,
}

impl PythonPackage {
    fn build(repository: &Repository) -> Result<Self, Failure> {
        // The extension module is a library. If the programs are built with it, the features are those of the tests, so
        // nothing is compiled twice.
        run(&mut repository.cargo(&[&PROGRAMS[..], &["--lib"]].concat()))?;
        let metadata = repository.metadata(&["--no-deps"])?;
        let target = metadata["target_directory"].as_str().map(PathBuf::from);
        let target = target.ok_or_else(|| Failure("cargo names no target directory".to_owned()))?;
        let built = target.join("debug");
        let library = format!(
            "{}_tailwater{}",
            env::consts::DLL_PREFIX,
            env::consts::DLL_SUFFIX
        );
        let folder = target.join("python-package");
        let package = folder.join("tailwater");
        // Files that are no longer among the sources must be removed.
        drop(fs::remove_dir_all(&package));
        copy(&repository.path("python/tailwater"), &package)?;
        let ending = if cfg!(windows) { "pyd" } else { "abi3.so" };
        let module = package.join(format!("_tailwater.{ending}"));
        fs::copy(built.join(library), &module)
            .map_err(|error| Failure::file("write", &module, &error))?;
        Ok(Self {
            folder,
            command: built.join(format!("tailwater{}", env::consts::EXE_SUFFIX)),
        })
    }

    /// A module of Python with the package on its path.
    fn python(&self, repository: &Repository, module: &str) -> Command {
        let mut command = Command::new(python());
        command
            .args(["-m", module])
            .current_dir(repository.root())
            .env("PYTHONPATH", &self.folder)
            .env("MYPYPATH", &self.folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("TAILWATER_COMMAND", &self.command);
        command
    }
}

/// Copies the sources of a package.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to).map_err(|error| Failure::file("make", to, &error))?;
    let entries = fs::read_dir(from).map_err(|error| Failure::file("list", from, &error))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_file() {
            fs::copy(&path, to.join(entry.file_name()))
                .map_err(|error| Failure::file("copy", &path, &error))?;
        }
    }
    Ok(())
}

/// The interpreter: that of the variable `TAILWATER_PYTHON`, or `python3`.
fn python() -> OsString {
    env::var_os("TAILWATER_PYTHON").unwrap_or_else(|| OsString::from("python3"))
}
