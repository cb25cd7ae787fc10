//! Tests of `channel`, against a served site; the tests hold the partitions' ends of its channels.

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_process::channel::{ChannelMemory, HostEnd};
use quietcore_supervisor::fake;
use quietcore_units::Nanos;
use serde_json::Value;

use crate::ground::{Ground, call, command_in, done, refused, serve};

/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A served site with the channels of [`fake::CHANNELS`].
struct Site {
    folder: tempfile::TempDir,
    ground: Ground,
}

impl Site {
    fn serve() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ground = serve(folder.path(), "line");
        let classes = quietcore_record::class::catalogue();
        // What is read is always older than that.
        let text = fake::CHANNELS.replace("initial = 0.5", "initial = 0.5, timeout = \"1 us\"");
        let site = quietcore_site::read("line.toml", text.as_bytes(), &classes).unwrap();
        ground.site.state().channels = Some(fake::channels(&site));
        Self { folder, ground }
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    fn memory(&self, channel: &str) -> std::sync::Arc<ChannelMemory> {
        self.ground.site.state().channels.as_ref().unwrap().memory(channel).unwrap()
    }

    /// The partition's end of a channel that leads to it.
    fn receiver(&self, channel: &str) -> HostEnd {
        HostEnd::receive_on(self.memory(channel).file().unwrap()).unwrap()
    }

    /// The partition's end of a channel that comes from it.
    fn sender(&self, channel: &str) -> HostEnd {
        HostEnd::send_on(self.memory(channel).file().unwrap()).unwrap()
    }

    fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = command_in(self.at(), arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().next().expect("a line")).expect("JSON")
}

#[test]
fn what_is_sent_arrives_at_once_and_what_is_not_named_stays() {
    let site = Site::serve();
    let mut axis = site.receiver("setpoint");
    let said = done(site.at(), &["channel", "setpoint", "target=12.5", "code=7"]);
    assert_eq!(said, "setpoint: sent 1 value and 1 message\n");
    let received = axis.receive().unwrap();
    assert_eq!((received.count, received.updated), (1, true));
    let values = [axis.value(1).unwrap(), axis.value(2).unwrap()];
    assert_eq!(values, [12.5_f64.to_bits(), 1], "`enabled` keeps its initial value");
    let mut message = [0; 8];
    assert_eq!(axis.receive_message(3, &mut message).unwrap().unwrap().bytes, 1);
    assert_eq!(message[0], 7);
    // The next sender goes on with what the last one has sent.
    done(site.at(), &["channel", "line/setpoint", "enabled=false"]);
    assert_eq!(axis.receive().unwrap().count, 2);
    assert_eq!([axis.value(1).unwrap(), axis.value(2).unwrap()], [12.5_f64.to_bits(), 0]);
    let read = json(&done(site.at(), &["channel", "setpoint", "--once", "--json"]));
    assert_eq!((&read["sending"], &read["overdue"]), (&2.into(), &false.into()));
    assert_eq!((&read["from"], &read["to"]), (&Value::Null, &"axis".into()));
    assert_eq!(read["values"][0]["value"], 12.5);
}

#[test]
fn values_are_followed_and_messages_taken_once() {
    let site = Site::serve();
    let mut axis = site.sender("actual");
    let said = call(site.at(), &["channel", "actual", "--once"]);
    assert_eq!(said.status, Some(1), "overdue: {}", said.err);
    assert!(
        said.out.contains("from `axis` to the host  nothing sent yet, overdue"),
        "{}",
        said.out
    );
    assert!(said.out.contains("position    0.5  f64"), "{}", said.out);
    axis.set(1, 3.25_f64.to_bits()).unwrap();
    axis.send(Nanos::new(1)).unwrap();
    for code in [5_i16, -6] {
        axis.send_message(2, Nanos::new(2), &code.to_le_bytes()).unwrap();
    }
    let follow = ["channel", "actual", "--for", "100 ms", "--rate", "50"];
    assert_eq!(done(site.at(), &follow), "1 position 3.25\n", "messages stay, values come once");
    let taken = done(site.at(), &["channel", "actual", "--take", "--for", "100 ms"]);
    assert_eq!(taken, "1 position 3.25\nalarm 5\nalarm -6\n");
    let again = ["channel", "actual", "--take", "--json", "--for", "100 ms"];
    assert_eq!(done(site.at(), &again).lines().count(), 1, "each message came once");
}

/// Goal: an end has one program, and nothing is left of one that was killed.
/// Method: a sender that repeats its value is joined by a second one, killed, and followed.
#[test]
fn two_senders_are_refused_and_a_killed_one_leaves_nothing() {
    let site = Site::serve();
    let mut axis = site.receiver("setpoint");
    let mut first =
        site.begin(&["channel", "setpoint", "target=1", "--every", "5 ms", "--for", "60 s"]);
    wait_for("it sends again", || axis.receive().unwrap().count > 3);
    let said = refused(site.at(), &["channel", "setpoint", "target=2"]);
    assert!(said.contains("another program of the host is this end of the channel"), "{said}");
    assert!(
        done(site.at(), &["channel", "setpoint", "--once"]).contains("target"),
        "reading is free"
    );
    first.kill().unwrap();
    first.wait().unwrap();
    let before = axis.receive().unwrap().count;
    done(site.at(), &["channel", "setpoint", "target=2"]);
    assert_eq!(axis.receive().unwrap().count, before + 1, "the count goes on");
    assert_eq!(axis.value(1).unwrap(), 2.0_f64.to_bits());
}

#[test]
fn what_the_site_does_not_allow_is_refused_with_the_way_out() {
    let site = Site::serve();
    for (arguments, parts) in [
        (&["channel", "setpiont"][..], &["no such channel", "did you mean `setpoint`?"][..]),
        (&["channel", "between", "x=1"], &["from partition `axis` to `hmi`", "make `host` an end"]),
        (&["channel", "actual", "position=1"], &["comes from partition `axis`", "`--take`"]),
        (&["channel", "setpoint", "--take"], &["leads to partition `axis`"]),
        (&["channel", "setpoint", "tarhet=1"], &["did you mean `target`?"]),
        (&["channel", "setpoint", "target=fast"], &["signal `target`", "say a number"]),
        (&["channel", "setpoint", "code=300"], &["does not fit type u8"]),
        (&["channel", "setpoint", "code=3", "--every", "5ms"], &["there are only messages"]),
        (
            &["channel", "setpoint", "target=1", "target=2", "code=3"],
            &["`target` is named twice, with `1` and with `2`"],
        ),
    ] {
        let said = refused(site.at(), arguments);
        assert!(parts.iter().all(|part| said.contains(part)), "{arguments:?}: {said}");
    }
    let mut axis = site.receiver("setpoint");
    assert_eq!(axis.receive().unwrap().count, 0, "nothing was sent");
    assert_eq!(axis.receive_message(3, &mut [0; 8]), Ok(None), "no message either");
    assert!(done(site.at(), &["channel", "between", "--once"]).contains("x"), "anybody reads");
}

/// Goal: nobody sends a message twice because a later one had no place.
#[test]
fn a_full_queue_is_told_with_what_was_sent_and_what_was_not() {
    let site = Site::serve();
    let mut axis = site.receiver("setpoint");
    let all = ["channel", "setpoint", "target=4", "code=1", "code=2", "code=3"];
    let said = refused(site.at(), &all);
    let left = "sent `code=1`, `code=2`; not sent `code=3`, `target=4`: the queue is full";
    assert!(said.contains(left), "{said}");
    assert_eq!(axis.receive().unwrap().count, 0, "no value was sent");
    let said = refused(site.at(), &["channel", "setpoint", "code=4"]);
    assert!(said.starts_with("quietcore: not sent `code=4`: the queue is full"), "{said}");
    let mut message = [0; 8];
    for code in [1, 2] {
        assert!(axis.receive_message(3, &mut message).unwrap().is_some());
        assert_eq!(message[0], code);
    }
    assert_eq!(axis.receive_message(3, &mut message), Ok(None));
}

#[test]
fn who_follows_a_channel_is_told_when_its_site_is_down() {
    let site = Site::serve();
    let child = site.begin(&["channel", "setpoint"]);
    wait_for("it reads", || {
        site.ground.site.state().asked.contains(&"channel setpoint: Read".into())
    });
    let Site { folder, ground } = site;
    drop(ground);
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("site `line` is down"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 target 0.0\n0 enabled true\n");
    drop(folder);
}
