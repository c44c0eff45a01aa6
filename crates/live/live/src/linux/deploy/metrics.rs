//! What is attached as Prometheus reads it, on this machine alone.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use machine::interrupt;
use schemes::linux::kernel_laws;
use serde_json::Value;

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
fn text(all: &[Value]) -> String {
    let metric = |Metric {
                      name,
                      kind,
                      help,
                      key,
                  }: Metric| {
        let lines = all.iter().flat_map(|one| samples(one, key));
        let lines: Vec<_> = lines.map(|sample| format!("{name}{sample}\n")).collect();
        match lines.as_slice() {
            [] => String::new(),
            lines => {
                let lines = lines.concat();
                format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}")
            }
        }
    };
    metrics().into_iter().map(metric).collect()
}

/// The values of one attachment for a key, each behind its labels.
fn samples(one: &Value, key: &str) -> Vec<String> {
    let word = |key: &str| one[key].as_str().unwrap_or_default();
    let (device, netns, scheme) = (word("device"), word("netns"), word("scheme"));
    let labels = format!("device=\"{device}\",netns=\"{netns}\",scheme=\"{scheme}\"");
    if key != PASSED {
        let value = number(&one[key]).map(|value| format!("{{{labels}}} {value}"));
        return value.into_iter().collect();
    }
    let all = one[key].as_array().into_iter().flatten();
    let pass = |pass: &Value| {
        let (why, packets) = (pass["why"].as_str()?, pass["packets"].as_u64()?);
        Some(format!("{{{labels},why=\"{why}\"}} {packets}"))
    };
    all.filter_map(pass).collect()
}

/// Truth is one; a list is as long as it is.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(is) => Some(f64::from(u8::from(*is))),
        #[expect(clippy::cast_precision_loss, reason = "few")]
        Value::Array(all) => Some(all.len() as f64),
        value => value.as_f64(),
    }
}

/// A number that Prometheus reads.
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    /// The key of what is told.
    key: &'static str,
}

impl Metric {
    const fn gauge(name: &'static str, help: &'static str, key: &'static str) -> Self {
        Self {
            name,
            kind: "gauge",
            help,
            key,
        }
    }

    const fn counter(name: &'static str, help: &'static str, key: &'static str) -> Self {
        Self {
            kind: "counter",
            ..Self::gauge(name, help, key)
        }
    }
}

/// The metrics of every law, and between them those of the laws that have more to say.
fn metrics() -> Vec<Metric> {
    let mut metrics = vec![
        Metric::gauge("tailwater_acts", "Whether the lease is not over.", "acts"),
        Metric::gauge(
            "tailwater_lease_left_seconds",
            "Time until everything passes; absent if never.",
            "lease_left_s",
        ),
    ];
    let laws = kernel_laws().into_iter();
    for reading in laws.flat_map(|(_, law)| law.readings) {
        let Some((name, help)) = reading.metric else {
            continue;
        };
        if !metrics.iter().any(|metric| metric.name == name) {
            metrics.push(Metric::gauge(name, help, reading.key));
        }
    }
    metrics.extend([
        Metric::gauge(
            "tailwater_queue_bytes",
            "Bytes that wait in the queue.",
            "queue_bytes",
        ),
        Metric::gauge(
            "tailwater_watched",
            "Whether a process watches who waits.",
            "watched",
        ),
        Metric::counter(
            "tailwater_told_total",
            "Copies of ACKs that told a grant.",
            "told",
        ),
        Metric::counter(
            "tailwater_rewritten_total",
            "ACKs whose window was lowered.",
            "rewritten",
        ),
        Metric::counter(
            "tailwater_marked_total",
            "Packets that were marked.",
            "marked",
        ),
        Metric::counter(
            "tailwater_passed_total",
            "Packets that passed as they were.",
            PASSED,
        ),
        Metric::gauge(
            "tailwater_drift",
            "Changes since the law was attached; 0 is as it should be.",
            "drift",
        ),
    ]);
    metrics
}

/// By reason, and not one number.
const PASSED: &str = "passed";

const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a request that are read.
const LONGEST: u64 = 8_192;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_number_has_its_labels() {
        let one = json!({
            "device": "p1", "netns": "", "scheme": "hscc", "acts": true, "window_bytes": 2_920,
            "drift": [], "passed": [{ "why": "not TCP", "packets": 7 }],
        });
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
