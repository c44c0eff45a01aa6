//! The attached laws in the format of Prometheus, on this machine alone.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use base::cast::{count, real};
use machine::interrupt;
use protocol::{Passed, StatusLine};
use schemes::linux::kernel_laws;

use crate::error::DeployError;
use crate::status::Attachment;

/// Answers until a signal comes.
///
/// # Errors
/// If the address is not available.
pub fn serve(address: SocketAddr, attachments: &mut [Attachment]) -> Result<(), DeployError> {
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

/// Clients that read numbers at an address of this machine.
pub(crate) struct Readers(TcpListener);

impl Readers {
    pub(crate) fn listen(address: SocketAddr) -> Result<Self, DeployError> {
        let listener = TcpListener::bind(address).map_err(|error| {
            let error = format!("{address}: {error}");
            DeployError::Failed(error)
        })?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// Answers one waiting client, if any, with this text. Returns whether there was one.
    pub(crate) fn answer(&self, text: &mut dyn FnMut() -> String) -> Result<bool, DeployError> {
        match self.0.accept() {
            // A client that went away, or never asked, does not matter to the others.
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
    metrics().iter().map(|metric| metric.text(all)).collect()
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
    /// One, if it is known.
    One(fn(&StatusLine) -> Option<f64>),
    /// One, if its law has this reading.
    Reading(&'static str),
    /// Packets that passed, one sample for each reason.
    Passed,
}

impl Metric {
    const fn new(
        name: &'static str,
        kind: &'static str,
        help: &'static str,
        samples: Samples,
    ) -> Self {
        Self {
            name,
            kind,
            help,
            samples,
        }
    }

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
            Samples::One(value) => one(value(line), &labels),
            Samples::Reading(key) => {
                let value = line.readings.get(key).map(|value| value.number());
                one(value.map(real), &labels)
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

/// The one sample of a value, if it is known.
fn one(value: Option<f64>, labels: &str) -> Vec<String> {
    let sample = value.map(|value| format!("{{{labels}}} {value}"));
    sample.into_iter().collect()
}

/// True is 1.
fn flag(is: Option<bool>) -> Option<f64> {
    is.map(|is| f64::from(u8::from(is)))
}

/// The metrics of every law, including those of single laws.
fn metrics() -> Vec<Metric> {
    use Samples::{One, Passed, Reading};
    let mut metrics = vec![
        Metric::new(
            "tailwater_acts",
            "gauge",
            "Whether the lease is not over.",
            One(|line| flag(line.acts)),
        ),
        Metric::new(
            "tailwater_lease_left_seconds",
            "gauge",
            "Time until everything passes; absent if never.",
            One(|line| line.lease_left_s),
        ),
    ];
    let laws = kernel_laws().into_iter();
    for reading in laws.flat_map(|(_, law)| law.readings) {
        let Some((name, help)) = reading.metric else {
            continue;
        };
        if !metrics.iter().any(|metric| metric.name == name) {
            metrics.push(Metric::new(name, "gauge", help, Reading(reading.key)));
        }
    }
    metrics.extend([
        Metric::new(
            "tailwater_queue_bytes",
            "gauge",
            "Bytes that wait in the queue.",
            One(|line| line.queue_bytes.map(f64::from)),
        ),
        Metric::new(
            "tailwater_watched",
            "gauge",
            "Whether the watchdog of waiting connections runs.",
            One(|line| flag(line.watched)),
        ),
        Metric::new(
            "tailwater_told_total",
            "counter",
            "Copies of ACKs that were sent to report a grant.",
            One(|line| line.told.map(real)),
        ),
        Metric::new(
            "tailwater_rewritten_total",
            "counter",
            "ACKs whose window was lowered.",
            One(|line| line.rewritten.map(real)),
        ),
        Metric::new(
            "tailwater_marked_total",
            "counter",
            "Packets that were marked.",
            One(|line| line.marked.map(real)),
        ),
        Metric::new(
            "tailwater_would_change_total",
            "counter",
            "Packets that a law in the shadow would have changed.",
            One(|line| line.would_change.map(real)),
        ),
        Metric::new(
            "tailwater_passed_total",
            "counter",
            "Packets that passed unchanged.",
            Passed,
        ),
        Metric::new(
            "tailwater_drift",
            "gauge",
            "Unexpected changes since the law was attached; 0 if there are none.",
            One(|line| Some(count(line.drift.len()))),
        ),
    ]);
    metrics
}

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
            readings: [("window_bytes".to_owned(), protocol::Reading::Number(2_920))].into(),
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

    #[test]
    fn every_metric_of_a_law_is_served_once_with_its_help() {
        let metrics = metrics();
        for (_, law) in kernel_laws() {
            for (name, _) in law.readings.iter().filter_map(|reading| reading.metric) {
                let served = metrics.iter().filter(|metric| metric.name == name);
                assert_eq!(served.count(), 1, "{name}");
            }
        }
        assert!(
            metrics
                .iter()
                .any(|metric| metric.name == "tailwater_waiting")
        );
    }
}
