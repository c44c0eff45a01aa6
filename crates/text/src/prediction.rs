//! What a model says of what was observed, for people.

use std::path::Path;

use observed::{Observation, Predicted, Prediction, Times};

use crate::grouped;
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
    let advice = advice(seen, prediction).unwrap_or_default();
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

/// How to attach the best cure that can be attached, if it changes something.
fn advice(seen: &Observation, said: &Prediction) -> Option<String> {
    let cure = said.attachable()?;
    let times = cure.times.as_ref()?;
    if times.fct_p99_s >= said.model.fct_p99_s || !said.fits {
        return None;
    }
    let netns = match seen.netns.as_str() {
        "" => String::new(),
        netns => format!(" --netns {netns}"),
    };
    Some(format!(
        "try it: sudo tailwater attach {} --dev {}{netns} --for 10m\n",
        cure.attach.as_deref()?,
        seen.device
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(p50_ms: f64, p99_ms: f64, timeouts: u64) -> Times {
        Times {
            fct_p50_s: p50_ms / 1e3,
            fct_p99_s: p99_ms / 1e3,
            timeouts,
        }
    }

    fn cure(name: &str, attach: Option<&str>, times: Option<Times>) -> Predicted {
        Predicted {
            name: name.to_owned(),
            scheme: name.to_owned(),
            attach: attach.map(str::to_owned),
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
                cure("rcc", None, Some(times(2.0, 7.9, 0))),
                cure("hscc", Some("hscc"), Some(times(2.0, 9.4, 1))),
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
            ..Observation::default()
        }
    }

    #[test]
    fn a_model_that_fits_ranks_cures() {
        insta::assert_snapshot!(told(&seen(), &prediction()), @"
        model of today: p50 3.30 ms, p99 226 ms, 191 timeouts; observed: p50 3.10 ms, p99 218 ms, 203 timeouts: it fits
        p99 with a cure: rcc 7.90 ms, hscc 9.40 ms, dctcp failed
        timeouts with a cure: rcc 0, hscc 1, dctcp failed
        try it: sudo tailwater attach hscc --dev eth0 --for 10m
        Files: results/seen, to look at: results/seen/report.html
        ");
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
        p99 with a cure: rcc 7.90 ms, hscc 9.40 ms, dctcp failed
        timeouts with a cure: rcc 0, hscc 1, dctcp failed
        Files: results/seen, to look at: results/seen/report.html
        "#);
    }
}
