//! Ends of channels outside of the site, and the example of two programs.

use super::*;

/// Goal: a program of the host is an end of a channel like a partition, with the same rules.
/// Method: the sender's place is taken by this test, by the name of the channels; it goes, comes
/// back, and finds the memory of a site that is up again to be another one.
#[test]
fn a_program_of_the_host_talks_with_a_partition() {
    let (receiver, _) = SITE.split_once("[[partition]]\nname = \"sender\"").expect("two of them");
    let (_, channels) = SITE.split_once("[[channel]]").expect("channels");
    let text = format!("{receiver}[[channel]]{}", channels.replace("\"sender\"", "\"host\""));
    let mut site = Site::up(&text);
    let open = |site: &Site, channel, usage| HostChannel::open(&mut site.client(), channel, usage);
    let mut sender = open(&site, "to-receiver", ChannelUse::End).expect("the end is free");
    let taken = open(&site, "to-receiver", ChannelUse::End).expect_err("one program at a time");
    assert!(taken.to_string().contains("another program of the host"), "{taken}");
    assert!(site.has_told("a program of the host is an end of channel `to-receiver`"));
    let mut answers = open(&site, "to-sender", ChannelUse::Read).expect("anybody reads");
    let send = |sender: &mut HostChannel, count: i64| {
        sender.set_text("count", &count.to_string()).unwrap();
        sender.set_text("opposite", &(-count).to_string()).unwrap();
        sender.send().unwrap();
    };
    let answer = |answers: &mut HostChannel| {
        answers.receive().unwrap();
        let signal = answers.signal("answer").unwrap().clone();
        answers.value(&signal).unwrap().as_f64().unwrap()
    };
    send(&mut sender, 14);
    sender.push_text("number", "9").unwrap();
    // The program multiplies by 3.
    let mut seen = || answer(&mut answers) == 42.0;
    let end = Instant::now() + PATIENCE;
    while !seen() {
        assert!(Instant::now() < end, "no answer comes");
        std::thread::sleep(Duration::from_millis(5));
    }
    let values = ["receiver_DW.count", "receiver_DW.received", "receiver_DW.last"];
    site.wait_for("the message came", || site.values("receiver", values) == [14.0, 1.0, 9.0]);
    assert_eq!(site.value("receiver", "receiver_DW.torn"), 0.0);
    drop(sender);
    let overdue = || site.value("receiver", "receiver_DW.status") == COM_TIMEOUT;
    site.wait_for("the timeout is flagged", overdue);
    let mut sender = open(&site, "to-receiver", ChannelUse::End).expect("it is free again");
    send(&mut sender, 15);
    let fresh = || site.value("receiver", "receiver_DW.status") == 0.0;
    site.wait_for("values come again", fresh);
    assert!(sender.is_up().unwrap());
    site.running = None;
    assert!(!sender.is_up().unwrap());
    site.start(&text);
    assert!(open(&site, "to-receiver", ChannelUse::End).is_ok(), "the old memory has its own lock");
}

/// Goal: the example of two programs that talk works as it says.
/// Method: it is run without real-time priority, on the CPUs there are, until the panel has seen
/// the axis leave its first station.
#[test]
fn the_panel_of_the_example_commands_the_axis() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("examples/cell.toml")).expect("the example");
    let mut patient = text.clone();
    for (strict, mild) in [
        ("priority = 90", "policy = \"other\""),
        ("priority = 50", "policy = \"other\""),
        ("watchdog = \"500 us\"", "watchdog = \"1 s\""),
        ("watchdog = \"4 ms\"", "watchdog = \"1 s\""),
        ("\"adaptive\"", "\"off\""),
        ("\"../models", &format!("\"{}/models", root.canonicalize().unwrap().display())),
        ("\"../models", &format!("\"{}/models", root.canonicalize().unwrap().display())),
    ] {
        assert!(patient.contains(strict), "{strict}");
        patient = patient.replacen(strict, mild, 1);
    }
    let site = Site::up(&patient);
    let connected = || site.value("hmi", "setpoint_Y.is_connected") == 1.0;
    site.wait_for("the axis answers", connected);
    let left = || site.values("hmi", ["setpoint_DW.station", "setpoint_B.position"])[1] > 10.0;
    site.wait_for("the axis moves to another station", left);
    assert_eq!(site.value("axis", "servo_B.command_status"), 0.0);
    assert!(site.value("axis", "servo_B.commanded_velocity") <= 250.0);
}
