//! The files of an installed package, in a folder that stands for the root of a system.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::workshop::{COMMAND, LIVE, Workshop, below, copy, gzip, list, write};
use crate::repository::{Failure, run, stdout};

/// The files, and a program for this machine's processor that writes some of them.
pub(super) struct PackageFiles<'a> {
    /// The folder of the programs.
    pub(super) programs: &'a Path,
    /// The command for this machine.
    pub(super) command: &'a Path,
    /// The licences of everything that is linked.
    pub(super) licences: &'a str,
    /// The folder where zsh looks for completions, which differs by distribution.
    pub(super) zsh: &'a str,
}

impl PackageFiles<'_> {
    /// Copies everything below `root`, which is empty.
    pub(super) fn put(&self, workshop: &Workshop<'_>, root: &Path) -> Result<(), Failure> {
        for name in [COMMAND, LIVE] {
            copy(&self.programs.join(name), &root.join("usr/bin").join(name))?;
        }
        let unit = "tailwater-observe.service";
        let packaging = workshop.repository.path("packaging");
        copy(
            &packaging.join(unit),
            &root.join("usr/lib/systemd/system").join(unit),
        )?;
        self.documents(&packaging, root)?;
        self.completions(root)?;
        self.manuals(&packaging, root)
    }

    fn documents(&self, packaging: &Path, root: &Path) -> Result<(), Failure> {
        let folder = root.join("usr/share/doc/tailwater");
        copy(&packaging.join("copyright"), &folder.join("copyright"))?;
        let licences = folder.join("LICENSES");
        write(&licences, self.licences)?;
        gzip(&[licences])
    }

    fn completions(&self, root: &Path) -> Result<(), Failure> {
        let zsh = format!("{}/_tailwater", self.zsh);
        for (shell, path) in [
            ("bash", "usr/share/bash-completion/completions/tailwater"),
            ("zsh", &zsh),
            ("fish", "usr/share/fish/vendor_completions.d/tailwater.fish"),
        ] {
            let text = stdout(Command::new(self.command).args(["completions", shell]))?;
            write(&root.join(path), text)?;
        }
        Ok(())
    }

    fn manuals(&self, packaging: &Path, root: &Path) -> Result<(), Failure> {
        let folder = root.join("usr/share/man/man1");
        let page = "tailwater-live.1";
        copy(&packaging.join(page), &folder.join(page))?;
        let mut command = Command::new(self.command);
        command.args(["man", "--out"]).arg(&folder);
        run(command.stdout(std::process::Stdio::null()))?;
        gzip(&list(&folder)?)
    }
}

/// Gives files the permissions that they have on a system, for any umask: everybody may run programs and enter folders,
/// and read the rest.
pub(super) fn set_permissions(root: &Path) -> Result<(), Failure> {
    run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(root))?;
    let is_program = |path: &PathBuf| path.starts_with("usr/bin");
    let others = below(root)?.into_iter().filter(|path| !is_program(path));
    let others: Vec<PathBuf> = others.map(|path| root.join(path)).collect();
    run(Command::new("chmod").arg("644").args(others))
}
