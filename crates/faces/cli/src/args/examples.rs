//! The examples and the exit status that each command prints below its options.

pub(crate) const START: &str = "\
Examples:
  tailwater run incast                            who wins when N senders answer at once
  tailwater run incast --set workload.senders=10..100:10
  tailwater list schemes                          what can be compared
  tailwater explain dctcp                         one scheme and its settings
  tailwater show incast > my.toml                 a starting point for your own scenario";

pub(super) const RUN: &str = "\
Examples:
  tailwater run incast
  tailwater run incast --scheme newreno,rcc --set workload.senders=10..100:10
  tailwater run my.toml --set switch.buffer=128KB,256KB --set workload.jitter=100us --seeds 10
  tailwater run incast --set workload.jitter=100us --until 5%
  tailwater run incast --goal 'p99 < 15ms' --strict
  tailwater run incast --goal 'p99 < 15ms' --scheme dctcp --set workload.senders=40 \\
    --search switch.buffer=60KB..400KB
  tailwater run incast --columns p99,drops,queue_max --rows 5
  tailwater run incast --trace queue,cwnd --pcap --out results/traced
  tailwater run incast --scheme newreno --set workload.senders=60 --trace perfetto --out results/viewed
  tailwater run incast --format json --flows > results.json
  tailwater run big.toml --out results/big --resume
  tailwater run big.toml --out cluster/big --shard 3/16

Exit status: 0 done; 1 a simulation or a file failed or, with --strict, a goal is not met;
2 the input was wrong; 128 + N signal N ended it.";

pub(super) const REPRODUCE: &str = "\
Examples:
  tailwater reproduce                             every paper, every claim
  tailwater reproduce rcc                         one paper
  tailwater reproduce rcc/fig5a rcc/fig7c --seeds 3
  tailwater reproduce rcc --full --causes all
  tailwater reproduce ./my-paper --format json > claims.json
  sudo tailwater reproduce hscc --live            test beds, on the TCP of this machine's kernel

Finished figures are not run again: after an interruption, or with more figures, only the rest runs.
With --live everything runs again, into results/reproduce-live unless --out is given.

Exit status: 0 everything ran, with any verdict; 1 a simulation or a file failed or, with --strict,
a claim is not reproduced; 2 the input was wrong; 3 with --live: the machine lacks a requirement;
128 + N signal N ended it.";

pub(super) const EXPLORE: &str = "\
Examples:
  tailwater explore                               an incast, in explore.html
  tailwater explore my.toml --scheme dctcp,rcc --set workload.senders=40 -o my.html
  tailwater explore rcc/fig5a -o fig5a.html       a figure of a paper, beside its claims

The page has its own copy of the simulator and needs no network. It shows one seed; the command that it
prints gives the same numbers.

Exit status: 0 done; 1 the page cannot be written; 2 the input was wrong.";

pub(super) const EMULATE: &str = "\
Examples:
  sudo tailwater emulate incast --scheme newreno,cubic --set workload.senders=20
  sudo tailwater emulate my.toml --rate 100Mbps --runs 10 --format json > live.json
  sudo tailwater emulate up incast --set workload.senders=4
  sudo tailwater emulate exec h0 -- ip route        see the routes of a host
  sudo tailwater emulate down                     remove left networks, also after a crash
  sudo tailwater emulate serve --dir site --scheme newreno,rc3 --delay 10ms
  sudo tailwater emulate fetch 10.89.0.2:80 96360B --scheme rc3

Exit status: 0 done, 1 a run failed, 2 the input was wrong, 3 the machine lacks a requirement, such
as privileges; 128 + N signal N ended it.";

pub(super) const OBSERVE: &str = "\
Examples:
  sudo tailwater observe --for 60s
  sudo tailwater observe --dev eth1 --for 60s --predict
  sudo tailwater observe --dev eth1 --dev eth2 --for 10m
  sudo tailwater observe --dev eth1 --for 10m --out seen.toml
  tailwater run seen.toml
  sudo tailwater observe --dev eth1 --for 1h --incident incident.toml
  sudo tailwater observe --dev eth1 --for 60s --fail-on-incast --format json

It changes nothing. If the sender is on this machine or in one of its containers, its TCP reports
timeouts. Timeouts of other senders are inferred from data that arrive a second time after 10 ms of
silence.

Exit status: 0 done, 1 failed or, with --fail-on-incast, it is incast, 2 the input was wrong,
3 the machine lacks a requirement.";

pub(super) const ATTACH: &str = "\
Examples:
  sudo tailwater attach hscc --dev eth1 --for 10m
  sudo tailwater attach rwndq --dev eth1 --set rwndq.target=0.1 --permanent
  sudo tailwater attach mark --dev eth1 --set switch.ecn_threshold=30KB --for 1h
  sudo tailwater attach rcc --dev eth0 --set rcc.max_queue=60KB --for 1h
  sudo tailwater attach hscc --dev eth1 --for 10m --dry-run
  sudo tailwater attach hscc --dev eth1 --for 10m --shadow
  sudo tailwater attach hscc --dev eth1 --for 10m --shadow --log decisions.log

The same command again renews the lease; with other settings it changes them while the law acts.

Exit status: 0 done, 1 failed, 2 the input was wrong, 3 the machine lacks a requirement.";

pub(super) const CERTIFY: &str = "\
Examples:
  sudo tailwater attach hscc --dev eth1 --for 10m --shadow --log decisions.log
  tailwater certify decisions.log
  sudo tailwater observe --dev eth1 --for 60s --format json > seen.json
  tailwater certify decisions.log --seen seen.json
  sudo tailwater attach hscc --dev eth1 --for 10m --certified decisions.certificate.json

It repeats every decision of the kernel with the simulator's copy of the law. Certify again after
each kernel upgrade.

Exit status: 0 all decisions are equal, 1 a decision differs or calls are missing, 2 the input was
wrong.";

pub(super) const TRIAL: &str = "\
Examples:
  sudo tailwater trial hscc --dev eth1 --periods 20 --of 30s
  sudo tailwater trial hscc --dev eth1 --goal 'p99 < 100ms' --guard 'p99 > +20%'
  sudo tailwater trial hscc --dev eth1 --dry-run
  tailwater trial settle results/trial-eth1

Plan, prediction and analysis are written before the law acts. The law has leases of two seconds: if
this command ends for any reason, packets pass unchanged after two seconds.

Exit status: 0 done, with any result, 1 failed, 2 the input was wrong, 3 the machine lacks a
requirement; 128 + N signal N ended it.";

pub(super) const DETACH: &str = "\
Examples:
  sudo tailwater detach --dev eth1
  sudo tailwater detach --all";

pub(super) const DOCTOR: &str = "\
Examples:
  sudo tailwater doctor
  tailwater doctor                                the checks that need no privileges

It works in its own network namespaces and removes them. Exit status: 0 nothing is missing,
3 the machine lacks a requirement.";

pub(super) const PLAN: &str = "\
Examples:
  tailwater plan big.toml --shards 16
  tailwater plan incast --set workload.senders=10..100:1 --shards 64 --for slurm --out cluster
  tailwater plan big.toml --shards 64 --for kubernetes --out cluster --format json

The estimate is for one core of a current processor. The folder gets the scenario as
sweep.toml, the files that it uses, and job.sbatch, job.yaml or job.sh, whose first lines say how
to submit it.";

pub(super) const MERGE: &str = "\
Examples:
  tailwater merge cluster/big
  tailwater merge shard-1 shard-2 shard-3 --out results/big";

pub(super) const IMPORT: &str = "\
Examples:
  nfdump -r nfcapd.202405011000 -o json > flows.json && tailwater import flows.json
  tailwater import nfdump.csv -o monday.parquet
  tailwater import server.pcapng -o requests.csv
  tailwater import simulation/mix/flow.txt --from hpcc
  tailwater run trace --set workload.trace=monday.parquet --set workload.window=1h..2h

The format is detected from the content. The command prints what it read, what it skipped and why,
and what to run next.

Exit status: 0 done, 1 the trace cannot be written, 2 the input was wrong or has no flow.";

pub(super) const EXPORT: &str = "\
Examples:
  tailwater export results/incast flows > flows.csv
  tailwater export results/incast ports -o ports.csv
  tailwater export results/incast --as-trace -o trace.csv";

pub(super) const SHOW: &str = "\
Examples:
  tailwater show incast > my.toml
  tailwater show incast --resolved
  tailwater show incast --resolved --set workload.size=64KiB";

pub(super) const EXPLAIN: &str = "\
Examples:
  tailwater explain rcc
  tailwater explain switch.ecn_threshold
  tailwater explain tcp
  tailwater explain rcc/fig5a
  tailwater explain results";

pub(super) const REPORT: &str = "\
Examples:
  tailwater report results/buffers                again, into results/buffers/report.html
  tailwater report results/buffers --explore -o buffers.html
  tailwater report results/before results/after -o compared.html
  tailwater report results/before results/after --fail-if 'p99 > +5%' --fail-if 'goodput < -2%'

The report is one file that needs no network. The report of two runs begins with the settings that
differ and compares their rows on the seeds that both have. Rows are matched by their swept values
and their scheme.

Exit status: 0 done, 1 a change is beyond --fail-if, 2 the input was wrong.";

pub(super) const PLOT: &str = "\
Examples:
  tailwater plot results/buffers --list
  tailwater plot results/buffers --figure fct -o fct.pdf
  tailwater plot results/buffers --figure goodput -o goodput.svg --width 17cm --height 7cm
  tailwater plot results/buffers --figure fct-cdf -o cdf.png --log-x

The name of a chart alone, such as fct, means its first view in the report.";

pub(super) const MODEL: &str = "\
Examples:
  tailwater model                                 the list of models
  tailwater model rwndq                           numbers
  tailwater model rwndq --list                    settings and figures
  tailwater model rwndq --set buffer=200pkt --set target=0.1 -o queue.svg
  tailwater model rwndq --set flows=5 --simulate -o rwndq.html
  tailwater model hscc --figure hurwitz -o map.png
  tailwater model rc3 --figure reduction --format csv > fig4.csv";

pub(super) const COMPLETIONS: &str = "\
Example:
  tailwater completions bash > ~/.local/share/bash-completion/completions/tailwater";

pub(super) const NEW_SCHEME: &str = "\
Example:
  tailwater new-scheme mine
  cd mine
  cargo run --release -- run incast --scheme newreno,mine

The crate is this program with one more scheme, and with tests of that scheme.";
