//! Tests of the host of a site, and of its plan: controls, and containers.

use quietcore_site::{ContainerRuntime, Control, Machine, Obstacle, Scheduling, Site, Step, plan};

use crate::support::{expect_problem, machine, read_text};

fn text(controls: &str) -> String {
    format!(
        "[site]\nname = \"s\"\n[host]\ncontrols = {controls}\n[[partition]]\nname = \"a\"\nclass = \
         \"motion-control\"\n[partition.vcr]\ncpus = [1]\n[campaign]\nprofiles = [\"tp1\", \
         \"tp2\"]\n"
    )
}

fn site(controls: &str) -> Site {
    read_text(&text(controls)).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn controls_are_named_one_by_one_or_as_a_group() {
    assert_eq!(site("[]").controls(), []);
    assert_eq!(site("[\"standard\"]").controls(), Control::STANDARD);
    assert_eq!(site("[\"throttling\", \"all\"]").controls(), Control::ALL);
    let both = site("[\"governor\", \"interrupts\", \"governor\"]");
    assert_eq!(both.controls(), [Control::Interrupts, Control::Governor]);
}

#[test]
fn a_control_that_is_not_known_is_refused_with_the_nearest() {
    expect_problem(&text("[\"interupts\"]"), "host.controls[0]", "did you mean `interrupts`?");
    expect_problem(&text("\"all\""), "host.controls", "array");
}

#[test]
fn a_plan_changes_the_machine_where_partitions_are_pinned_and_puts_it_back() {
    let machine = quietcore_site::Machine { root: true, ..machine(2) };
    let plan = plan(&site("[\"interrupts\"]"), &machine).unwrap();
    let said: Vec<_> = plan.steps.iter().map(ToString::to_string).collect();
    let change = "keep interrupts of devices off CPU 1, and read back that it holds";
    let changed: Vec<_> = said.iter().filter(|step| step.as_str() == change).collect();
    // `tp1` does not pin, `tp2` does.
    assert_eq!(changed.len(), 1, "{said:#?}");
    let place = |wanted: &str| said.iter().position(|step| step.contains(wanted)).unwrap();
    assert!(place("measure profile `tp1`") < place(change));
    assert!(place(change) < place("measure profile `tp2`"));
    assert!(place("measure profile `tp2`") < place("put the machine's settings back"));
    assert!(matches!(plan.steps.last(), Some(Step::WriteEvidence { .. })));
    let costs: Vec<_> = plan.degraded.iter().map(|it| it.cost.as_str()).collect();
    let rest = "other programs and kernel threads run there as well and add latency";
    assert!(costs.contains(&rest), "{costs:?}");
}

#[test]
fn a_plan_says_what_else_runs_on_the_partitions_cpus() {
    let machine = quietcore_site::Machine { root: true, ..machine(2) };
    let costs = |controls: &str| {
        let plan = plan(&site(controls), &machine).unwrap();
        let of_cpus = plan.degraded.iter().filter(|it| it.what.contains("not kept free of"));
        of_cpus.map(|it| it.cost.clone()).collect::<Vec<_>>()
    };
    let runs = |what: &str| vec![format!("{what} run there as well and add latency")];
    assert_eq!(costs("[]"), runs("other programs, kernel threads and interrupts"));
    assert_eq!(costs("[\"standard\"]"), runs("other programs"));
    assert_eq!(costs("[\"programs\"]"), runs("kernel threads and interrupts"));
    assert_eq!(costs("[\"standard\", \"programs\"]"), Vec::<String>::new());
}

#[test]
fn without_root_the_plan_says_what_is_left_undone() {
    let machine = quietcore_site::Machine { root: false, ..machine(2) };
    let plan = plan(&site("[\"interrupts\", \"governor\"]"), &machine).unwrap();
    assert!(!plan.steps.iter().any(|step| matches!(step, Step::Change { .. } | Step::PutBack)));
    let degraded = plan.degraded.iter().map(ToString::to_string);
    let degraded: Vec<_> = degraded.filter(|it| it.contains("controls")).collect();
    assert_eq!(degraded.len(), 1);
    assert!(degraded[0].contains("`interrupts`, `governor`"), "{}", degraded[0]);
}

#[test]
fn where_no_cpu_is_left_nothing_can_be_kept_off() {
    let text = text("[\"standard\"]")
        .replace("controls", "housekeeping = []\ncontrols")
        .replace("cpus = [1]", "cpus = \"0-1\"")
        .replace("\"tp1\", ", "");
    let refusals = plan(&read_text(&text).unwrap(), &machine(2)).unwrap_err();
    assert!(refusals.iter().any(|refusal| refusal.place.key == "host.controls"), "{refusals:?}");
}

/// A site whose partitions are containers, one on each CPU.
fn containers(count: u32, host: &str) -> Site {
    let mut text = format!("[site]\nname = \"s\"\n[host]\n{host}\n");
    for cpu in 0..count {
        text += &format!(
            "[[partition]]\nname = \"p{cpu}\"\nclass = \"motion-control\"\nbackend = \
             \"container\"\n[partition.vcr]\ncpus = [{cpu}]\n"
        );
    }
    text += "[campaign]\nprofiles = [\"tp2\"]\n";
    read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn obstacle(what: &str) -> Result<(), Obstacle> {
    Err(Obstacle { what: what.to_owned(), remedy: "do something".to_owned() })
}

#[test]
fn containers_are_refused_with_what_stands_in_their_way() {
    use ContainerRuntime::{Crun, Runc};
    let refused = |host: &str, installed: &[(ContainerRuntime, Result<(), Obstacle>)]| {
        let machine = Machine { containers: installed.to_vec(), ..machine(4) };
        plan(&containers(1, host), &machine).err().map(|refusals| refusals[0].to_string())
    };
    let text = refused("", &[]).unwrap();
    assert!(text.contains("neither `runc` nor `crun` is installed"), "{text}");
    assert!(text.contains("install it, such as Debian's package `runc`"), "{text}");
    assert_eq!(refused("", &[(Runc, obstacle("no")), (Crun, Ok(()))]), None, "one works");
    let text = refused("container_runtime = \"crun\"", &[(Runc, Ok(()))]).unwrap();
    assert!(text.contains("`crun` is not installed"), "{text}");
    let text = refused("", &[(Runc, obstacle("it is read-only"))]).unwrap();
    assert!(text.contains("it is read-only; do something, or choose `process`"), "{text}");
}

#[test]
fn containers_share_the_real_time_run_time_that_is_left() {
    let said = |count, left, root| {
        let machine =
            Machine { container_real_time_us: left, root, fifo: true, ..machine(count + 1) };
        let plan = plan(&containers(count, ""), &machine).unwrap();
        let scheduling = plan.steps.iter().find_map(|step| match step {
            Step::StartPartition { scheduling, .. } => Some(*scheduling),
            _ => None,
        });
        let degraded = plan.degraded.iter().map(|it| it.what.clone());
        let of_containers = degraded.filter(|it| it.contains("each container")).collect::<Vec<_>>();
        (scheduling.unwrap() == Scheduling::Other, of_containers)
    };
    let share =
        |percent| vec![format!("real-time threads of each container have {percent} % of a CPU")];
    assert_eq!(said(1, None, true), (false, Vec::new()), "groups need none");
    assert_eq!(said(1, Some(950_000), true), (false, share(47)));
    assert_eq!(said(3, Some(950_000), true), (false, share(23)));
    assert_eq!(said(1, Some(0), true), (true, Vec::new()), "none is left");
    assert_eq!(said(1, Some(0), false), (false, Vec::new()), "users make no groups");
}

/// A partition that drives an interface and has a share of the network.
fn limited(share: &str) -> String {
    let program = "[partition.program]\nmodel = \"m\"\nperiod = \"1 ms\"\n";
    let fieldbus = "[fieldbus.ec0]\npartition = \"a\"\ninterface = \"eth1\"\ncycle = \"1 ms\"\n";
    let text = text("[]").replace("cpus = [1]\n", "cpus = [1]\n#N\n#P");
    let text = text.replace("#N", &format!("network = {{ {share} }}"));
    text.replace("#P", &format!("{program}{fieldbus}"))
}

#[test]
fn a_share_of_the_network_is_a_step_of_every_profile() {
    let machine = Machine { root: true, ..machine(2) };
    let site = read_text(&limited("rate = \"1 Mbit/s\", burst = \"40 kbit\"")).unwrap();
    let traffic = site.traffic();
    assert_eq!(traffic.len(), 1);
    assert_eq!((traffic[0].partition.as_str(), traffic[0].interface.as_str()), ("a", "eth1"));
    let plan = plan(&site, &machine).unwrap();
    let said: Vec<_> = plan.steps.iter().map(ToString::to_string).collect();
    let limit = "limit what `a` sends on `eth1` to 1 Mbit/s, 40 kbit at once, and read back that \
                 it holds";
    let count = |text: &str| said.iter().filter(|step| step.as_str() == text).count();
    assert_eq!(count(limit), 2, "{said:#?}");
    assert_eq!(count("put the machine's settings back as they were"), 2, "{said:#?}");
    let simulated = limited("rate = \"1 Mbit/s\"").replace("eth1", "sim");
    let simulated =
        simulated + "[[fieldbus.ec0.subdevice]]\nname = \"d\"\ndevice = \"servo-drive\"\n";
    assert_eq!(read_text(&simulated).unwrap().traffic(), []);
}

#[test]
fn a_share_of_the_network_that_can_not_be_had_is_refused() {
    let refused = |text: &str, machine: &Machine, key: &str, part: &str| {
        let site = read_text(text).unwrap_or_else(|problems| panic!("{problems}"));
        let refusals = plan(&site, machine).unwrap_err();
        let is_told = |it: &quietcore_site::Refusal| {
            it.place.key == format!("partition.a.vcr.network{key}") && it.to_string().contains(part)
        };
        assert!(refusals.iter().any(is_told), "{refusals:#?}");
    };
    let root = Machine { root: true, ..machine(2) };
    let good = limited("rate = \"1 Mbit/s\"");
    assert!(plan(&read_text(&good).unwrap(), &root).is_ok());
    let user = Machine { root: false, ..machine(2) };
    refused(&good, &user, "", "only root may limit what an interface sends");
    let probe = good.replace("model = \"m\"\n", "");
    refused(&probe, &root, "", "sends on no network interface");
    let fast = limited("rate = \"1000 Gbit/s\"");
    refused(&fast, &root, ".rate", "write 400 Gbit/s at most");
    let cut = limited("rate = \"1 Mbit/s\", burst = \"12111 bit\"");
    refused(&cut, &root, ".burst", "a frame has up to 12112 bit");
    let long = limited("rate = \"1 Mbit/s\", burst = \"101 Mbit\"");
    refused(&long, &root, ".burst", "write 100 Mbit at most");
    let large = limited("rate = \"10 Gbit/s\", burst = \"9 Gbit\"");
    refused(&large, &root, ".burst", "write 8 Gbit at most");
}
