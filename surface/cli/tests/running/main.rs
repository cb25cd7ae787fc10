//! The commands for running sites, against a served site whose program runs in this test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod change;
mod channel;
#[expect(dead_code, reason = "other tests call it without a running site")]
#[path = "../command/mod.rs"]
mod command;
mod completion;
mod ground;
mod plot;
mod round_trip;
mod started;
mod width;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use ground::{call, command_in, done, places, refused, serve, serve_standing};
use quietcore_supervisor::control::{Activity, EventLine};
use quietcore_supervisor::fake;

#[test]
fn without_a_running_site_the_way_to_start_one_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert_eq!(done(at, &["ps"]), "no site runs\n");
    assert!(done(at, &["ps", "--json"]).contains("\"sites\": []"));
    for arguments in [
        &["watch", "axis", "x"][..],
        &["channel", "setpoint"],
        &["set", "axis", "x=1"],
        &["force", "axis", "x=1"],
        &["unforce", "axis", "--all"],
        &["trace", "axis", "x", "--out", "x.csv"],
        &["deploy", "axis", "."],
        &["restart", "axis"],
        &["top", "--once"],
        &["events"],
        &["events", "axis"],
        &["down"],
    ] {
        let said = refused(at, arguments);
        assert!(said.contains("no site runs") && said.contains("quietcore up"), "{said}");
    }
    assert!(refused(at, &["up", "none.toml"]).contains("none.toml"));
}

#[test]
fn what_runs_is_listed_and_found_by_name_and_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    for arguments in [&["ps"][..], &["ps", "line"], &["ps", "line.toml"]] {
        let said = call(at, arguments);
        // One of the partitions waits for its restart.
        assert_eq!(said.status, Some(1), "{}", said.err);
        assert!(said.out.contains("axis      process running"), "{}", said.out);
        assert!(said.out.contains("tank: restart in 4.00 s: segmentation fault"), "{}", said.out);
    }
    let json: serde_json::Value = serde_json::from_str(&call(at, &["ps", "--json"]).out).unwrap();
    assert_eq!(json["schema"], "quietcore.sites/1");
    assert_eq!(json["sites"][0]["partitions"][0]["release_ns_max"], 187_000);
    {
        let mut state = ground.site.state();
        state.partitions.truncate(1);
        state.partitions[0].state = Activity::Starting;
    }
    assert_eq!(call(at, &["ps"]).status, Some(1), "what is starting does not run");
    ground.site.state().partitions[0].state = Activity::Running;
    assert_eq!(call(at, &["ps"]).status, Some(0));
    let said = call(at, &["top"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("`quietcore top --once`"), "{}", said.err);
    let said = refused(at, &["ps", "lime"]);
    assert!(said.contains("did you mean `line`?"), "{said}");
    ground.site.state().program.as_ref().unwrap().step(100);
    let once = done(at, &["top", "--once"]);
    assert!(once.contains("worst release") && once.contains("40.0 µs"), "{once}");
}

/// Goal: a copy of a site file does not end the site of the original, and says whose it is.
/// Method: a file with the name of a site that runs from `line.toml`.
#[test]
fn a_file_whose_site_runs_from_another_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let Some(copy) = command::site(at, "duration = \"1 s\"") else {
        quietcore_skip::skip!("a machine with one CPU has none for a partition");
        return;
    };
    let ground = serve(at, "test");
    for verb in ["down", "ps"] {
        let said = refused(at, &[verb, &copy]);
        assert!(said.contains("site `test` runs from `") && said.contains("line.toml`"), "{said}");
    }
    assert!(!ground.site.state().asked.contains(&"down".to_owned()));
}

#[test]
fn a_log_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let Some(site) = command::site(at, "duration = \"1 s\"") else {
        quietcore_skip::skip!("a machine with one CPU has none for a partition");
        return;
    };
    fs::create_dir(places(at).state_folder("test", &at.join(&site)).unwrap().join("up.log"))
        .unwrap();
    let said = refused(at, &["up", &site, "--detach"]);
    assert!(said.contains("/up.log` can't be opened for writing"), "{said}");
    assert!(said.contains("`QUIETCORE_STATE_DIR`"), "{said}");
}

#[test]
fn among_several_sites_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let _first = serve(at, "line");
    let _second = serve(at, "press");
    let said = refused(at, &["watch", "axis", "servo_P"]);
    assert!(said.contains("`line`, `press`") && said.contains("`line/axis`"), "{said}");
    for arguments in [
        &["watch", "press/axis", "servo_P.Kp", "--once"][..],
        &["watch", "axis", "servo_P.Kp", "--site", "press", "--once"],
    ] {
        assert!(done(at, arguments).starts_with("press/axis"));
    }
    assert!(refused(at, &["down"]).contains("--site line"));
}

#[test]
fn variables_are_watched_once_as_lines_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    let once = done(at, &["watch", "axis", "servo_P", "servo_Y.mode", "--once"]);
    let lines: Vec<&str> = once.lines().collect();
    assert!(lines[0].starts_with("line/axis  build 1  cycle "), "{once}");
    assert!(lines[2].starts_with("servo_P.Kp") && lines[2].contains("2.0"), "{once}");
    assert!(lines[7].contains("RUN") && lines[7].contains("Mode"), "{once}");
    let rated = ["watch", "axis", "servo_DW.counter", "--rate", "50", "--for", "200 ms"];
    // A machine that stands still has fewer samples in that time, and never more: try again.
    let has_enough = (0..20).any(|_| {
        let several = done(at, &rated);
        assert!((1..=11).contains(&several.lines().count()), "{several}");
        several.lines().count() >= 5
    });
    assert!(has_enough, "fewer than 5 samples in each of 20 times");
    let json = done(at, &["watch", "axis", "servo_DW.counter", "servo_Y", "--once", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["consistent"], true);
    let (cycle, values) = (json["cycle"].as_u64().unwrap(), &json["values"]);
    assert_eq!(values[0]["value"], cycle + 1, "all of one cycle");
    assert_eq!(values[1]["value"].as_f64().unwrap(), (cycle + 1) as f64);
    let said = refused(at, &["watch", "axis", "servo_P.Kq"]);
    assert!(said.contains("there is no `Kq` in `servo_P`; perhaps `Kp`"), "{said}");
    assert!(refused(at, &["watch", "axsi", "servo_P"]).contains("did you mean `axis`?"));
    assert!(refused(at, &["watch", "tank", "servo_P"]).contains("tank"));
    drop(ground);
}

#[test]
fn only_changes_are_told_and_a_reader_that_goes_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    let arguments = ["watch", "axis", "servo_P", "--changes", "--rate", "100"];
    let mut child = command_in(at, &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Vec<String> = (&mut lines).take(5).map(Result::unwrap).collect();
    assert!(first[0].ends_with("servo_P.Kp 2.0"), "{first:?}");
    done(at, &["set", "axis", "servo_P.limits[1]=-7.5"]);
    assert!(lines.next().unwrap().unwrap().ends_with("servo_P.limits[1] -7.5"));
    drop(lines);
    let end = Instant::now() + Duration::from_secs(10);
    let mut value = 0;
    loop {
        // Something must be said for it to see that nobody listens.
        value += 1;
        done(at, &["set", "axis", &format!("servo_P.Ki={value}")]);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        assert!(Instant::now() < end, "it still runs");
    }
    drop(ground);
}

#[test]
fn events_are_told_by_partition_and_followed_until_the_site_is_down() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    let events = (0..600).map(|number| EventLine {
        partition: if number % 3 == 0 { "tank" } else { "axis" }.to_owned(),
        ..fake::event(number)
    });
    ground.site.state().events = events.collect();
    let all = done(at, &["events"]);
    assert_eq!(all.lines().count(), 600);
    assert!(all.starts_with("2026-11-21 20:15:03.250Z ! tank overrun: overrun 0: 1.2 ms"), "{all}");
    for arguments in [
        &["events", "line/axis", "--last", "2"][..],
        &["events", "axis", "-n", "2"],
        &["events", "axis", "--site", "line", "--last", "2"],
    ] {
        let last = done(at, arguments);
        assert_eq!(last.lines().count(), 2, "{last}");
        assert!(last.contains("axis overrun: overrun 598") && !last.contains("tank"), "{last}");
    }
    assert_eq!(done(at, &["events", "--site", "line.toml", "--last", "0"]), "");
    // A site is named as to `ps`, and to `ps` as here.
    assert_eq!(done(at, &["events", "line"]).lines().count(), 600);
    for verb in [&["ps", "line"][..], &["ps", "--site", "line"], &["ps", "--site", "line.toml"]] {
        let said = call(at, verb);
        assert!(said.out.starts_with("line"), "{}{}", said.out, said.err);
    }
    let json = done(at, &["events", "tank", "--last", "1", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "quietcore.event/1");
    assert_eq!((&json["site"], &json["partition"]), (&"line".into(), &"tank".into()));
    assert_eq!((&json["sequence"], &json["severity"]), (&597.into(), &"warning".into()));
    assert!(refused(at, &["events", "axsi"]).contains("did you mean `axis`?"));
    ground.site.state().events.drain(..100);
    let said = call(at, &["events"]);
    assert_eq!((said.status, said.out.lines().count()), (Some(0), 500));
    assert!(said.err.contains("100 older events are forgotten"), "{}", said.err);

    let arguments = ["events", "tank", "--follow"];
    let mut child = command_in(at, &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Vec<String> = (&mut lines).take(10).map(Result::unwrap).collect();
    assert!(first[9].contains("overrun 597"), "{first:?}");
    for number in 600..604 {
        let event = EventLine {
            partition: if number == 602 { "tank" } else { "axis" }.to_owned(),
            ..fake::event(number)
        };
        ground.site.state().events.push(event);
    }
    assert!(lines.next().unwrap().unwrap().contains("overrun 602"));
    drop(ground);
    assert!(lines.next().is_none(), "the end of the site ends it");
    assert!(child.wait().unwrap().success());
}

/// Goal: whoever comes after a site is down learns what happened to it.
#[test]
fn the_events_of_a_site_that_is_down_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("press.toml"), "").unwrap();
    let state = places(at).state_folder("press", &at.join("press.toml")).unwrap();
    let lines = (0..3).map(|it| serde_json::to_string(&fake::event(it)).unwrap() + "\n");
    fs::write(state.join("events.jsonl"), lines.collect::<String>()).unwrap();
    for arguments in [
        &["events"][..],
        &["events", "axis"],
        &["events", "press"],
        &["events", "press/axis"],
        &["events", "--site", "press.toml"],
    ] {
        let said = call(at, arguments);
        assert_eq!((said.status, said.out.lines().count()), (Some(0), 3), "{}", said.err);
        assert!(
            said.err.contains("site `press` (") && said.err.contains("is down"),
            "{}",
            said.err
        );
    }
    assert!(done(at, &["events", "press", "-n", "1"]).contains("overrun 2"));
    assert!(refused(at, &["events", "tank"]).contains("no site runs"));
    assert!(refused(at, &["events", "--follow"]).contains("no site runs"));
    let _ground = serve(at, "line");
    assert_eq!(done(at, &["events"]), "", "it is the one that runs");
    assert_eq!(done(at, &["events", "press"]).lines().count(), 3);
}

#[test]
fn programs_are_deployed_restarted_and_brought_down() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    let said = call(at, &["deploy", "axis", "."]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.out.starts_with(
        "axis: build 2 runs since cycle 70\u{202f}001 and has passed its probation\nno cycle \
         was lost"
    ));
    assert_eq!(said.err, "building\nstaged\n");
    let asked = ground.site.state().asked.last().unwrap().clone();
    assert_eq!(
        asked,
        format!("deploy axis {}, until proven", at.canonicalize().unwrap().display())
    );
    assert!(refused(at, &["deploy", "axis", "nowhere"]).contains("nowhere"));
    assert_eq!(done(at, &["restart", "axis", "cold"]), "axis: started cold\n");
    let said = call(at, &["pause", "axis"]);
    assert!(said.out.starts_with("axis: paused; "), "{}", said.out);
    assert!(said.err.contains("take their outputs away"), "it has a fieldbus: {}", said.err);
    assert_eq!(done(at, &["resume", "axis"]), "axis: was not paused\n");
    ground.site.state().partitions[0].state = Activity::Paused;
    assert!(done(at, &["pause", "axis"]).starts_with("axis: is paused already; "));
    assert_eq!(done(at, &["resume", "axis"]), "axis: goes on\n");
    let asked = ground.site.state().asked.clone();
    assert!(asked.ends_with(&["pause axis".to_owned(), "resume axis".to_owned()]), "{asked:?}");
    let child = command_in(at, &["down", "line"]).stdout(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    while !ground.site.state().asked.contains(&"down".to_owned()) {
        assert!(Instant::now() < end, "nobody asked for the end");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(ground);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "line: down\n");
}

#[test]
fn recordings_are_written_drawn_and_kept_as_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let histogram = "# Histogram\n000000 000000\n000001 000004\n# Total: 000000004\n# Min \
                     Latencies: 00001\n# Avg Latencies: 00001\n# Max Latencies: 00001\n# \
                     Histogram Overflows: 00000\n";
    fs::write(at.join("latencies"), histogram).unwrap();
    done(at, &["import", "cyclictest", "latencies", "--out", "evidence"]);
    let ground = serve_standing(at, "line");
    let mut command = command_in(
        at,
        &[
            "trace",
            "axis",
            "servo_Y.torque",
            "servo_U.enable",
            "--samples",
            "40",
            "--trigger",
            "rising servo_DW.counter >= 200",
            "--pre",
            "25%",
            "--out",
            "run.csv",
            "--plot",
            "run.svg",
            "--evidence",
            "evidence",
        ],
    );
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program begins after the trace, so that the trigger is still to come.
    let end = Instant::now() + Duration::from_secs(60);
    while !ground.site.state().asked.iter().any(|asked| asked.starts_with("trace-start axis")) {
        assert!(Instant::now() < end, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
    ground.site.state().program.as_ref().unwrap().run_every(Duration::from_micros(500));
    let said = command::said(&child.wait_with_output().unwrap());
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.out.starts_with("line/axis: 40 of 40 samples, 0 lost"), "{}", said.out);
    for path in ["run.csv", "evidence/traces/line-axis.csv", "run.svg"] {
        assert!(said.err.contains(&format!("wrote {path}\n")), "{}", said.err);
    }
    let table = fs::read_to_string(at.join("run.csv")).unwrap();
    assert_eq!(table.lines().count(), 41);
    assert!(table.starts_with("cycle,monotonic_ns,seconds,lost_before,servo_Y.torque,"));
    assert!(fs::read_to_string(at.join("run.svg")).unwrap().contains("servo_Y.torque"));
    let kept = fs::read_to_string(at.join("evidence/traces/line-axis.csv")).unwrap();
    assert_eq!(kept, table);
    let page = fs::read_to_string(at.join("evidence/report.html")).unwrap();
    assert!(page.contains("id=\"recordings\"") && page.contains("servo_Y.torque"));
    let shown = call(at, &["show", "evidence"]);
    assert!(!shown.out.contains("damaged") && !shown.err.contains("damaged"), "{}", shown.err);
    fs::write(at.join("evidence/traces/other.csv"), "x").unwrap();
    let once = ["trace", "axis", "servo_Y", "--samples", "1"];
    let said = refused(at, &[&once[..], &["--evidence", "evidence"]].concat());
    assert!(said.contains("`traces/other.csv` has no sum"), "{said}");
    let said = done(at, &[&once[..], &["--out", "run.parquet", "--json"]].concat());
    assert!(said.contains("\"samples\": 1"), "{said}");
    assert_eq!(fs::read(at.join("run.parquet")).unwrap()[..4], *b"PAR1");
    for (option, name) in [("--out", "run.txt"), ("--plot", "run.png"), ("--out", "none/run.csv")] {
        let said = refused(at, &[&once[..], &[option, name]].concat());
        assert!(said.contains(name), "{said}");
    }
    let said = refused(at, &[&once[..], &["--out", "x.csv", "--task", "slow"]].concat());
    assert!(said.contains("no task `slow`; there are `main`"), "{said}");
}

/// Goal: a command line that lacks something, or has it elsewhere, is answered with what is right.
#[test]
fn usage_errors_name_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let _ground = serve(at, "line");
    for (arguments, right) in [
        (&["trace", "axis", "x"][..], "--out <FILE>|--plot <FILE>|--evidence <DIR>"),
        (&["unforce", "axis"], "<NAME|--all>"),
        (&["restart", "axis", "--cold"], "write `quietcore restart axis cold`"),
        (&["restart", "axis", "--origin"], "write `quietcore restart axis origin`"),
        (&["man", "m2"], "`quietcore man --out DIR`"),
        (&["report", "runs", "--csv", "x.csv"], "write `--csv x`"),
        (
            &["trace", "axis", "servo_Y", "--samples", "1", "--plot", "none/x.svg"],
            "`none/x.svg` can't be written: there is no folder `none`",
        ),
        (
            &["trace", "axis", "servo_Y", "--samples", "1", "--out", "none/x.csv"],
            "`none/x.csv` can't be written: there is no folder `none`",
        ),
    ] {
        let said = refused(at, arguments);
        assert!(said.contains(right), "{arguments:?}: {said}");
    }
}

#[test]
fn help_teaches_with_examples_and_fits_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    for verb in [
        "up", "ps", "top", "events", "watch", "set", "force", "unforce", "trace", "deploy",
        "restart", "pause", "resume",
    ] {
        let help = done(folder.path(), &[verb, "--help"]);
        let teaches = help.contains("Example") || verb == "top";
        assert!(teaches, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{verb}: {help}");
    }
}

#[test]
fn a_trigger_that_does_not_come_is_given_up_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let _ground = serve(at, "line");
    let plot = ["--trigger", "servo_Y.torque < -1", "--timeout", "300 ms", "--plot", "run.svg"];
    let said = call(at, &[&["trace", "axis", "servo_Y.torque"][..], &plot].concat());
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert!(said.err.contains("line/axis: waiting for `servo_Y.torque < -1`"), "{}", said.err);
    let why =
        "the trigger did not come, nothing was written; ended early: it was waited for 300 ms";
    assert!(said.out.contains(why), "{}", said.out);
    assert!(!at.join("run.svg").exists());
}
