//! Wheels of the Python package: maturin builds them, with Zig as the linker, which has the old C libraries that
//! `manylinux` means, and musl for `musllinux`.

use std::path::PathBuf;
use std::process::Command;

use super::programs::flags;
use super::workshop::{Processor, Workshop, copy, list, starts};
use crate::repository::{Failure, run, stdout};

pub(super) fn lacks(workshop: &Workshop<'_>, processor: Processor) -> Option<String> {
    let missing = ["maturin", "cargo-zigbuild"]
        .into_iter()
        .find(|program| !starts(program, &["--version"]));
    if let Some(program) = missing {
        let remedy =
            "pip install -r packaging/requirements.txt, in a virtual environment that is on PATH";
        return Some(format!("{program} is not installed: {remedy}"));
    }
    targets(processor).into_iter().find_map(|(target, _)| {
        let mut rustc = Command::new("rustc");
        rustc.args(["--print", "target-libdir", "--target", &target]);
        let folder = stdout(rustc.current_dir(workshop.repository.root()));
        let is_there = folder.is_ok_and(|folder| std::path::Path::new(folder.trim_end()).is_dir());
        (!is_there).then(|| format!("the Rust target is not installed: rustup target add {target}"))
    })
}

/// Builds those of a processor.
pub(super) fn build(
    workshop: &Workshop<'_>,
    processor: Processor,
) -> Result<Vec<PathBuf>, Failure> {
    let folder = workshop.emptied(&format!("wheels-{}", processor.name()))?;
    for (target, compatibility) in targets(processor) {
        let mut maturin = Command::new("maturin");
        maturin
            .args(["build", "--zig", "--locked", "--target", &target])
            .args(["--profile", workshop.profile])
            .args(["--compatibility", compatibility, "--out"])
            .arg(&folder)
            .env("RUSTFLAGS", flags(workshop))
            // No interpreter of the target is here, and none is needed: the module is the same for all of them.
            .env("PYO3_NO_PYTHON", "1")
            .env("PYO3_BUILD_EXTENSION_MODULE", "1")
            .current_dir(workshop.repository.root());
        run(&mut maturin)?;
    }
    let made = list(&folder)?;
    let copied = made.iter().map(|wheel| {
        let to = workshop
            .out()
            .join(wheel.file_name().expect("a wheel has a name"));
        copy(wheel, &to).map(|()| to)
    });
    copied.collect()
}

/// The targets of Rust, with the oldest systems that their wheels are for: glibc 2.17 is what Rust itself asks for.
fn targets(processor: Processor) -> [(String, &'static str); 2] {
    let glibc = format!("{}-unknown-linux-gnu", processor.name());
    [
        (glibc, "manylinux2014"),
        (processor.target(), "musllinux_1_2"),
    ]
}
