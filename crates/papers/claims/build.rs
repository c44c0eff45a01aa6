//! Puts the catalogue of papers into the program, so that it works wherever the program is installed: a list of the
//! files of `experiments` with their texts.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes an array of names and texts that `catalogue` includes.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new("../../../experiments");
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
