//! Probes inside of guests, from their image to their results. Skipped where there is no KVM, and
//! where it interprets its guests. The tests show that it works, not how fast.

#![cfg(target_arch = "x86_64")]
#![forbid(unsafe_code)]

use std::fs::File;

use quietcore_exchange::TaskState;
use quietcore_probe::ethercat::Plan;
use quietcore_probe::ethercat::process::{Line, RoundTripsPlan};
use quietcore_probe::guest::ProbeError;
use quietcore_probe::guest::ethercat::{self, GuestRoundTripsPlan};
use quietcore_probe::guest::hypervisor::MicroVm;
use quietcore_probe::guest::irq::{self, IrqPlan};
use quietcore_probe::guest::latency::{self, GuestLatencyPlan};
use quietcore_probe::guest::osek::{self, GuestOsekPlan};
use quietcore_probe::guest::runner::GuestError;
use quietcore_probe::measurement::{Measurement, OpenExchange};
use quietcore_probe::osek::Variant;
use quietcore_process::exchange::Exchange;
use quietcore_release::Injection;
use quietcore_units::{CpuId, Nanos, Scheduling, ThreadRequest, Wake};

/// Returns the measurement; `None` where there is no KVM for it, which is recorded as a skip.
fn unless_missing<T>(test: &str, result: Result<T, ProbeError>) -> Option<T> {
    match result {
        Err(ProbeError::Guest(
            error @ (GuestError::Interpreted | GuestError::Image(_) | GuestError::Machine(_)),
        )) => {
            quietcore_skip::record(test, &error.to_string());
            None
        }
        Err(ProbeError::Guest(error @ GuestError::Memory(_)))
            if quietcore_skip::obstacle_to_locking(16 << 20).is_some() =>
        {
            quietcore_skip::record(test, &error.to_string());
            None
        }
        result => Some(result.expect("the guest ends as it should")),
    }
}

fn on(cpu: u32, priority: u8) -> ThreadRequest {
    ThreadRequest::measuring(Scheduling::fifo(priority), CpuId::new(cpu))
}

/// Makes the exchange of a plan; returns it with its file.
fn exchange_of(plan: &impl Measurement) -> (Exchange, File) {
    let exchange = Exchange::create(&plan.shape()).expect("there is memory");
    let file = exchange.file().expect("there is a descriptor");
    (exchange, file)
}

fn open((exchange, file): &(Exchange, File)) -> OpenExchange<'_> {
    OpenExchange { region: exchange.region(), file, hypervisor: &MicroVm }
}

const PLAN: fn() -> IrqPlan = || IrqPlan {
    period: Nanos::from_millis(2),
    interrupts: 200,
    warm_up: 10,
    thread: on(1, 80),
    board: on(0, 90),
    polls: false,
};

/// Goal: every interrupt of the board is responded to, and the two clocks agree on when.
/// Method: 200 interrupts; the register is read after the counter, and both are of one instant.
#[test]
fn interrupts_of_the_clock_board_are_measured() {
    let exchange = exchange_of(&PLAN());
    let ended = irq::measure(&PLAN(), &open(&exchange), |_, _| false);
    let name = "interrupts_of_the_clock_board_are_measured";
    let Some(facts) = unless_missing(name, ended) else { return };
    let measured = irq::read(&open(&exchange).region).expect("they are whole");
    println!(
        "response {}..{} ns, register {}..{} ns, switch {}..{} ns, {} left out, exits {}, {:?}",
        measured.response.min_ns(),
        measured.response.max_ns(),
        measured.register.min_ns(),
        measured.register.max_ns(),
        measured.switch.min_ns(),
        measured.switch.max_ns(),
        measured.left_out,
        facts.exits.unwrap_or_default(),
        facts.board,
    );
    assert!(measured.finished);
    for histogram in [&measured.response, &measured.register, &measured.switch, &measured.whole] {
        assert_eq!(histogram.count(), 200);
        assert!(histogram.min_ns() > 0);
    }
    assert!(measured.whole.min_ns() >= measured.response.min_ns() + measured.switch.min_ns());
    // The register counts steps of 10 ns, and is read later.
    assert!(measured.register.min_ns() + 10 >= measured.response.min_ns());
    let board = facts.board.expect("there is one");
    let raised = board.strip_prefix("raised ").and_then(|it| it.split(',').next()?.parse().ok());
    assert!(raised.is_some_and(|raised: u64| raised >= 210), "{board}");
    assert!(board.contains("of which lost 0,"), "{board}");
}

#[test]
fn a_stop_ends_it_with_what_there_is() {
    let plan = IrqPlan { interrupts: 1_000_000, ..PLAN() };
    let exchange = exchange_of(&plan);
    let ended = irq::measure(&plan, &open(&exchange), |taken, _| taken > 20);
    let name = "a_stop_ends_it_with_what_there_is";
    let Some(_) = unless_missing(name, ended) else { return };
    let stopped = irq::read(&open(&exchange).region).expect("they are whole");
    assert!(!stopped.finished);
    assert!((20..100_000).contains(&stopped.response.count()));
}

/// Goal: each routine comes to its end in every way to bring its interrupt.
#[test]
fn the_routines_of_the_kernel_are_measured() {
    let variant = Variant::default();
    let plan = GuestOsekPlan { loops: 50, warm_up: 5, variant, thread: on(1, 80), doorbells: true };
    let name = "the_routines_of_the_kernel_are_measured";
    let exchange = exchange_of(&plan);
    let ended = osek::measure(&plan, &open(&exchange), |_| false);
    let Some(facts) = unless_missing(name, ended) else { return };
    let measured = osek::read(&plan, &open(&exchange).region, &facts).expect("they are whole");
    assert!(!measured.stopped);
    assert_eq!(measured.samples.len(), 26);
    for (series, sample) in &measured.samples {
        println!(
            "{}: {} to {} counts, less {}",
            series.name(),
            sample.raw.min_ns(),
            sample.raw.max_ns(),
            sample.offset.median
        );
        assert_eq!((sample.raw.count(), sample.net_ns.count()), (50, 50), "{}", series.name());
        assert!(sample.raw.min_ns() > 0, "{}", series.name());
    }
    println!("exits {}", facts.exits.expect("our own are counted"));
}

/// Goal: the measured loop runs in a guest, in every way to come to a release, and a guest that
/// spins is not left for it.
#[test]
fn releases_in_a_guest_are_measured() {
    let name = "releases_in_a_guest_are_measured";
    for wake in [
        Wake::Sleep,
        Wake::Early { margin: Nanos::from_micros(500) },
        Wake::Adaptive { share_percent: 50 },
        Wake::Spin,
    ] {
        let plan = GuestLatencyPlan {
            period: Nanos::from_millis(2),
            cycles: 100,
            warm_up_cycles: 10,
            wake,
            injection: Some(Injection { delay: Nanos::from_millis(40), release: 50 }),
            thread: on(1, 80),
            limit: Nanos::from_micros(200),
        };
        let exchange = exchange_of(&plan);
        let ended = latency::measure(&plan, &open(&exchange), |_, _| false);
        let Some((covers, outcome)) = unless_missing(name, ended) else { return };
        let region = open(&exchange).region;
        let task = region.task(0).expect("it has one");
        assert_eq!(task.state(), TaskState::Finished, "{wake:?}");
        assert_eq!(task.release().totals().count, 100, "{wake:?}");
        println!("{wake:?}: {}", outcome.exits_in_words());
        for (release, cover) in covers.iter().take(3) {
            println!("  at release {release}: {cover}");
        }
        let injected = covers.iter().find(|(release, _)| *release == 50);
        let (_, cover) = injected.expect("an injected delay is a spike");
        let spike = task.spikes().find(|spike| spike.release == 50).expect("it is kept");
        assert!(spike.latency_ns >= 40_000_000, "{wake:?}: {spike:?}");
        let covered: u64 = cover.causes.iter().map(|(_, covered)| covered).sum();
        assert_eq!(covered + cover.unexplained_ns, spike.latency_ns, "{cover}");
        assert!(cover.causes.iter().all(|(what, _)| !what.starts_with("left")), "{cover}");
        let writes = outcome.exits.iter().find(|(name, _)| *name == "port write");
        let total: u64 = outcome.exits.iter().map(|(_, count)| count).sum();
        assert_eq!(writes.map(|(_, count)| *count), Some(total), "only its end leaves to us");
    }
}

/// Goal: a MainDevice in a guest brings its SubDevices to OP and measures every cycle, with and
/// without a period; one whose SubDevices can't be had says so.
#[test]
fn round_trips_of_a_maindevice_in_a_guest_are_measured() {
    let name = "round_trips_of_a_maindevice_in_a_guest_are_measured";
    for period in [None, Some(Nanos::from_millis(2))] {
        let plan = RoundTripsPlan {
            line: Line::Simulated(vec!["coupler".to_owned(), "servo-drive".to_owned()]),
            interface: "sim".to_owned(),
            plan: Plan {
                cycles: 1_500,
                warm_up_cycles: 10,
                period,
                timeout: Nanos::from_millis(50),
                limit: None,
            },
            cpu: CpuId::new(1),
            scheduling: Some(Scheduling::fifo(80)),
        };
        let exchange = exchange_of(&GuestRoundTripsPlan(plan.clone()));
        let ended = ethercat::measure(&plan, &open(&exchange), |_, _| false);
        let Some(facts) = unless_missing(name, ended) else { return };
        let measured = ethercat::read(&plan, &open(&exchange).region, &facts).expect("they match");
        println!("{:?}: {:?}, exits {:?}", period, measured.run, facts.exits);
        assert!(!measured.stopped);
        assert_eq!((measured.run.cycles, measured.run.subdevices), (1_500, 2));
        assert_eq!(measured.histogram.count() + measured.run.lost, 1_500);
        assert!(measured.histogram.min_ns() > 0);
        assert!(measured.run.sustained_cycles_per_second.is_some_and(|rate| rate > 0.0));
    }
}
