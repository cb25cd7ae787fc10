//! Probes inside of guests, from their image to their results. Skipped where there is no KVM, and
//! where it interprets its guests. The tests show that it works, not how fast.

#![cfg(target_arch = "x86_64")]
#![forbid(unsafe_code)]

use quietcore_probe::guest::ProbeError;
use quietcore_probe::guest::irq::{self, IrqMeasured, IrqPlan};
use quietcore_probe::guest::latency::{self, GuestLatencyPlan};
use quietcore_probe::guest::osek::{self, GuestOsekPlan};
use quietcore_probe::guest::runner::GuestError;
use quietcore_probe::osek::Variant;
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
        result => Some(result.expect("the guest ends as it should")),
    }
}

fn on(cpu: u32, priority: u8) -> ThreadRequest {
    ThreadRequest::measuring(Scheduling::fifo(priority), CpuId::new(cpu))
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
    let measured = irq::measure(&PLAN(), |_, _| false);
    let name = "interrupts_of_the_clock_board_are_measured";
    let Some(measured) = unless_missing(name, measured) else { return };
    let measured: IrqMeasured = measured;
    println!(
        "response {}..{} ns, register {}..{} ns, switch {}..{} ns, {} left out, exits {}, {:?}",
        measured.response.min_ns(),
        measured.response.max_ns(),
        measured.register.min_ns(),
        measured.register.max_ns(),
        measured.switch.min_ns(),
        measured.switch.max_ns(),
        measured.left_out,
        measured.outcome.exits_in_words(),
        measured.outcome.board,
    );
    assert!(measured.finished, "{}", measured.outcome.said);
    for histogram in [&measured.response, &measured.register, &measured.switch, &measured.whole] {
        assert_eq!(histogram.count(), 200);
        assert!(histogram.min_ns() > 0);
    }
    assert!(measured.whole.min_ns() >= measured.response.min_ns() + measured.switch.min_ns());
    // The register counts steps of 10 ns, and is read later.
    assert!(measured.register.min_ns() + 10 >= measured.response.min_ns());
    let board = measured.outcome.board.expect("there is one");
    assert!(board.raised >= 210 && board.failed == 0, "{board:?}");
}

#[test]
fn a_stop_ends_it_with_what_there_is() {
    let plan = IrqPlan { interrupts: 1_000_000, ..PLAN() };
    let stopped = irq::measure(&plan, |taken, _| taken > 20);
    let name = "a_stop_ends_it_with_what_there_is";
    let Some(stopped) = unless_missing(name, stopped) else { return };
    assert!(!stopped.finished);
    assert!((20..100_000).contains(&stopped.response.count()));
}

/// Goal: each routine comes to its end in every way to bring its interrupt.
#[test]
fn the_routines_of_the_kernel_are_measured() {
    let plan =
        GuestOsekPlan { loops: 50, warm_up: 5, variant: Variant::default(), thread: on(1, 80) };
    let name = "the_routines_of_the_kernel_are_measured";
    let Some(measured) = unless_missing(name, osek::measure(&plan, |_| false)) else { return };
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
    println!("exits {}", measured.outcome.exits_in_words());
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
        let measured = latency::measure(&plan, |_, _| false);
        let Some(measured) = unless_missing(name, measured) else { return };
        assert!(measured.finished, "{wake:?}");
        let region = measured.exchange.region();
        let task = region.task(0).expect("it has one");
        assert_eq!(task.release().totals().count, 100, "{wake:?}");
        println!("{wake:?}: {}", measured.outcome.exits_in_words());
        for (spike, cover) in measured.spikes.iter().take(3) {
            println!("  {} ns at release {}: {cover}", spike.latency_ns, spike.release);
        }
        let injected = measured.spikes.iter().find(|(spike, _)| spike.release == 50);
        let (spike, cover) = injected.expect("an injected delay is a spike");
        assert!(spike.latency_ns >= 40_000_000, "{wake:?}: {spike:?}");
        let covered: u64 = cover.causes.iter().map(|(_, covered)| covered).sum();
        assert_eq!(covered + cover.unexplained_ns, spike.latency_ns, "{cover}");
        assert!(cover.causes.iter().all(|(what, _)| !what.starts_with("left")), "{cover}");
        let writes = measured.outcome.exits.iter().find(|(name, _)| *name == "port write");
        let total: u64 = measured.outcome.exits.iter().map(|(_, count)| count).sum();
        assert_eq!(writes.map(|(_, count)| *count), Some(total), "only its end leaves to us");
    }
}
