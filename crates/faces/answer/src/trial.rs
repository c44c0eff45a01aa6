//! The plan and the result of a trial, for people.

use observed::trial::{
    ALPHA, TrialArm, TrialEnd, TrialPlan, TrialResult, TrialVerdict, Unexpected,
};

use crate::observation::time;
use crate::words::{counted, grouped, three_digits};

/// The plan, decided before a law acts.
pub fn planned(plan: &TrialPlan) -> String {
    let (law, place) = (&plan.law, place(plan));
    let shape = &plan.shape;
    let mut out = format!(
        "trial of {law} at {place}: {} periods of {} s, {law} in half of them\n",
        shape.periods, shape.period_s
    );
    let mut line = |text: String| {
        out.push_str("  ");
        out.push_str(&text);
        out.push('\n');
    };
    let before = grouped(plan.flows_before);
    line(format!(
        "before: {} {} of {before} flows",
        plan.measure,
        time(plan.before_s)
    ));
    line(predicted(plan));
    if let Some(goal) = plan.goal {
        line(format!(
            "goal: {} below {}",
            plan.measure,
            time(goal.below_s)
        ));
    }
    line(format!(
        "guard: {law} is taken away if {} is more than {:.0} % worse in two periods",
        plan.measure,
        100.0 * plan.guard.worse
    ));
    out
}

/// The verdict, its evidence, and what was predicted.
pub fn settled(plan: &TrialPlan, found: &TrialResult, end: &TrialEnd) -> String {
    let measure = plan.measure;
    let mut out = format!(
        "{} at {}: {}\n",
        plan.law,
        place(plan),
        verdict(plan, found)
    );
    let mut line = |text: String| {
        out.push_str("  ");
        out.push_str(&text);
        out.push('\n');
    };
    if let Some(why) = &end.stopped {
        line(format!("ended early: {why}"));
    }
    let arm = |arm: &TrialArm| {
        let value = arm.value_s.map_or_else(|| "unknown".to_owned(), time);
        let (flows, periods) = (grouped(arm.flows), counted(arm.periods, "period"));
        format!("{measure} {value} of {flows} flows in {periods}")
    };
    line(format!("with it: {}", arm(&found.on)));
    line(format!("without it: {}", arm(&found.off)));
    if let Some(p) = found.p {
        line(format!(
            "chance alone makes such a difference with probability {}",
            probability(p)
        ));
    }
    match found.holds.zip(found.agreement) {
        Some((holds, agreement)) => {
            let lies = if holds { "lies in it" } else { "lies outside" };
            let agreement = agreement.name();
            line(format!(
                "{}; the effect {lies}: {agreement}",
                predicted(plan)
            ));
        }
        None => line(predicted(plan)),
    }
    if let (Some(goal), Some((with, without))) = (plan.goal, found.goal) {
        let says = |meets| if meets { "met" } else { "not met" };
        line(format!(
            "goal: {measure} below {}: {} with it, {} without it",
            time(goal.below_s),
            says(with),
            says(without)
        ));
    }
    if let Some(carried) = found.carry_over {
        line(if carried.p <= ALPHA {
            format!(
                "the effect changes within a period, {} times in the second half (p = {}): periods are too short",
                three_digits(carried.ratio),
                probability(carried.p)
            )
        } else {
            format!(
                "no carry-over from period to period was found (p = {})",
                probability(carried.p)
            )
        });
    }
    for text in aside(plan, found, end) {
        line(text);
    }
    out
}

/// Left-out flows, packets changed by the law, and the state of the device.
fn aside(plan: &TrialPlan, found: &TrialResult, end: &TrialEnd) -> Vec<String> {
    let sum = |of: fn(&TrialArm) -> u64| of(&found.on) + of(&found.off);
    let (near, old) = (sum(|arm| arm.near_switch), sum(|arm| arm.old));
    let mut lines = Vec::new();
    if near + old > 0 {
        lines.push(format!(
            "not counted: {} near a switch, {} of connections that opened before their period",
            counted(near, "flow"),
            grouped(old)
        ));
    }
    if 2 * old > sum(|arm| arm.flows) + near + old {
        lines.push(
            "most flows are of older connections, which a law leaves alone: make periods longer, or let clients open connections anew"
                .to_owned(),
        );
    }
    let after = found
        .after_s
        .map_or_else(String::new, |after| format!(", after {}", time(after)));
    lines.push(format!(
        "{}: before {}{after}",
        plan.measure,
        time(plan.before_s)
    ));
    lines.push(if found.acted {
        format!(
            "it lowered {} and marked {}",
            counted(end.rewritten, "window"),
            counted(end.marked, "packet")
        )
    } else {
        "it changed no packet".to_owned()
    });
    if end.lost > 0 {
        lines.push(format!(
            "NOT ALL WAS SEEN: {} flows or events for which there was no room",
            grouped(end.lost)
        ));
    }
    lines.push(if end.detached {
        "nothing is attached any more".to_owned()
    } else {
        format!(
            "its lease is over, so that everything passes; look with: tailwater status --dev {}",
            plan.device
        )
    });
    lines
}

fn verdict(plan: &TrialPlan, found: &TrialResult) -> String {
    let measure = plan.measure;
    let effect = match (found.ratio, found.interval) {
        (Some(ratio), Some((low, high))) => format!(
            "{measure} is {} times as long with it (97 %: {} to {})",
            three_digits(ratio),
            three_digits(low),
            three_digits(high)
        ),
        _ => String::new(),
    };
    match found.verdict {
        TrialVerdict::Better => format!("it helps: {effect}"),
        TrialVerdict::Worse => format!("it does harm: {effect}"),
        TrialVerdict::NoDifference if !found.acted => {
            format!(
                "it does nothing here: {effect}, which chance explains, and it changed no packet"
            )
        }
        TrialVerdict::NoDifference => {
            format!("no difference was found: {effect}, which chance explains")
        }
        TrialVerdict::Guarded => "the guard took it away".to_owned(),
        TrialVerdict::Undecided => format!(
            "undecided: {} of periods with enough flows, and 6 are needed",
            counted(found.pairs, "pair")
        ),
    }
}

fn predicted(plan: &TrialPlan) -> String {
    if let Some(expected) = plan.expected {
        return format!(
            "predicted: {} times as long with it, 80 %: from {} to {}",
            three_digits(expected.ratio),
            three_digits(expected.interval.0),
            three_digits(expected.interval.1)
        );
    }
    let why = match plan.unexpected {
        Some(Unexpected::NotModelled) => "the model of this traffic does not have the law",
        Some(Unexpected::TooFew) => "too few flows were seen from their beginning on",
        Some(Unexpected::DoesNotFit) | None => "no model of it fits",
    };
    format!("predicted: nothing, since {why}")
}

fn place(plan: &TrialPlan) -> String {
    match plan.netns.as_str() {
        "" => plan.device.clone(),
        netns => format!("{} in {netns}", plan.device),
    }
}

fn probability(p: f64) -> String {
    if p < 0.001 {
        "below 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

#[cfg(test)]
mod tests {
    use observed::trial::{
        Agreement, CarryOver, ExpectedEffect, TrialGoal, TrialGuard, TrialMeasure, TrialShape,
    };

    use super::*;

    fn plan() -> TrialPlan {
        TrialPlan {
            version: "1".to_owned(),
            law: "hscc".to_owned(),
            sets: Vec::new(),
            buffer: None,
            device: "p1".to_owned(),
            netns: String::new(),
            shape: TrialShape::new(20, 30.0, None).expect("a trial"),
            seed: 1,
            schedule: observed::trial::schedule(20, 1),
            measure: TrialMeasure::P99,
            goal: Some(TrialGoal { below_s: 0.1 }),
            guard: TrialGuard { worse: 0.5 },
            leaves: true,
            flows_before: 2_697,
            before_s: 0.247,
            expected: Some(ExpectedEffect {
                ratio: 0.33,
                interval: (0.3, 0.363),
            }),
            unexpected: None,
            analysis: String::new(),
        }
    }

    #[test]
    fn it_is_told_why_nothing_was_predicted() {
        let unlike = TrialPlan {
            expected: None,
            unexpected: Some(Unexpected::NotModelled),
            ..plan()
        };
        let why = "predicted: nothing, since the model of this traffic does not have the law";
        assert_eq!(predicted(&unlike), why);
    }

    #[test]
    fn a_trial_is_told_with_its_interval_its_prediction_and_what_is_left() {
        let arm = |value_s| TrialArm {
            periods: 10,
            flows: 25_000,
            value_s: Some(value_s),
            near_switch: 3,
            old: 1,
        };
        let found = TrialResult {
            verdict: TrialVerdict::Better,
            pairs: 10,
            ratio: Some(0.332),
            interval: Some((0.31, 0.356)),
            p: Some(2.0 / 1_024.0),
            on: arm(0.0818),
            off: arm(0.247),
            after_s: Some(0.25),
            carry_over: Some(CarryOver {
                ratio: 1.0,
                p: 0.61,
            }),
            goal: Some((true, false)),
            holds: Some(true),
            agreement: Some(Agreement::Reproduced),
            acted: true,
        };
        let end = TrialEnd {
            rewritten: 3_828,
            detached: true,
            ..TrialEnd::default()
        };
        let text = settled(&plan(), &found, &end);
        let expected = "\
hscc at p1: it helps: p99 is 0.33 times as long with it (97 %: 0.31 to 0.36)
  with it: p99 81.8 ms of 25,000 flows in 10 periods
  without it: p99 247 ms of 25,000 flows in 10 periods
  chance alone makes such a difference with probability 0.002
  predicted: 0.33 times as long with it, 80 %: from 0.30 to 0.36; the effect lies in it: reproduced
  goal: p99 below 100 ms: met with it, not met without it
  no carry-over from period to period was found (p = 0.610)
  not counted: 6 flows near a switch, 2 of connections that opened before their period
  p99: before 247 ms, after 250 ms
  it lowered 3,828 windows and marked 0 packets
  nothing is attached any more
";
        assert_eq!(text, expected);
        // The level of a difference is 1/32 here, too.
        for (p, changes) in [(0.031, true), (0.032, false)] {
            let carry_over = Some(CarryOver { ratio: 1.2, p });
            let found = TrialResult {
                carry_over,
                ..found.clone()
            };
            let text = settled(&plan(), &found, &end);
            assert_eq!(text.contains("periods are too short"), changes, "{text}");
        }
        let idle = TrialResult {
            verdict: TrialVerdict::NoDifference,
            acted: false,
            ..found
        };
        let text = settled(
            &plan(),
            &idle,
            &TrialEnd {
                detached: false,
                ..end
            },
        );
        assert!(
            text.starts_with("hscc at p1: it does nothing here: "),
            "{text}"
        );
        assert!(text.contains("its lease is over"), "{text}");
    }
}
