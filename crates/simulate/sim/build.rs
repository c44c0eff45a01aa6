//! Makes the version of this program from its sources; see `version`.

#[path = "build/version.rs"]
mod version;

use std::path::Path;

fn main() {
    let root = Path::new("../../..");
    for place in version::SIMULATES {
        println!("cargo::rerun-if-changed={}", root.join(place).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let number = std::env::var("CARGO_PKG_VERSION").expect("cargo sets the version");
    let hash = version::hash(root);
    println!("cargo::rustc-env=TAILWATER_VERSION={number}+{hash:08x}");
}
