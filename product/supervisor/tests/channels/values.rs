//! Values and queues between two programs, through restarts and new builds of either.

use super::*;

#[test]
fn values_arrive_as_whole_sets_and_so_do_the_answers() {
    let site = Site::up(&site("10 ms"));
    let arrived = || site.value("receiver", "receiver_DW.count") > 200.0;
    site.wait_for("200 sets were received", arrived);
    assert_eq!(site.value("receiver", "receiver_DW.torn"), 0.0);
    assert_eq!(site.value("receiver", "receiver_DW.initial"), 2.5, "read in `initialize`");
    assert_eq!(site.value("receiver", "receiver_DW.first"), 0.0, "timeouts count from the start");
    assert_eq!(site.value("sender", "sender_DW.status"), 0.0);
    let seen = site.whole_values("receiver", ["receiver_DW.count", "receiver_DW.opposite"]);
    assert_eq!(seen[0], -seen[1]);
}

#[test]
fn a_queue_keeps_its_order_and_counts_what_has_no_room() {
    let site = Site::up(&site("10 ms"));
    site.set("sender", "sender_P.burst", "3");
    let received = || site.value("receiver", "receiver_DW.received") > 300.0;
    site.wait_for("300 messages were received", received);
    site.set("receiver", "receiver_P.drain", "0");
    let refused = || site.value("sender", "sender_DW.refused") > 30.0;
    site.wait_for("messages have no room", refused);
    site.set("receiver", "receiver_P.drain", "100");
    site.set("sender", "sender_P.burst", "0");
    let balanced = || {
        let counts = ["sender_DW.number", "sender_DW.sent", "sender_DW.refused"];
        let [number, sent, refused] = site.whole_values("sender", counts);
        assert_eq!(number, sent + refused);
        site.value("receiver", "receiver_DW.received") == sent
    };
    site.wait_for("all that was sent has come", balanced);
    assert_eq!(site.value("receiver", "receiver_DW.disorder"), 0.0);
}

#[test]
fn a_sender_that_is_killed_is_missed_and_goes_on_when_it_is_back() {
    let text = site("1500 ms").replace("timeout = \"5 s\"", "timeout = \"400 ms\"");
    let site = Site::up(&text);
    let arrived = || site.value("receiver", "receiver_DW.count") > 50.0;
    site.wait_for("values were received", arrived);
    let [before, missed] = site.values("receiver", ["receiver_DW.count", "receiver_DW.timeouts"]);
    kill_process(site.pid("sender"), Signal::KILL).unwrap();
    let overdue = || site.value("receiver", "receiver_DW.status") == COM_TIMEOUT;
    site.wait_for("the timeout is flagged", overdue);
    assert!(site.value("receiver", "receiver_DW.count") >= before, "the last value stays");
    assert!(site.value("receiver", "receiver_DW.timeouts") > missed);
    site.wait_for("the sender is back", || site.state("sender").restarts == 1);
    let fresh = || {
        let paths = ["receiver_DW.status", "receiver_DW.torn", "receiver_DW.count"];
        let [status, torn, count] = site.values("receiver", paths);
        assert_eq!(torn, 0.0);
        status == 0.0 && count > 5.0
    };
    site.wait_for("its values come again", fresh);
    assert_eq!(site.state("receiver").restarts, 0);
}

#[test]
fn a_deployed_and_a_restarted_program_keep_their_channels() {
    let site = Site::up(&site("10 ms"));
    let changed = site.folder.path().join("changed");
    copy_model("receiver", &changed);
    let source = changed.join("receiver.c");
    let text = std::fs::read_to_string(&source).unwrap().replace("{100, 3}", "{100, 5}");
    std::fs::write(&source, text).unwrap();
    let deployed = site
        .client()
        .ask::<Deployed>("receiver", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    assert_eq!(deployed.unwrap_or_else(|error| panic!("{error}")).generation, 2);
    assert_eq!(site.value("receiver", "receiver_P.scale"), 5.0);
    for _ in 0..2 {
        let before = site.value("receiver", "receiver_DW.count");
        // A program that was started again gets the last sent values at once.
        let more = || site.value("receiver", "receiver_DW.count") > before + 20.0;
        site.wait_for("values go on to come", more);
        assert_eq!(site.value("receiver", "receiver_DW.torn"), 0.0);
        let restarted =
            || site.client().ask::<Done>("receiver", Verb::Restart { how: Restart::Cold }).is_ok();
        site.wait_for("the build is no longer on probation", restarted);
    }
}

#[test]
fn no_descriptor_is_left_when_the_site_is_down() {
    let mut site = Site::up(&site("10 ms"));
    site.running = None;
    // Whatever is opened once and kept, by libraries too, is open now.
    let before = descriptors();
    for _ in 0..2 {
        site.start(&self::site("10 ms"));
        assert!(descriptors() > before);
        site.running = None;
    }
    assert_eq!(descriptors(), before);
}
