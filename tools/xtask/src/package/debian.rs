//! A package for Debian, Ubuntu and their derivatives.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::workshop::{
    COMMAND, DESCRIPTION, Processor, SUMMARY, Workshop, below, copy, gzip, maintainer, starts,
    write,
};
use crate::repository::{Failure, run, stdout};

pub(super) fn lacks() -> Option<String> {
    (!starts("dpkg-deb", &["--version"]))
        .then(|| "dpkg-deb is not installed: apt install dpkg".to_owned())
}

/// Makes the package of the files below `root`.
pub(super) fn make(
    workshop: &Workshop<'_>,
    processor: Processor,
    root: &Path,
) -> Result<PathBuf, Failure> {
    let version = &workshop.version;
    let maintainer = maintainer(workshop)?;
    changelog(workshop, &maintainer, root)?;
    let overrides = root.join("usr/share/lintian/overrides").join(COMMAND);
    copy(
        &workshop.repository.path("packaging/lintian-overrides"),
        &overrides,
    )?;
    super::tree::set_permissions(root)?;
    let control = root.join("DEBIAN");
    let sums = sums(root)?;
    let size = size(root)?.div_ceil(1024);
    write(&control.join("md5sums"), sums)?;
    let fields = fields(version, processor, &maintainer, size);
    write(&control.join("control"), fields)?;
    for (script, file) in [
        ("prerm", "before-removal.sh"),
        ("postinst", "after-change.sh"),
        ("postrm", "after-change.sh"),
    ] {
        let to = control.join(script);
        copy(&workshop.repository.path("packaging").join(file), &to)?;
        let everybody = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&to, everybody)
            .map_err(|error| Failure::file("change", &to, &error))?;
    }
    let name = format!("{COMMAND}_{version}_{}.deb", processor.debian());
    let package = workshop.out().join(name);
    let mut dpkg = Command::new("dpkg-deb");
    // Every dpkg reads xz; Ubuntu's default would be zstd, which Debian 11 does not read.
    dpkg.args(["--build", "--root-owner-group", "-Zxz"])
        .env("SOURCE_DATE_EPOCH", &workshop.epoch)
        .arg(root)
        .arg(&package);
    run(&mut dpkg)?;
    Ok(package)
}

fn fields(version: &str, processor: Processor, maintainer: &str, size: u64) -> String {
    // Every line begins with a blank, and a dot stands for an empty line.
    let lines = DESCRIPTION.lines().map(|line| match line {
        "" => " .\n".to_owned(),
        line => format!(" {line}\n"),
    });
    let description: String = lines.collect();
    format!(
        "Package: {COMMAND}\nVersion: {version}\nArchitecture: {}\nMaintainer: {maintainer}\n\
         Installed-Size: {size}\nSection: net\nPriority: optional\n\
         Description: {SUMMARY}\n{description}",
        processor.debian()
    )
}

/// A changelog, which Debian requires for every package.
fn changelog(workshop: &Workshop<'_>, maintainer: &str, root: &Path) -> Result<(), Failure> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", "--date"]);
    let date = stdout(date.arg(format!("@{}", workshop.epoch)))?;
    let text = format!(
        "{COMMAND} ({}) stable; urgency=medium\n\n  * This version.\n\n -- {maintainer}  {date}",
        workshop.version
    );
    let file = root.join("usr/share/doc/tailwater/changelog");
    write(&file, text)?;
    gzip(&[file])
}

/// Checksums, with which `dpkg --verify` compares the files.
fn sums(root: &Path) -> Result<String, Failure> {
    stdout(Command::new("md5sum").args(below(root)?).current_dir(root))
}

/// Bytes of all files.
fn size(root: &Path) -> Result<u64, Failure> {
    let length = |path: PathBuf| {
        let path = root.join(path);
        let metadata = fs::metadata(&path);
        metadata
            .map(|metadata| metadata.len())
            .map_err(|error| Failure::file("read", &path, &error))
    };
    below(root)?.into_iter().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_those_that_dpkg_demands() {
        let fields = fields("0.1.0", Processor::Arm, "A <a@b.c>", 7);
        for line in [
            "Package: tailwater",
            "Version: 0.1.0",
            "Architecture: arm64",
            "Maintainer: A <a@b.c>",
            "Installed-Size: 7",
        ] {
            assert!(fields.lines().any(|one| one == line), "{line} in\n{fields}");
        }
        let (_, description) = fields.split_once("\nDescription: ").unwrap();
        let mut rest = description.lines().skip(1);
        assert!(rest.all(|line| line.starts_with(' ')), "{fields}");
    }
}
