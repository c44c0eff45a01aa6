//! Makes the version of this program from its sources.
//!
//! Results of different sources must never be mixed, and the number in `Cargo.toml` changes too
//! rarely to tell: the version carries a hash of every source that a simulation runs through, data included.
//!
//! Also makes the catalogue of papers part of the program, so that it works wherever the program is
//! installed: a list of the files of `experiments` with their texts. They say what is run and what is
//! claimed, not how it is simulated, so they are no part of the version.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let mut files = vec![PathBuf::from("../../Cargo.lock")];
    for name in ["base", "engine", "fabric", "tcp", "schemes", "lab"] {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut files);
    }
    // Distributions and graphs are part of what is simulated.
    for folder in ["graphs", "workloads"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    files.sort();
    // FNV-1a: short, and a changed byte changes it.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let bytes = fs::read(&file).expect("a source file can be read");
        for byte in file.to_string_lossy().bytes().chain(bytes) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets the version");
    println!(
        "cargo::rustc-env=TAILWATER_VERSION={version}+{:08x}",
        hash >> 32
    );
    embed_catalogue();
}

/// Writes an array of names and texts that `lab::experiment::catalogue` includes.
fn embed_catalogue() {
    let root = Path::new("../../experiments");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    if root.is_dir() {
        collect(root, &mut files);
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut text = String::from("&[\n");
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(root).expect("a file below the root");
        let name = name.to_string_lossy().replace('\\', "/");
        let path = fs::canonicalize(&file).expect("a file that was listed");
        writeln!(
            text,
            "    ({name:?}, include_str!({:?})),",
            path.display().to_string()
        )
        .expect("writing to a string succeeds");
    }
    text.push_str("]\n");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets the folder of build products");
    fs::write(Path::new(&out).join("catalogue.rs"), text).expect("a build product can be written");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a source folder can be read");
    for entry in entries {
        let path = entry.expect("a source folder can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
