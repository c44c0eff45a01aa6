//! Counters of a connection in the kernel's TCP: `struct tcp_info` in `linux/tcp.h`.

use std::io;
use std::os::fd::AsRawFd as _;

use nix::errno::Errno;
use nix::libc;
use socket2::Socket;

/// The counts of a sender. A kernel that is older than a counter does not report it; the field is then `None`, not
/// zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    /// Segments with data, including retransmissions: `tcpi_data_segs_out`, since Linux 4.6.
    pub(crate) packets: Option<u32>,
    /// Retransmitted segments, including loss probes: `tcpi_total_retrans`.
    pub(crate) retransmissions: Option<u32>,
    /// Retransmission timers that expired: `tcpi_total_rto`, since Linux 6.7.
    pub(crate) timeouts: Option<u32>,
    /// Those of its SYN.
    pub(crate) syn_timeouts: Option<u32>,
}

impl Counts {
    /// The counts of a new connection.
    pub(crate) const NONE: Self = Self {
        packets: Some(0),
        retransmissions: Some(0),
        timeouts: Some(0),
        syn_timeouts: Some(0),
    };

    /// The counts of a socket so far. They do not distinguish those of the SYN.
    pub(super) fn read(socket: &Socket) -> io::Result<Self> {
        let mut info = [0; LENGTH];
        Ok(Self::parse(tcp_info(socket, &mut info)?))
    }

    /// Reads the fields from the part of the struct that the kernel has.
    fn parse(info: &[u8]) -> Self {
        let word = |at: usize| {
            let bytes = info.get(at..)?.first_chunk()?;
            Some(u32::from_ne_bytes(*bytes))
        };
        let timeouts = info.get(TOTAL_RTO..).and_then(<[u8]>::first_chunk);
        Self {
            packets: word(DATA_SEGS_OUT),
            retransmissions: word(TOTAL_RETRANS),
            timeouts: timeouts.map(|bytes| u16::from_ne_bytes(*bytes).into()),
            syn_timeouts: Some(0),
        }
    }

    /// The increase since `before`.
    pub(super) fn since(self, before: Self) -> Self {
        self.with(before, u32::saturating_sub)
    }

    /// This and more.
    pub(crate) fn and(self, more: Self) -> Self {
        self.with(more, u32::saturating_add)
    }

    /// The same counts for the handshake: retransmissions and timers belong to the SYN.
    pub(super) fn of_handshake(self) -> Self {
        Self {
            packets: self.packets,
            retransmissions: self.retransmissions.and(Some(0)),
            timeouts: self.timeouts.and(Some(0)),
            syn_timeouts: self.timeouts,
        }
    }

    fn with(self, other: Self, join: fn(u32, u32) -> u32) -> Self {
        let both = |own: Option<u32>, other: Option<u32>| Some(join(own?, other?));
        Self {
            packets: both(self.packets, other.packets),
            retransmissions: both(self.retransmissions, other.retransmissions),
            timeouts: both(self.timeouts, other.timeouts),
            syn_timeouts: both(self.syn_timeouts, other.syn_timeouts),
        }
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self::NONE
    }
}

/// The kernel's `struct tcp_info`, written to `info`.
#[expect(unsafe_code, reason = "an option whose length depends on the kernel")]
fn tcp_info<'a>(socket: &Socket, info: &'a mut [u8; LENGTH]) -> io::Result<&'a [u8]> {
    let mut length = libc::socklen_t::try_from(info.len()).unwrap_or(0);
    // SAFETY: the kernel writes at most `length` bytes to `info`, which has as many, and says how many it wrote.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    Errno::result(done)?;
    let length = usize::try_from(length).unwrap_or(0);
    Ok(&info[..length.min(LENGTH)])
}

/// More bytes than are read of the struct.
const LENGTH: usize = 256;

/// Offsets of the fields in the struct.
const TOTAL_RETRANS: usize = 100;
const DATA_SEGS_OUT: usize = 156;
const TOTAL_RTO: usize = 240;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// A struct of this length with these three fields.
    fn info(length: usize) -> Vec<u8> {
        let mut info = vec![0; LENGTH];
        info[TOTAL_RETRANS..][..4].copy_from_slice(&7_u32.to_ne_bytes());
        info[DATA_SEGS_OUT..][..4].copy_from_slice(&90_u32.to_ne_bytes());
        info[TOTAL_RTO..][..2].copy_from_slice(&3_u16.to_ne_bytes());
        info[TOTAL_RTO + 2..][..2].copy_from_slice(&u16::MAX.to_ne_bytes());
        info.truncate(length);
        info
    }

    #[test]
    fn a_counter_that_the_kernel_lacks_is_not_zero() {
        let whole = Counts::parse(&info(248));
        assert_eq!(whole.packets, Some(90));
        assert_eq!(whole.retransmissions, Some(7));
        assert_eq!(whole.timeouts, Some(3), "the next field is another");
        // In Linux 6.6 the struct ends before `tcpi_total_rto`, in Linux 4.5 before `tcpi_data_segs_out`.
        let older = Counts::parse(&info(240));
        assert_eq!((older.packets, older.timeouts), (Some(90), None));
        assert_eq!(Counts::NONE.and(older).timeouts, None);
        let oldest = Counts::parse(&info(144));
        assert_eq!((oldest.packets, oldest.retransmissions), (None, Some(7)));
    }

    #[test]
    fn what_is_sent_again_before_a_connection_opens_is_its_syn() {
        let opened = Counts {
            packets: Some(0),
            retransmissions: Some(2),
            timeouts: Some(2),
            syn_timeouts: Some(0),
        };
        let later = Counts {
            packets: Some(9),
            retransmissions: Some(3),
            timeouts: Some(3),
            ..opened
        };
        let all = opened.of_handshake().and(later.since(opened));
        let expected = Counts {
            packets: Some(9),
            retransmissions: Some(1),
            timeouts: Some(1),
            syn_timeouts: Some(2),
        };
        assert_eq!(all, expected);
    }

    #[test]
    fn a_socket_counts_its_segments_until_it_is_dropped() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let mut sender = Socket::from(sender);
        assert_eq!(Counts::read(&sender).unwrap().packets, Some(0));
        sender.write_all(&[1; 100]).unwrap();
        sender.shutdown(std::net::Shutdown::Write).unwrap();
        let mut text = Vec::new();
        receiver.read_to_end(&mut text).unwrap();
        drop(receiver);
        assert_eq!(sender.read(&mut [0; 1]).unwrap(), 0);
        let counts = Counts::read(&sender).unwrap();
        assert_eq!(counts.packets, Some(1));
        assert_eq!(counts.retransmissions, Some(0));
    }
}
