//! Variables are set, forced and released, and a change without effect is reported with the reason.

use std::time::{Duration, Instant};

use crate::ground::{call, done, refused, serve};

#[test]
fn groups_are_set_and_forced_and_released() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    let said = done(at, &["set", "axis", "servo_P.Kp=3.5", "servo_P.Ki = 0.25"]);
    assert_eq!(
        said,
        "axis: 2 variables set in cycle 1\u{202f}001\n  servo_P.Kp from 2.0 to 3.5\n  servo_P.Ki \
         from 0.0 to 0.25\n"
    );
    let asked = ground.site.state().asked.last().unwrap().clone();
    assert_eq!(asked, "write axis: Set servo_P.Kp 3.5, Set servo_P.Ki 0.25");
    assert_eq!(
        done(at, &["force", "axis", "servo_U.enable=false"]),
        "axis: servo_U.enable forced from true to false in cycle 1\u{202f}002\n"
    );
    let watched = || done(at, &["watch", "axis", "servo_U.enable", "--once"]);
    assert!(watched().contains("forced"), "{}", watched());
    let said = call(at, &["set", "axis", "servo_U.enable=true"]);
    assert_eq!(
        (said.status, said.out.as_str()),
        (Some(1), "axis: nothing set in cycle 1\u{202f}003\n")
    );
    assert!(said.err.contains("`quietcore unforce axis servo_U.enable`"), "{}", said.err);
    let json = done(at, &["unforce", "axis", "servo_U.enable", "--json"]);
    assert!(json.contains("\"cycle\": 1004"), "{json}");
    assert!(json.contains("\"old\": \"false\""), "{json}");
    assert!(json.contains("\"new\": \"true\""), "{json}");
    assert!(!watched().contains("forced"), "{}", watched());
    let said = call(at, &["unforce", "axis", "servo_U.enable"]);
    assert_eq!(said.out, "axis: nothing released in cycle 1\u{202f}005\n");
    assert_eq!(said.err, "axis: servo_U.enable was not forced\n");
    assert!(done(at, &["unforce", "axis", "--all"]).contains("all released in cycle 1\u{202f}006"));
    assert!(refused(at, &["set", "axis", "servo_P.Kp=fast"]).contains("fast"));
    assert!(refused(at, &["set", "axis", "servo_P.Kq=1"]).contains("perhaps `Kp`"));
    for verb in ["set", "force"] {
        let said = refused(at, &[verb, "axis", "servo_P.Kp=nan"]);
        assert!(said.contains("`--allow-nan`"), "{said}");
    }
    for verb in ["set", "force"] {
        let said = refused(at, &[verb, "axis", "servo_P.Kp=7", "servo_P.Ki=1", "servo_P.Kp=8"]);
        assert!(said.contains("`servo_P.Kp` is named twice, with `7` and with `8`"), "{said}");
    }
    done(at, &["set", "axis", "servo_P.Kp=nan", "--allow-nan"]);
    assert!(done(at, &["watch", "axis", "servo_P.Kp", "--once"]).contains("NaN"));
    for wrong in ["servo_P.Kp", "=5", "servo_P.Kp="] {
        assert!(refused(at, &["set", "axis", wrong]).contains("NAME=VALUE"), "{wrong}");
    }
}

/// Goal: what a set can't do is said with what can, in place of a success.
#[test]
fn a_set_that_the_fieldbus_undoes_offers_a_force() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    ground.site.state().overwritten = vec!["servo_U.position".to_owned()];
    let said = call(at, &["set", "axis", "servo_U.position=3", "servo_P.Ki=2"]);
    assert_eq!(said.status, Some(1), "one of them was not set: {}", said.err);
    assert!(said.err.contains("`quietcore force axis servo_U.position=3`"), "{}", said.err);
    assert!(said.out.starts_with("axis: servo_P.Ki set from 0.0 to 2.0 in "), "{}", said.out);
}

/// Goal: the same of what the program writes itself, as it does with what a channel brings.
/// Method: `mode` follows `enable` in each cycle, and `counter` goes on from what it is set to.
#[test]
fn a_set_that_the_program_undoes_offers_a_force() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let _ground = serve(at, "line");
    let line = ["set", "axis", "servo_Y.mode=IDLE", "servo_P.Ki=2", "servo_DW.counter=7"];
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let said = call(at, &line);
        assert!(!said.err.contains("servo_P.Ki") && !said.err.contains("counter"), "{}", said.err);
        if said.err.contains("`quietcore force axis servo_Y.mode=IDLE`") {
            assert!(said.err.contains("from a channel or by itself"), "{}", said.err);
            assert_eq!(said.status, Some(1), "{}", said.err);
            assert!(said.out.starts_with("axis: 2 variables set in cycle "), "{}", said.out);
            return;
        }
        // It waits a second for a cycle at most, which a busy machine may not give it.
        assert!(Instant::now() < end, "{}", said.err);
    }
}
