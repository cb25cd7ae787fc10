//! Conditions that are written and read back, by this version and by earlier ones.

use proptest::prelude::*;
use quietcore_units::{CpuId, Nanos, SchedulingPolicy, Wake, WakeKind};
use serde_json::{Value, json};

use super::*;

fn waits() -> impl Strategy<Value = Wake> {
    prop_oneof![
        Just(Wake::Sleep),
        Just(Wake::Spin),
        any::<u64>().prop_map(|margin| Wake::Early { margin: Nanos::new(margin) }),
        (0_u32..=100).prop_map(|share_percent| Wake::Adaptive { share_percent }),
    ]
}

fn wakes() -> impl Strategy<Value = Option<WakeKind>> {
    prop_oneof![
        Just(None),
        Just(Some(WakeKind::Sleep)),
        Just(Some(WakeKind::Early)),
        Just(Some(WakeKind::Spin)),
    ]
}

fn modes() -> impl Strategy<Value = ReleaseMode> {
    let context = prop_oneof![
        Just(TracedContext::Interrupt),
        Just(TracedContext::KernelThread),
        Just(TracedContext::UserThread),
        Just(TracedContext::Noise),
    ];
    prop_oneof![
        Just(ReleaseMode::Unknown),
        Just(ReleaseMode::Kernel),
        (waits(), any::<bool>()).prop_map(|(wait, in_guest)| ReleaseMode::Timer { wait, in_guest }),
        context.prop_map(|context| ReleaseMode::Traced { context }),
        any::<String>().prop_map(ReleaseMode::not_timed),
        (any::<String>(), wakes()).prop_map(|(words, wake)| ReleaseMode::Stated { words, wake }),
    ]
}

fn policies() -> impl Strategy<Value = PolicyInForce> {
    prop_oneof![
        Just(PolicyInForce::Unknown),
        Just(PolicyInForce::NotReadBack),
        (0_u32..9, any::<u32>()).prop_map(|(number, priority)| {
            PolicyInForce::ReadBack(SchedulingPolicy::from_kernel(number, priority))
        }),
        any::<u64>().prop_map(PolicyInForce::Priority),
        (any::<String>(), any::<Option<u32>>())
            .prop_map(|(words, fifo_priority)| { PolicyInForce::Stated { words, fifo_priority } }),
    ]
}

fn cpus() -> impl Strategy<Value = CpuSet> {
    let numbers = prop::collection::vec(0_u32..1024, 0..9);
    numbers.prop_map(|numbers| numbers.into_iter().filter_map(CpuId::new).collect())
}

fn affinities() -> impl Strategy<Value = AffinityInForce> {
    prop_oneof![
        Just(AffinityInForce::Unknown),
        Just(AffinityInForce::NotReadBack),
        cpus().prop_map(AffinityInForce::ReadBack),
        any::<String>().prop_map(AffinityInForce::Stated),
    ]
}

fn times() -> impl Strategy<Value = TimeReality> {
    prop_oneof![
        Just(TimeReality::Unstated),
        Just(TimeReality::Native),
        any::<String>().prop_map(TimeReality::Emulated),
        any::<String>().prop_map(TimeReality::Unknown),
        any::<String>().prop_map(TimeReality::Stated),
    ]
}

fn injections() -> impl Strategy<Value = Option<Injection>> {
    prop_oneof![
        Just(None),
        any::<(u64, u64)>().prop_map(|(delay_ns, release)| {
            Some(Injection::Exact(Injected { delay_ns, release }))
        }),
        any::<String>().prop_map(|words| Some(Injection::Stated(words))),
    ]
}

fn loads() -> impl Strategy<Value = Vec<LoadAchieved>> {
    let load = (any::<String>(), any::<[u32; 2]>(), cpus(), any::<Option<u32>>());
    let load = load.prop_map(|(kind, [workers, working], cpus, bytes)| LoadAchieved {
        kind,
        workers,
        working,
        cpus,
        bytes_per_second: bytes.map(f64::from),
        ..LoadAchieved::default()
    });
    prop::collection::vec(load, 0..3)
}

fn observations() -> impl Strategy<Value = Observation> {
    let by = prop_oneof![
        Just(TakenBy::Hypervisor),
        Just(TakenBy::Interrupts),
        Just(TakenBy::SoftInterrupts),
    ];
    let of = prop_oneof![
        Just(Counted::Interrupts),
        Just(Counted::ContextSwitches),
        Just(Counted::ProcessesStarted),
    ];
    prop_oneof![
        Just(Observation::NothingUnusual),
        Just(Observation::NotSampled),
        Just(Observation::Throttled),
        Just(Observation::InEarlierPart),
        (by, any::<[u64; 2]>()).prop_map(|(by, [milliseconds, span_ns])| {
            Observation::TimeTaken { by, milliseconds, span_ns }
        }),
        (of, any::<[u64; 3]>()).prop_map(|(of, [count, span_ns, factor])| Observation::Burst {
            of,
            count,
            span_ns,
            factor,
        }),
        (any::<String>(), any::<u64>())
            .prop_map(|(cause, covered_ns)| Observation::Covered { cause, covered_ns }),
        any::<u64>().prop_map(|left_ns| Observation::Unexplained { left_ns }),
    ]
}

prop_compose! {
    fn platforms()(
        words in any::<[Option<String>; 6]>(),
        cpus in prop::collection::vec(cpus(), 0..4),
        numbers in any::<[Option<u64>; 5]>(),
        with_partition in any::<bool>(),
    ) -> Platform {
        let [release, version, product, microcode, container_runtime, node] = words;
        let [cpu_quota_us, memory_bytes, cache_mask, size_bytes, clock_bound_ns] = numbers;
        let core = |cpus: &CpuSet| Core { package: Some(-1), cpus: *cpus };
        let cache = |cpus: &CpuSet| Cache { level: None, kind: None, size_bytes, cpus: *cpus };
        let interrupt = |cpus: &CpuSet| InterruptPlacement {
            number: 24,
            name: "eth0".to_owned(),
            cpus: *cpus,
        };
        let reservation = ReservationInForce {
            cpu_quota_us: cpu_quota_us.map(Limit::At),
            cpus: cpus.first().copied(),
            memory_bytes: memory_bytes.map(Limit::At).or(Some(Limit::Unlimited)),
            cache_mask,
            ..ReservationInForce::default()
        };
        Platform {
            kernel: KernelBuild { release, version, command_line: None },
            firmware: FirmwareVersions { product, microcode, ..FirmwareVersions::default() },
            topology: Topology {
                cores: cpus.iter().map(core).collect(),
                caches: cpus.iter().map(cache).collect(),
            },
            interrupts: with_partition.then(|| cpus.iter().map(interrupt).collect()),
            reservation: with_partition.then_some(reservation),
            program: None,
            guest: with_partition.then(|| GuestImage {
                folder: "/images/guest".to_owned(),
                sha256: "1a2b".to_owned(),
                kernel: String::new(),
            }),
            versions: Versions { container_runtime, ..Versions::default() },
            node,
            clock_bound_ns,
        }
    }
}

prop_compose! {
    fn conditions()(
        mode in modes(),
        policy in policies(),
        affinity in affinities(),
        time in times(),
        injection in injections(),
        loads in loads(),
        part in any::<Option<(u64, String)>>(),
        machine in any::<BTreeMap<String, String>>(),
        platform in prop::option::of(platforms()),
    ) -> Conditions {
        let part = part.map(|(cycles, started_at)| EarlierPart { cycles, started_at });
        Conditions {
            mode, policy, affinity, time, injection, loads, earlier_part: part, machine,
            platform: platform.map(Box::new),
            ..Conditions::default()
        }
    }
}

proptest! {
    #[test]
    fn conditions_are_read_as_they_were_written(held in conditions()) {
        let text = serde_json::to_string(&held).unwrap();
        prop_assert_eq!(serde_json::from_str::<Conditions>(&text).unwrap(), held);
    }

    /// Goal: the document that `show --json` prints is read by the type that wrote it.
    #[test]
    fn an_entry_is_read_as_it_was_written(held in conditions()) {
        let entry = ConditionsEntry::from(&held);
        let text = serde_json::to_string(&entry).unwrap();
        prop_assert_eq!(serde_json::from_str::<ConditionsEntry>(&text).unwrap(), entry);
    }

    /// Goal: what stands beside a worst cycle is read back, as words of earlier versions are.
    #[test]
    fn observations_are_read_as_they_were_written(seen in observations(), words: String) {
        let held = vec![SpikeCondition::Observed(seen), SpikeCondition::Stated(words)];
        let text = serde_json::to_string(&held).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<SpikeCondition>>(&text).unwrap(), held);
    }

    /// Goal: no word of an earlier version is lost, whatever they say.
    #[test]
    fn words_of_earlier_versions_stay(mode: String, policy: String, cpus: String, time: String) {
        let mut filed = filed();
        filed["mode"] = json!(mode);
        filed["policy"] = json!(policy);
        filed["affinity"] = json!(cpus);
        filed["machine"] = json!({ "time_is_real": time });
        let held: Conditions = serde_json::from_value(filed).unwrap();
        let entry = ConditionsEntry::from(&held);
        prop_assert_eq!([entry.mode, entry.policy, entry.affinity], [mode, policy, cpus]);
        prop_assert_eq!(&entry.machine["time_is_real"], &time);
        let text = serde_json::to_string(&held).unwrap();
        prop_assert_eq!(serde_json::from_str::<Conditions>(&text).unwrap(), held);
    }
}

/// Conditions as the first records of schema `/2` had them, and those of `/1`.
fn filed() -> Value {
    json!({
        "started_at": "2026-11-24T20:00:00Z",
        "duration_ns": 5_000_000_000_u64,
        "mode": "early wake, learned margin, at most 25 % of the core",
        "policy": "SCHED_FIFO 90",
        "scheduled": { "wake": "early", "fifo_priority": 90 },
        "affinity": "1",
        "dma_latency_held": true,
        "machine": { "kernel": "6.1.0", "time_is_real": "yes, native by calibration" },
        "loads": [{
            "kind": "sqrt", "workers": 2, "working": 2, "cpus": "0,1",
            "operations_per_second": 1.5, "unit": "sqrt/s", "cpu_share": 0.5
        }],
        "activity": {
            "includes": "101 cycles of an earlier, interrupted part from 2026-11-24T19:00:00Z",
            "steal": "0.00 %"
        },
        "site_sha256": "",
        "quietcore_version": "0.1.0",
        "injected": "3.00 ms at release 200",
        "injection": { "delay_ns": 3_000_000, "release": 200 }
    })
}

/// Goal: conditions of a released folder become values, and are told with the same words.
#[test]
fn conditions_in_words_become_values_with_the_same_words() {
    let mut old = filed();
    let held: Conditions = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(held.mode, ReleaseMode::timer(Wake::Adaptive { share_percent: 25 }));
    let fifo = SchedulingPolicy::Fifo { priority: 90 };
    assert_eq!(held.policy, PolicyInForce::ReadBack(fifo));
    assert_eq!(held.affinity, AffinityInForce::ReadBack("1".parse().unwrap()));
    assert_eq!(held.time, TimeReality::Native);
    let injected = Injected { delay_ns: 3_000_000, release: 200 };
    assert_eq!(held.injection, Some(injected.into()));
    let part = held.earlier_part.clone().unwrap();
    assert_eq!((part.cycles, &*part.started_at), (101, "2026-11-24T19:00:00Z"));
    assert!(!held.activity.contains_key("includes") && held.machine.len() == 1);
    let entry = serde_json::to_value(ConditionsEntry::from(&held)).unwrap();
    for (key, value) in old.as_object().unwrap() {
        assert_eq!(&entry[key], value, "{key}");
    }
    // Earlier still, the injected delay stood there in words alone.
    old.as_object_mut().unwrap().remove("injection");
    let held: Conditions = serde_json::from_value(old).unwrap();
    let words = Injection::Stated("3.00 ms at release 200".to_owned());
    assert_eq!(held.injection, Some(words));
}

#[test]
fn a_file_that_says_both_is_believed_where_its_time_is_not_real() {
    for kept in [TimeReality::Unstated, TimeReality::Native] {
        let mut file = filed();
        file["time"] = serde_json::to_value(&kept).unwrap();
        file["machine"]["time_is_real"] = "no, interpreted".into();
        let held: Conditions = serde_json::from_value(file).unwrap();
        assert_eq!(held.time.why_not_real(), Some("interpreted"), "{kept:?}");
        assert!(!held.machine.contains_key("time_is_real"));
    }
    let mut file = filed();
    file["time"] = serde_json::to_value(TimeReality::Emulated("slow".to_owned())).unwrap();
    let held: Conditions = serde_json::from_value(file).unwrap();
    assert_eq!(held.time.why_not_real(), Some("slow"), "whatever the older words say");
}
