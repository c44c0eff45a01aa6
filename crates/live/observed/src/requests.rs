//! Which flows answer requests: a receiver opens a connection, asks on it, and gets the data.
//!
//! An observation has the request and its answer as two flows. They share one connection, which the receiver of the answer
//! opened. Its ACK reaches the sender before any data leaves, and a law may have lowered its window. If the sender of the
//! data opened the connection, that would be another handshake. So the model of a trial, whose laws act at a port, has
//! both as one flow for which the receiver asks.
//!
//! A model with cures at receivers has them apart: a receiver's law begins with a SYN that it accepts, so in the simulator it
//! does not act on connections that the receiver opens.

use std::collections::BTreeMap;

use crate::seen::{Flow, Observation, SeenRequest};

/// One connection, with the places of its flows in the list.
#[derive(Default)]
struct Talk {
    /// Flows in the direction of most traffic, and in the other one.
    flows: [Vec<usize>; 2],
    /// When each direction opened, if that was seen.
    opened_s: [Option<f64>; 2],
}

impl Observation {
    /// These flows, which are in the order of their starts, with requests as parts of their answers: flows in the direction
    /// of most traffic whose receivers opened the connection and asked with at most a first window each time.
    #[must_use]
    pub fn with_requests(&self, flows: &[Flow]) -> Vec<Flow> {
        let mut talks: Vec<Talk> = Vec::new();
        let mut latest: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (place, flow) in flows.iter().enumerate() {
            let (sender, receiver) = (flow.sender.as_str(), flow.receiver.as_str());
            let (side, ends) = if flow.leaves == self.leaves() {
                (0, (sender, receiver))
            } else {
                (1, (receiver, sender))
            };
            // Programs use a port again once its connection is closed.
            let is_new =
                |talk: usize| flow.opened_s.is_some() && !talks[talk].flows[side].is_empty();
            let known = latest.get(&ends).copied().filter(|talk| !is_new(*talk));
            let number = known.unwrap_or(talks.len());
            if known.is_none() {
                talks.push(Talk::default());
                latest.insert(ends, number);
            }
            let talk = &mut talks[number];
            talk.opened_s[side] = talk.opened_s[side].or(flow.opened_s);
            talk.flows[side].push(place);
        }
        let mut joined: Vec<Option<Flow>> = flows.iter().cloned().map(Some).collect();
        for talk in talks {
            let Some((bytes, opened_s)) = talk.request(flows) else {
                continue;
            };
            for request in &talk.flows[1] {
                joined[*request] = None;
            }
            for answer in &talk.flows[0] {
                if let Some(answer) = &mut joined[*answer] {
                    answer.request = Some(SeenRequest {
                        bytes,
                        opened_s: answer.opened_s.and(opened_s),
                    });
                }
            }
        }
        joined.into_iter().flatten().collect()
    }
}

impl Talk {
    /// Bytes of each request, and when the receiver opened the connection; `None` if it did not, or if it sends more than
    /// requests.
    fn request(&self, flows: &[Flow]) -> Option<(u64, Option<f64>)> {
        let [answers, requests] = &self.flows;
        let [sender_s, receiver_s] = self.opened_s;
        if answers.is_empty() || receiver_s? >= sender_s? {
            return None;
        }
        let all: u64 = requests.iter().map(|place| flows[*place].bytes).sum();
        let each = all.div_ceil(answers.len() as u64).max(1);
        (each <= LARGEST_REQUEST).then_some((each, receiver_s))
    }
}

/// Ten full segments: larger ones take round trips of their own.
const LARGEST_REQUEST: u64 = 14_480;

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(leaves: bool, (start_s, opened_s): (f64, Option<f64>), bytes: u64) -> Flow {
        let (server, client) = ("10.0.0.1:80", "10.0.0.9:4000");
        let (sender, receiver) = if leaves {
            (server, client)
        } else {
            (client, server)
        };
        Flow {
            start_s,
            opened_s,
            leaves,
            ..Flow::lossless(sender, receiver, bytes)
        }
    }

    fn joined(flows: &[Flow]) -> Vec<(u64, Option<SeenRequest>)> {
        let seen = Observation {
            packet_bytes: [10, 1],
            ..Observation::default()
        };
        let joined = seen.with_requests(flows);
        joined
            .into_iter()
            .map(|flow| (flow.bytes, flow.request))
            .collect()
    }

    #[test]
    fn a_request_is_part_of_its_answer_if_the_receiver_opened_the_connection() {
        let asked = |opened_s| {
            Some(SeenRequest {
                bytes: 100,
                opened_s,
            })
        };
        let request = flow(false, (1.0, Some(1.0)), 100);
        let answer = flow(true, (1.1, Some(1.1)), 50_000);
        assert_eq!(
            joined(&[request.clone(), answer.clone()]),
            [(50_000, asked(Some(1.0)))]
        );
        // More on the same connection, and then another one with the same ports.
        let more = [
            flow(false, (2.0, None), 100),
            flow(true, (2.1, None), 60_000),
            flow(false, (3.0, Some(3.0)), 100),
            flow(true, (3.1, Some(3.1)), 70_000),
        ];
        assert_eq!(
            joined(&[&[request.clone(), answer.clone()], &more[..]].concat()),
            [
                (50_000, asked(Some(1.0))),
                (60_000, asked(None)),
                (70_000, asked(Some(3.0)))
            ]
        );
        // The sender opened it, or nobody saw who did, or the other direction has more than requests.
        for flows in [
            [
                flow(true, (1.0, Some(1.0)), 50_000),
                flow(false, (1.1, Some(1.1)), 100),
            ],
            [
                flow(false, (1.0, None), 100),
                flow(true, (1.1, None), 50_000),
            ],
            [flow(false, (1.0, Some(1.0)), 20_000), answer],
        ] {
            let expected: Vec<_> = flows.iter().map(|flow| (flow.bytes, None)).collect();
            assert_eq!(joined(&flows), expected);
        }
        assert_eq!(joined(&[request]), [(100, None)]);
    }
}
