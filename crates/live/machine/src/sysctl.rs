//! A setting of a host's network.

use std::fs;
use std::io;
use std::str::FromStr;

/// A file below `/proc/sys/net` and its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sysctl {
    /// As in `ipv4/tcp_recovery`.
    pub file: String,
    /// As in `0`.
    pub value: String,
}

impl Sysctl {
    /// The setting of `file` below `/proc/sys/net`.
    pub fn new(file: &str, value: String) -> Self {
        let file = file.to_owned();
        Self { file, value }
    }

    /// Sets it in the namespace of this thread.
    ///
    /// # Errors
    /// If this kernel lacks the setting in a namespace, or refuses the value.
    pub fn set(&self) -> io::Result<()> {
        set(&self.file, &self.value)
    }

    /// As `sysctl` calls it.
    pub fn name(&self) -> String {
        format!("net.{}", self.file.replace('/', "."))
    }
}

/// Sets files below `/proc/sys/net`, in the namespace of this thread.
///
/// # Errors
/// As [`Sysctl::set`].
pub fn set_all(settings: &[(&str, &str)]) -> io::Result<()> {
    settings
        .iter()
        .try_for_each(|(file, value)| set(file, value))
}

fn set(file: &str, value: &str) -> io::Result<()> {
    let path = format!("/proc/sys/net/{file}");
    match fs::write(&path, value) {
        // On a kernel without IPv6 there is nothing to switch off.
        Err(error) if error.kind() == io::ErrorKind::NotFound && file.starts_with("ipv6/") => {
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!("this kernel has no {path} in a namespace");
            Err(io::Error::new(io::ErrorKind::Unsupported, what))
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
        Ok(()) => Ok(()),
    }
}

impl FromStr for Sysctl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            "expected a setting of the network and its value, as in net.ipv4.tcp_recovery=0";
        let (name, value) = text.split_once('=').ok_or(wrong)?;
        let file = name.strip_prefix("net.").ok_or(wrong)?;
        let is_name =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        // No way out of the folder.
        if value.is_empty() || file.split('.').any(str::is_empty) || !file.bytes().all(is_name) {
            return Err(wrong);
        }
        Ok(Self::new(&file.replace('.', "/"), value.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_read_as_sysctl_writes_it() {
        let recovery: Sysctl = "net.ipv4.tcp_recovery=0".parse().expect("a setting");
        assert_eq!(recovery, Sysctl::new("ipv4/tcp_recovery", "0".to_owned()));
        assert_eq!(recovery.name(), "net.ipv4.tcp_recovery");
        let memory: Sysctl = "net.ipv4.tcp_rmem=4096 87380 6291456"
            .parse()
            .expect("a setting");
        assert_eq!(memory.value, "4096 87380 6291456");
        for wrong in [
            "net.ipv4.tcp_recovery",
            "kernel.panic=1",
            "net.ipv4/../x=1",
            "net...x=1",
            "net.x=",
            "net.=1",
        ] {
            assert!(wrong.parse::<Sysctl>().is_err(), "{wrong}");
        }
    }
}
