//! A kernel that is told of each value that comes.

use super::*;

/// Goal: whatever is sent is noticed by a receiver that never looks by itself: by its event, its
/// activation and its ISR, also while its task is still at what came before.
/// Method: nothing in the receiver's OIL file runs unless it is notified. What the sender counts
/// has to arrive to the last value, after it has fallen silent; one that starts anew gets it.
#[test]
fn a_kernel_is_notified_of_each_value_and_misses_none() {
    let site = Site::up(&notified());
    let received = || site.values("receiver", ["notified_DW.count", "notified_DW.received"]);
    site.set("sender", "sender_P.burst", "2");
    site.wait_for("sets and messages came", || received()[0] > 60.0 && received()[1] > 60.0);
    // A job takes several cycles, in each of which more is sent.
    site.set("receiver", "notified_P.length", "20000000");
    let refused = || site.value("receiver", "notified_DW.limits") > 2.0;
    site.wait_for("activations are refused", refused);
    site.wait_for("they are told", || site.has_told("E_OS_LIMIT"));
    silence_is_whole(&site);
    site.set("receiver", "notified_P.length", "0");
    let paths = ["torn", "disorder", "raised", "sets", "limits", "jobs", "received"];
    let paths = paths.map(|name| format!("notified_DW.{name}"));
    let seen = site.values("receiver", std::array::from_fn::<_, 7, _>(|index| &*paths[index]));
    let [torn, disorder, raised, sets, limits, jobs, messages] = seen;
    assert_eq!([torn, disorder], [0.0; 2], "each set is whole, and messages are in order");
    let sent = site.value("sender", "sender_DW.count");
    assert!(sets <= sent && raised <= sent && raised > 0.0, "{seen:?} of {sent}");
    assert!(jobs <= messages && limits <= messages, "{seen:?}");
    // Nothing is sent any more. A build that takes over is told once more of the last set, …
    let last = site.value("receiver", "notified_DW.count");
    let changed = site.folder.path().join("changed");
    copy_model("notified", &changed);
    let source = changed.join("notified.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text.replace("= {0u}", "= {1u}")).unwrap();
    let deploy = Verb::deploy(&changed, DeployPatience::UntilItRuns);
    let deployed = site.client().ask::<Deployed>("receiver", deploy);
    assert_eq!(deployed.unwrap_or_else(|error| panic!("{error}")).generation, 2);
    let is_told = || site.value("receiver", "notified_DW.sets") > sets;
    site.wait_for("the new build is told of the last set", is_told);
    // … and so is one that starts and has received nothing.
    let restarted =
        || site.client().ask::<Done>("receiver", Verb::Restart { how: Restart::Cold }).is_ok();
    site.wait_for("the build is no longer on probation", restarted);
    let paths = ["notified_DW.count", "notified_DW.sets", "notified_DW.raised"];
    let is_told = || site.values("receiver", paths) == [last, 1.0, 1.0];
    site.wait_for("it is told of the last set, once", is_told);
}

/// Lets the sender fall silent, and waits until the receiver has all that it sent.
fn silence_is_whole(site: &Site) {
    site.set("sender", "sender_P.mute", "1");
    let whole = || {
        let [count, sent] = site.values("sender", ["sender_DW.count", "sender_DW.sent"]);
        site.values("receiver", ["notified_DW.count", "notified_DW.received"]) == [count, sent]
    };
    site.wait_for("all that was sent has come", whole);
}
