//! A netlink socket, and messages of families without types.

use std::io;

use netlink_packet_core::{
    DefaultNla, Emitable, NLM_F_ACK, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

/// A socket of the namespace in which it was opened.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the namespace of this thread.
    pub(super) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let sequence = 0;
        Ok(Self { socket, sequence })
    }

    /// Sends `message`, which does `what`, and waits for its acknowledgement. Returns the messages before it.
    pub(super) fn ask<M>(&mut self, what: &str, message: M, flags: u16) -> io::Result<Vec<M>>
    where
        M: NetlinkSerializable + NetlinkDeserializable,
    {
        let told = self.exchange(message, flags);
        told.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
    }

    pub(super) fn exchange<M>(&mut self, message: M, flags: u16) -> io::Result<Vec<M>>
    where
        M: NetlinkSerializable + NetlinkDeserializable,
    {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut answers = Vec::new();
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            let mut rest = bytes.as_slice();
            while rest.len() >= HEADER {
                let message = NetlinkMessage::<M>::deserialize(rest);
                let message = message.map_err(|error| io::Error::other(error.to_string()))?;
                let length = (message.header.length as usize).next_multiple_of(4);
                rest = rest.get(length..).unwrap_or(&[]);
                match message.payload {
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        return Err(error.to_io());
                    }
                    NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(answers),
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    _ => {}
                }
            }
        }
    }
}

/// A message of a family without types: its kind and its bytes.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) kind: u16,
    pub(super) payload: Vec<u8>,
}

impl NetlinkSerializable for Raw {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.payload.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..self.payload.len()].copy_from_slice(&self.payload);
    }
}

impl NetlinkDeserializable for Raw {
    type Error = io::Error;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> io::Result<Self> {
        Ok(Self {
            kind: header.message_type,
            payload: payload.to_vec(),
        })
    }
}

/// The bytes of attributes, one after the other.
pub(super) fn attributes(all: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; all.buffer_len()];
    all.emit(&mut bytes);
    bytes
}

/// The value of the attribute of this kind.
pub(super) fn find(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    while let [a, b, c, d, ..] = *bytes {
        let length = usize::from(u16::from_ne_bytes([a, b]));
        // The two highest bits are flags for nesting and byte order.
        if u16::from_ne_bytes([c, d]) & 0x3fff == kind {
            return bytes.get(4..length);
        }
        bytes = bytes.get(length.max(4).next_multiple_of(4)..)?;
    }
    None
}

/// Bytes of a message's header.
const HEADER: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_again() {
        let all = [
            DefaultNla::new(1, b"ab\0".to_vec()),
            DefaultNla::new(0x8002, vec![7, 0, 0, 0]),
        ];
        let bytes = attributes(&all);
        assert_eq!(bytes.len(), 16);
        assert_eq!(find(&bytes, 2), Some(&[7, 0, 0, 0][..]));
        assert_eq!(find(&bytes, 3), None);
        assert_eq!(find(&bytes[..5], 2), None);
    }
}
