//! Static programs: Cargo builds them. Zig, which brings musl for both processors, compiles the C code and links.
//!
//! libbpf comes as sources with its crate, together with libelf and zlib, with which it reads programs for the kernel.
//! Their own build systems need Autoconf and write into Cargo's sources, so they are compiled here: each is one list of
//! files that needs only a few facts about the C library.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::workshop::{COMMAND, LIVE, Processor, Workshop, list, make, starts, write};
use crate::repository::{Failure, run, stdout};

/// The reason why this machine cannot build for a processor, if there is one.
pub(super) fn lacks(workshop: &Workshop<'_>, processor: Processor) -> Option<String> {
    if !starts("cargo-zigbuild", &["--version"]) {
        let remedy =
            "pip install -r packaging/requirements.txt, in a virtual environment that is on PATH";
        return Some(format!("cargo-zigbuild is not installed: {remedy}"));
    }
    // libbpf-sys needs the latter two, and the first compiles programs for the kernel.
    for (program, remedy) in [
        ("clang", "apt install clang"),
        ("make", "apt install make"),
        ("pkg-config", "apt install pkg-config"),
    ] {
        if !starts(program, &["--version"]) {
            return Some(format!("{program} is not installed: {remedy}"));
        }
    }
    let target = processor.target();
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", &target]);
    let folder = stdout(rustc.current_dir(workshop.repository.root()));
    let is_there = folder.is_ok_and(|folder| Path::new(folder.trim_end()).is_dir());
    (!is_there).then(|| format!("the Rust target is not installed: rustup target add {target}"))
}

/// Builds both programs, and returns their folder.
pub(super) fn build(workshop: &Workshop<'_>, processor: Processor) -> Result<PathBuf, Failure> {
    let sources = sources(workshop)?;
    let libraries = libraries(workshop, processor, &sources)?;
    let target = processor.target();
    let mut cargo = workshop.repository.cargo(&["zigbuild", "--locked"]);
    cargo
        .args(["--profile", workshop.profile, "--target", &target])
        .args(["--package", COMMAND, "--package", LIVE])
        .args(["--features", FEATURES])
        .env("RUSTFLAGS", flags(workshop))
        .env(
            format!("LIBBPF_SYS_LIBRARY_PATH_{}", target.replace('-', "_")),
            &libraries,
        )
        .env("LIBBPF_SYS_EXTRA_CFLAGS", includes(&sources))
        // Headers of this machine's own libraries must not be used for programs of another one.
        .env("NO_PKG_CONFIG", "1");
    run(&mut cargo)?;
    // Cargo's name for the folder of this profile.
    let folder = match workshop.profile {
        "dev" => "debug",
        profile => profile,
    };
    let folder = workshop.target.join(target).join(folder);
    for name in [COMMAND, LIVE] {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|error| Failure::file("read", &path, &error))?;
        if asks_for_an_interpreter(&bytes) != Some(false) {
            return Err(Failure(format!("{} is not static", path.display())));
        }
    }
    Ok(folder)
}

/// Runs both programs, with QEMU if they are for another processor, and returns the answer of a simulation. Without QEMU it
/// returns none, and says so.
pub(super) fn answer(folder: &Path, processor: Processor) -> Result<Option<String>, Failure> {
    let emulator = format!("qemu-{}", processor.name());
    let is_here = Processor::here() == Some(processor);
    if !is_here && !starts(&emulator, &["--version"]) {
        eprintln!(
            "skipped running the programs for {}: {emulator} is not installed: apt install qemu-user",
            processor.name()
        );
        return Ok(None);
    }
    let program = |name: &str| {
        let path = folder.join(name);
        if is_here {
            return Command::new(path);
        }
        let mut command = Command::new(&emulator);
        command.arg(path);
        command
    };
    stdout(program(LIVE).arg("--help"))?;
    let mut simulation = program(COMMAND);
    simulation.args(["run", "incast", "--seeds", "1", "--no-save"]);
    let answer = stdout(simulation.env("COLUMNS", "100").env("NO_COLOR", "1"))?;
    // Behind the answer stands the time that it took.
    let (answer, _) = answer.split_once("\nCost: ").unwrap_or((&answer, ""));
    Ok(Some(answer.to_owned()))
}

/// The features of distributed programs.
pub(super) const FEATURES: &str = "tailwater-live/static";

/// Messages of panics contain file names: they are made relative to the root of the repository or of Cargo's folder.
pub(super) fn flags(workshop: &Workshop<'_>) -> String {
    let root = (workshop.repository.root().to_owned(), ".");
    let home = cargo_home().map(|home| (home, "cargo"));
    let folders = [root].into_iter().chain(home);
    let flags =
        folders.map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()));
    flags.collect::<Vec<_>>().join(" ")
}

fn cargo_home() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
}

/// The folder of libbpf-sys, which has the sources of all three libraries.
pub(super) fn sources(workshop: &Workshop<'_>) -> Result<PathBuf, Failure> {
    let metadata = workshop
        .repository
        .metadata(&["--locked", "--all-features"])?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == "libbpf-sys");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
    folder
        .map(Path::to_owned)
        .ok_or_else(|| Failure("nothing depends on libbpf-sys".to_owned()))
}

/// The include paths by which libbpf finds the headers of the other two.
fn includes(sources: &Path) -> String {
    let folders = ["elfutils/libelf", "zlib"].map(|folder| sources.join(folder));
    folders
        .map(|folder| format!("-I{}", folder.display()))
        .join(" ")
}

/// Compiles libelf and zlib unless they are compiled, and returns their folder.
fn libraries(
    workshop: &Workshop<'_>,
    processor: Processor,
    sources: &Path,
) -> Result<PathBuf, Failure> {
    let version = sources.file_name().unwrap_or_default().to_string_lossy();
    let folder = workshop.work(&format!("libraries/{version}-{}", processor.name()));
    make(&folder)?;
    let config = folder.join("include/config.h");
    write(&config, LIBELF_CONFIG)?;
    let zlib = Library {
        name: "libz",
        files: c_files(&sources.join("zlib"))?,
        // It is older than C99, and asks whether the header exists that declares `read`.
        arguments: ["-Wno-deprecated-non-prototype", "-DZ_HAVE_UNISTD_H"]
            .map(str::to_owned)
            .to_vec(),
    };
    let elf = sources.join("elfutils/libelf");
    let mut arguments = vec!["-std=gnu11".to_owned()];
    let include = |folder: &Path| format!("-I{}", folder.display());
    arguments.extend([
        include(&folder.join("include")),
        include(&sources.join("elfutils/lib")),
        include(&elf),
        include(&sources.join("zlib")),
        format!("-include{}", config.display()),
    ]);
    let libelf = Library {
        name: "libelf",
        files: c_files(&elf)?,
        arguments,
    };
    zlib.compile(&folder, processor)?;
    libelf.compile(&folder, processor)?;
    Ok(folder)
}

/// A library of C.
struct Library {
    name: &'static str,
    files: Vec<PathBuf>,
    arguments: Vec<String>,
}

impl Library {
    fn compile(&self, folder: &Path, processor: Processor) -> Result<(), Failure> {
        let archive = folder.join(self.name).with_extension("a");
        if archive.is_file() {
            return Ok(());
        }
        eprintln!("compiling {} for {}", self.name, processor.name());
        // From several files Zig makes one object.
        let object = archive.with_extension("o");
        let mut zig = Command::new("cargo-zigbuild");
        zig.args(["zig", "cc", "--", "-O2", "-c", "-target"])
            .arg(format!("{}-linux-musl", processor.name()))
            .args(&self.arguments)
            .args(&self.files)
            .arg("-o")
            .arg(&object);
        run(&mut zig)?;
        let mut zig = Command::new("cargo-zigbuild");
        zig.args(["zig", "ar", "--", "rcs"]);
        run(zig.arg(&archive).arg(&object))
    }
}

fn c_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = list(folder)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    Ok(files)
}

/// Whether a 64-bit program needs a dynamic linker (ELF-64 Object File Format, program headers of type `PT_INTERP`);
/// `None` if it is no such program.
fn asks_for_an_interpreter(program: &[u8]) -> Option<bool> {
    if program.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let number = |at: usize, length: usize| -> Option<usize> {
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(program.get(at..at.checked_add(length)?)?);
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kinds: Option<Vec<usize>> = (0..count)
        .map(|header| number(start.checked_add(header.checked_mul(size)?)?, 4))
        .collect();
    Some(kinds?.contains(&PT_INTERP))
}

const PT_INTERP: usize = 3;
/// The results of elfutils' `configure` with musl.
const LIBELF_CONFIG: &str = "\
#define _GNU_SOURCE 1
#define HAVE_ERR_H 1
#define HAVE_VISIBILITY 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_DECL_RAWMEMCHR 0
#include <eu-config.h>
";

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with headers of these kinds.
    fn program(kinds: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02".to_vec();
        bytes.resize(64, 0);
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = u8::try_from(kinds.len()).unwrap();
        for &kind in kinds {
            bytes.push(kind);
            bytes.resize(bytes.len() + 55, 0);
        }
        bytes
    }

    #[test]
    fn a_program_that_needs_a_dynamic_linker_is_not_static() {
        assert_eq!(asks_for_an_interpreter(&program(&[6, 1, 1])), Some(false));
        assert_eq!(asks_for_an_interpreter(&program(&[6, 3, 1])), Some(true));
        assert_eq!(asks_for_an_interpreter(b"#!/bin/sh\n"), None);
        let cut = &program(&[6, 1])[..100];
        assert_eq!(asks_for_an_interpreter(cut), None);
    }
}
