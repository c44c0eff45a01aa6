//! Wheels of the Python package: maturin builds them, and Zig links them with a C library that is old enough for
//! current machines, glibc 2.17 or musl. One wheel serves every Python from 3.10 on (PEP 384).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::workshop::{Processor, Workshop, list, make, starts};
use crate::repository::{Failure, run, stdout};

/// A C library that wheels are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Libc {
    Glibc,
    Musl,
}

impl Libc {
    /// The name of its environment in Rust targets.
    const fn environment(self) -> &'static str {
        match self {
            Self::Glibc => "gnu",
            Self::Musl => "musl",
        }
    }

    /// The tag of its wheels (PEP 600, PEP 656).
    const fn tag(self) -> &'static str {
        match self {
            Self::Glibc => "manylinux2014",
            Self::Musl => "musllinux_1_2",
        }
    }

    fn target(self, processor: Processor) -> String {
        format!("{}-unknown-linux-{}", processor.name(), self.environment())
    }
}

/// The reason why this machine cannot build any wheel for a processor, if there is one.
pub(super) fn lacks(workshop: &Workshop<'_>, processor: Processor) -> Option<String> {
    let remedy =
        "pip install -r packaging/requirements.txt, in a virtual environment that is on PATH";
    if !starts("maturin", &["--version"]) {
        return Some(format!("maturin is not installed: {remedy}"));
    }
    if !starts("python3", &["-m", "ziglang", "version"]) {
        return Some(format!("Zig is not installed: {remedy}"));
    }
    libraries(workshop, processor).is_empty().then(|| {
        let target = Libc::Glibc.target(processor);
        format!("the Rust target is not installed: rustup target add {target}")
    })
}

/// Builds the wheels for a processor, and tests the one that this machine can load.
pub(super) fn build(
    workshop: &Workshop<'_>,
    processor: Processor,
) -> Result<Vec<PathBuf>, Failure> {
    let mut wheels = Vec::new();
    let libraries = libraries(workshop, processor);
    for libc in libraries.iter().copied() {
        let folder = workshop.emptied("wheels")?;
        let mut maturin = Command::new("maturin");
        maturin
            .args(["build", "--locked", "--zig", "--strip"])
            .args(["--profile", workshop.profile])
            .args(["--compatibility", libc.tag()])
            .args(["--target", &libc.target(processor)])
            .arg("--out")
            .arg(&folder)
            .current_dir(workshop.repository.root());
        run(&mut maturin)?;
        for wheel in list(&folder)? {
            let name = wheel.file_name().unwrap_or_default();
            let place = workshop.out().join(name);
            super::workshop::copy(&wheel, &place)?;
            if libc == Libc::Glibc && Processor::here() == Some(processor) {
                try_out(workshop, &place)?;
            }
            wheels.push(place);
        }
    }
    if !libraries.contains(&Libc::Musl) {
        let target = Libc::Musl.target(processor);
        eprintln!(
            "skipped wheels for musl: the Rust target is not installed: rustup target add {target}"
        );
    }
    Ok(wheels)
}

/// The C libraries for which the standard library of Rust is installed.
fn libraries(workshop: &Workshop<'_>, processor: Processor) -> Vec<Libc> {
    let is_there = |libc: &Libc| {
        let mut rustc = Command::new("rustc");
        rustc.args(["--print", "target-libdir", "--target"]);
        rustc.arg(libc.target(processor));
        let folder = stdout(rustc.current_dir(workshop.repository.root()));
        folder.is_ok_and(|folder| Path::new(folder.trim_end()).is_dir())
    };
    let all = [Libc::Glibc, Libc::Musl].into_iter();
    all.filter(is_there).collect()
}

/// Installs a wheel into an empty environment, simulates, and reports the time.
fn try_out(workshop: &Workshop<'_>, wheel: &Path) -> Result<(), Failure> {
    let folder = workshop.emptied("venv")?;
    make(&folder)?;
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let python = folder.join("bin/python");
    let start = now();
    // Nothing comes from a registry, because the package has no dependencies.
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-index"]);
    run(pip.arg(wheel))?;
    let installed = start.elapsed();
    let script = "import tailwater as tw; print(tw.run('incast', schemes=['newreno'], seeds=1))";
    // The sources of the package are in the repository, and must not be imported instead.
    let mut simulate = Command::new(&python);
    simulate.args(["-I", "-c", script]).current_dir(&folder);
    let answer = stdout(&mut simulate)?;
    if !answer.contains("newreno") {
        return Err(Failure(format!(
            "{}: a run prints no row of newreno: {answer}",
            wheel.display()
        )));
    }
    eprintln!(
        "{}: installed in {:.1} s, and a result after {:.1} s",
        wheel.display(),
        installed.as_secs_f64(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The clock. Only a message depends on it.
#[expect(clippy::disallowed_methods, reason = "it says how long something took")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_of_each_library_has_its_target_and_its_tag() {
        let all = [Libc::Glibc, Libc::Musl].map(|libc| (libc.target(Processor::Arm), libc.tag()));
        let expected = [
            ("aarch64-unknown-linux-gnu".to_owned(), "manylinux2014"),
            ("aarch64-unknown-linux-musl".to_owned(), "musllinux_1_2"),
        ];
        assert_eq!(all, expected);
    }
}
