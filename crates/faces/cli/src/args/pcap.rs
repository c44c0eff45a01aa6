//! Where packets are captured.

use std::num::NonZeroUsize;

use clap::Args;
use record::pcap::CapturePoints;
use scenario::Problems;

/// Captures of a run.
#[derive(Args)]
pub(crate) struct PcapArgs {
    /// Capture packets for Wireshark at "bottleneck", "host:N" or "port:N", or at several of them
    #[arg(
        long,
        value_name = "PLACES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "bottleneck"
    )]
    pcap: Option<String>,
    /// Keep at most this many bytes of each captured packet
    #[arg(long, value_name = "BYTES", requires = "pcap")]
    pcap_snap: Option<NonZeroUsize>,
}

impl PcapArgs {
    /// Where to capture, if anywhere.
    pub(crate) fn places(&self) -> Result<Option<CapturePoints>, Problems> {
        let Some(text) = &self.pcap else {
            return Ok(None);
        };
        let places = CapturePoints::parse(text)?;
        Ok(Some(match self.pcap_snap {
            Some(bytes) => places.with_snap(bytes.get()),
            None => places,
        }))
    }
}
