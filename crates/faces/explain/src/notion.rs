//! Notions that are neither a scheme nor a setting nor a number: concepts, groupings of results, and their parts.

use claims::model::MODELS;
use plan::flow_trace;
use plan::graph::BUILTINS as GRAPHS;
use plan::keys::{TopologyKind, WorkloadKind};
use sim::breakdown::Part;
use sim::columns::{METRICS, PART_HELP};

/// A notion in texts and messages.
struct Notion {
    /// Its name, then other words for it.
    names: &'static [&'static str],
    /// Its meaning, where it is written, and its effect.
    text: &'static str,
    /// An example, or a command for more information; one per line.
    more: &'static [&'static str],
}

const NOTIONS: [Notion; 23] = [
    Notion {
        names: &["goals", "goal"],
        text: "A goal is a demand on the results: a metric, a comparison (<, <=, > or >=) and a threshold with its \
               unit. The name of a group or a size class stands before the metric with a dot between. A row is met or \
               missed; with several seeds it is open if its 95 % interval contains the threshold. A row has to meet all \
               goals. The answer ranks the rows and names the smallest value of each swept setting that meets the \
               goals. With --strict the command ends with status 1 unless every row meets every goal.",
        more: &[
            "goals = [\"reads.fct_p99 < 10ms\", \"drops <= 0\"]      in a scenario",
            "tailwater run incast --goal 'fct_p99 < 15ms'        instead of the scenario's goals",
            "tailwater explain search                            the smallest value by bisection",
            "tailwater explain results                           all metrics",
        ],
    },
    Notion {
        names: &["search"],
        text: "--search KEY=LOW..HIGH finds the smallest value of a setting that meets the goals. It simulates both \
               ends of the range and then halves it; the step is one in the last digit of the two ends, or the step \
               that KEY=LOW..HIGH:STEP names. Every value that was tried is a row of the results. The search assumes \
               one limit: if the goals are met, missed and met again along the range, it finds one of the limits.",
        more: &[
            "tailwater run incast --scheme dctcp --set workload.senders=40 --goal 'p99 < 12ms' \\",
            "  --search switch.buffer=60KB..400KB",
        ],
    },
    Notion {
        names: &["groups", "group"],
        text: "A group is a set of flows with its own workload, and optionally its own scheme and TCP settings. It is a \
            table [group.NAME] of the scenario; the groups share the network. Results have completion times, goodput and \
            timeouts of every group in addition to all flows: in the table, in the report, and as metrics with the name of \
            the group before a dot, as in reads.fct_p99.",
        more: &["tailwater run storage.toml --columns reads.p99,web.p99"],
    },
    Notion {
        names: &["classes", "class"],
        text: "A size class has the flows up to a size, or the flows above it. run.classes sets the sizes. Results have \
            completion times of every class, as of every group, under names such as <=100KB and >100KB.",
        more: &["tailwater explain run.classes"],
    },
    Notion {
        names: &["sweep", "axis", "axes"],
        text: "A setting with several values is an axis. A sweep simulates every scheme at every combination of the \
               values of all axes; each scheme at each combination is a row of the results.",
        more: &["tailwater run incast --set switch.buffer=64KB,128KB --set workload.senders=10,40"],
    },
    Notion {
        names: &["variant", "variants"],
        text: "A variant is a scheme with its own settings and its own name, which the results show. It is a table \
               [variant.NAME] of the scenario with base = \"SCHEME\" and the settings.",
        more: &["tailwater show incast > my.toml        a scenario to write a variant into"],
    },
    Notion {
        names: &["schemes", "scheme"],
        text: "A scheme is the behaviour of senders, receivers or switches that controls congestion: a cure, or plain TCP. \
               schemes = [\"A\", \"B\"] in a scenario, or --scheme A,B on the command line, names the schemes to compare. \
               A scheme of receivers or switches works with a scheme of senders, as in hscc+dctcp.",
        more: &["tailwater list schemes"],
    },
    Notion {
        names: &["seeds", "seed"],
        text: "A seed starts the random streams of a simulation: the same scenario with the same seed gives the same \
               results everywhere. --seeds N runs every row with N seeds that follow each other, beginning with \
               --seed S. Every number is then a mean with its 95 % confidence interval, and schemes are compared seed \
               by seed. --until 5% adds seeds until the intervals are that narrow.",
        more: &["tailwater run incast --set workload.jitter=2ms --seeds 10"],
    },
    Notion {
        names: &["import", "collector", "netflow", "ipfix", "nfdump"],
        text: "import makes a trace of flows from a file of another program: flow records of nfdump and other \
               collectors (NetFlow, IPFIX) as text or JSON, captures of packets, flow files of HPCC's simulator, and \
               connection matrices of htsim. Records count whole packets, so the headers of each packet are subtracted, \
               and records that contain only headers are skipped. In a capture, the data that one side of a connection \
               sends before the other side sends again are one flow. A trace has its starts on the clock of the \
               simulation, the first at 10 ms, and keeps addresses, which become hosts when it is read. workload.window \
               takes a part of it, workload.max_gap shortens idle times, workload.host_names says which address is \
               which host.",
        more: &[
            "tailwater import nfdump.csv -o flows.csv",
            "tailwater run trace --set workload.trace=flows.csv",
            "tailwater explain workload.columns                  a table of your own, without import",
        ],
    },
    Notion {
        names: &["columns"],
        text: "columns = [\"KEY\", ...] in a scenario names settings that results show although they are not swept. \
               --columns on the command line chooses the numbers that the printed table shows.",
        more: &["tailwater run incast --columns p99,drops,queue_max"],
    },
    Notion {
        names: &["name", "title"],
        text: "name and title of a scenario: the name of its results folder, and one line on what it shows.",
        more: &["tailwater show incast"],
    },
    Notion {
        names: &["tier", "tiers"],
        text: "A tier holds the ports that are equally far from the hosts. The tiers of a leaf-spine are host (from \
               hosts to leaves), leaf up (from leaves to spines), spine, and leaf down (from leaves to hosts). The \
               answer, the report and summary.json name the worst port of each tier: the port with the most drops, or \
               among ports with equal drops the port with the longest queue.",
        more: &["tailwater explain ports.parquet"],
    },
    Notion {
        names: &[
            "verdicts",
            "verdict",
            "claims",
            "claim",
            "reproduced",
            "partly",
            "not reproduced",
        ],
        text: "A verdict says whether a claim of a paper holds in our simulations. A number is reproduced if ours is \
               within the claim's tolerance of the paper's, or if the paper's lies between the least and the greatest of \
               the seeds; partly, if it is within a factor of 2. An order or a shape is reproduced if it holds at every \
               point, and partly if it holds at half of the points or more. Everything else is not reproduced. For a \
               claim that is missed, causes are tried.",
        more: &[
            "tailwater list papers                the papers and their figures",
            "tailwater explain rcc/fig5a          what a figure runs and claims",
            "tailwater reproduce rcc/fig5a        the verdicts; docs/reference/claims.md has all of them",
        ],
    },
    Notion {
        names: &["readings", "reading", "weaker form", "by the code"],
        text: "A reading is a way to understand what a paper says: its text, its published code, or another sentence of \
               the text. If they differ, every claim of the figure is judged by each reading. The totals of a paper \
               count the verdicts by the text. Claims that are weaker than the paper's statement are counted separately.",
        more: &["tailwater explain rcc/fig2", "tailwater reproduce rcc/fig2"],
    },
    Notion {
        names: &["order of events", "hangs on the order of events"],
        text: "A verdict hangs on the order of events if it changes when links add random delays of up to 100 ns or 1 us. \
            In a real network the order is not fixed, so such a verdict says nothing about the schemes. Such claims are \
            counted separately.",
        more: &["tailwater reproduce rcc/fig6b --phase"],
    },
    Notion {
        names: &["theatre", "scene"],
        text: "The theatre of a report plays a scene: every packet at the port that dropped first, from before the first \
               loss until all lost data have passed, with the state of each sender and the clause that requires each of \
               its decisions. A simulation has a scene if it records events and a switch dropped a packet. The folder \
               theatre has the data.",
        more: &["tailwater run incast --scheme newreno --set workload.senders=60"],
    },
    Notion {
        names: &["causes", "cause"],
        text: "A cause is a possible reason why a claim of a paper does not hold here. It is tested by the runs of the \
            figure with one changed setting, and explains the claim if the claim then holds. Causes are tried only for \
            claims that are missed, unless --causes says otherwise.",
        more: &["tailwater reproduce rcc/fig5a --causes all"],
    },
    Notion {
        names: &["rounds", "round", "coflow", "job"],
        text: "A round is a set of flows that a client awaits together: the flows of an incast to one receiver, the \
               answers that a client awaits before it asks again (kind = \"requests\" with rounds above 1), all flows of a \
               burst that starts at once, or the flows of a trace with the same number in its column round. It lasts from \
               the first start to the last completion. round_p50, round_p99 and round_p999 are percentiles over the \
               rounds of all flows or of a group. A round with a flow that failed or did not complete never ends: a \
               percentile that falls on it has no value, and a goal on it is missed. rounds_completed and \
               rounds_unfinished count them. Independent flows, such as with kind = \"poisson\" without fan_in, have no \
               rounds. The column round of flows.parquet numbers them.",
        more: &[
            "tailwater run incast --set workload.rounds=20 --goal 'round_p99 < 40ms'",
            "tailwater explain round_p99",
        ],
    },
    Notion {
        names: &["collective", "all-reduce", "all-to-all", "straggler"],
        text: "A collective is a set of flows between ranks, each on its own host. Most flows wait for others (kind = \
            \"collective\"): an all-reduce adds up the data of all ranks, an all-to-all sends a part from each rank to \
            each other. workload.collective chooses the operation, workload.algorithm its messages. A message starts when \
            the messages that it waits for are complete at their receivers, and its rank has worked for workload.compute; \
            a straggler works longer. Each collective is a round. rounds_over_ideal is its time divided by the time in an \
            empty network, and a table names the step and the flow that delayed the collective most.",
        more: &[
            "tailwater run collective",
            "tailwater explain workload.collective",
            "tailwater explain rounds_over_ideal",
        ],
    },
    Notion {
        names: &["pfc", "victim", "lossless"],
        text: "Switches with switch.pfc pause the node before them rather than drop (priority-based flow control, IEEE \
               802.1Qbb). A paused port sends no packets of the priority, to any receiver. So a flow waits even if its \
               packets go on to an idle port: it is a victim of others. pfc_victims counts such connections, for all \
               flows and for groups, and the column pfc_victim of flows.parquet names them.",
        more: &[
            "tailwater run collateral",
            "tailwater explain switch.pfc",
            "tailwater explain pfc_victims",
        ],
    },
    Notion {
        names: &["slowdown", "ideal"],
        text: "The slowdown of a flow is its completion time divided by the time that it would take alone in the network: \
               the handshake if it opens its connection, the request if there is one, the transmission of its bytes with \
               their headers over every link of its path, and the delays. A lone flow whose window holds all its data has \
               a slowdown of 1. Windows, timers, pauses of the application, jitter and packets of other flows increase it. \
               Results have the mean and percentiles of all flows, of groups and of classes, flows.parquet the slowdown of \
               each flow, and the report plots slowdowns over sizes.",
        more: &[
            "tailwater plot FOLDER --figure slowdown-sizes-99th-percentile -o slowdown.svg",
            "tailwater explain slowdown_p99",
        ],
    },
    Notion {
        names: &["percentile", "percentiles", "tail"],
        text: "A percentile is a value of the sample, by nearest rank: the 99th is the smallest value that at least 99 % \
            of the values do not exceed. Percentiles of flows are over flows_completed values; percentiles of rounds are \
            over rounds_completed and rounds_unfinished together. With too few values a percentile would just be the \
            greatest value: so the 99.9th is missing below 1,000 values, and the 99.99th below 10,000. With ten times as \
            many values, ten lie beyond it. The 99th percentile of fewer than 100 values is the greatest.",
        more: &["tailwater run FILE --columns p99,p999,fct_max,round_p99"],
    },
    Notion {
        names: &["breakdown", "decomposition", "parts"],
        text: "The completion time of every flow is broken down into eight parts that sum to it exactly. \
               fct_queueing_us and the like are means over all complete flows, tail_queueing_us and the like are means \
               over the slowest: one in a hundred flows, by rank.",
        more: &[],
    },
];

/// The words that have an explanation here.
pub fn names() -> impl Iterator<Item = &'static str> {
    let notions = NOTIONS.iter().flat_map(|notion| notion.names);
    let parts = Part::ALL.into_iter().map(Part::name);
    notions
        .copied()
        .chain(parts)
        .chain(choices().map(|choice| choice.0))
}

/// The meaning of `word`, if it is a notion.
pub(super) fn explain(word: &str) -> Option<String> {
    let mut out = String::new();
    for notion in NOTIONS.iter().filter(|notion| notion.names.contains(&word)) {
        answer::paragraph(&mut out, 0, notion.text);
        if notion.names.contains(&"breakdown") {
            parts(&mut out);
        }
        if !notion.more.is_empty() {
            out.push('\n');
            out.extend(notion.more.iter().map(|line| format!("  {line}\n")));
        }
    }
    let part = Part::ALL.into_iter().zip(PART_HELP);
    for (part, help) in part.filter(|(part, _)| part.name() == word) {
        answer::paragraph(&mut out, 0, help);
        let (fct, tail) = (format!("fct_{word}_us"), format!("tail_{word}_us"));
        let of = format!(
            "{fct} is its mean over all complete flows, {tail} over the slowest, and {}_ps in flows.parquet its \
             length for each flow. `tailwater explain breakdown` lists all parts.",
            part.name()
        );
        answer::paragraph(&mut out, 0, &of);
        // A count may have the name of a part.
        if let Some(column) = METRICS.iter().find(|column| column.name == word) {
            let count = format!("As a column {word} is a count. {}", column.help);
            answer::paragraph(&mut out, 0, &count);
        }
    }
    for (name, help, what) in choices().filter(|(name, ..)| *name == word) {
        if !out.is_empty() {
            out.push('\n');
        }
        answer::paragraph(&mut out, 0, &format!("{name}: {help}"));
        answer::paragraph(&mut out, 0, what);
    }
    (!out.is_empty()).then_some(out)
}

/// The parts of a completion time, a line each.
fn parts(out: &mut String) {
    out.push('\n');
    for (part, help) in Part::ALL.into_iter().zip(PART_HELP) {
        let help = help.trim_start_matches("Part of fct_us: ");
        answer::paragraph(out, 2, &format!("{}: {help}", part.name()));
    }
}

/// Values of settings, and models, that lists name: the name, the description, and the list.
fn choices() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let kinds = TopologyKind::CHOICES.iter();
    let topologies = kinds.map(|(name, help)| (*name, *help, "A value of topology.kind."));
    let graphs = GRAPHS.iter();
    let graphs = graphs.map(|graph| (graph.name, graph.help, "A value of topology.graph."));
    let kinds = WorkloadKind::CHOICES.iter();
    let workloads = kinds.map(|(name, help)| (*name, *help, "A value of workload.kind."));
    let sizes = distributions::NAMED.iter();
    let sizes = sizes.map(|named| (named.name, named.help, "A value of workload.size."));
    let traces = flow_trace::BUILTINS.iter();
    let traces = traces.map(|trace| (trace.name, trace.help, "A value of workload.trace."));
    let models = MODELS.iter();
    let models = models.map(|model| {
        (
            model.name,
            model.help,
            "An equation that claims of papers and their plots name.",
        )
    });
    let kinds = topologies.chain(graphs).chain(workloads);
    kinds.chain(sizes).chain(traces).chain(models)
}
