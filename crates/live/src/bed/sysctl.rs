//! A setting of a host's network.

use std::str::FromStr;

/// A file below `/proc/sys/net` and what it is to contain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sysctl {
    /// As in `ipv4/tcp_recovery`.
    pub file: String,
    /// As in `0`.
    pub value: String,
}

impl Sysctl {
    pub(super) fn new(file: &str, value: String) -> Self {
        let file = file.to_owned();
        Self { file, value }
    }

    /// As `sysctl` calls it.
    pub fn name(&self) -> String {
        format!("net.{}", self.file.replace('/', "."))
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
