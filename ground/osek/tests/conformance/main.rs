//! One test for each service × status × call level × conformance class × kind of checking.
//!
//! Goal: what the kernel promises in `docs/osek-conformance.md` is what it does, and that page is
//! made from these tests.
//! Method: for each case the hosted kernel is started in a small world of tasks, ISRs, resources,
//! events and alarms; the case's call is made from its call level, and what came of it is seen.
//!
//! | file | what |
//! |---|---|
//! | `world` | the configurations, one a class and kind of checking |
//! | `stage` | runs a case: start, preparation, call, and what is seen afterwards |
//! | `levels` | which service may be called from where (OSEK OS 2.2.3, figure 12-1) |
//! | `statuses` | each status of each service, with what leads to it |
//! | `document` | the page |
//!
//! The page is compared with what these tests would write. Where a change is meant, run with
//! `QUIETCORE_STORE=1` and look at the difference.

mod document;
mod levels;
mod stage;
mod statuses;
mod world;

use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    let mut arguments = Arguments::from_args();
    // There is one kernel in a process, and its contexts all live in one thread.
    arguments.test_threads = Some(1);
    let cases: Vec<stage::Case> = levels::cases().chain(statuses::cases()).collect();
    let mut trials: Vec<Trial> = Vec::new();
    for case in cases.clone() {
        trials.push(Trial::test(case.name(), move || stage::play(&case).map_err(Into::into)));
    }
    trials.push(Trial::test("no_two_cases_have_one_name", {
        let cases = cases.clone();
        move || document::names_differ(&cases).map_err(Into::into)
    }));
    trials.push(Trial::test("every_service_is_tested", {
        let cases = cases.clone();
        move || document::every_service_is_tested(&cases).map_err(Into::into)
    }));
    trials.push(Trial::test("the_page_says_what_was_tested", move || {
        document::compare(&cases).map_err(Into::into)
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}
