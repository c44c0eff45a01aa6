//! Making the sockets of both ends.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddrV4;

use base::HostId;
use socket2::{Domain, Protocol, Socket, Type};

use super::connection::Outgoing;
use super::{PORT, Work};
use crate::lan::{self, Lan};
use crate::testbed::{Testbed, settings::BACKLOG};

/// Sockets of all connections, each in the namespace of its sender.
pub(super) fn outgoing(bed: &Testbed, lan: &Lan, work: &Work<'_>) -> io::Result<Vec<Outgoing>> {
    let mut hosts: BTreeMap<HostId, Vec<usize>> = BTreeMap::new();
    for (number, connection) in work.connections.iter().enumerate() {
        hosts.entry(connection.sender).or_default().push(number);
    }
    let mut sockets: Vec<Option<Socket>> = Vec::new();
    sockets.resize_with(work.connections.len(), || None);
    for (host, connections) in hosts {
        let made = lan.host(bed, host).within(|| {
            let sockets = connections.iter().map(|number| {
                let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
                socket.set_nonblocking(true)?;
                socket.set_tcp_nodelay(work.nodelay)?;
                socket.set_tcp_congestion(work.control.as_bytes())?;
                if let Some(tos) = work.tos(*number) {
                    socket.set_tos_v4(tos.into())?;
                }
                Ok(socket)
            });
            sockets.collect::<io::Result<Vec<_>>>()
        })?;
        for (number, socket) in connections.into_iter().zip(made) {
            sockets[number] = Some(socket);
        }
    }
    let all = sockets.into_iter();
    Ok(all
        .map(|socket| Outgoing::new(socket.expect("every connection has a sender")))
        .collect())
}

/// A listening socket. Accepted sockets inherit its congestion control and its `TCP_NODELAY`. The congestion control
/// must react to marks, or the kernel refuses ECN.
pub(super) fn listen(host: HostId, work: &Work<'_>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(work.control.as_bytes())?;
    socket.set_tcp_nodelay(work.nodelay)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddrV4::new(lan::host_address(host), PORT).into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}
