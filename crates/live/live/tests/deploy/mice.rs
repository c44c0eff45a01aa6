//! Common programs, before and after a law is attached to the port: elephants of iperf3 fill its queue, and answers of
//! nginx and Redis pass through it.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::bed::{Bed, PORT, RECEIVER, SENDER, SWITCH, command};

/// The size of an answer in the paper: 11.5 KB (HSCC §VII-A).
const MOUSE: usize = 11_500;

/// Rounds of each kind; they take turns.
const ROUNDS: usize = 5;

#[test]
fn mice_of_real_programs_are_hardly_slower_with_hscc_than_over_drop_tail() {
    let Some(bed) = Bed::new() else { return };
    if !NEEDED.iter().all(|name| testing::tool(name).is_some()) {
        return;
    }
    let switch = bed.namespace(SWITCH);
    command(&format!(
        "tc -n {switch} qdisc replace dev {PORT} root tbf rate 100mbit burst 5000 limit 256000"
    ));
    let servers = Servers::start(&bed);
    let [mut without, mut with] = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        without.push(servers.round());
        bed.attach("hscc", &[]);
        with.push(servers.round());
        bed.detach();
    }
    // A 99th percentile of a round is that of its two or three slowest answers, and drop-tail has rounds without a
    // timeout, too. In one run, the median of one program's five rounds was 4 % longer with the law, although all
    // programs together were 1.4 times as fast, with a standard error of 17 %. The law may cost no more than one such
    // error.
    let all = [&without, &with].into_iter().flatten().flatten();
    assert!(all.copied().all(|ms| ms > 0.0), "{with:?} {without:?}");
    let gain = product(&without) / product(&with);
    assert!(
        gain >= LEAST_GAIN,
        "mice are slower with HSCC: {with:?} {without:?}"
    );
    drop(servers);
    bed.holds_nothing();
}

/// A substitute for the geometric mean over rounds and programs: each has the same weight.
fn product(rounds: &[[f64; 3]]) -> f64 {
    rounds.as_flattened().iter().product()
}

/// 0.85 to the power of 15 values.
const LEAST_GAIN: f64 = 0.0874;
const _: () = assert!(ROUNDS * 3 == 15, "LEAST_GAIN is for as many");

/// The programs that the test starts, by name.
const NEEDED: [&str; 7] = [
    "nsenter",
    "iperf3",
    "nginx",
    "ab",
    "wrk",
    "redis-server",
    "redis-benchmark",
];

/// Servers behind the port, and one in front of it for elephants.
struct Servers<'a> {
    bed: &'a Bed,
    folder: PathBuf,
    running: Vec<Running>,
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended by itself need not be killed.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl<'a> Servers<'a> {
    fn start(bed: &'a Bed) -> Self {
        let folder = std::env::temp_dir().join(format!("tailwater-mice-{}", std::process::id()));
        fs::create_dir_all(folder.join("www")).expect("a new folder");
        fs::write(folder.join("www/mouse"), vec![b'm'; MOUSE]).expect("a file");
        fs::write(folder.join("nginx.conf"), NGINX).expect("a file");
        let place = folder.to_str().expect("a path in UTF-8");
        let redis = "redis-server --bind 10.9.1.1 --port 6379 --protected-mode no --dir";
        let started = [
            (SENDER, format!("nginx -p {place} -c nginx.conf")),
            (SENDER, format!("{redis} {place} --appendonly no")),
            (RECEIVER, "iperf3 -s -B 10.9.2.1".to_owned()),
        ];
        let running = started.map(|(host, line)| Running(spawn(bed, host, &line)));
        let servers = Self {
            bed,
            folder,
            running: running.into(),
        };
        // The server of iperf3 starts faster than these; a silent connection would keep it busy.
        for port in [8000, 6379] {
            let address = SocketAddr::from(([10, 9, 1, 1], port));
            let mut tries = (0..100).map(|_| {
                thread::sleep(Duration::from_millis(50));
                bed.inside(RECEIVER, || TcpStream::connect(address).is_ok())
            });
            assert!(tries.any(|open| open), "nobody listens at {address}");
        }
        servers
    }

    /// Starts elephants, and waits until slow start is over and the queue was full for the first time. A server that
    /// still ends those of the previous round refuses them.
    fn elephants(&self) -> Running {
        let start = |_| {
            let line = "iperf3 -c 10.9.2.1 -P 4 -C cubic -t 30";
            let mut elephants = Running(spawn(self.bed, SENDER, line));
            thread::sleep(Duration::from_millis(300));
            let state = elephants.0.try_wait().expect("a child");
            state.is_none().then_some(elephants)
        };
        let started = (0..16).find_map(start);
        started.expect("a server that takes them within 5 s")
    }

    /// The 99th percentile of completion times of ab, wrk and redis-benchmark, in milliseconds, beside elephants that
    /// began when the law did.
    fn round(&self) -> [f64; 3] {
        let mut elephants = self.elephants();
        let mice = [
            "ab -q -n 150 -c 4 http://10.9.1.1:8000/mouse",
            "wrk -t1 -c4 -d1s --latency http://10.9.1.1:8000/mouse",
            "redis-benchmark -h 10.9.1.1 -t set,get -d 11500 -r 10 -n 150 -c 4 --csv",
        ];
        let mice = mice.map(|line| spawn(self.bed, RECEIVER, line));
        let told = mice.map(|child| child.wait_with_output().expect("it ends"));
        let state = elephants.0.try_wait().expect("a child");
        assert_eq!(state, None, "elephants are there to the end");
        drop(elephants);
        let [ab, wrk, redis] = told.map(|output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{}: {text}", output.status);
            text
        });
        [of_ab(&ab), of_wrk(&wrk), of_redis(&redis)]
    }
}

impl Drop for Servers<'_> {
    fn drop(&mut self) {
        self.running.clear();
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// A command of words without spaces in the namespace of a host; `nsenter` becomes its program.
fn spawn(bed: &Bed, host: &str, line: &str) -> Child {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", bed.namespace(host)));
    command.args(line.split(' ')).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("nsenter starts")
}

/// `  99%    315`.
fn of_ab(text: &str) -> f64 {
    word_behind(text, "99%").parse().expect("milliseconds")
}

/// `     99%  186.72ms`, or in other units.
fn of_wrk(text: &str) -> f64 {
    let word = word_behind(text, "99%");
    let at = word.find(|c: char| c.is_alphabetic());
    let (number, unit) = word.split_at(at.expect("a unit"));
    let unit = match unit {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        _ => panic!("{word} in {text}"),
    };
    number.parse::<f64>().expect("a number") * unit
}

/// A line of names above lines of values, all with quotes. Lines may be repeated; the last ones count.
fn of_redis(text: &str) -> f64 {
    let words = |first: &str| {
        let mut lines = text.lines().filter(|line| line.starts_with(first));
        lines.next_back().expect("a line").split(',')
    };
    let (names, mut values) = (words("\"test\""), words("\"GET\""));
    let place = names.map(|name| name.trim_matches('"'));
    let place = place
        .enumerate()
        .find(|(_, name)| *name == "p99_latency_ms");
    let value = values.nth(place.expect("a column").0);
    let value = value.expect("a value").trim_matches('"');
    value.parse().expect("milliseconds")
}

fn word_behind<'a>(text: &'a str, word: &str) -> &'a str {
    let mut words = text.split_whitespace().skip_while(|own| *own != word);
    words.nth(1).unwrap_or_else(|| panic!("{word} in {text}"))
}

/// One process that serves `www`, and writes nothing elsewhere.
const NGINX: &str = "
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server { listen 8000; root www; }
}
";
