//! What a scheme is written with.

pub use base::setting::Settings;
pub use base::{
    Count, DataSize, Factor, Fraction, OrAuto, OrOff, Packet, Rate, Span, Time, settings,
};
pub use fabric::{Discipline, QueueDisc, SwitchHook};
pub use schemes::{
    FlowInfo, Helper, HostInfo, Origin, PortInfo, Receiver, Role, Roles, Scheme, Sender, Ticker,
    TickerOf,
};
pub use tcp::{
    Ack, AckKind, AckSent, AckVerdict, Arrival, DeliveryCc, EcnMode, Established, Gauge,
    HostHelper, Loss, NewReno, Orders, Plain, ReceiverCc, SegmentCc, SenderCc, Slot,
};
