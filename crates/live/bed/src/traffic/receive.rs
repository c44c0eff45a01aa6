//! The receiving side: accepts connections, reads, and reports arrivals.

use std::io;
use std::ops::Range;

use machine::clock::micros;
use nix::sys::epoll::{EpollEvent, EpollFlags};

use super::connection::Incoming;
use super::{Generator, INCOMING, listening};

impl Generator<'_> {
    pub(super) fn accept(&mut self, number: usize) -> io::Result<()> {
        loop {
            let (host, listener) = &self.listeners[number];
            let to = listening(*host);
            let (socket, from) = match listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            socket.set_nonblocking(true)?;
            let from = from.as_socket();
            let connection = from.and_then(|from| self.traffic.by_ends.get(&(from, to)));
            let Some(connection) = connection.copied() else {
                return Err(io::Error::other("a connection from outside the plan"));
            };
            if let Some(tos) = self.work.tos(connection) {
                // Its ACKs have it already, except at the ports of its own host.
                socket.set_tos_v4(tos.into())?;
            }
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
            let place = self.incoming.len();
            self.epoll
                .add(&socket, EpollEvent::new(flags, INCOMING | place as u64))?;
            self.incoming.push(Some(Incoming::new(socket, connection)));
            self.asking[connection].0 = Some(place);
            self.ask(connection)?;
            self.read(place)?;
        }
    }

    pub(super) fn read(&mut self, place: usize) -> io::Result<()> {
        while let Some(incoming) = &mut self.incoming[place] {
            let (connection, offset) = (incoming.connection, incoming.received);
            let count = match incoming.read(&mut self.buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The other end knows the cause of a failure.
                Err(_) => 0,
            };
            if count == 0 {
                self.incoming[place] = None;
                // The bytes of a stopped flow may have been read before.
                return self.arrived(connection, offset..offset);
            }
            if offset == 0 {
                // A socket on which this fails is closed.
                drop(incoming.offer(self.window));
            }
            let right = (self.payload).is_right(connection, offset, &self.buffer[..count]);
            self.traffic.corrupted += u64::from(!right);
            if self.work.over_time {
                let number = u32::try_from(connection).expect("connections have 32-bit numbers");
                let at = micros(self.now());
                self.traffic.arrivals.add(number, at, count as u64);
            }
            self.arrived(connection, offset..offset + count as u64)?;
        }
        Ok(())
    }

    /// These bytes of a connection have been read.
    fn arrived(&mut self, connection: usize, bytes: Range<u64>) -> io::Result<()> {
        let now = self.now();
        for (flow, received, complete) in self.outgoing[connection].arrived(bytes) {
            self.traffic.flows[flow].received = received;
            if complete {
                let counts = self.outgoing[connection].book()?;
                self.add(flow, counts);
                self.end(flow, Some(now));
            }
        }
        Ok(())
    }
}
