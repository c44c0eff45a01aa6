//! Makes the version of this program from its sources.
//!
//! Results of different sources must never be mixed, and the number in `Cargo.toml` changes too
//! rarely to tell: the version carries a hash of every source that a simulation runs through.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let mut files = vec![PathBuf::from("../../Cargo.lock")];
    for name in ["base", "engine", "fabric", "tcp", "schemes", "lab"] {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut files);
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
