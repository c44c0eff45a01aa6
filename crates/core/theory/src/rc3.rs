//! RC3's model of the time it saves (RC3 §3 and Fig. 4; Fig. 7 draws it over the simulation).
//!
//! TCP begins with a window of i packets and doubles it every round trip; RC3 sends everything at once,
//! what slow start would hold back at a low priority. Both pay the handshake and half a round trip for
//! the last packet.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | A | `rc3.rate` × (1 - `rc3.load`) | 1 Gbit/s, 30 % | §5.1.1 |
//! | RTT | `rc3.rtt` | 40 ms | §5.1.1 |
//! | i | `rc3.initial_window` | 4 | §5.1.1 |
//!
//! Open in the paper: the constants. Those here give the published points of Fig. 7 to 0.013
//! percentage points: a handshake round trip and a final half one for both, packets of 1500 bytes with
//! 1460 of payload, and whole rounds.

use base::setting::Settings;
use base::{Count, Fraction, Rate, Span};

use crate::answer::{
    Answer, AnswerTable, Chart, ChartAxis, Curve, CurveShape, Model, NoAnswer, columns,
};
use base::cast::real;

base::settings! {
    /// Settings of the model.
    pub struct Parameters in "rc3" {
        /// Rate of the link.
        pub rate: Rate = "1Gbps",
        /// Share of the rate that others use.
        pub load: Fraction = "0.3",
        /// Round trip.
        pub rtt: Span = "40ms",
        /// Packets that TCP begins with.
        pub initial_window: Count = "4",
        /// Payload of a full packet.
        pub mss: Count = "1460",
        /// Bytes of a full packet on the wire.
        pub packet: Count = "1500",
    }
}

/// The registry entry.
pub const MODEL: Model = Model {
    name: "rc3",
    summary: "RC3's closed form: completion times with and without it, and the gain by flow size",
    source: "RC3 section 3, Fig. 4 and 7",
    keys: Parameters::KEYS,
    answer: |text| answer(&Parameters::read(text)?),
};

/// A path that is lossless and that the flow has to itself, but for a constant load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// A in packets/s.
    pub rate: f64,
    /// RTT in s.
    pub rtt: f64,
    /// i in packets.
    pub initial_window: f64,
}

impl Path {
    /// The path of these settings.
    pub fn new(parameters: &Parameters) -> Self {
        let packet = f64::from(parameters.packet.0);
        Self {
            rate: crate::number::bits(parameters.rate) * (1.0 - parameters.load.0) / 8.0 / packet,
            rtt: parameters.rtt.as_secs(),
            initial_window: f64::from(parameters.initial_window.0),
        }
    }

    /// Completion time of `packets` under TCP, from the application's start to the last byte at the
    /// receiver, in s.
    ///
    /// Slow start takes r rounds, `i (2^r - 1) >= N`, or until the window fills the path,
    /// `i 2^(r - 1) >= A RTT`, from where on packets leave without a pause.
    pub fn tcp(&self, packets: f64) -> f64 {
        let (mut rounds, mut window, mut sent) = (1.0, self.initial_window, 0.0);
        while sent + window < packets && window < self.rate * self.rtt {
            rounds += 1.0;
            sent += window;
            window *= 2.0;
        }
        (rounds + 0.5) * self.rtt + (packets - sent) / self.rate
    }

    /// The same under RC3.
    pub fn rc3(&self, packets: f64) -> f64 {
        1.5 * self.rtt + packets / self.rate
    }

    /// By how much of TCP's time RC3's is shorter.
    pub fn reduction(&self, packets: f64) -> f64 {
        1.0 - self.rc3(packets) / self.tcp(packets)
    }
}

fn answer(parameters: &Parameters) -> Result<Answer, NoAnswer> {
    if parameters.rtt.as_ps() == 0 {
        let message = "a round trip of 0 leaves nothing to gain";
        return Err(NoAnswer::new("rc3.rtt", message, "the paper has 40ms"));
    }
    if parameters.load.0 > MOST_LOAD {
        let message = "the load leaves nothing of the link";
        return Err(NoAnswer::new(
            "rc3.load",
            message,
            "choose at most 0.99; the paper has 0.3",
        ));
    }
    let path = Path::new(parameters);
    let mss = f64::from(parameters.mss.0);
    let full = path.rate * path.rtt;
    let rows = SIZES.map(|bytes| {
        let packets = libm::ceil(real(bytes) / mss);
        let cells = [
            packets,
            path.tcp(packets) * 1e3,
            path.rc3(packets) * 1e3,
            path.reduction(packets) * 100.0,
        ];
        let cells = cells.map(Into::into).to_vec();
        (format!("{bytes} B"), cells)
    });
    Ok(Answer {
        tables: vec![AnswerTable {
            name: "completion",
            case: "flow",
            columns: columns([
                ("size", "packets"),
                ("TCP", "ms"),
                ("RC3", "ms"),
                ("reduction", "%"),
            ]),
            rows: rows.to_vec(),
        }],
        notes: vec![format!(
            "There is nothing to gain up to the initial window of {} packets; the path is full at {full:.0} \
             packets, beyond which the gain falls.",
            path.initial_window
        )],
        charts: charts(&path, mss),
    })
}

fn charts(path: &Path, mss: f64) -> Vec<Chart> {
    // From one packet to a hundred full paths.
    let most = (100.0 * path.rate * path.rtt).max(100.0);
    let sizes = (0_u32..=600).map(|place| libm::rint(libm::pow(most, f64::from(place) / 600.0)));
    let mut sizes: Vec<f64> = sizes.collect();
    sizes.dedup();
    let curve = |of: &dyn Fn(f64) -> f64| {
        let points = sizes
            .iter()
            .map(|packets| (packets * mss / 1e3, of(*packets)));
        points.collect::<Vec<_>>()
    };
    let gain = curve(&|packets| path.reduction(packets) * 100.0);
    let line = |packets: f64, label: &str| Curve {
        label: label.into(),
        shape: CurveShape::Reference,
        points: vec![(packets * mss / 1e3, 0.0), (packets * mss / 1e3, 100.0)],
    };
    let size = ChartAxis::new("Flow size", "kB").log();
    vec![
        Chart {
            name: "reduction",
            title: "Time that RC3 saves, by its model",
            caption:
                "As Fig. 4: nothing up to the initial window, most where the path is nearly full."
                    .into(),
            x: size,
            y: ChartAxis::new("Reduction of completion time", "%"),
            curves: vec![
                Curve::line("model", gain),
                line(path.initial_window, "initial window"),
                line(path.rate * path.rtt, "full path"),
            ],
        },
        Chart {
            name: "completion",
            title: "Completion times by RC3's model",
            caption: "From the start of the application to the last byte at the receiver.".into(),
            x: size,
            y: ChartAxis::new("Completion time", "ms").log(),
            curves: vec![
                Curve::line("TCP", curve(&|packets| path.tcp(packets) * 1e3)),
                Curve::line("RC3", curve(&|packets| path.rc3(packets) * 1e3)),
            ],
        },
    ]
}

/// Flow sizes of Fig. 7, and larger ones, in bytes.
const SIZES: [u64; 13] = [
    1460,
    2920,
    4380,
    7300,
    10_220,
    58_400,
    105_120,
    200_020,
    389_820,
    1_733_020,
    3_076_220,
    10_000_000,
    100_000_000,
];

/// More is as good as all.
const MOST_LOAD: f64 = 0.99;

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> Path {
        Path::new(&Parameters::defaults())
    }

    // Clauses: RC3-3-model
    #[test]
    fn figure_7_comes_out() {
        let published = include_str!("../tests/data/rc3-fig7-model.csv");
        let mut points = 0;
        for line in published
            .lines()
            .filter(|line| !line.starts_with('#'))
            .skip(1)
        {
            let (bytes, percent) = line.split_once(',').unwrap();
            let packets = bytes.parse::<f64>().unwrap() / 1460.0;
            let percent: f64 = percent.parse().unwrap();
            let model = 100.0 * paper().reduction(packets);
            assert!(
                (model - percent).abs() < 0.013,
                "{bytes}: {model} {percent}"
            );
            points += 1;
        }
        assert_eq!(points, 11);
    }

    // Clauses: RC3-3-tcp
    #[test]
    fn tcp_is_that_of_figure_15() {
        // i = 10, 20 ms, 10 Gbit/s: 30, 30, 30, 70, 90, 130, 150 ms, to the width of the packets.
        let path = Path {
            rate: 1e10 / 12_000.0,
            rtt: 20e-3,
            initial_window: 10.0,
        };
        let sizes = [1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1000.0];
        let times = [30.0, 30.0, 30.0, 70.0, 90.0, 130.0, 150.0];
        for (packets, ms) in sizes.into_iter().zip(times) {
            let model = path.tcp(packets) * 1e3;
            assert!((model - ms).abs() < 0.7, "{packets}: {model} {ms}");
        }
    }

    // Clauses: RC3-3-model
    #[test]
    fn the_gain_has_the_shape_of_figure_4() {
        let path = paper();
        // None up to i.
        for packets in [1.0, 2.0, 3.0, 4.0] {
            assert!(path.reduction(packets).abs() < 1e-12);
        }
        // A larger i shifts the start.
        let larger = Path {
            initial_window: 10.0,
            ..path
        };
        assert!(larger.reduction(10.0).abs() < 1e-12 && larger.reduction(11.0) > 0.1);
        // At the first packet of each round, up to a full path of 2333 packets, the time saved rises; its
        // share of TCP's, too, until the packets themselves take about as long as half a round trip.
        let starts = (1_u32..=9).map(|round| 4.0 * (libm::exp2(f64::from(round)) - 1.0) + 1.0);
        let starts: Vec<f64> = starts.collect();
        let saved = starts
            .iter()
            .map(|packets| path.tcp(*packets) - path.rc3(*packets));
        assert!(saved.is_sorted());
        let gains: Vec<f64> = starts
            .iter()
            .map(|packets| path.reduction(*packets))
            .collect();
        assert!(gains[..7].is_sorted(), "{gains:?}");
        assert!(
            gains[7..].iter().all(|gain| (0.77..0.80).contains(gain)),
            "{gains:?}"
        );
        // Beyond it TCP's extra time is constant, so that the gain falls like 1/N.
        let extra = |packets: f64| path.tcp(packets) - path.rc3(packets);
        assert!((extra(1e5) - extra(1e6)).abs() < 1e-9);
        assert!(path.reduction(1e5) < 0.3 && path.reduction(1e6) < 0.04);
    }

    #[test]
    fn settings_without_meaning_are_refused() {
        for (key, value) in [("rc3.rtt", "0s"), ("rc3.load", "1"), ("rc3.load", "2")] {
            let set = |name: &str| {
                let text = if name == key {
                    value
                } else {
                    Parameters::default_text(name)
                };
                text.to_owned()
            };
            assert_eq!((MODEL.answer)(&set).unwrap_err().key, key);
        }
    }
}
