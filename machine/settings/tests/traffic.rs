//! Tests of the limits of what interfaces send, in a network of the test's own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use quietcore_record::reason::{MachineDrift, MachineSetting};
use quietcore_settings::{Changed, Controls, LiveSettings, RequestedSettings, Store};
use quietcore_site::{Network, Traffic};

fn tc(arguments: &str) -> String {
    let run = Command::new("tc").args(arguments.split(' ')).output().expect("`tc` runs");
    assert!(run.status.success(), "tc {arguments}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).trim().to_owned()
}

fn shown() -> String {
    tc("qdisc show dev left")
}

fn wanted(interface: &str, rate: &str) -> RequestedSettings {
    let burst = "40 kbit".parse().expect("a burst");
    let share = Network::new(rate.parse().expect("a rate"), Some(burst));
    let traffic = vec![Traffic::new("press", interface, share)];
    RequestedSettings { traffic, ..RequestedSettings::default() }
}

struct Bench {
    _folder: tempfile::TempDir,
    journal: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = folder.path().join("journal");
        Self { _folder: folder, journal }
    }

    fn controls(&self) -> Controls<LiveSettings> {
        Controls::new(LiveSettings::default(), Store::new(&self.journal))
    }

    fn begin(&self, interface: &str, rate: &str) -> Result<Changed, String> {
        let wanted = wanted(interface, rate);
        Changed::begin(&wanted, "site", Some(&self.controls())).map_err(|it| it.to_string())
    }

    fn has_journal(&self) -> bool {
        Store::new(&self.journal).exists()
    }
}

/// The program that limits an interface until it is killed, or puts back what one has left.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    own.parent().and_then(Path::parent).expect("target/debug/deps/traffic").join("examples/limit")
}

/// A process that limits `left`.
fn limited(journal: &Path) -> Child {
    let program = program();
    let mut command = Command::new(&program);
    command.arg(journal).args(["left", "1 Mbit/s"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("{}: {error}; build it with `cargo build --examples`", program.display())
    });
    let said = BufReader::new(child.stdout.take().expect("a pipe"));
    assert!(said.lines().map_while(Result::ok).any(|line| line == "held"));
    child
}

#[test]
fn what_an_interface_sends_is_limited_watched_and_given_back() {
    quietcore_skip::own_network!();
    let bench = Bench::new();
    // A virtual interface has no queue of its own; with a length it gets one, as hardware does.
    for length in ["0", "100"] {
        let mut order = Command::new("ip");
        order.args(["link", "set", "left", "txqueuelen", length]);
        assert!(order.status().unwrap().success());
        tc("qdisc add dev left root handle 7: tbf rate 1mbit burst 5056b latency 50ms");
        tc("qdisc del dev left root");
        limited_and_given_back(&bench);
    }
}

/// The drift of the limit of 1 Mbit/s on `left` to another one.
fn drift(found: &str) -> MachineDrift {
    MachineDrift::OtherValue {
        setting: MachineSetting::Sending { interface: "left".to_owned() },
        given: "tbf rate 1000000bit burst 5056b".to_owned(),
        found: found.to_owned(),
    }
}

fn limited_and_given_back(bench: &Bench) {
    let before = shown();
    assert!(before.starts_with("qdisc ") && before.contains(" 0: root "), "{before}");
    let mut changed = bench.begin("left", "1 Mbit/s").expect("a limit");
    let words = "what `left` may send: `tbf rate 1000000bit burst 5056b`";
    assert_eq!(changed.found().controls, words);
    assert_eq!(changed.found().troubles, []);
    let limited = shown();
    assert!(limited.contains("tbf 5163: root") && limited.contains("rate 1Mbit"), "{limited}");
    assert_eq!(changed.look(), []);
    tc("qdisc replace dev left root handle 5163: tbf rate 2mbit burst 5056b latency 50ms");
    assert_eq!(changed.look(), [drift("tbf rate 2000000bit burst 5056b")]);
    tc("qdisc replace dev left root handle 5163: tbf rate 1mbit burst 5056b latency 50ms");
    assert_eq!(changed.end().1, Vec::<String>::new());
    assert_eq!(shown(), before);
    assert!(!bench.has_journal());
}

#[test]
fn rates_from_kilobits_to_hundreds_of_gigabits_read_back_as_given() {
    quietcore_skip::own_network!();
    let (bench, before) = (Bench::new(), shown());
    for rate in ["1 kbit/s", "777 kbit/s", "123456789 bit/s", "1 Gbit/s", "10 Gbit/s", "400 Gbit/s"]
    {
        let mut changed =
            bench.begin("left", rate).unwrap_or_else(|error| panic!("{rate}: {error}"));
        assert_eq!(changed.look(), [], "{rate}");
        assert_eq!(changed.end().1, Vec::<String>::new(), "{rate}");
        assert_eq!(shown(), before);
    }
}

#[test]
fn what_somebody_else_set_up_is_refused_and_left() {
    quietcore_skip::own_network!();
    let bench = Bench::new();
    tc("qdisc add dev left root handle 1: tbf rate 5mbit burst 5056b latency 10ms");
    let before = shown();
    let refused = bench.begin("left", "1 Mbit/s").unwrap_err();
    assert_eq!(
        refused,
        "the share of the network of partition `press` can't be had: what `left` may send: it has \
         `tbf 1:` at its root, which somebody else set up; take that away with `tc qdisc del dev \
         left root`, or do without `network` here"
    );
    assert_eq!(shown(), before);
    assert!(!bench.has_journal());
    // What comes while it is limited is told and stays, too.
    tc("qdisc del dev left root");
    let changed = bench.begin("left", "1 Mbit/s").unwrap();
    tc("qdisc del dev left root");
    tc("qdisc add dev left root handle 2: tbf rate 5mbit burst 5056b latency 10ms");
    let before = shown();
    let (found, left) = changed.end();
    assert_eq!(found.drifts, [drift("tbf 2: (not ours)")]);
    assert!(
        left[0].contains("left at `tbf 2: (not ours)`, which somebody else has set"),
        "{left:?}"
    );
    assert_eq!(shown(), before);
    assert!(!bench.has_journal());
}

#[test]
fn an_interface_that_is_not_there_or_was_never_up_is_told() {
    quietcore_skip::own_network!();
    let bench = Bench::new();
    let none = bench.begin("elsewhere", "1 Mbit/s").unwrap_err();
    assert!(none.ends_with("what `elsewhere` may send: there is no such interface"), "{none}");
    let down = bench.begin("lo", "1 Mbit/s").map(|changed| changed.end().1);
    assert!(down.as_ref().is_err_and(|it| it.contains("it was never up")), "{down:?}");
    assert!(!bench.has_journal());
    let user = Changed::begin(&wanted("left", "1 Mbit/s"), "site", None).unwrap_err().to_string();
    assert!(user.contains("partition `press` can't be had: only root may limit it"), "{user}");
}

#[test]
fn a_limit_of_a_killed_process_is_taken_away_by_the_next_that_looks() {
    quietcore_skip::own_network!();
    let (bench, before) = (Bench::new(), shown());
    let mut child = limited(&bench.journal);
    assert_eq!(bench.controls().recover().unwrap().gone, Vec::<String>::new(), "it lives");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(shown().contains("tbf 5163:"), "{}", shown());
    let recovery = bench.controls().recover().unwrap();
    assert_eq!((recovery.gone.len(), recovery.left), (1, vec![]));
    assert_eq!(shown(), before);
    assert!(!bench.has_journal());
}

/// Goal: a limit is taken away from wherever the journal is opened, and an interface of the same
/// name there is not taken for the one that is limited.
/// Method: a site is killed in this network. The next process opens its journal in another one,
/// which has a `left` with such a limit of its own.
#[test]
fn a_limit_is_taken_away_from_another_network_namespace() {
    quietcore_skip::own_network!();
    let (bench, before) = (Bench::new(), shown());
    let mut child = limited(&bench.journal);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(shown().contains("tbf 5163:"), "{}", shown());
    let script = "ip link add left type veth peer name right && ip link set left up && tc qdisc \
                  add dev left root handle 5163: tbf rate 1mbit burst 5056b latency 50ms && \
                  \"$0\" \"$1\" && tc qdisc show dev left";
    let mut elsewhere = Command::new("unshare");
    elsewhere.args(["--net", "sh", "-c", script]).arg(program()).arg(&bench.journal);
    let ran = elsewhere.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.starts_with("1 gone, 0 left\n"), "{said}");
    assert!(said.contains("tbf 5163:"), "that one is somebody else's: {said}");
    assert_eq!(shown(), before);
    assert!(!bench.has_journal());
}
