//! Crashes within a channel, and whatever a sender may write into its memory.

use super::*;

/// Goal: a queue that a program crashed in is free for the build that runs again.
/// Method: the queue's sending is given an address at which there is nothing.
#[test]
fn a_queue_outlives_a_build_that_crashed_in_it() {
    let site = Site::up(&site("10 ms"));
    site.set("sender", "sender_P.burst", "1");
    site.wait_for("messages are sent", || site.value("sender", "sender_DW.sent") > 3.0);
    let changed = site.folder.path().join("changed");
    copy_model("sender", &changed);
    let source = changed.join("sender.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let wild = text.replace("i < sender_P.burst", "i < 1").replace(
        "_to_receiver_number, &sender_DW.number",
        "_to_receiver_number, (const uint8_t *)1",
    );
    assert_ne!(text, wild);
    std::fs::write(&source, wild).unwrap();
    let deployed = site
        .client()
        .ask::<Deployed>("sender", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    assert_eq!(deployed.unwrap_or_else(|error| panic!("{error}")).generation, 2);
    let reverted = || {
        let events = site.client().events(0).expect("the site answers");
        events.iter().any(|event| event.kind == "reverted")
    };
    site.wait_for("the build is taken back", reverted);
    let before = site.value("sender", "sender_DW.sent");
    site.wait_for("it sends again", || site.value("sender", "sender_DW.sent") > before + 3.0);
    assert_eq!(site.state("sender").restarts, 0, "in the same process");
}

/// Overwrites files with one byte, over and over.
fn overwrite(files: &[File], fill: u8) {
    for file in files {
        let bytes = file.metadata().expect("the size of a channel's file").len();
        let content = vec![fill; usize::try_from(bytes).expect("a file that fits memory")];
        file.write_all_at(&content, 0).expect("a channel's file is written");
    }
}

/// Goal: what a sender does to the shared memory is the receiver's data, never its fault.
/// Method: the whole channel is overwritten while both run; then the receiver has to attach to it.
#[test]
fn a_channel_full_of_nonsense_harms_nobody_and_is_mended_at_the_next_start() {
    let site = Site::up(&site("10 ms"));
    site.set("sender", "sender_P.burst", "2");
    let receiver = site.pid("receiver");
    let files = channels_of(receiver);
    // Both the inherited descriptors and those behind the mappings are overwritten.
    assert!(files.len() >= 2, "{files:?}");
    for fill in [0xff, 0x00, 0xa5] {
        overwrite(&files, fill);
        let before = site.value("receiver", "receiver_DW.steps");
        let steps = || site.value("receiver", "receiver_DW.steps") > before + 40.0;
        site.wait_for("the receiver runs on", steps);
    }
    assert_eq!(site.pid("receiver"), receiver, "still the same process");
    assert_eq!(site.state("receiver").restarts, 0);
    kill_process(receiver, Signal::KILL).unwrap();
    site.wait_for("the channel is mended", || site.has_told("has overwritten the description"));
    site.wait_for("the receiver is back", || site.state("receiver").restarts == 1);
    let fresh = || site.value("receiver", "receiver_DW.count") > 20.0;
    site.wait_for("values come again", fresh);
}

/// Goal: whatever is written into a channel notifies its receiver once a cycle at most, and harms
/// nobody.
/// Method: the memory is overwritten while both run; all counts change to nonsense and back.
#[test]
fn nonsense_in_a_channel_notifies_a_kernel_and_no_more() {
    let site = Site::up(&notified());
    site.set("sender", "sender_P.burst", "2");
    site.wait_for("it is notified", || site.value("receiver", "notified_DW.sets") > 10.0);
    let receiver = site.pid("receiver");
    let files = channels_of(receiver);
    assert!(files.len() >= 2, "{files:?}");
    for fill in [0xff, 0x00, 0xa5] {
        overwrite(&files, fill);
        // The sender goes on counting where it was.
        let before = site.value("receiver", "notified_DW.sets");
        let more = || site.value("receiver", "notified_DW.sets") > before + 20.0;
        site.wait_for("it is notified again", more);
    }
    assert_eq!(site.pid("receiver"), receiver, "still the same process");
    assert_eq!(site.state("receiver").restarts, 0);
    let paths = ["notified_DW.sets", "notified_DW.raised", "notified_DW.ticks"];
    let [sets, raised, ticks] = site.whole_values("receiver", paths);
    // The first look is at tick 0; an interrupt may have come after the last set was noted.
    assert!(sets <= ticks + 1.0 && raised <= ticks + 2.0, "{sets} {raised} in {ticks}");
}
