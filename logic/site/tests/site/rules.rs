//! Each rule of meaning by itself: one change to a good file gives one problem at its key.

use quietcore_record::class::Strictness;
use quietcore_site::{ChannelEnd, Site};

use crate::support::{self, only_problem, read_text};

/// A good file that the rules are broken in.
const GOOD: &str = r#"
[site]
name = "s"
[host]
housekeeping = [0]
[[partition]]
name = "a"
class = "motion-control"
[partition.vcr]
cpus = [1]
[partition.program]
period = "1 ms"
#A
[[partition]]
name = "b"
class = "fast-control-loop"
[partition.vcr]
cpus = [2]
#B
[partition.program]
deadline = "5 ms"
[campaign]
profiles = ["tp2"]
duration = "1 min"
exceedance = 1e-3
#END
"#;

fn changed(from: &str, to: &str) -> String {
    support::changed(GOOD, from, to)
}

/// Breaks a rule and expects one problem at `key` whose text has `part`.
#[track_caller]
fn breaks(from: &str, to: &str, key: &str, part: &str) {
    support::expect_problem(&changed(from, to), key, part);
}

#[track_caller]
fn accepted(from: &str, to: &str) -> Site {
    support::accept(&changed(from, to))
}

#[test]
fn the_file_to_be_broken_is_good() {
    let site = read_text(GOOD).unwrap();
    assert_eq!(site.partitions().len(), 2);
    assert!(site.remarks().is_empty(), "{:?}", site.remarks());
}

#[test]
fn a_cpu_has_one_owner() {
    let cpus = "partition.b.vcr.cpus";
    breaks("cpus = [2]", "cpus = [1]", cpus, "CPU 1 is also claimed by partition `a`");
    breaks("cpus = [2]", "cpus = \"0\"", cpus, "CPU 0 is also a housekeeping CPU");
    breaks("cpus = [2]", "cpus = []", cpus, "the partition has no CPU");
    breaks("cpus = [2]", "cpus = \"\"", cpus, "the partition has no CPU");
    breaks("cpus = [2]", "cpus = [1]\nbudget = 10", cpus, "partition `a` has none");
}

/// Goal: a site of which all partitions claim one CPU is refused in a line for each, and not in one
/// for each two of them.
#[test]
fn a_cpu_of_many_is_refused_once_for_each() {
    let partition = |number: u32| {
        format!(
            "[[partition]]\nname = \"p{number}\"\nclass = \"motion-control\"\n\
             [partition.vcr]\ncpus = [1]\n"
        )
    };
    let partitions: String = (1..=8).map(partition).collect();
    let problems = read_text(&format!("[site]\nname = \"s\"\n{partitions}")).unwrap_err();
    let lines: Vec<String> = problems.to_string().lines().map(str::to_owned).collect();
    let claimed = lines.iter().filter(|line| line.contains("is also claimed by"));
    let claimed: Vec<&String> = claimed.collect();
    assert_eq!(claimed.len(), 7, "{lines:#?}");
    assert!(claimed[0].contains("CPU 1 is also claimed by partition `p1`; a CPU has one owner"));
    assert!(claimed[1].contains("by partition `p1` and by `p2`;"), "{}", claimed[1]);
    assert!(claimed[6].contains("by partition `p1` and by 6 more;"), "{}", claimed[6]);
    assert!(claimed[6].contains("give all a `budget` (partition `p8` has none)"));
}

#[test]
fn budgets_share_a_cpu_up_to_the_whole() {
    let shared = |budget| {
        GOOD.replace("cpus = [1]", "cpus = [1]\nbudget = 60")
            .replace("cpus = [2]", &format!("cpus = [1]\nbudget = {budget}"))
    };
    assert!(read_text(&shared(40)).is_ok());
    let beyond = only_problem(&shared(41));
    assert_eq!(beyond.place.key, "partition.b.vcr.budget");
    assert!(beyond.problem.contains("101 %"), "{beyond}");
}

#[test]
fn times_fit_into_each_other() {
    let program = "partition.a.program";
    let key = |name| format!("{program}.{name}");
    breaks(
        "#A",
        "deadline = \"1001 us\"",
        &key("deadline"),
        "1001 µs is beyond the period of 1 ms",
    );
    breaks("#A", "wcet = \"2 ms\"", &key("wcet"), "beyond the deadline of 1 ms");
    breaks("#A", "early_wake = \"1 ms\"", &key("early_wake"), "leaves nothing");
    breaks("period = \"1 ms\"", "period = \"19 us\"", &key("period"), "write 20 us to 10 s");
    breaks("period = \"1 ms\"", "period = \"11 s\"", &key("period"), "write 20 us to 10 s");
    breaks("period = \"1 ms\"", "period = \"0 ms\"", &key("period"), "less than is allowed");
    breaks("period = \"1 ms\"", "period = \"-1 ms\"", &key("period"), "positive decimal");
    breaks("period = \"1 ms\"", "period = \"99999999 d\"", &key("period"), "larger than");
    // Below a wrong period nothing else is reported.
    breaks("period = \"1 ms\"", "period = \"x\"\nwcet = \"2 ms\"", &key("period"), "can't be read");
}

#[test]
fn settings_without_effect_are_refused() {
    let key = |name| format!("partition.a.program.{name}");
    breaks("#A", "policy = \"other\"\npriority = 5", &key("priority"), "knows no priority");
    breaks("#A", "early_wake_share = 5", &key("early_wake_share"), "take it out");
    breaks("#A", "policy = \"deadline\"", &key("wcet"), "reserves this run time");
    breaks("#A", "priority = 0", &key("priority"), "write an integer from 1 to 99");
    breaks("#A", "priority = 100", &key("priority"), "write an integer from 1 to 99");
    breaks(
        "#A",
        "early_wake = \"adaptive\"\nearly_wake_share = 91",
        &key("early_wake_share"),
        "90",
    );
    accepted("#A", "policy = \"deadline\"\nwcet = \"100 us\"");
}

#[test]
fn a_reservation_of_the_cache_is_ways_or_colours() {
    let cache = "partition.b.vcr.cache";
    let both = "cache = { ways = 2, colours = \"0-3\" }";
    breaks("#B", both, "partition.b.vcr.cache.colours", "keep one");
    breaks("#B", "cache = {}", cache, "it is empty");
    breaks("#B", "cache = { colours = \"\" }", "partition.b.vcr.cache.colours", "no colour");
}

#[test]
fn names_are_unique_and_safe() {
    breaks("name = \"b\"", "name = \"a\"", "partition.a.name", "there already, on line 7");
    breaks("name = \"s\"", "name = \"../s\"", "site.name", "a character that a name can't have");
    breaks("name = \"s\"", "name = \"S\"", "site.name", "a character that a name can't have");
    breaks("name = \"s\"", "name = \"\"", "site.name", "at least one character");
    let long = format!("name = \"{}\"", "s".repeat(65));
    breaks("name = \"s\"", &long, "site.name", "too long");
}

#[test]
fn classes_exist_and_have_figures_and_a_source() {
    let class = "class = \"fast-control-loop\"";
    breaks(
        class,
        "class = \"fast-control\"",
        "partition.b.class",
        "did you mean `fast-control-loop`",
    );
    breaks(class, "class = \"slow-control\"", "partition.b.program.period", "must be given");
    let own = |text: &str| format!("[[class]]\nname = \"own\"\n{text}");
    breaks("#END", &own("cycle = \"1 s\""), "class.own.source", "needs the source");
    breaks("#END", &own("source = \"x\""), "class.own", "no cycle, latency or jitter");
    breaks("#END", &own("like = \"own\""), "class.own.like", "own → own");
    breaks("#END", &own("like = \"nothing\""), "class.own.like", "there is no class `nothing`");
    let beyond = own("cycle = \"2 ms\"\nlatency = \"3 ms\"\nsource = \"x\"");
    breaks("#END", &beyond, "class.own.latency", "3 ms is beyond the cycle of 2 ms");
    let shorter = own("like = \"own-too\"\ncycle = \"2 ms\"");
    let too = "[[class]]\nname = \"own-too\"\nlatency = \"3 ms\"\nsource = \"x\"\n";
    breaks("#END", &format!("{too}{shorter}"), "class.own.cycle", "beyond the cycle of 2 ms");
    let equal = own("cycle = \"2 ms\"\nlatency = \"2 ms\"\nsource = \"x\"");
    accepted("#END", &equal);
    let taken = "[[class]]\nname = \"motion-control\"\ncycle = \"1 s\"\nsource = \"x\"";
    breaks("#END", taken, "class.motion-control.name", "published");
}

/// Goal: what a class bears is said in one way, with the figure that it takes.
#[test]
fn a_class_says_which_misses_it_bears() {
    let own =
        |text: &str| format!("[[class]]\nname = \"own\"\nlike = \"rhel-real-time-50us\"\n{text}");
    let real_time = "class.own.real_time";
    breaks("#END", &own("real_time = \"firm\""), real_time, "needs `survival`");
    breaks("#END", &own("real_time = \"soft\""), real_time, "needs `quantile`");
    breaks("#END", &own("survival = 2"), "class.own.survival", "is of a firm class only");
    let both = own("real_time = \"soft\"\nquantile = 0.9\nsurvival = 2");
    breaks("#END", &both, "class.own.survival", "is of a firm class only");
    breaks("#END", &own("real_time = \"hardly\""), real_time, "hard");
    let soft = |quantile: &str| own(&format!("real_time = \"soft\"\nquantile = {quantile}"));
    breaks("#END", &soft("1.0"), "class.own.quantile", "0.999999");
    let firm = own("real_time = \"firm\"\nsurvival = 2");
    let heir = "\n[[class]]\nname = \"heir\"\nlike = \"own\"\ncycle = \"2 ms\"";
    for (text, of_own) in [
        (firm.as_str(), Strictness::Firm { survival_cycles: 2 }),
        (&soft("0.999"), Strictness::Soft { misses_ppm: 1_000 }),
        (&own("real_time = \"hard\""), Strictness::Hard),
    ] {
        let site = accepted("#END", &format!("{text}{heir}"));
        let find = |name: &str| site.classes().iter().find(|class| class.name == name).unwrap();
        let strictness = ["own", "heir"].map(|name| find(name).strictness);
        assert_eq!(strictness, [of_own; 2], "{text}");
        let limits = ["own", "heir"].map(|name| find(name).latency_limit_ns());
        assert_eq!(limits, [Some(50_000), Some(200_000)], "a cycle of its own has its tenth");
    }
}

#[test]
fn a_class_that_is_wrong_is_not_reported_again_where_it_is_used() {
    let text = changed("class = \"motion-control\"", "class = \"own\"");
    let text = text.replace("#END", "[[class]]\nname = \"own\"\nlike = \"own\"");
    assert_eq!(only_problem(&text).place.key, "class.own.like");
}

#[test]
fn an_end_of_a_channel_may_be_a_program_of_the_host_but_not_both() {
    let channel = |from: &str, to: &str| {
        format!(
            "[[channel]]\nname = \"c\"\nfrom = \"{from}\"\nto = \"{to}\"\nsignals = [{{ name = \
             \"x\", type = \"u8\" }}]"
        )
    };
    let ends = |text: &str| {
        let site = read_text(text).expect("a site without faults");
        let [channel] = site.channels() else { panic!("one channel") };
        (channel.from.clone(), channel.to.clone())
    };
    let with = |from, to| changed("#END", &channel(from, to));
    let of = |name: &str| ChannelEnd::Partition(name.to_owned());
    assert_eq!(ends(&with("host", "a")), (ChannelEnd::Host, of("a")));
    assert_eq!(ends(&with("a", "host")), (of("a"), ChannelEnd::Host));
    breaks("#END", &channel("host", "host"), "channel.c.to", "both ends of the channel");
    breaks("#END", &channel("hots", "a"), "channel.c.from", "did you mean `host`?");
    // A partition of that name keeps its channels.
    let named = with("host", "a").replace("name = \"b\"", "name = \"host\"");
    assert_eq!(ends(&named), (of("host"), of("a")));
}

#[test]
fn channels_lead_to_partitions_with_values_that_fit() {
    let channel = |to: &str, signal: &str| {
        format!(
            "[[channel]]\nname = \"c\"\nfrom = \"a\"\nto = \"{to}\"\nsignals = [{{ name = \"x\", \
             {signal} }}]"
        )
    };
    accepted("#END", &channel("b", "type = \"u64\", queue = 8"));
    accepted("#END", &channel("b", "type = \"f32\", initial = 1, timeout = \"1 ms\""));
    breaks("#END", &channel("c", "type = \"u8\""), "channel.c.to", "there is no partition `c`");
    breaks("#END", &channel("a", "type = \"u8\""), "channel.c.to", "to itself");
    let initial = "channel.c.signals.x.initial";
    for (kind, value) in
        [("u8", "-1"), ("i8", "128"), ("bool", "1"), ("f32", "1e39"), ("u8", "1.0")]
    {
        let signal = format!("type = \"{kind}\", initial = {value}");
        breaks("#END", &channel("b", &signal), initial, "doesn't fit");
    }
    breaks("#END", &channel("b", "type = \"f64\", initial = nan"), initial, "isn't finite");
    breaks("#END", &channel("b", "type = \"u8\", queue = 1, initial = 1"), initial, "begins empty");
    breaks("#END", &channel("b", "type = \"string\""), "channel.c.signals.x.type", "write one of");
    let patient = "type = \"u8\", queue = 1, timeout = \"1 s\"";
    breaks("#END", &channel("b", patient), "channel.c.signals.x.timeout", "has no timeout");
    let more = |count: u32| {
        let more = (1..count).map(|number| format!("}}, {{ name = \"x{number}\", type = \"u8\" "));
        channel("b", &format!("type = \"u8\" {}", more.collect::<String>()))
    };
    accepted("#END", &more(64));
    breaks("#END", &more(65), "channel.c.signals", "65 values are sent as one");
}

#[test]
fn fieldbuses_have_a_partition_and_an_interface_of_their_own() {
    let bus = |name: &str, partition: &str| {
        format!(
            "[fieldbus.{name}]\npartition = \"{partition}\"\ninterface = \"eth0\"\n\
             cycle = \"{}\"\n",
            if partition == "b" { "10 ms" } else { "1 ms" }
        )
    };
    breaks("#END", &bus("e", "c"), "fieldbus.e.partition", "there is no partition `c`");
    let none =
        read_text(&format!("[site]\nname = \"s\"\n{}", bus("e", "c"))).unwrap_err().to_string();
    assert!(none.contains("`c`; add a `[[partition]]` of that name"), "{none}");
    let two = bus("e", "a") + &bus("f", "b");
    breaks("#END", &two, "fieldbus.f.interface", "also the interface of fieldbus `e`");
}

#[test]
fn profiles_exist_and_their_loads_are_bounded() {
    let chosen = "profiles = [\"tp2\"]";
    breaks(chosen, "profiles = []", "campaign.profiles", "at least one");
    breaks(chosen, "profiles = [\"tp7\"]", "campaign.profiles[0]", "there is no profile `tp7`");
    breaks(chosen, "profiles = [\"tp2\", \"tp2\"]", "campaign.profiles[1]", "named twice");
    let own = |text: &str| format!("[[profile]]\nname = \"own\"\n{text}");
    let load = |text: &str| own(&format!("[[profile.load]]\n{text}"));
    breaks("#END", &own("like = \"own\""), "profile.own.like", "own → own");
    let beside = |text: &str| own(&format!("[[profile.neighbours.load]]\n{text}"));
    let place = "profile.own.neighbours.load[0].place";
    breaks("#END", &beside("kind = \"sqrt\"\nplace = \"anywhere\""), place, "own_cpus");
    let many = beside("kind = \"sqrt\"\nworkers = 101");
    breaks("#END", &many, "profile.own.neighbours.load", "a neighbour has 101 workers");
    breaks(
        "#END",
        &load("kind = \"fork\"\nsize = \"1 MiB\""),
        "profile.own.load[0].size",
        "no size",
    );
    let many = "kind = \"fork\"\nworkers = 200\n[[profile.load]]\nkind = \"sqrt\"\nworkers = 57";
    breaks("#END", &load(many), "profile.own.load", "257 workers");
    breaks("#END", "[[profile]]\nname = \"tp5\"", "profile.tp5.name", "queiroz2023");
}

#[test]
fn a_campaign_has_one_bearable_length() {
    let duration = "duration = \"1 min\"";
    breaks(duration, "duration = \"1 min\"\ncycles = 5", "campaign.cycles", "given twice");
    breaks(duration, "duration = \"99 ms\"", "campaign.duration", "write 100 ms to 7 d");
    breaks(duration, "duration = \"8 d\"", "campaign.duration", "write 100 ms to 7 d");
    breaks(duration, "cycles = 0", "campaign.cycles", "write an integer from 1");
    breaks(duration, "cycles = 100000000001", "campaign.cycles", "write an integer from 1");
    breaks(duration, "cycles = 100000000000", "campaign.cycles", "31 d are allowed");
    breaks(duration, "warm_up = \"11 min\"\ncycles = 5", "campaign.warm_up", "0 s to 10 min");
    for value in ["0", "1e-10", "0.11", "inf", "-1"] {
        let text = format!("exceedance = {value}");
        breaks(
            "exceedance = 1e-3",
            &text,
            "campaign.exceedance",
            "write a number from 1e-9 to 0.1",
        );
    }
}

#[test]
fn what_may_surprise_is_remarked() {
    let remarks = |from: &str, to: &str| {
        let remarks = accepted(from, to).remarks();
        let shown: Vec<_> = remarks.iter().map(ToString::to_string).collect();
        shown.join("\n")
    };
    assert!(remarks("housekeeping = [0]", "housekeeping = []").contains("no CPU is kept"));
    assert!(remarks("#A", "priority = 99").contains("98 is enough"));
    assert!(remarks("period = \"1 ms\"", "period = \"2 ms\"").contains("a cycle of 1 ms"));
    let short = remarks("duration = \"1 min\"", "duration = \"1 s\"");
    assert!(short.contains("partition `a` has 1000 cycles"), "{short}");
    assert!(short.contains("2995"), "{short}");
    let zero = GOOD.replace("housekeeping = [0]", "").replace("cpus = [1]", "cpus = [0]");
    let shown = read_text(&zero).unwrap().remarks()[0].to_string();
    assert!(shown.starts_with("site.toml:10:8: `partition.a.vcr.cpus`: CPU 0"), "{shown}");
}
