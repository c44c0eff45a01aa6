//! What a model says of what was observed, for people.

use std::path::Path;

use observed::{Attach, Observation, Place, Predicted, Prediction, Times};

use crate::number::grouped;
use crate::observation::{several, short, time};

/// Whether to believe the model, then every cure by its 99th percentile, and where the run and its report are.
pub fn predicted(
    seen: &Observation,
    prediction: &Prediction,
    (folder, page): (&Path, &Path),
) -> String {
    let cures = |of: &dyn Fn(&Times) -> String| {
        let cure = |cure: &Predicted| {
            let times = cure.times.as_ref();
            let said = times.map_or_else(|| "failed".to_owned(), of);
            format!("{} {said}", cure.name)
        };
        let all = prediction.cures.iter().map(cure);
        all.collect::<Vec<_>>().join(", ")
    };
    let p99 = cures(&|times| time(times.fct_p99_s));
    let timeouts = cures(&|times| grouped(times.timeouts));
    let advice = advice(seen, prediction);
    format!(
        "{}p99 with a cure: {p99}\ntimeouts with a cure: {timeouts}\n{advice}Files: {}, to look at: {}\n",
        model(seen, prediction),
        folder.display(),
        page.display()
    )
}

/// What the model says of today, beside what was seen.
fn model(seen: &Observation, said: &Prediction) -> String {
    let of = |times: &Times| {
        format!(
            "p50 {}, p99 {}, {}",
            time(times.fct_p50_s),
            time(times.fct_p99_s),
            several(times.timeouts, "timeout")
        )
    };
    let part = if said.flows == seen.flows {
        String::new()
    } else {
        format!(
            "simulated: the first {} of {} flows, which began within {} s\n",
            grouped(said.flows),
            grouped(seen.flows),
            short(said.seconds)
        )
    };
    let (model, observed) = (of(&said.model), of(&said.observed));
    if said.fits {
        return format!("{part}model of today: {model}; observed: {observed}: it fits\n");
    }
    let guessed = said
        .guessed
        .iter()
        .map(|guess| format!("  guessed: {guess}\n"));
    format!(
        "{part}THE MODEL DOES NOT FIT THIS NETWORK: the 99th percentiles differ by a factor of {}\nmodel of today: {model}; \
         observed: {observed}\n{}",
        short(said.apart()),
        guessed.collect::<String>()
    )
}

/// How to attach the best cures that can be attached, where they are better than what there is: at the port, and at a
/// receiver.
fn advice(seen: &Observation, said: &Prediction) -> String {
    if !said.fits {
        return String::new();
    }
    let netns = match seen.netns.as_str() {
        "" => String::new(),
        netns => format!(" --netns {netns}"),
    };
    let command = |way: &Attach, device: &str| {
        let sets = way.sets.iter().map(|set| format!(" --set {set}"));
        let sets: String = sets.collect();
        let scheme = &way.scheme;
        format!("sudo tailwater attach {scheme} --dev {device}{sets} --for 10m\n")
    };
    let here = format!("{}{netns}", seen.device);
    let port = said.attachable(Place::Port).map(|way| {
        let command = command(way, &here);
        format!("try it: {command}")
    });
    let receiver = said.attachable(Place::Receiver).map(|way| {
        if !seen.leaves() {
            // Its ACKs leave by the device that was watched.
            return format!("try it: {}", command(way, &here));
        }
        let whose = match &seen.judged.receiver {
            Some(receiver) => format!("the receiver, {receiver}"),
            None => "receivers".to_owned(),
        };
        format!("try it at {whose}: {}", command(way, "DEVICE"))
    });
    [port, receiver].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use observed::Judged;

    use super::*;

    fn times(p50_ms: f64, p99_ms: f64, timeouts: u64) -> Times {
        Times {
            fct_p50_s: p50_ms / 1e3,
            fct_p99_s: p99_ms / 1e3,
            timeouts,
        }
    }

    fn cure(name: &str, attach: Option<(Place, &[&str])>, times: Option<Times>) -> Predicted {
        let scheme = name.split(' ').next().unwrap_or_default();
        Predicted {
            name: name.to_owned(),
            scheme: scheme.to_owned(),
            attach: attach.map(|(at, sets)| Attach {
                scheme: scheme.to_owned(),
                at,
                sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            }),
            times,
        }
    }

    fn prediction() -> Prediction {
        Prediction {
            flows: 300,
            seconds: 60.0,
            observed: times(3.1, 218.0, 203),
            model: times(3.3, 226.0, 191),
            scheme: "cubic".to_owned(),
            fits: true,
            guessed: vec!["delay = \"10us\": no handshake was seen".to_owned()],
            cures: vec![
                cure(
                    "rcc (grant)",
                    Some((Place::Receiver, &["rcc.max_queue=32KB"])),
                    Some(times(2.0, 7.9, 0)),
                ),
                cure("hscc", Some((Place::Port, &[])), Some(times(2.0, 9.4, 1))),
                cure("dctcp", None, None),
            ],
        }
    }

    fn told(seen: &Observation, prediction: &Prediction) -> String {
        let folder = Path::new("results/seen");
        predicted(seen, prediction, (folder, &folder.join("report.html")))
    }

    fn seen() -> Observation {
        Observation {
            device: "eth0".to_owned(),
            flows: 300,
            judged: Judged {
                receiver: Some("10.0.3.7".to_owned()),
                ..Judged::default()
            },
            ..Observation::default()
        }
    }

    #[test]
    fn a_model_that_fits_ranks_cures() {
        insta::assert_snapshot!(told(&seen(), &prediction()), @"
        model of today: p50 3.30 ms, p99 226 ms, 191 timeouts; observed: p50 3.10 ms, p99 218 ms, 203 timeouts: it fits
        p99 with a cure: rcc (grant) 7.90 ms, hscc 9.40 ms, dctcp failed
        timeouts with a cure: rcc (grant) 0, hscc 1, dctcp failed
        try it: sudo tailwater attach hscc --dev eth0 --for 10m
        try it at the receiver, 10.0.3.7: sudo tailwater attach rcc --dev DEVICE --set rcc.max_queue=32KB --for 10m
        Files: results/seen, to look at: results/seen/report.html
        ");
    }

    #[test]
    fn what_comes_in_is_cured_where_acks_leave() {
        let mut said = prediction();
        said.cures[1].attach = None;
        let seen = Observation {
            packet_bytes: [64, 1_500],
            netns: "box".to_owned(),
            ..seen()
        };
        let told = told(&seen, &said);
        let advice: Vec<_> = told.lines().filter(|line| line.contains("try")).collect();
        assert_eq!(
            advice,
            [
                "try it: sudo tailwater attach rcc --dev eth0 --netns box --set rcc.max_queue=32KB --for 10m"
            ]
        );
    }

    #[test]
    fn a_model_that_does_not_fit_says_so_first_and_what_it_guessed() {
        let said = Prediction {
            fits: false,
            model: times(3.3, 654.0, 191),
            ..prediction()
        };
        let seen = Observation {
            flows: 1_200,
            ..seen()
        };
        insta::assert_snapshot!(told(&seen, &said), @r#"
        simulated: the first 300 of 1,200 flows, which began within 60.0 s
        THE MODEL DOES NOT FIT THIS NETWORK: the 99th percentiles differ by a factor of 3.00
        model of today: p50 3.30 ms, p99 654 ms, 191 timeouts; observed: p50 3.10 ms, p99 218 ms, 203 timeouts
          guessed: delay = "10us": no handshake was seen
        p99 with a cure: rcc (grant) 7.90 ms, hscc 9.40 ms, dctcp failed
        timeouts with a cure: rcc (grant) 0, hscc 1, dctcp failed
        Files: results/seen, to look at: results/seen/report.html
        "#);
    }
}
