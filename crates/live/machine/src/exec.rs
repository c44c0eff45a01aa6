//! Runs a program inside a host of a kept network.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::record;

/// Becomes `command` in the host or switch with this name, as in `h3` or `s0`. Only returns on failure, with the error.
pub fn exec(node: &str, command: &[OsString]) -> io::Error {
    let become_it = || -> io::Result<Infallible> {
        let namespace = record::kept_node(node)?;
        let missing = || {
            let text =
                format!("no network of `emulate up` has a node {node}; hosts are h0, h1 and so on");
            io::Error::new(io::ErrorKind::NotFound, text)
        };
        namespace.ok_or_else(missing)?.enter()?;
        let (program, args) = command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
        Err(Command::new(program).args(args).exec())
    };
    match become_it() {
        Ok(never) => match never {},
        Err(error) => error,
    }
}
