//! Packets and queues as Python sees them.

use base::{self, Ecn, Extension, TcpFlags};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::attributes::attributes;

/// A packet. A scheme may set its header fields.
#[pyclass(module = "tailwater")]
pub(crate) struct Packet(base::Packet);

attributes!(
    Packet,
    it,
    {
        let flow: u32 = it.0.flow.0;
        let to: u32 = it.0.to.0;
        let seq: u32 = it.0.seq.0;
        let ack: u32 = it.0.ack.0;
        let payload: u16 = it.0.payload;
        let is_syn: bool = it.0.flags.has(TcpFlags::SYN);
        let is_ack: bool = it.0.flags.has(TcpFlags::ACK);
        let is_fin: bool = it.0.flags.has(TcpFlags::FIN);
        let is_rst: bool = it.0.flags.has(TcpFlags::RST);
        let window: u16 = it.0.window;
        let dscp: u8 = it.0.dscp;
        let reserved: u8 = it.0.reserved;
        let extension: (u32, u32, u32) = it.0.extension.0.into();
    },
    {
        #[getter]
        fn ecn<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyString>> {
            match self.0.ecn {
                Ecn::NotCapable => None,
                Ecn::Capable => Some(intern!(py, "capable")),
                Ecn::Marked => Some(intern!(py, "marked")),
            }
        }

        #[setter]
        fn set_ecn(&mut self, ecn: Option<&str>) -> PyResult<()> {
            self.0.ecn = match ecn {
                None => Ecn::NotCapable,
                Some("capable") => Ecn::Capable,
                Some("marked") => Ecn::Marked,
                Some(other) => {
                    let text = format!("ecn cannot be {other:?}: None, \"capable\" or \"marked\"");
                    return Err(PyValueError::new_err(text));
                }
            };
            Ok(())
        }

        /// Marks the packet, if possible.
        fn mark(&mut self) -> bool {
            if self.0.ecn == Ecn::Capable {
                self.0.ecn = Ecn::Marked;
            }
            self.0.ecn == Ecn::Marked
        }

        #[setter]
        fn set_window(&mut self, window: u16) {
            self.0.window = window;
        }

        #[setter]
        fn set_dscp(&mut self, dscp: u8) {
            self.0.dscp = dscp;
        }

        #[setter]
        fn set_reserved(&mut self, reserved: u8) {
            self.0.reserved = reserved;
        }

        #[setter]
        fn set_extension(&mut self, extension: (u32, u32, u32)) {
            self.0.extension = Extension(extension.into());
        }

        fn __repr__(&self) -> String {
            let base::Packet { flow, payload, .. } = &self.0;
            format!("Packet(flow={}, payload={payload}, ...)", flow.0)
        }
    }
);

impl Packet {
    /// Passes `packet` to a call, and returns the packet after it.
    pub(super) fn shown(
        py: Python<'_>,
        packet: base::Packet,
        call: impl FnOnce(&Bound<'_, Self>) -> PyResult<()>,
    ) -> PyResult<base::Packet> {
        let object = Bound::new(py, Self(packet))?;
        call(&object)?;
        Ok(object.borrow().0)
    }
}

/// The length of a queue.
#[pyclass(frozen, module = "tailwater")]
pub(crate) struct Backlog(pub(super) fabric::Backlog);

attributes!(
    Backlog,
    it,
    {
        let bytes: u64 = it.0.bytes;
        let packets: u64 = it.0.packets;
    },
    {
        fn __repr__(&self) -> String {
            format!(
                "Backlog(bytes={}, packets={})",
                self.0.bytes, self.0.packets
            )
        }
    }
);
