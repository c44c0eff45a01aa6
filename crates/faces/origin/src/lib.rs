//! A hash of the sources of the calling crate.
//!
//! It is a macro because only the compiler knows the calling crate, and reads its files again when they change.
//! `tailwater::origin!()` calls it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use proc_macro::TokenStream;

/// The hash as a `u64`, over the calling crate's `Cargo.toml` and every file below `src`, with their names. Comments
/// count, too, because separating them from code would require a parser in every user's build.
#[proc_macro]
pub fn source_hash(_: TokenStream) -> TokenStream {
    let text = match of_crate() {
        Ok((hash, files)) => {
            // The compiler expands the macro again when a file changes that it has read.
            let read = files
                .iter()
                .map(|file| format!("include_bytes!({file:?}),"));
            let read: String = read.collect();
            format!("{{ const _: &[&[u8]] = &[{read}]; {hash}_u64 }}")
        }
        Err(error) => format!("compile_error!({:?})", error.to_string()),
    };
    text.parse().unwrap_or_default()
}

fn of_crate() -> io::Result<(u64, Vec<String>)> {
    let root = std::env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let root = Path::new(&root);
    let mut files = vec![root.join("Cargo.toml")];
    collect(&root.join("src"), &mut files)?;
    files.sort();
    let mut hash = FNV_OFFSET;
    for file in &files {
        let name = file.strip_prefix(root).unwrap_or(file);
        hash = add(hash, name.to_string_lossy().as_bytes());
        hash = add(hash, &fs::read(file)?);
    }
    let paths = files.iter().map(|file| file.to_string_lossy().into_owned());
    Ok((hash, paths.collect()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a, which is the same on every machine. The length separates consecutive parts.
fn add(hash: u64, bytes: &[u8]) -> u64 {
    let length = (bytes.len() as u64).to_le_bytes();
    let all = length.iter().chain(bytes);
    all.fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    })
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
