//! The facts of a port that its roles read, in Python.

/// The methods of a base class with a field `port`: its constructor, its own methods, and the facts of its port.
macro_rules! at_port {
    ($class:ident, $new:expr, { $($more:tt)* }) => {
        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (*_arguments, **_named))]
            fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyAny>>) -> Self {
                $new
            }

            $($more)*

            #[getter]
            fn port(&self) -> u32 {
                self.port.get().map_or(0, |port| port.port.0)
            }

            #[getter]
            fn rate(&self) -> u64 {
                self.port.get().map_or(0, |port| port.rate.as_bps())
            }

            #[getter]
            fn delay(&self) -> u64 {
                self.port.get().map_or(0, |port| port.delay.as_ps())
            }

            #[getter]
            fn limit_bytes(&self) -> Option<u64> {
                self.port.get().and_then(limit_bytes)
            }

            #[getter]
            fn packet_bytes(&self) -> u64 {
                self.port.get().map_or(0, |port| port.packet_bytes)
            }

            #[getter]
            fn mss(&self) -> u16 {
                self.port.get().map_or(0, |port| port.mss)
            }

            #[getter]
            fn seed(&self) -> u64 {
                self.port.get().map_or(0, |port| port.seed)
            }
        }
    };
}
pub(super) use at_port;
