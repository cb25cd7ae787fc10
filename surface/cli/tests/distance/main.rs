//! `quietcore --at` and `quietcore context`: a machine is asked through its daemon, by its socket
//! and by TLS, and answers as it does where the command is given on it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
#[path = "../command/mod.rs"]
mod command;
mod plant;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use command::Said;
use plant::Plant;
use quietcore_skip::skip;
use quietcore_supervisor::fake::event;

const NOT_BUILT: &str = "there is no `quietcored` beside `quietcore`; build the package \
                         quietcore-daemon";

fn parts(said: Said) -> (Option<i32>, String, String) {
    (said.status, said.out, said.err)
}

/// Goal: what a command prints does not depend on the way by which the answers come.
/// Method: give each on the machine, through its daemon's socket and through TLS, and compare
/// status, output and remarks.
#[test]
fn a_command_prints_the_same_here_by_the_socket_and_by_tls() {
    let Some(plant) = Plant::start() else { return skip!("{NOT_BUILT}") };
    plant.add("anna", "operator");
    plant.site.state().events = (0..3).map(event).collect();
    let calls: [&[&str]; 17] = [
        &["ps", "--json"],
        &["ps"],
        &["ps", "line"],
        &["ps", "lime"],
        &["set", "axis", "servo_P.Kp=3.5"],
        &["set", "line/axis", "servo_P.Kp=3.5", "servo_P.Ki=1", "--json"],
        &["set", "axes", "servo_P.Kp=3.5"],
        &["force", "axis", "servo_U.enable=true"],
        &["unforce", "axis", "servo_U.enable", "--json"],
        &["unforce", "axis", "--all"],
        &["pause", "axis"],
        &["resume", "axis"],
        &["restart", "axis", "cold"],
        &["events"],
        &["events", "axis", "--last", "2", "--json"],
        &["events", "line"],
        &["events", "axes"],
    ];
    let again = || plant.site.state().cycle = 1000;
    for call in calls {
        again();
        let here = parts(plant.here(call));
        for at in [plant.socket(), "anna".to_owned(), plant.address()] {
            again();
            let there = parts(plant.elsewhere(&[&["--at", &at], call].concat()));
            assert_eq!(there, here, "{at}: {call:?}");
        }
    }
    let asked = plant.site.state().asked.join("\n");
    assert_eq!(asked.matches("axis: Restart").count(), 4, "{asked}");
}

/// Goal: whoever has come in by TLS is named as such to the site.
#[test]
fn a_context_is_used_until_another_one_is_meant() {
    let Some(plant) = Plant::start() else { return skip!("{NOT_BUILT}") };
    assert!(plant.elsewhere(&["ps"]).out.contains("no site runs"));
    plant.add("anna", "operator");
    assert_eq!(plant.elsewhere(&["context", "use", "anna"]).status, Some(0));
    let list = plant.elsewhere(&["context", "list"]).out;
    assert!(list.contains("*  anna  127.0.0.1:"), "{list}");
    let there = plant.elsewhere(&["ps"]);
    assert!(there.out.starts_with("line\n"), "{}{}", there.out, there.err);
    let set = plant.elsewhere(&["set", "axis", "servo_P.Kp=3.5"]);
    assert_eq!(set.status, Some(0), "{}", set.err);
    let by = plant.site.state().by.as_ref().unwrap().to_string();
    assert!(
        by.starts_with("anna (operator, certificate) as ") && by.contains("quietcore/"),
        "{by}"
    );
    assert!(plant.elsewhere(&["--at", "here", "ps"]).out.contains("no site runs"));
    let own = plant.elsewhere(&["up", "site.toml"]);
    assert_eq!(own.status, Some(2));
    assert!(own.err.contains("`up` works on its own machine only"), "{}", own.err);
    assert!(own.err.contains("ssh 127.0.0.1 quietcore up"), "{}", own.err);
    assert_eq!(plant.elsewhere(&["schema", "site"]).status, Some(0), "it is of no machine");
    assert_eq!(plant.elsewhere(&["context", "remove", "anna"]).status, Some(0));
    assert!(plant.elsewhere(&["ps"]).out.contains("no site runs"));
}

#[test]
fn each_refusal_says_what_would_be_right() {
    let Some(mut plant) = Plant::start() else { return skip!("{NOT_BUILT}") };
    plant.add("victor", "viewer");
    let refused = |arguments: &[&str]| {
        let said = plant.elsewhere(arguments);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{arguments:?}");
        said.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let role = refused(&["--at", "victor", "set", "axis", "servo_P.Kp=3.5"]);
    assert!(role.contains("needs the role operator; `victor` has the role viewer"), "{role}");
    let unknown = refused(&["--at", "viktor", "ps"]);
    assert!(unknown.contains("there is no context `viktor`; there are `victor`"), "{unknown}");
    let bare = refused(&["--at", "10.1.2.3", "ps"]);
    assert!(bare.contains("nothing says who calls"), "{bare}");
    // The certificate is for 127.0.0.1 and localhost.
    let name = format!("127.0.0.2:{}", plant.port);
    let add = |context: &str, address: &str, access: &str| {
        let call = ["context", "add", context, "--address", address, "--access", access];
        assert_eq!(plant.elsewhere(&call).status, Some(0), "{context}");
    };
    add("other-name", &name, "victor");
    let other = refused(&["--at", "other-name", "ps"]);
    assert!(
        other.contains("for another name") || other.contains("no daemon can be reached"),
        "{other}"
    );
    let key = plant.folder.path().join("victor/key.pem");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let open = refused(&["--at", "victor", "ps"]);
    assert!(open.contains("is a secret that others may read; `chmod 600` it"), "{open}");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let stranger = Plant::start().unwrap();
    stranger.add("stranger", "admin");
    let access = stranger.folder.path().join("stranger");
    add("stranger", &plant.address(), access.to_str().unwrap());
    let authority = refused(&["--at", "stranger", "ps"]);
    assert!(authority.contains("of another authority"), "{authority}");
    let revoked = plant.here(&["auth", "revoke", "victor"]);
    assert_eq!(revoked.status, Some(0), "{}", revoked.err);
    let gone = refused(&["--at", "victor", "ps"]);
    assert!(gone.contains("replaced by `quietcore auth issue`"), "{gone}");
    plant.kill();
    let said = plant.elsewhere(&["--at", "victor", "ps"]).err;
    assert!(said.contains("no daemon can be reached at"), "{said}");
}

/// Goal: the machine and its audit trail are told through the daemon as they are on the machine.
#[test]
fn the_audit_trail_is_the_same_at_a_distance() {
    let Some(plant) = Plant::start() else { return skip!("{NOT_BUILT}") };
    plant.add("anna", "operator");
    assert_eq!(plant.elsewhere(&["--at", "anna", "pause", "axis"]).status, Some(0));
    for call in [&["audit"][..], &["audit", "--json", "--who", "anna"]] {
        let there = parts(plant.elsewhere(&[&["--at", "anna"], call].concat()));
        assert!(there.1.contains("PausePartition"), "{there:?}");
        assert_eq!(there, parts(plant.here(call)), "{call:?}");
    }
    let own = plant.elsewhere(&["--at", "anna", "audit", "--verify"]);
    assert!(own.err.contains("`audit --verify` works on its own machine only"), "{}", own.err);
}
