//! The parts of the programs in machine-readable form, for vulnerability scanners: a bill of materials in the format of
//! `CycloneDX` 1.5.

use serde_json::{Value, json};

use super::linked::{Origin, Part};
use super::workshop::{COMMAND, Processor, Workshop};

/// The bill of the programs for a processor.
pub(super) fn bill(workshop: &Workshop<'_>, processor: Processor, parts: &[Part]) -> Value {
    let version = &workshop.version;
    let own = format!("pkg:generic/{COMMAND}@{version}?arch={}", processor.name());
    let outside = parts.iter().filter(|part| part.origin != Origin::Workspace);
    let components: Vec<Value> = outside.map(component).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": COMMAND,
                "version": version,
                "purl": own,
                "licenses": [{ "expression": "Apache-2.0 OR MIT" }],
            },
        },
        "components": components,
    })
}

fn component(part: &Part) -> Value {
    let Part {
        name,
        version,
        licence,
        ..
    } = part;
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "licenses": [{ "expression": licence }],
    });
    if let Origin::Registry { sha256 } = &part.origin {
        let purl = format!("pkg:cargo/{name}@{version}").replace('+', "%2B");
        component["bom-ref"] = json!(purl);
        component["purl"] = json!(purl);
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_crate_is_found_by_its_address_and_a_library_of_c_by_its_name() {
        let mut part = Part {
            name: "libbpf-sys".to_owned(),
            version: "1.7.0+v1.7.0".to_owned(),
            licence: "BSD-2-Clause".to_owned(),
            authors: String::new(),
            folder: PathBuf::new(),
            origin: Origin::Registry {
                sha256: "12ab".to_owned(),
            },
        };
        let crate_part = component(&part);
        assert_eq!(crate_part["purl"], "pkg:cargo/libbpf-sys@1.7.0%2Bv1.7.0");
        assert_eq!(crate_part["hashes"][0]["content"], "12ab");
        part.origin = Origin::Outside;
        let library = component(&part);
        assert_eq!(library["licenses"][0]["expression"], "BSD-2-Clause");
        assert!(library.get("purl").is_none(), "{library}");
    }
}
