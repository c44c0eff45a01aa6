//! A package for Fedora, RHEL, SUSE and whatever reads RPM.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::workshop::{
    COMMAND, DESCRIPTION, Processor, SUMMARY, Workshop, below, copy, list, read, starts, write,
};
use crate::repository::{Failure, run};

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
    let script = |name: &str| read(&workshop.repository.path("packaging").join(name));
    let scripts = [script("before-removal.sh")?, script("after-change.sh")?];
    write(
        &file,
        spec(&workshop.version, root, &below(root)?, &scripts),
    )?;
    let mut rpmbuild = Command::new("rpmbuild");
    rpmbuild
        .args(["--quiet", "-bb", "--target", processor.name(), "--define"])
        .arg(format!("_topdir {}", folder.display()))
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

/// The description that RPM builds a package from: files that are there already.
fn spec(version: &str, root: &Path, files: &[PathBuf], scripts: &[String; 2]) -> String {
    let [before_removal, after_change] = scripts;
    let root = root.display();
    let mut text = format!(
        "{HEAD}Name: {COMMAND}\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\n\
         License: Apache-2.0 OR MIT\n\
         AutoReqProv: no\n\n%description\n{DESCRIPTION}\n\
         %install\nmkdir -p %{{buildroot}}\ncp -a {root}/. %{{buildroot}}\n\n\
         %preun\n{before_removal}\n%post\n{after_change}\n%postun\n{after_change}\n%files\n%defattr(-,root,root)\n%dir /usr/share/doc/tailwater\n"
    );
    for path in files {
        let path = path.display();
        let is_document = path.to_string().starts_with("usr/share/doc/");
        let kind = if is_document { "%doc " } else { "" };
        writeln!(text, "{kind}/{path}").expect("a string takes it");
    }
    text
}

/// Nothing is compiled here, and nothing is to be changed. Xz is what RPM reads since 2010.
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
    fn every_file_is_listed_and_documents_as_such() {
        let files = ["usr/bin/tailwater", "usr/share/doc/tailwater/copyright"].map(PathBuf::from);
        let scripts = ["one".to_owned(), "two".to_owned()];
        let text = spec("0.1.0", Path::new("/x"), &files, &scripts);
        let (_, listed) = text.split_once("%files\n").unwrap();
        let expected = "%defattr(-,root,root)\n%dir /usr/share/doc/tailwater\n/usr/bin/tailwater\n\
                        %doc /usr/share/doc/tailwater/copyright\n";
        assert_eq!(listed, expected);
        assert!(text.contains("%preun\none\n"), "{text}");
    }
}
