//! An image for containers, made without an engine: a tar archive that is both a layout of the Open Container
//! Initiative (OCI Image Format 1.0) and an archive of `docker save`, so that every engine loads it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::workshop::{
    COMMAND, Processor, Workshop, copy, gzip, make as make_folder, sha256, write,
};
use crate::repository::{Failure, run, stdout};

/// Makes the image of the files below `root`.
pub(super) fn make(
    workshop: &Workshop<'_>,
    processor: Processor,
    root: &Path,
) -> Result<PathBuf, Failure> {
    super::tree::set_permissions(root)?;
    // The user of the container writes results here.
    for folder in ["work", "tmp"] {
        let folder = root.join(folder);
        make_folder(&folder)?;
        run(Command::new("chmod").arg("1777").arg(&folder))?;
    }
    let layout = workshop.emptied(&format!("image-{}", processor.name()))?;
    let blobs = Blobs(layout.join("blobs/sha256"));
    make_folder(&blobs.0)?;
    let layer = layout.join("layer.tar");
    run(workshop.tar(root, &layer).arg("."))?;
    let unpacked = sha256(&layer)?;
    gzip(&[layer])?;
    let layer = blobs.take(&layout.join("layer.tar.gz"))?;
    let created = created(workshop)?;
    let config = blobs.put(&config(processor, &created, &unpacked))?;
    let manifest = blobs.put(&manifest(&config, &layer))?;
    write(
        &layout.join("oci-layout"),
        json!({ "imageLayoutVersion": "1.0.0" }).to_string(),
    )?;
    let index = index(&workshop.version, processor, &manifest);
    write(&layout.join("index.json"), index.to_string())?;
    let saved = json!([{
        "Config": config.path(),
        "RepoTags": [format!("{COMMAND}:{}", workshop.version), format!("{COMMAND}:latest")],
        "Layers": [layer.path()],
    }]);
    write(&layout.join("manifest.json"), saved.to_string())?;
    let name = format!(
        "{COMMAND}-{}-{}.oci.tar",
        workshop.version,
        processor.debian()
    );
    let archive = workshop.out().join(name);
    run(workshop.tar(&layout, &archive).args([
        "oci-layout",
        "index.json",
        "manifest.json",
        "blobs",
    ]))?;
    Ok(archive)
}

/// Files named by the hash of their content.
struct Blobs(PathBuf);

/// One of them.
struct Blob {
    sha256: String,
    size: u64,
}

impl Blobs {
    /// Adds an existing file.
    fn take(&self, file: &Path) -> Result<Blob, Failure> {
        let sha256 = sha256(file)?;
        let size = std::fs::metadata(file).map_err(|error| Failure::file("read", file, &error))?;
        copy(file, &self.0.join(&sha256))?;
        std::fs::remove_file(file).map_err(|error| Failure::file("remove", file, &error))?;
        let size = size.len();
        Ok(Blob { sha256, size })
    }

    /// Writes one.
    fn put(&self, value: &Value) -> Result<Blob, Failure> {
        let file = self.0.join("new");
        write(&file, value.to_string())?;
        self.take(&file)
    }
}

impl Blob {
    fn digest(&self) -> String {
        format!("sha256:{}", self.sha256)
    }

    /// Its place in the archive.
    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.sha256)
    }
}

/// The time of the last commit, in the notation of RFC 3339.
fn created(workshop: &Workshop<'_>) -> Result<String, Failure> {
    let mut date = Command::new("date");
    date.args(["--utc", "+%Y-%m-%dT%H:%M:%SZ", "--date"]);
    let date = stdout(date.arg(format!("@{}", workshop.epoch)))?;
    Ok(date.trim().to_owned())
}

/// The configuration of a container: it runs the command as nobody, with the user's arguments appended.
fn config(processor: Processor, created: &str, layer: &str) -> Value {
    json!({
        "created": created,
        "architecture": processor.debian(),
        "os": "linux",
        "config": {
            "User": "65534:65534",
            "Env": ["PATH=/usr/bin", "HOME=/work"],
            "Entrypoint": ["/usr/bin/tailwater"],
            "WorkingDir": "/work",
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer}")] },
        "history": [{ "created": created, "created_by": "cargo xtask package image" }],
    })
}

fn manifest(config: &Blob, layer: &Blob) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": config.digest(),
            "size": config.size,
        },
        "layers": [{
            "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
            "digest": layer.digest(),
            "size": layer.size,
        }],
    })
}

fn index(version: &str, processor: Processor, manifest: &Blob) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": manifest.digest(),
            "size": manifest.size,
            "platform": { "architecture": processor.debian(), "os": "linux" },
            "annotations": {
                "org.opencontainers.image.ref.name": version,
                "io.containerd.image.name": format!("{COMMAND}:{version}"),
            },
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_simulates_without_root() {
        let config = config(Processor::X86, "2026-01-01T00:00:00Z", "12ab");
        assert_eq!(config["config"]["User"], "65534:65534");
        assert_eq!(config["rootfs"]["diff_ids"][0], "sha256:12ab");
        assert_eq!(config["architecture"], "amd64");
    }

    #[test]
    fn a_manifest_names_its_blobs_by_what_is_in_them() {
        let blob = |digit: &str, size| Blob {
            sha256: digit.repeat(64),
            size,
        };
        let manifest = manifest(&blob("a", 7), &blob("b", 9));
        assert_eq!(
            manifest["config"]["digest"],
            format!("sha256:{}", "a".repeat(64))
        );
        assert_eq!(manifest["layers"][0]["size"], 9);
    }
}
