//! Connections that end before their time.

/// Why a connection ended before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abort {
    /// The peer reset or refused it.
    Reset,
    /// Nobody answered the SYN or the SYN-ACK, however often it was sent.
    Handshake,
    /// Nobody acknowledged data, a FIN or the probe of a closed window, however often it was sent.
    Retries,
}
