//! The trace that a workload names, read with the workload's other settings.

use base::QuantityError;
use base::setting::SettingError;

use super::{Workload, WorkloadKind};
use crate::flow_trace::TraceFileSettings;

impl Workload {
    /// Reads the trace if there is one.
    pub(crate) fn read_trace(&mut self) -> Result<(), SettingError> {
        if self.kind != WorkloadKind::Trace {
            return Ok(());
        }
        let reading = TraceFileSettings {
            columns: self.columns.clone(),
            hosts: self.host_names.clone(),
            window: self.window.clone(),
            max_gap: self.max_gap.0,
            start: self.start,
        };
        let read = self.trace.read(&reading);
        read.map_err(|message| SettingError {
            key: "workload.trace",
            error: QuantityError { message },
        })
    }
}
