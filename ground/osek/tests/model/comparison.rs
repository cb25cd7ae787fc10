//! The comparison itself, and whether it is worth something.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::generate::programs;
use crate::interpreter::run;
use crate::tally::Tally;

/// Programs that are compared, unless the environment says otherwise.
const CASES: u32 = if cfg!(miri) { 2 } else { 12_000 };
const HAPPENINGS_MAX: usize = 150;

fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

#[test]
fn random_programs_see_what_the_standard_says() {
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&programs(HAPPENINGS_MAX), |program| {
        run(&program).map(drop).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// For each thing, the least number of times that a thousand programs do it: about half of what
/// they did when this was written down.
const REACHED: &[(&str, u64)] = &[
    ("E_OS_ACCESS", 1500),
    ("E_OS_CALLEVEL", 200),
    ("E_OS_ID", 1000),
    ("E_OS_LIMIT", 2000),
    ("E_OS_NOFUNC", 600),
    ("E_OS_PROTECTION_ARRIVAL", 100),
    ("E_OS_RESOURCE", 200),
    ("E_OS_SERVICEID", 250),
    ("E_OS_STATE", 1500),
    ("E_OS_VALUE", 250),
    ("ISR kept a resource", 60),
    ("activation by time", 300),
    ("activation of a suspended", 700),
    ("activation of an active", 300),
    ("alarm cancelled", 60),
    ("began before an equal", 150),
    ("budget used up", 50),
    ("call from a task", 6000),
    ("call from an ISR", 2000),
    ("callback", 2000),
    ("chain to another", 250),
    ("chain to itself", 600),
    ("counter wrapped", 1000),
    ("cyclic alarm", 60),
    ("event before a begin", 200),
    ("event by time", 120),
    ("event of a waiting", 30),
    ("event of another", 250),
    ("failure by time", 2000),
    ("gave way", 8),
    ("idle", 600),
    ("increment by time", 500),
    ("interrupt", 2000),
    ("interrupt above a resource", 20),
    ("interrupt held back by a resource", 30),
    ("interrupt held back by an ISR", 1500),
    ("interrupts nested", 300),
    ("interrupts nested in nested ones", 6),
    ("job", 3000),
    ("preemption", 200),
    ("release", 500),
    ("resource", 400),
    ("resource in an ISR", 300),
    ("resources nested", 20),
    ("resources nested in an ISR", 20),
    ("resumed before an equal", 20),
    ("returned without an end", 20),
    ("single alarm", 80),
    ("table followed another", 3),
    ("table started", 80),
    ("table stopped", 40),
    ("table to follow", 6),
    ("termination", 2000),
    ("wait", 120),
];

/// Goal: the comparison above is worth something. Method: count what a thousand programs do.
#[test]
fn random_programs_do_all_that_can_be_done() {
    let mut runner = TestRunner::deterministic();
    let programs = programs(HAPPENINGS_MAX);
    let mut tally = Tally::default();
    for _ in 0..if cfg!(miri) { 2 } else { 1000 } {
        let program = programs.new_tree(&mut runner).expect("nothing is refused").current();
        let result = run(&program);
        tally.add(&result.unwrap_or_else(|difference| panic!("{difference}\n{program}")));
    }
    println!("{tally}");
    for (what, least) in REACHED {
        let count = tally.of(what);
        assert!(cfg!(miri) || count >= *least, "{what}: {count} times, not {least}\n{tally}");
    }
}
