//! Cures as commands of stock Linux: where to type each, and how to undo it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::cure::{AttachPoint, Change, Cure, CureAttachment};
use crate::scenario::{Hosts, address};
use crate::seen::{Flow, Observation};

/// A command that applies a cure, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CureCommand {
    /// On which machines it is typed.
    pub site: CommandSite,
    /// The place in words, with addresses.
    pub place: String,
    /// The command.
    pub command: String,
    /// Another command that does the same, and when.
    pub or: Option<String>,
    /// The command that undoes it.
    pub undo: String,
}

/// Machines on which a command is typed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandSite {
    /// The machine that watched.
    Here,
    /// The one that receives.
    Receiver,
    /// Each that sends.
    Senders,
    /// Each that sends or receives.
    Hosts,
}

/// The sender and receiver that commands address.
pub(crate) struct Peers<'a> {
    seen: &'a Observation,
    /// The receiver that matters: that of the crowds, or of most flows.
    receiver: String,
    /// How many others there are.
    other_receivers: usize,
    /// The first sender.
    sender: String,
    other_senders: usize,
    /// Whether the TCP of senders is that of this kernel.
    are_here: bool,
}

impl<'a> Peers<'a> {
    pub(crate) fn of(seen: &'a Observation, flows: &[Flow]) -> Self {
        let count = |end: fn(&Flow) -> &str| {
            let mut all: BTreeMap<&str, usize> = BTreeMap::new();
            for flow in flows {
                *all.entry(address(end(flow))).or_default() += 1;
            }
            all
        };
        let receivers = count(|flow| &flow.receiver);
        let senders = count(|flow| &flow.sender);
        let most = receivers.iter().max_by_key(|(_, count)| **count);
        let most = most.map(|(receiver, _)| *receiver);
        let receiver = seen.judged.receiver.as_deref().or(most);
        let bare = |address: &str| address.trim_matches(['[', ']']).to_owned();
        let first = senders
            .keys()
            .min_by_key(|sender| bare(sender).parse::<IpAddr>().ok());
        Self {
            seen,
            receiver: receiver.map_or_else(|| "RECEIVER".to_owned(), bare),
            other_receivers: receivers.len().saturating_sub(1),
            sender: first.map_or_else(String::new, |sender| bare(sender)),
            other_senders: senders.len().saturating_sub(1),
            are_here: seen.leaves() && Hosts::of(flows).are_here,
        }
    }

    /// A command for this site, and the command that undoes it.
    fn command(&self, site: CommandSite, command: String, undo: String) -> CureCommand {
        let others = |count: usize| match count {
            0 => String::new(),
            1 => " and 1 other".to_owned(),
            count => format!(" and {count} others"),
        };
        let place = match site {
            CommandSite::Here => "on this machine".to_owned(),
            CommandSite::Receiver => format!(
                "at the receiver, {}{}",
                self.receiver,
                others(self.other_receivers)
            ),
            CommandSite::Senders => format!(
                "at each sender, {}{}",
                self.sender,
                others(self.other_senders)
            ),
            CommandSite::Hosts => "at every host that sends or receives".to_owned(),
        };
        CureCommand {
            site,
            place,
            command,
            or: None,
            undo,
        }
    }

    /// The command with `attach`.
    fn attach(&self, way: &CureAttachment) -> CureCommand {
        let (device, netns) = (&self.seen.device, &self.seen.netns);
        let netns = match netns.as_str() {
            "" => String::new(),
            netns => format!(" --netns {netns}"),
        };
        // The device that was watched is the one by which ACKs of incoming data leave.
        let is_here = way.at == AttachPoint::Port || !self.seen.leaves();
        let (site, dev) = if is_here {
            (CommandSite::Here, format!("--dev {device}{netns}"))
        } else {
            (CommandSite::Receiver, "--dev DEVICE".to_owned())
        };
        let sets = way.sets.iter().map(|set| format!(" --set {set}"));
        let sets: String = sets.collect();
        let command = format!("sudo tailwater attach {} {dev}{sets} --for 10m", way.scheme);
        self.command(site, command, format!("sudo tailwater detach {dev}"))
    }

    /// The minimum timeout of the route to the receiver, which keeps everything else that it has. Connections that are open
    /// have it at once (`tcp.h`, `tcp_rto_min`).
    fn min_rto(&self, rto_ms: u32) -> CureCommand {
        let family = if self.receiver.contains(':') {
            " -6"
        } else {
            ""
        };
        let receiver = &self.receiver;
        let change = format!(
            "sudo ip{family} route change $(ip{family} route get fibmatch {receiver} | sed 's/rto_min lock [^ ]*//')"
        );
        let by_route = format!("{change} rto_min {rto_ms}ms");
        // The default is that of a route without the option.
        let before_ms = self.seen.min_rto_ms.unwrap_or(LINUX_RTO_MS);
        let undo = if (before_ms - LINUX_RTO_MS).abs() < 1.0 {
            change
        } else {
            format!("{change} rto_min {before_ms:.0}ms")
        };
        CureCommand {
            or: self.min_rto_of_all(rto_ms),
            ..self.command(CommandSite::Senders, by_route, undo)
        }
    }

    /// The minimum timeout of a whole namespace, unless the kernel of the senders is known to have none. A socket has what
    /// was set when it was opened (`tcp.c`, `tcp_init_sock`), and connections have that of the socket that accepts them.
    fn min_rto_of_all(&self, rto_ms: u32) -> Option<String> {
        let may_be_there = !self.are_here || self.seen.has_rto_min_us;
        let us = 1_000 * rto_ms;
        may_be_there.then(|| {
            format!(
                "for every route, from Linux 6.11 on, before servers are started: sudo sysctl -w \
                 net.ipv4.tcp_rto_min_us={us}"
            )
        })
    }

    /// The size of the watched queue, if all its settings are known: a change has to name them all.
    fn room(&self, factor: u32) -> Option<CureCommand> {
        let seen = self.seen;
        let queue = seen.queue.as_ref().filter(|_| seen.leaves())?;
        let room = queue.room_bytes?;
        let (before, after) = (room, u64::from(factor) * room);
        let (rest, before, after) = match queue.kind.as_str() {
            "tbf" => {
                let (rate, burst) = (seen.rate_bps, queue.burst_bytes?);
                (format!("tbf rate {rate}bit burst {burst}"), before, after)
            }
            "bfifo" => ("bfifo".to_owned(), before, after),
            "pfifo" => {
                let packets = u64::from(queue.room_packets?);
                ("pfifo".to_owned(), packets, u64::from(factor) * packets)
            }
            _ => return None,
        };
        let inside = match seen.netns.as_str() {
            "" => String::new(),
            netns => format!(" -n {netns}"),
        };
        let device = &seen.device;
        let limit = |limit: u64| {
            format!("sudo tc{inside} qdisc change dev {device} root {rest} limit {limit}")
        };
        Some(self.command(CommandSite::Here, limit(after), limit(before)))
    }

    /// The bound of every receive buffer. Programs that set `SO_RCVBUF` have their own.
    fn receive_buffer(&self, buffer: u64) -> CureCommand {
        self.keeping(
            if self.seen.leaves() {
                CommandSite::Receiver
            } else {
                CommandSite::Here
            },
            &["net.ipv4.tcp_rmem"],
            &format!("sysctl -w net.ipv4.tcp_rmem=\"4096 {buffer} {buffer}\""),
        )
    }

    /// Marks at the port, and at both ends the control called `control`, which answers marks and asks for them.
    fn marks(&self, control: &str) -> Vec<CureCommand> {
        if !self.seen.leaves() {
            // The queue is that of another machine.
            return Vec::new();
        }
        let marks = self.attach(&CureAttachment {
            scheme: "mark".to_owned(),
            at: AttachPoint::Port,
            sets: vec![format!("switch.ecn_threshold={}B", self.seen.threshold())],
        });
        let change =
            format!("sysctl -w net.ipv4.tcp_ecn=1 net.ipv4.tcp_congestion_control={control}");
        let names = ["net.ipv4.tcp_ecn", "net.ipv4.tcp_congestion_control"];
        let everywhere = self.keeping(CommandSite::Hosts, &names, &change);
        let receiver = &self.receiver;
        let by_route = format!(
            "for the route to the other end alone: sudo ip route change $(ip route get fibmatch {receiver}) features ecn \
             congctl {control}"
        );
        vec![
            marks,
            CureCommand {
                or: Some(by_route),
                ..everywhere
            },
        ]
    }

    /// A change of settings that saves the old values in a file.
    fn keeping(&self, site: CommandSite, names: &[&str], change: &str) -> CureCommand {
        let last = names.last().copied().unwrap_or_default();
        let file = last.rsplit('.').next().unwrap_or(last);
        let sudo = match self.seen.netns.as_str() {
            netns if netns.is_empty() || site != CommandSite::Here => "sudo".to_owned(),
            netns => format!("sudo ip netns exec {netns}"),
        };
        let names = names.join(" ");
        self.command(
            site,
            format!("{sudo} sysctl {names} > {file}.before; {sudo} {change}"),
            format!("{sudo} sysctl -p {file}.before"),
        )
    }
}

impl Cure {
    /// All commands of the cure, in order; empty if no command can apply it.
    pub(crate) fn commands(&self, peers: &Peers<'_>) -> Vec<CureCommand> {
        match self.means {
            Change::Law => self.attach.iter().map(|way| peers.attach(way)).collect(),
            Change::Marks(control) => peers.marks(control),
            Change::MinRto(rto_ms) => vec![peers.min_rto(rto_ms)],
            Change::Room(factor) => peers.room(factor).into_iter().collect(),
            Change::Buffer(bytes) => vec![peers.receive_buffer(bytes)],
        }
    }
}

/// `TCP_RTO_MIN` of Linux.
const LINUX_RTO_MS: f64 = 200.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::tests::flow;
    use crate::{Queue, VerdictEvidence};

    fn seen(kind: &str) -> Observation {
        Observation {
            device: "p1".to_owned(),
            rate_bps: 100_000_000,
            min_rto_ms: Some(200.0),
            queue: Some(Queue {
                kind: kind.to_owned(),
                room_bytes: Some(64_000),
                burst_bytes: Some(5_000),
                room_packets: Some(40),
                ..Queue::default()
            }),
            judged: VerdictEvidence {
                receiver: Some("10.0.0.9".to_owned()),
                ..VerdictEvidence::default()
            },
            ..Observation::default()
        }
    }

    /// Commands of a cure and what undoes them, of two senders elsewhere.
    fn typed(seen: &Observation, cure: &str) -> Vec<CureCommand> {
        let other = Flow {
            sender: "10.0.0.2:5".to_owned(),
            is_told: false,
            ..flow(0.1, 0)
        };
        let flows = [
            Flow {
                is_told: false,
                ..flow(0.1, 0)
            },
            other,
        ];
        let cures = seen.cures();
        let cure = cures
            .iter()
            .find(|one| one.name == cure)
            .expect("it is tried");
        cure.commands(&Peers::of(seen, &flows))
    }

    #[test]
    fn a_queue_is_changed_with_all_that_it_has_where_that_is_known() {
        let room = |seen: &Observation| {
            let typed = typed(seen, "buffer x4").pop();
            typed.map(|typed| (typed.command, typed.undo, typed.site))
        };
        let change = |rest: &str| format!("sudo tc qdisc change dev p1 root {rest}");
        let tbf = "tbf rate 100000000bit burst 5000 limit";
        for (kind, then, now) in [
            ("tbf", format!("{tbf} 256000"), format!("{tbf} 64000")),
            (
                "bfifo",
                "bfifo limit 256000".to_owned(),
                "bfifo limit 64000".to_owned(),
            ),
            (
                "pfifo",
                "pfifo limit 160".to_owned(),
                "pfifo limit 40".to_owned(),
            ),
        ] {
            assert_eq!(
                room(&seen(kind)),
                Some((change(&then), change(&now), CommandSite::Here))
            );
        }
        assert_eq!(room(&seen("fq_codel")), None);
        let mut unknown = seen("tbf");
        unknown.netns = "box".to_owned();
        assert!(room(&unknown).is_some_and(|(now, ..)| now.starts_with("sudo tc -n box qdisc ")));
        // A token bucket with unknown settings is not changed.
        unknown.queue.as_mut().expect("a queue").burst_bytes = None;
        assert_eq!(room(&unknown), None);
    }

    #[test]
    fn a_timer_is_that_of_a_route_or_of_all_where_the_kernel_has_one() {
        let elsewhere = &typed(&seen("tbf"), "min_rto 10ms")[0];
        let change =
            "sudo ip route change $(ip route get fibmatch 10.0.0.9 | sed 's/rto_min lock [^ ]*//')";
        assert_eq!(elsewhere.command, format!("{change} rto_min 10ms"));
        assert_eq!(elsewhere.undo, change);
        assert_eq!(elsewhere.place, "at each sender, 10.0.0.1 and 1 other");
        let or = elsewhere.or.as_deref().expect("another way");
        assert!(or.ends_with(": sudo sysctl -w net.ipv4.tcp_rto_min_us=10000"));
        // Undoing restores a shorter timeout, if there was one.
        let shorter = Observation {
            min_rto_ms: Some(50.0),
            ..seen("tbf")
        };
        let undo = &typed(&shorter, "min_rto 10ms")[0].undo;
        assert_eq!(*undo, format!("{change} rto_min 50ms"));
        // The kernel of senders of this machine is known to have it, or not.
        let flows = [flow(0.1, 0)];
        let or = |seen: &Observation| Peers::of(seen, &flows).min_rto(10).or;
        assert_eq!(or(&seen("tbf")), None);
        let six = Observation {
            has_rto_min_us: true,
            judged: VerdictEvidence {
                receiver: Some("[fd00::9]".to_owned()),
                ..VerdictEvidence::default()
            },
            ..seen("tbf")
        };
        assert!(or(&six).is_some());
        let command = Peers::of(&six, &flows).min_rto(10).command;
        assert!(
            command.contains("ip -6 route change $(ip -6 route get fibmatch fd00::9 |"),
            "{command}"
        );
    }

    #[test]
    fn a_receive_buffer_is_bounded_where_data_come_in_and_kept_to_be_put_back() {
        let there = &typed(&seen("tbf"), "receive buffer 8 KiB")[0];
        assert_eq!(
            there.command,
            "sudo sysctl net.ipv4.tcp_rmem > tcp_rmem.before; sudo sysctl -w net.ipv4.tcp_rmem=\"4096 8192 8192\""
        );
        assert_eq!(there.undo, "sudo sysctl -p tcp_rmem.before");
        assert_eq!(there.place, "at the receiver, 10.0.0.9");
        let here = Observation {
            packet_bytes: [64, 1_500],
            netns: "box".to_owned(),
            ..seen("tbf")
        };
        let here = &typed(&here, "receive buffer 8 KiB")[0];
        assert_eq!(
            here.undo,
            "sudo ip netns exec box sysctl -p tcp_rmem.before"
        );
        assert_eq!(here.place, "on this machine");
    }

    #[test]
    fn dctcp_takes_marks_at_the_port_and_both_ends() {
        let typed_here = typed(&seen("tbf"), "dctcp");
        let [marks, hosts] = &typed_here[..] else {
            panic!("two commands")
        };
        assert_eq!(
            marks.command,
            "sudo tailwater attach mark --dev p1 --set switch.ecn_threshold=30280B --for 10m"
        );
        assert_eq!(
            (marks.site, hosts.site),
            (CommandSite::Here, CommandSite::Hosts)
        );
        assert!(
            hosts
                .command
                .ends_with("net.ipv4.tcp_congestion_control=dctcp")
        );
        // Nobody marks where the queue is that of another machine.
        let here = Observation {
            packet_bytes: [64, 1_500],
            ..seen("tbf")
        };
        assert!(typed(&here, "dctcp").is_empty());
    }

    #[test]
    fn marks_alone_are_tried_where_senders_use_ecn_and_do_not_need_it() {
        let capable = Observation {
            is_ecn_capable: Some(true),
            ..seen("tbf")
        };
        let of_port = &typed(&seen("tbf"), "dctcp")[0];
        let marks = &typed(&capable, "marks")[0];
        assert_eq!(
            (&marks.command, marks.site),
            (&of_port.command, CommandSite::Here)
        );
        let is_tried = |seen: &Observation| seen.cures().iter().any(|cure| cure.name == "marks");
        let others = [
            seen("tbf"),
            Observation {
                is_ecn_capable: Some(false),
                ..seen("tbf")
            },
            Observation {
                control: Some("dctcp".to_owned()),
                ..capable.clone()
            },
            Observation {
                packet_bytes: [64, 1_500],
                ..capable
            },
        ];
        assert!(!others.iter().any(is_tried));
    }
}
