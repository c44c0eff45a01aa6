//! What a scheme is written with.

pub use base::setting::Settings;
pub use base::{
    Count, DataSize, Factor, Fraction, OrAuto, OrOff, Packet, Rate, Span, Time, settings,
};
pub use fabric::{Discipline, QueueDisc, SwitchHook};
pub use schemes::{
    FlowInfo, HostInfo, Origin, PortInfo, Receiver, Role, Roles, Scheme, Sender, Ticker, TickerOf,
};
pub use tcp::{
    Ack, AckKind, AckSent, AckVerdict, Arrival, EcnMode, Gauge, HostHelper, Loss, NewReno, Plain,
    ReceiverCc, SenderCc, Slot,
};
