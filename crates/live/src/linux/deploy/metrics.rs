//! What is attached as Prometheus reads it, on this machine alone.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use machine::interrupt;
use protocol::{Passed, StatusLine};

use super::status::Attachment;
use crate::linux::emulate::Failure;

/// Answers until a signal comes.
///
/// # Errors
/// If the address cannot be had.
pub fn serve(address: SocketAddr, attachments: &mut [Attachment]) -> Result<(), Failure> {
    let reader = Readers::listen(address)?;
    loop {
        interrupt::check()?;
        let answered = reader.answer(&mut || {
            let told = attachments.iter_mut().filter_map(|one| one.told().ok());
            text(&told.collect::<Vec<_>>())
        })?;
        if !answered {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Whoever reads numbers at an address of this machine.
pub(super) struct Readers(TcpListener);

impl Readers {
    pub(super) fn listen(address: SocketAddr) -> Result<Self, Failure> {
        let listener = TcpListener::bind(address).map_err(|error| {
            let error = format!("{address}: {error}");
            Failure::Failed(error)
        })?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// Answers one that waits, if any, with this text. Returns whether there was one.
    pub(super) fn answer(&self, text: &mut dyn FnMut() -> String) -> Result<bool, Failure> {
        match self.0.accept() {
            // A reader that went away, or never asked, concerns nobody else.
            Ok((stream, _)) => {
                drop(answer(&stream, text));
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn answer(mut stream: &TcpStream, text: &mut dyn FnMut() -> String) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = String::new();
    let mut lines = BufReader::new(io::Read::take(stream, LONGEST));
    lines.read_line(&mut request)?;
    let mut line = String::new();
    while lines.read_line(&mut line)? > 2 {
        line.clear();
    }
    let (status, body) = match request.split(' ').nth(1) {
        Some("/metrics") => ("200 OK", text()),
        _ => ("404 Not Found", "only /metrics is here\n".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The text format of Prometheus.
fn text(all: &[StatusLine]) -> String {
    METRICS.iter().map(|metric| metric.text(all)).collect()
}

/// A metric of Prometheus.
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    samples: Samples,
}

/// The samples that a metric has of one attachment.
enum Samples {
    /// One, if its law has the number.
    One(fn(&StatusLine) -> Option<f64>),
    /// Packets that passed, one sample for each reason.
    Passed,
}

impl Metric {
    fn text(&self, all: &[StatusLine]) -> String {
        let Self {
            name, kind, help, ..
        } = self;
        let samples = all.iter().flat_map(|line| self.samples(line));
        let lines: Vec<String> = samples.map(|sample| format!("{name}{sample}\n")).collect();
        if lines.is_empty() {
            return String::new();
        }
        let lines = lines.concat();
        format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}")
    }

    /// The samples of one attachment, each behind its labels.
    fn samples(&self, line: &StatusLine) -> Vec<String> {
        let StatusLine {
            device,
            netns,
            scheme,
            passed,
            ..
        } = line;
        let labels = format!("device=\"{device}\",netns=\"{netns}\",scheme=\"{scheme}\"");
        match self.samples {
            Samples::One(value) => {
                let sample = value(line).map(|value| format!("{{{labels}}} {value}"));
                sample.into_iter().collect()
            }
            Samples::Passed => {
                let passed = passed.iter().flatten();
                let sample =
                    |pass: &Passed| format!("{{{labels},why=\"{}\"}} {}", pass.why, pass.packets);
                passed.map(sample).collect()
            }
        }
    }
}

/// Truth is one.
fn flag(is: Option<bool>) -> Option<f64> {
    is.map(|is| f64::from(u8::from(is)))
}

#[expect(clippy::cast_precision_loss, reason = "measurements carry 53 bits")]
fn real(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}

const METRICS: [Metric; 15] = [
    Metric {
        name: "tailwater_acts",
        kind: "gauge",
        help: "Whether the lease is not over.",
        samples: Samples::One(|line| flag(line.acts)),
    },
    Metric {
        name: "tailwater_lease_left_seconds",
        kind: "gauge",
        help: "Time until everything passes; absent if never.",
        samples: Samples::One(|line| line.lease_left_s),
    },
    Metric {
        name: "tailwater_on",
        kind: "gauge",
        help: "Whether HSCC lowers windows.",
        samples: Samples::One(|line| flag(line.is_on)),
    },
    Metric {
        name: "tailwater_window_bytes",
        kind: "gauge",
        help: "Window that the law grants every connection.",
        samples: Samples::One(|line| real(line.window_bytes)),
    },
    Metric {
        name: "tailwater_flows",
        kind: "gauge",
        help: "Connections that RWNDQ counts.",
        samples: Samples::One(|line| real(line.flows)),
    },
    Metric {
        name: "tailwater_queue_bytes",
        kind: "gauge",
        help: "Bytes that wait in the queue.",
        samples: Samples::One(|line| line.queue_bytes.map(f64::from)),
    },
    Metric {
        name: "tailwater_budget_bytes",
        kind: "gauge",
        help: "Most that the senders to a receiver may have under way.",
        samples: Samples::One(|line| real(line.budget_bytes)),
    },
    Metric {
        name: "tailwater_flight_bytes",
        kind: "gauge",
        help: "What they may send and has not come.",
        samples: Samples::One(|line| real(line.flight_bytes)),
    },
    Metric {
        name: "tailwater_waiting",
        kind: "gauge",
        help: "Connections that wait for a grant.",
        samples: Samples::One(|line| real(line.waiting)),
    },
    Metric {
        name: "tailwater_watched",
        kind: "gauge",
        help: "Whether a process watches who waits.",
        samples: Samples::One(|line| flag(line.watched)),
    },
    Metric {
        name: "tailwater_told_total",
        kind: "counter",
        help: "Copies of ACKs that told a grant.",
        samples: Samples::One(|line| real(line.told)),
    },
    Metric {
        name: "tailwater_rewritten_total",
        kind: "counter",
        help: "ACKs whose window was lowered.",
        samples: Samples::One(|line| real(line.rewritten)),
    },
    Metric {
        name: "tailwater_marked_total",
        kind: "counter",
        help: "Packets that were marked.",
        samples: Samples::One(|line| real(line.marked)),
    },
    Metric {
        name: "tailwater_passed_total",
        kind: "counter",
        help: "Packets that passed as they were.",
        samples: Samples::Passed,
    },
    Metric {
        name: "tailwater_drift",
        kind: "gauge",
        help: "Changes since the law was attached; 0 is as it should be.",
        samples: Samples::One(|line| real(Some(line.drift.len() as u64))),
    },
];

const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a request that are read.
const LONGEST: u64 = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_labels() {
        let one = StatusLine {
            device: "p1".to_owned(),
            scheme: "hscc".to_owned(),
            acts: Some(true),
            window_bytes: Some(2_920),
            passed: Some(vec![Passed {
                why: "not TCP".to_owned(),
                packets: 7,
            }]),
            ..StatusLine::default()
        };
        let text = text(&[one]);
        let labels = "device=\"p1\",netns=\"\",scheme=\"hscc\"";
        for line in [
            format!("tailwater_acts{{{labels}}} 1\n"),
            format!("tailwater_window_bytes{{{labels}}} 2920\n"),
            format!("tailwater_drift{{{labels}}} 0\n"),
            format!("tailwater_passed_total{{{labels},why=\"not TCP\"}} 7\n"),
            "# TYPE tailwater_passed_total counter\n".to_owned(),
        ] {
            assert!(text.contains(&line), "{line} in\n{text}");
        }
        assert!(!text.contains("tailwater_flows"), "{text}");
    }
}
