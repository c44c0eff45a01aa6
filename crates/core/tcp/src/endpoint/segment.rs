//! Segments that arrive: RFC 9293 §3.10.7.

use base::{Options, Packet, SynOptions, TcpFlags, Time};

use super::notice::is_notice;
use super::{Abort, Endpoint, Prediction, Progress, State};
use crate::cc::SenderCc;
use crate::config::{Agreement, EcnMode};
use crate::plays::Plays;
use crate::receiver::Segment;
use crate::sender::Feedback;
use crate::timestamps::Stamps;

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// RFC 9293 §3.10.7.1: nobody is here.
    pub(super) fn on_segment_closed(&mut self, packet: &Packet) -> Progress {
        // A low copy of data that was acknowledged may come late and troubles nobody, and so does a notice.
        if !packet.flags.has(TcpFlags::RST) && !self.is_low(packet) && !is_notice(packet) {
            self.ready = Some(Box::new(self.reset_for(packet)));
        }
        Progress::default()
    }

    /// RFC 9293 §3.10.7.2.
    pub(super) fn on_segment_listening(&mut self, packet: &Packet) -> Progress {
        if packet.flags.has(TcpFlags::RST) {
            return Progress::default();
        }
        if packet.flags.has(TcpFlags::ACK) || !packet.flags.has(TcpFlags::SYN) {
            self.ready = Some(Box::new(self.reset_for(packet)));
            return Progress::default();
        }
        self.receiver.synchronise(packet.seq);
        self.state = State::SynReceived;
        self.opening.asked = true;
        self.note_syn_options(packet);
        Progress {
            opened: true,
            ..Progress::default()
        }
    }

    /// RFC 9293 §3.10.7.3.
    pub(super) fn on_segment_connecting(&mut self, packet: &Packet, now: Time) -> Progress {
        let acknowledges = packet.flags.has(TcpFlags::ACK);
        let acceptable = acknowledges && packet.ack == self.identity.initial_seq.at(1);
        if acknowledges && !acceptable {
            if !packet.flags.has(TcpFlags::RST) {
                self.ready = Some(Box::new(self.reset_for(packet)));
            }
            return Progress::default();
        }
        if packet.flags.has(TcpFlags::RST) {
            if acceptable {
                self.enter_closed();
            }
            return Progress {
                aborted: acceptable.then_some(Abort::Reset),
                ..Progress::default()
            };
        }
        if !packet.flags.has(TcpFlags::SYN) {
            return Progress::default();
        }
        self.receiver.synchronise(packet.seq);
        self.note_syn_options(packet);
        if acceptable {
            self.state = State::Established;
            self.establish(packet, now);
            // RFC 9293 §3.10.7.3 lets data travel with this ACK. It leaves alone, as in other stacks: if
            // it came with data and was lost with it, the peer would send its SYN-ACK again.
            self.receiver.acknowledge_alone();
            return Progress::default();
        }
        // Simultaneous open: the SYN-ACK repeats our SYN.
        self.state = State::SynReceived;
        self.opening.asked = true;
        self.syn_due = false;
        Progress {
            opened: true,
            ..Progress::default()
        }
    }

    /// RFC 9293 §3.10.7.4.
    #[inline(always)]
    pub(super) fn on_segment_synchronised(&mut self, packet: &Packet, now: Time) -> Progress {
        if is_notice(packet) {
            self.on_notice(packet, now);
            return Progress::default();
        }
        let offset = self.receiver.irs.near(packet.seq, self.receiver.next());
        if self.stamps.is_some() && !self.accepts_stamp(packet, offset) {
            return Progress::default();
        }
        let syn = packet.flags.has(TcpFlags::SYN);
        let length = packet.sequence_length();
        if packet.flags.has(TcpFlags::RST) {
            return self.on_reset(offset);
        }
        if syn {
            // A repeated SYN or SYN-ACK: what answered it was lost. In other states the ACK is the
            // challenge of RFC 5961 §4.2.
            self.receiver.acknowledge_now();
            self.opening.asked = true;
            if !(self.state == State::SynReceived && packet.flags.has(TcpFlags::ACK)) {
                return Progress::default();
            }
        } else if !self.is_low(packet) && !self.receiver.accepts(offset, packet.payload.into()) {
            // RFC 9293 §3.10.7.4, first check: not acceptable, so it is answered and dropped. A closed
            // window accepts no segment, but valid acknowledgements still count.
            self.receiver.acknowledge_now();
            if !self.receiver.is_closed() {
                return Progress::default();
            }
        }
        if !packet.flags.has(TcpFlags::ACK) {
            return Progress::default();
        }
        if self.state == State::SynReceived && !self.accept_handshake_ack(packet, now) {
            return Progress::default();
        }
        if !self.on_acknowledgement(packet, offset, now) {
            return Progress::default();
        }
        let mut progress = Progress::default();
        if length > 0 && !syn {
            self.on_data(packet, offset, now, &mut progress);
        }
        progress
    }

    /// RFC 7323 §5.3 R1 and §3.2: a segment with an old timestamp is answered and dropped, one without any
    /// is dropped; resets and SYNs are judged by their numbers alone.
    #[inline(never)]
    fn accepts_stamp(&mut self, packet: &Packet, offset: u64) -> bool {
        if packet.flags.has(TcpFlags::RST) || packet.flags.has(TcpFlags::SYN) {
            return true;
        }
        let theirs = packet.options.timestamps();
        let (Some(stamps), Some(theirs)) = (&mut self.stamps, theirs) else {
            return false;
        };
        let accepted = stamps.accepts(theirs, offset);
        if !accepted {
            self.receiver.acknowledge_now();
        }
        accepted
    }

    /// The acknowledgement that completes a passive open.
    fn accept_handshake_ack(&mut self, packet: &Packet, now: Time) -> bool {
        if packet.ack != self.identity.initial_seq.at(1) {
            self.ready = Some(Box::new(self.reset_for(packet)));
            return false;
        }
        self.state = State::Established;
        self.establish(packet, now);
        self.sender.note_opening();
        true
    }

    /// Returns whether the segment counts: one that acknowledges what was never sent is answered and
    /// dropped (RFC 9293 §3.10.7.4, fifth check).
    #[inline(always)]
    fn on_acknowledgement(&mut self, packet: &Packet, offset: u64, now: Time) -> bool {
        let low = self.is_low(packet);
        let initial = self.identity.initial_seq;
        let ack = initial.near(packet.ack, self.sender.una());
        let plain = Feedback {
            offset,
            ack,
            edge: ack + self.window_of(packet),
            sacked: &[],
            echo: packet.flags.has(TcpFlags::ECE) && !packet.flags.has(TcpFlags::SYN),
            bare: packet.sequence_length() == 0,
            stamp: None,
            extension: packet.extension,
            now,
        };
        let beyond_sent = match packet.options {
            Options::Sack(_) | Options::Stamped(..) => {
                let mut sacked = [(0, 0); base::SackBlocks::MAX];
                let blocks = packet
                    .options
                    .sack()
                    .map_or(&[][..], |sack| sack.as_slice());
                for (place, (start, end)) in sacked.iter_mut().zip(blocks) {
                    *place = (initial.near(*start, ack), initial.near(*end, ack));
                }
                let sacked = &sacked[..blocks.len()];
                let echo = packet
                    .options
                    .timestamps()
                    .filter(|_| self.stamps.is_some());
                let stamp = echo.map(|theirs| theirs.echo).filter(|echo| *echo != 0);
                let told = Feedback {
                    sacked,
                    stamp,
                    ..plain
                };
                self.tell_sender(&told, low)
            }
            _ => self.tell_sender(&plain, low),
        };
        if beyond_sent {
            self.receiver.acknowledge_now();
            return false;
        }
        if low {
            return true;
        }
        // An order is an ACK like any other first.
        let pushed = packet.flags.has(TcpFlags::PSH) && packet.sequence_length() == 0;
        if pushed && ack == self.sender.una() && self.sender.obeys() {
            self.sender.on_order(now);
        }
        if self.sender.is_finished() {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.enter_closed(),
                _ => {}
            }
        }
        true
    }

    /// Returns whether it acknowledges something never sent.
    #[inline(always)]
    fn tell_sender(&mut self, feedback: &Feedback<'_>, low: bool) -> bool {
        if low {
            self.sender.on_low_feedback(feedback);
            return false;
        }
        self.sender.on_feedback(feedback)
    }

    #[inline(always)]
    fn on_data(&mut self, packet: &Packet, offset: u64, now: Time, progress: &mut Progress) {
        if self.is_ended() && self.state != State::TimeWait {
            return;
        }
        let was_finished = self.receiver.is_finished();
        let segment = Segment {
            offset,
            payload: u64::from(packet.payload),
            fin: packet.flags.has(TcpFlags::FIN),
            ecn: packet.ecn,
            cwr: packet.flags.has(TcpFlags::CWR),
            push: packet.flags.has(TcpFlags::PSH),
            extension: packet.extension,
        };
        if self.is_low(packet) {
            let low = self.sender.config.low_priority;
            let single = low.is_none_or(|low| low.burst == 1);
            let answered = single || packet.flags.has(TcpFlags::PSH);
            self.receiver
                .on_low_segment(&segment, packet.dscp, answered);
        } else {
            if self.sender.config.go_back_n && self.discards(&segment, now, progress) {
                return;
            }
            if self.stamps.is_some() {
                self.read_echo(packet, now);
            }
            let sender = &self.sender;
            self.receiver
                .on_segment(&segment, &sender.config, sender.rtt(), now);
            progress.report_waits = self.receiver.begins_to_wait();
        }
        progress.stored = true;
        if self.receiver.is_finished() && !was_finished {
            progress.peer_finished = true;
            match self.state {
                State::Established => self.state = State::CloseWait,
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        } else if self.state == State::TimeWait && segment.fin {
            // A repeated FIN: our ACK was lost; wait again.
            self.enter_time_wait(now);
        }
    }

    #[inline(never)]
    fn read_echo(&mut self, packet: &Packet, now: Time) {
        if let Some(theirs) = packet.options.timestamps() {
            self.receiver.on_echo(theirs.echo, packet.payload, now);
        }
    }

    /// RFC 9293 §3.10.7.4, second check, and RFC 5961 §3.2: only a reset at the exact next offset
    /// counts; another in the window is challenged.
    fn on_reset(&mut self, offset: u64) -> Progress {
        if offset != self.receiver.next() {
            if offset > self.receiver.next() && self.receiver.accepts(offset, 0) {
                self.receiver.acknowledge_now();
            }
            return Progress::default();
        }
        let aborted = (self.state != State::TimeWait).then_some(Abort::Reset);
        self.enter_closed();
        Progress {
            aborted,
            ..Progress::default()
        }
    }

    /// Options of the peer's SYN decide what both sides use.
    fn note_syn_options(&mut self, packet: &Packet) {
        let theirs = syn_options(packet);
        let stamped = packet.options.timestamps();
        let stamped = stamped.filter(|_| self.sender.config.timestamps);
        self.stamps = stamped.map(Stamps::new);
        // RFC 7323 §2.2: windows are scaled only if both SYNs carried the option.
        self.scaling = self.sender.config.window_scale.is_some() && theirs.window_scale.is_some();
        self.scales = match (self.sender.config.window_scale, theirs.window_scale) {
            (Some(ours), Some(their)) => (ours.min(MAX_SCALE), their.min(MAX_SCALE)),
            _ => (0, 0),
        };
        // RFC 3168 §6.1.1: a SYN asks with ECE and CWR, a SYN-ACK agrees with ECE alone.
        let asked = packet.flags.has(TcpFlags::ECE)
            && packet.flags.has(TcpFlags::CWR) != packet.flags.has(TcpFlags::ACK);
        self.receiver.set_ecn(if asked {
            self.sender.config.ecn
        } else {
            EcnMode::Off
        });
        let agreed = Agreement {
            mss: self.sender.config.mss.min(theirs.mss),
            sack: self.sender.config.sack && theirs.sack_permitted,
            ecn: asked && self.sender.config.ecn != EcnMode::Off,
        };
        self.receiver.agree(agreed, &self.sender.config);
        self.sender.agree(agreed);
        self.prediction = if self.sender.has_low_loop() {
            Prediction::Off
        } else if self.stamps.is_none() && !self.sender.is_recorded() {
            Prediction::Plain
        } else {
            Prediction::Full
        };
    }

    /// The window a segment of the peer advertises, bytes.
    #[inline(always)]
    fn window_of(&self, packet: &Packet) -> u64 {
        u64::from(packet.window) << self.scale_in(packet, self.scales.1)
    }

    /// By how much the window of a segment is scaled, of one whose sender scales by `scale`: not with SYN
    /// (RFC 7323 §2.2).
    #[inline(always)]
    pub(super) fn scale_in(&self, packet: &Packet, scale: u8) -> u8 {
        if packet.flags.has(TcpFlags::SYN) && !self.sender.config.scale_syn_ack {
            return 0;
        }
        scale
    }

    /// The SYN is acknowledged.
    fn establish(&mut self, packet: &Packet, now: Time) {
        self.syn_due = false;
        self.state_deadline = Time::NEVER;
        self.receiver.begin(now);
        let (rtt, whole) = self.judge_opening(packet, now);
        let edge = 1 + self.window_of(packet);
        let first_try = self.opening.first_try(&self.sender.config, now);
        let told = (first_try, packet.extension);
        self.sender.establish(edge, (rtt, whole), told);
    }
}

/// The options of a SYN; without them the defaults of RFC 9293 §3.7.1.
fn syn_options(packet: &Packet) -> SynOptions {
    packet.options.syn().copied().unwrap_or(SynOptions {
        mss: DEFAULT_MSS,
        window_scale: None,
        sack_permitted: false,
    })
}

/// RFC 7323 §2.3.
const MAX_SCALE: u8 = 14;
/// RFC 9293 §3.7.1.
const DEFAULT_MSS: u16 = 536;
