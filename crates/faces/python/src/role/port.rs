//! The facts of a port that its roles read, in Python.

/// The methods of a base class with a field `port`: its constructor, its own methods, and the facts of its port.
macro_rules! at_port {
    ($class:ident, $new:expr, { $($more:tt)* }) => {
        attributes!(
            $class,
            it,
            {
                let port: u32 = it.port.get().map_or(0, |port| port.port.0);
                let rate: u64 = it.port.get().map_or(0, |port| port.rate.as_bps());
                let delay: u64 = it.port.get().map_or(0, |port| port.delay.as_ps());
                let limit_bytes: Option<u64> = it.port.get().and_then(limit_bytes);
                let packet_bytes: u64 = it.port.get().map_or(0, |port| port.packet_bytes);
                let mss: u16 = it.port.get().map_or(0, |port| port.mss);
                let seed: u64 = it.port.get().map_or(0, |port| port.seed);
            },
            {
                #[new]
                #[pyo3(signature = (*_arguments, **_named))]
                fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyAny>>) -> Self {
                    $new
                }

                $($more)*
            }
        );
    };
}
pub(super) use at_port;
