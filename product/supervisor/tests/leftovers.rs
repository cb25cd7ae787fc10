//! A site leaves nothing behind when it is down.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::time::{Duration, Instant};

use quietcore_supervisor::control::{DeployPatience, Deployed, Verb};
use site::{PATIENCE, SITE, Site, copy_model};

/// Goal: what a program forks does not outlive its partition, also where it left the group.
#[test]
fn a_process_that_a_program_has_forked_ends_with_the_partition() {
    for before in ["", "if (child == 0) setsid(); "] {
        a_forked_process_ends(before);
    }
}

/// Forks a process that does something `before` it waits for ever; checks that it ends.
fn a_forked_process_ends(before: &str) {
    let mut site = Site::up(SITE, "counter");
    let changed = site.folder.path().join("changed");
    let include = "#include \"counter.h\"";
    // The data lie in shared memory, which the child has, too.
    let forks = format!(
        "counter_DW.total = 0; int child = fork(); {before}while (child == 0) pause(); \
         counter_child = child;"
    );
    copy_model(
        "counter",
        &changed,
        &[
            (include, &format!("{include}\n#include <unistd.h>\nint counter_child;")),
            ("counter_DW.total = 0;", &forks),
        ],
    );
    site.client()
        .ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns))
        .expect("it is deployed");
    let child = site.wait_for_value("counter_child", |value| value > 1.0);
    let place = format!("/proc/{child}/stat");
    let lives = || std::fs::read_to_string(&place).is_ok_and(|stat| !stat.contains(") Z"));
    assert!(lives(), "it was forked");
    site.running = None;
    let end = Instant::now() + PATIENCE;
    while lives() {
        assert!(Instant::now() < end, "process {child} is left behind");
        std::thread::sleep(Duration::from_millis(5));
    }
}
