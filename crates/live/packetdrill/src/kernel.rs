//! Translates a script's requests to its machine into settings of an endpoint.

use crate::assertion;
use crate::{Lacks, ScriptFailure};

/// A machine on which scripts run.
pub trait ScriptHost {
    /// The scheme of the sender, unless a script selects another.
    fn scheme(&self) -> &str;

    /// Settings in force before a script changes any.
    fn settings(&self) -> Vec<(String, String)>;

    /// The allowed difference of a time in microseconds, unless a script sets it.
    fn tolerance_us(&self) -> u64;

    /// Whether every segment that leaves must be expected.
    fn is_strict(&self) -> bool;

    /// The text of a file of commands that a script names.
    fn read(&self, path: &str) -> Option<String>;
}

/// The host for scripts of this repository: every setting has its default, every time is exact.
#[derive(Clone, Copy, Debug)]
pub struct DefaultHost;

/// The host for scripts written for Linux: its profile with 1000 ticks a second, as the scripts' authors use it, and
/// the segment size of Ethernet.
pub struct LinuxHost<'k> {
    /// Reads a file of commands that a script names, by its path from the script.
    pub read: &'k dyn Fn(&str) -> Option<String>,
}

impl ScriptHost for DefaultHost {
    fn scheme(&self) -> &'static str {
        schemes::PLAIN_SENDER.name
    }

    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn tolerance_us(&self) -> u64 {
        0
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn read(&self, _: &str) -> Option<String> {
        None
    }
}

impl ScriptHost for LinuxHost<'_> {
    fn scheme(&self) -> &'static str {
        schemes::USUAL_OF_LINUX.name
    }

    fn settings(&self) -> Vec<(String, String)> {
        let settings = [
            ("tcp.profile", "linux"),
            ("tcp.clock_granularity", "1ms"),
            ("tcp.mss", "1460"),
            ("tcp.ecn", "false"),
        ];
        settings
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .into()
    }

    /// As packetdrill has it.
    fn tolerance_us(&self) -> u64 {
        4000
    }

    fn is_strict(&self) -> bool {
        false
    }

    fn read(&self, path: &str) -> Option<String> {
        (self.read)(path)
    }
}

/// Settings and scheme, as changed by the commands of a script.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) scheme: String,
    pub(crate) settings: Vec<(String, String)>,
}

impl Changes {
    /// A setting has this value from now on.
    pub(crate) fn set(&mut self, key: &str, text: &str) {
        self.settings.retain(|(known, _)| known != key);
        self.settings.push((key.to_owned(), text.to_owned()));
    }

    /// Applies the commands.
    pub(crate) fn command(
        &mut self,
        host: &dyn ScriptHost,
        line: usize,
        commands: &str,
    ) -> Result<(), ScriptFailure> {
        let joined = commands.replace("\\\n", " ");
        for command in joined.lines() {
            let command = command.split('#').next().unwrap_or_default().trim();
            self.one(host, line, command)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        host: &dyn ScriptHost,
        line: usize,
        command: &str,
    ) -> Result<(), ScriptFailure> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let lacks = |what: &str| ScriptFailure::lacks(line, Lacks::Command, what);
        match words.as_slice() {
            // No command, the plain queue, and the kernel's memory of earlier connections.
            [] | ["tc", .., "pfifo"] | ["ip", "tcp_metrics", ..] => Ok(()),
            ["tc", .., "fq"] => Err(ScriptFailure::lacks(line, Lacks::Pacing, command)),
            ["ip", "route", .., "initcwnd", segments] => {
                self.set("tcp.initial_window", segments);
                Ok(())
            }
            ["echo", value, ">", path] => {
                let name = path.rsplit('/').next().unwrap_or(path);
                self.variable(name, value).map_err(|()| lacks(command))
            }
            ["sysctl", rest @ ..] => self.variables(line, &rest.join(" ")),
            [path, rest @ ..] if path.ends_with("set_sysctls.py") => {
                self.variables(line, &rest.join(" "))
            }
            [path] if path.starts_with("/tmp/sysctl_restore") => Ok(()),
            [path] => {
                let text = host.read(path).ok_or_else(|| lacks(command))?;
                self.command(host, line, &text)
            }
            _ => Err(lacks(command)),
        }
    }

    /// `-q net.ipv4.tcp_sack=1 net.ipv4.tcp_rmem="4096 540000 15728640"`.
    fn variables(&mut self, line: usize, text: &str) -> Result<(), ScriptFailure> {
        let text = text.split('>').next().unwrap_or(text);
        let mut rest = text;
        while let Some((head, tail)) = rest.split_once('=') {
            let name = head.rsplit(char::is_whitespace).next().unwrap_or(head);
            let name = name.rsplit(['.', '/']).next().unwrap_or(name);
            let (value, after) = match tail.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => tail.split_once(char::is_whitespace).unwrap_or((tail, "")),
            };
            self.variable(name, value).map_err(|()| {
                ScriptFailure::lacks(line, Lacks::Command, format!("{name}={value}"))
            })?;
            rest = after;
        }
        Ok(())
    }

    /// Sets a variable of the kernel. Fails for one without a counterpart.
    fn variable(&mut self, name: &str, value: &str) -> Result<(), ()> {
        let on = value != "0";
        let switch = if on { "true" } else { "false" };
        match name {
            "tcp_timestamps" => self.set("tcp.timestamps", switch),
            "tcp_sack" => self.set("tcp.sack", switch),
            "tcp_dsack" => self.set("tcp.dsack", switch),
            "tcp_frto" => self.set("tcp.frto", switch),
            "tcp_slow_start_after_idle" => self.set("tcp.idle_restart", switch),
            "tcp_ecn" => self.set("tcp.ecn", switch),
            "tcp_recovery" => {
                let detection = if on { "rack-linux" } else { "dupacks" };
                self.set("tcp.loss_detection", detection);
            }
            "tcp_early_retrans" => {
                let probe = if on { "linux" } else { "off" };
                self.set("tcp.tail_loss_probe", probe);
            }
            "tcp_syn_retries" => self.set("tcp.syn_retries", value),
            "tcp_synack_retries" => self.set("tcp.syn_ack_retries", value),
            "tcp_syn_linear_timeouts" => self.set("tcp.syn_linear_timeouts", value),
            "tcp_retries2" => self.set("tcp.retries", value),
            "tcp_congestion_control" => {
                let scheme = schemes::linux::of_control(value).ok_or(())?;
                scheme.name.clone_into(&mut self.scheme);
            }
            "tcp_rmem" => {
                let sizes = value.replace("$((", "").replace("))", "");
                let sizes: Vec<&str> = sizes.split_whitespace().collect();
                let [_, first, most] = sizes.as_slice() else {
                    return Err(());
                };
                let most = assertion::evaluate(most).map_err(|_| ())?;
                let most = u64::try_from(most).map_err(|_| ())?;
                self.set("tcp.receive_buffer", &format!("{first}B"));
                let shift = tcp::Config::scale_for(most);
                self.set("tcp.window_scale", &shift.to_string());
            }
            "tcp_wmem" => {
                let sizes: Vec<&str> = value.split_whitespace().collect();
                let [_, least, most] = sizes.as_slice() else {
                    return Err(());
                };
                self.set("tcp.send_buffer", &format!("{least}B-{most}B"));
            }
            // Both signals that slow start should end, or none.
            "hystart_detect" if matches!(value, "0" | "3") => self.set("cubic.hystart", switch),
            // The default. Other values are not implemented.
            "tcp_reordering" if value == "3" => {}
            // These settings change nothing at an endpoint here. They size bursts, or concern cookies and options that no
            // segment has.
            "tcp_tso_win_divisor"
            | "tcp_min_tso_segs"
            | "tcp_fack"
            | "tcp_ecn_option"
            | "tcp_pacing_ss_ratio"
            | "tcp_pacing_ca_ratio"
            | "tcp_notsent_lowat"
            | "tcp_fastopen"
            | "tcp_fastopen_key"
            | "tcp_syncookies" => {}
            _ => return Err(()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(commands: &str) -> Result<Changes, ScriptFailure> {
        let read = |path: &str| (path == "a.sh").then(|| "sysctl -q tcp_sack=0 # off\n".to_owned());
        let mut changes = Changes {
            scheme: "cubic".to_owned(),
            settings: Vec::new(),
        };
        changes.command(&LinuxHost { read: &read }, 7, commands)?;
        Ok(changes)
    }

    #[test]
    fn variables_of_the_kernel_are_settings() {
        let commands = "a.sh\nsysctl -q net.ipv4.tcp_ecn=1 net.ipv4.tcp_congestion_control=reno\n\
            set_sysctls.py /proc/sys/net/ipv4/tcp_frto=0 \\\n /proc/sys/net/ipv4/tcp_recovery=0\n\
            echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect\n\
            sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024*1024))\"";
        let changes = changed(commands).unwrap();
        assert_eq!(changes.scheme, "newreno");
        let settings = changes.settings.iter();
        let told: Vec<String> = settings
            .map(|(key, text)| format!("{key}={text}"))
            .collect();
        assert_eq!(
            told,
            [
                "tcp.sack=false",
                "tcp.ecn=true",
                "tcp.frto=false",
                "tcp.loss_detection=dupacks",
                "cubic.hystart=true",
                "tcp.receive_buffer=540000B",
                "tcp.window_scale=8"
            ]
        );
    }

    #[test]
    fn what_has_no_counterpart_is_named() {
        let told = |commands| changed(commands).unwrap_err().to_string();
        assert_eq!(
            told("sysctl -q net.ipv4.tcp_far=1"),
            "line 7: a command or setting of the kernel without a counterpart: tcp_far=1"
        );
        assert!(told("tc qdisc replace dev tun0 root fq").contains("pacing"));
        assert!(told("unknown.sh").ends_with("unknown.sh"));
        assert!(told("sysctl -q net.ipv4.tcp_congestion_control=bbr").ends_with("=bbr"));
    }
}
