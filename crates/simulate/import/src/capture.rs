//! Packet captures: finds flows by connection, with their payload and times.
//!
//! In each direction of a connection, everything sent before the other side sends again is one flow: a request, or its
//! answer. Bytes are counted by sequence numbers. So retransmissions and repeated captures of a packet do not count,
//! but a packet that the capture missed does.

mod file;

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::hosts::Hosts;
use crate::packet::{self, Other, Segment};
use crate::{FileKind, Imported, ImportedFlow};
use file::{Captured, Stopped};

/// Whether a file that begins like this is a capture.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    file::is_one(bytes)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Imported, String> {
    let mut import = CaptureImport::default();
    let end = file::packets(bytes, |packet| import.add(&packet));
    let packets = import.packets;
    let damaged = match end {
        Ok(()) => None,
        Err(Stopped::Cut) if packets > 0 => {
            Some("The file ends in the middle of a packet.".to_owned())
        }
        Err(Stopped::Damaged(why)) if packets > 0 => Some(format!(
            "The file is damaged behind packet {packets}: {why}."
        )),
        Err(Stopped::Cut) => return Err("it ends before the first packet".to_owned()),
        Err(Stopped::Damaged(why)) => return Err(format!("it is damaged: {why}")),
    };
    Ok(import.into_imported(damaged))
}

type End = (IpAddr, u16);

/// The connections seen so far, with counts of packets.
#[derive(Default)]
struct CaptureImport {
    packets: u64,
    strange: u64,
    others: u64,
    cut: u64,
    timeless: u64,
    seen: u64,
    without_begin: u64,
    connections: BTreeMap<(End, End), Connection>,
    hosts: Hosts,
    flows: Vec<ImportedFlow>,
}

/// A connection and its two directions; the one from the lower address is first.
struct Connection {
    number: u64,
    opened: Option<u128>,
    /// For each side, the sequence number after its last byte, and whether it has sent payload.
    next: [Option<u32>; 2],
    /// The side that sent last, and its flow.
    turn: Option<(usize, usize)>,
}

impl CaptureImport {
    fn add(&mut self, captured: &Captured<'_>) {
        self.packets += 1;
        let Some(at) = captured.at else {
            self.timeless += 1;
            return;
        };
        if !packet::is_known(captured.link) {
            self.strange += 1;
            return;
        }
        match packet::segment(captured.link, captured.bytes, captured.length) {
            Ok(segment) => self.segment(at, segment),
            Err(Other::NotTcp) => self.others += 1,
            Err(Other::Cut) => self.cut += 1,
        }
    }

    fn segment(&mut self, at: u128, segment: Segment) {
        let side = usize::from(segment.source > segment.target);
        let key = if side == 0 {
            (segment.source, segment.target)
        } else {
            (segment.target, segment.source)
        };
        let begins = segment.syn && !segment.ack;
        let first = segment.seq.wrapping_add(u32::from(segment.syn));
        let known = self.connections.get(&key);
        // A new SYN on the same ports is another connection; a repeated SYN is not.
        let again = begins
            && known.is_some_and(|known| known.turn.is_some() && known.next[side] != Some(first));
        if known.is_none() || again {
            self.connections.insert(
                key,
                Connection {
                    number: self.seen,
                    opened: begins.then_some(at),
                    next: [None; 2],
                    turn: None,
                },
            );
            self.seen += 1;
            self.without_begin += u64::from(!segment.syn);
        }
        let connection = self
            .connections
            .get_mut(&key)
            .expect("a connection that was added");
        if segment.syn {
            connection.next[side].get_or_insert(first);
        }
        if segment.payload == 0 {
            return;
        }
        let next = connection.next[side].get_or_insert(first);
        let end = first.wrapping_add(segment.payload);
        // Sequence numbers are compared around the circle (RFC 9293 §3.4).
        let new = end.wrapping_sub(*next);
        if new == 0 || new > u32::MAX / 2 {
            return;
        }
        *next = end;
        match connection.turn {
            Some((last, flow)) if last == side => self.flows[flow].size += u64::from(new),
            _ => {
                connection.turn = Some((side, self.flows.len()));
                self.flows.push(ImportedFlow {
                    start: at,
                    open: connection.opened.filter(|opened| *opened <= at),
                    size: new.into(),
                    sender: self.hosts.host(&segment.source.0.to_string()),
                    receiver: self.hosts.host(&segment.target.0.to_string()),
                    connection: Some(connection.number * 2 + side as u64),
                    wait: None,
                });
            }
        }
    }

    fn into_imported(mut self, damaged: Option<String>) -> Imported {
        let all = self.flows.len();
        self.flows.retain(|flow| flow.sender != flow.receiver);
        let themselves = (all - self.flows.len()) as u64;
        let mut notes = vec![format!(
            "{} connections. What one side sends before the other side answers is one flow; retransmitted bytes count once.",
            self.seen
        )];
        if self.without_begin > 0 {
            notes.push(format!(
                "{} connections were open when the capture began: their flows begin with the first byte that it has.",
                self.without_begin
            ));
        }
        notes.extend(damaged);
        Imported {
            kind: FileKind::Capture,
            read: self.packets,
            what: "packets",
            flows: self.flows,
            hosts: self.hosts.into_names(),
            dated: true,
            skipped: vec![
                ("packets of other protocols than TCP", self.others),
                ("packets cut within their headers", self.cut),
                ("packets of an unsupported link type", self.strange),
                ("packets without a time", self.timeless),
                ("flows from a host to itself", themselves),
            ],
            notes,
        }
    }
}

#[cfg(test)]
mod tests;
