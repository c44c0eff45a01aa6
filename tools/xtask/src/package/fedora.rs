//! A package for Fedora, RHEL, SUSE and other systems with RPM.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::workshop::{
    COMMAND, DESCRIPTION, Processor, SUMMARY, Workshop, below, copy, list, maintainer, read,
    starts, write,
};
use crate::repository::{Failure, run, stdout};

pub(super) fn lacks() -> Option<String> {
    (!starts("rpmbuild", &["--version"]))
        .then(|| "rpmbuild is not installed: apt install rpm, or dnf install rpm-build".to_owned())
}

/// Makes the package of the files below `root`.
pub(super) fn make(
    workshop: &Workshop<'_>,
    processor: Processor,
    root: &Path,
) -> Result<PathBuf, Failure> {
    super::tree::set_permissions(root)?;
    let folder = workshop.emptied(&format!("rpm-{}", processor.name()))?;
    let file = folder.join("tailwater.spec");
    let changelog = changelog(workshop)?;
    let script = |name: &str| read(&workshop.repository.path("packaging").join(name));
    let scripts = [script("before-removal.sh")?, script("after-change.sh")?];
    let files = owned(&below(root)?);
    let text = spec(&workshop.version, root, &files, &scripts);
    write(&file, text + &changelog)?;
    let mut rpmbuild = Command::new("rpmbuild");
    rpmbuild
        .args(["--quiet", "-bb", "--target", processor.name(), "--define"])
        .arg(format!("_topdir {}", folder.display()))
        .args(["--define", &format!("packager {}", maintainer(workshop)?)])
        .env("SOURCE_DATE_EPOCH", &workshop.epoch)
        .arg(&file);
    run(&mut rpmbuild)?;
    let made = list(&folder.join("RPMS").join(processor.name()))?;
    let [made] = made.as_slice() else {
        return Err(Failure(format!("rpmbuild made {} packages", made.len())));
    };
    let package = workshop
        .out()
        .join(made.file_name().expect("a package has a name"));
    copy(made, &package)?;
    Ok(package)
}

/// The paths that belong to the package: its files, and folders that no other package may own.
fn owned(files: &[PathBuf]) -> Vec<String> {
    let mut folders: Vec<&Path> = files
        .iter()
        .flat_map(|file| file.ancestors().skip(1))
        .collect();
    folders.retain(|folder| {
        let of = ["bash-completion", "doc/tailwater", "fish", "zsh"];
        of.iter()
            .any(|start| folder.starts_with(Path::new("usr/share").join(start)))
    });
    folders.sort_unstable();
    folders.dedup();
    let folders = folders
        .iter()
        .map(|folder| format!("%dir /{}", folder.display()));
    let files = files.iter().map(|file| {
        let is_document = file.starts_with("usr/share/doc");
        let kind = if is_document { "%doc " } else { "" };
        format!("{kind}/{}", file.display())
    });
    folders.chain(files).collect()
}

/// A changelog, which RPM's own checks require for every package.
fn changelog(workshop: &Workshop<'_>) -> Result<String, Failure> {
    let mut date = Command::new("date");
    date.args(["--utc", "+%a %b %d %Y", "--date"])
        .env("LC_ALL", "C");
    let date = stdout(date.arg(format!("@{}", workshop.epoch)))?;
    let maintainer = maintainer(workshop)?;
    let version = &workshop.version;
    Ok(format!(
        "\n%changelog\n* {} {maintainer} - {version}-1\n- This version.\n",
        date.trim()
    ))
}

/// The spec file from which RPM builds a package of existing files.
fn spec(version: &str, root: &Path, files: &[String], scripts: &[String; 2]) -> String {
    let [before_removal, after_change] = scripts;
    let root = root.display();
    let mut text = format!(
        "{HEAD}Name: {COMMAND}\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\n\
         License: Apache-2.0 OR MIT\nGroup: Applications/Internet\n\
         AutoReqProv: no\n\n%description\n{DESCRIPTION}\n\
         %install\nmkdir -p %{{buildroot}}\ncp -a {root}/. %{{buildroot}}\n\n\
         %preun\n{before_removal}\n%post\n{after_change}\n%postun\n{after_change}\n%files\n%defattr(-,root,root)\n"
    );
    for path in files {
        writeln!(text, "{path}").expect("a string takes it");
    }
    text
}

/// Nothing is compiled here, and nothing must be changed. RPM reads xz since 2010.
const HEAD: &str = "\
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w6.xzdio
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost packages
";
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed_with_the_folders_that_would_stay() {
        let files = [
            "usr/bin/tailwater",
            "usr/share/doc/tailwater/copyright",
            "usr/share/zsh/site-functions/_tailwater",
        ];
        let expected = [
            "%dir /usr/share/doc/tailwater",
            "%dir /usr/share/zsh",
            "%dir /usr/share/zsh/site-functions",
            "/usr/bin/tailwater",
            "%doc /usr/share/doc/tailwater/copyright",
            "/usr/share/zsh/site-functions/_tailwater",
        ];
        assert_eq!(owned(&files.map(PathBuf::from)), expected);
    }

    #[test]
    fn scripts_run_before_removal_and_after_changes() {
        let scripts = ["one".to_owned(), "two".to_owned()];
        let text = spec(
            "0.1.0",
            Path::new("/x"),
            &["/usr/bin/a".to_owned()],
            &scripts,
        );
        for part in [
            "%preun\none\n",
            "%post\ntwo\n",
            "%postun\ntwo\n",
            "%files\n%defattr(-,root,root)\n/usr/bin/a\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}
