//! Steps that run in parallel with the others, in a process of low priority. They fill the time in which tests wait for
//! the network and compilers wait for one crate. Their output is printed at once when they have ended.

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::repository::Failure;

/// The process that runs them. It is killed when this value is dropped.
pub(super) struct Beside {
    child: Child,
    /// Its output.
    log: PathBuf,
}

impl Beside {
    /// Starts `cargo xtask check --beside`.
    pub(super) fn start() -> Result<Self, Failure> {
        let failed = |error| Failure(format!("cannot start the steps beside: {error}"));
        let program = env::current_exe().map_err(failed)?;
        let log = program.with_file_name("check-beside.log");
        let file = File::create(&log).map_err(failed)?;
        let mut command = if cfg!(unix) {
            let mut command = Command::new("nice");
            command.args(["-n", "19"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(["check", "--beside"]);
        command.stdout(file.try_clone().map_err(failed)?);
        let child = command.stderr(file).spawn().map_err(failed)?;
        Ok(Self { child, log })
    }

    /// Whether one of them has failed already.
    pub(super) fn has_failed(&mut self) -> bool {
        let ended = self.child.try_wait();
        ended.is_ok_and(|status| status.is_some_and(|status| !status.success()))
    }

    /// Waits for their end and shows what they printed.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let status = self.child.wait();
        let said = fs::read(&self.log).unwrap_or_default();
        eprint!("\nbeside:\n{}", String::from_utf8_lossy(&said));
        let is_done = status.is_ok_and(|status| status.success());
        is_done
            .then_some(())
            .ok_or_else(|| Failure("a step beside the others".to_owned()))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // After a failure of the others nobody waits for what these steps find. One that has ended cannot be killed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
