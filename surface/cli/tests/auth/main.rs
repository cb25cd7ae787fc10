//! `quietcore auth`, as a person uses it.

#[expect(dead_code, reason = "other tests call it in other ways")]
#[path = "../command/mod.rs"]
mod command;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use command::call;

/// Goal: a person gets from nothing to a list of what was handed out, and takes it back.
#[test]
fn access_is_handed_out_listed_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let auth = |line: &str| {
        let words: Vec<&str> = ["auth"].into_iter().chain(line.split(' ')).collect();
        call(folder.path(), &words)
    };
    let early = auth("list");
    assert_eq!(early.status, Some(2));
    assert!(early.err.contains("make it with `quietcore auth init`"), "{}", early.err);
    assert!(!folder.path().join("state").exists(), "looking makes no folder");
    let made = auth("init --name plant7.example --address 10.1.2.3");
    assert_eq!(made.status, Some(0), "{}", made.err);
    assert!(made.out.contains("plant7.example") && made.out.contains("10.1.2.3"), "{}", made.out);
    assert_eq!(auth("init").status, Some(2), "there is one already");
    let issued = auth("issue anna --role operator --grant line/axis --days 30");
    assert_eq!(issued.status, Some(0), "{}", issued.err);
    let key = fs::metadata(folder.path().join("anna/key.pem")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    let token = auth("token dashboard --role viewer");
    assert_eq!(token.status, Some(0), "{}", token.err);
    let secret = token.out.trim();
    assert!(secret.starts_with("quietcore_") && !token.err.contains(secret), "{}", token.err);
    let list = auth("list");
    assert!(list.out.contains("line/axis") && list.out.contains("everything"), "{}", list.out);
    let listed: serde_json::Value = serde_json::from_str(&auth("list --json").out).unwrap();
    assert_eq!(listed["schema"], "quietcore.credentials/1");
    let states = |of: &serde_json::Value| {
        let all = of["credentials"].as_array().unwrap();
        all.iter().map(|it| it["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states(&listed), ["holds", "holds"]);
    assert!(!listed.to_string().contains("sha256") && !listed.to_string().contains(secret));
    assert_eq!(auth("revoke anna").status, Some(0));
    assert_eq!(auth("revoke anna").status, Some(2), "nothing is left");
    let listed: serde_json::Value = serde_json::from_str(&auth("list --json").out).unwrap();
    assert_eq!(states(&listed), ["revoked", "holds"]);
}

/// Goal: who may reach the daemon is as much a part of the trail as what they do.
#[test]
fn each_change_of_access_is_in_the_audit_trail() {
    let folder = tempfile::tempdir().unwrap();
    let auth = |words: &[&str]| call(folder.path(), &[&["auth"], words].concat());
    auth(&["init"]);
    auth(&["init"]);
    auth(&["issue", "anna", "--role", "operator", "--grant", "line/axis"]);
    let token = auth(&["token", "dashboard", "--role", "viewer"]);
    auth(&["revoke", "anna"]);
    auth(&["list"]);
    let trail = call(folder.path(), &["audit", "--json"]).out;
    let entries: Vec<serde_json::Value> =
        trail.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |it: &serde_json::Value| {
        let word = |name: &str| it[name].as_str().unwrap().to_owned();
        (word("kind"), word("call"))
    };
    let told: Vec<(String, String)> = entries.iter().skip(1).map(told).collect();
    let expected = ["init", "init", "issue", "token", "revoke"].into_iter().flat_map(|call| {
        let call = format!("auth {call}");
        [("intended".to_owned(), call.clone()), ("done".to_owned(), call)]
    });
    let mut expected: Vec<(String, String)> = expected.collect();
    expected[3].0 = "refused".to_owned();
    assert_eq!(told, expected);
    let issued = &entries[6]["what"];
    assert_eq!((&issued["name"], &issued["role"]), (&"anna".into(), &"operator".into()));
    assert_eq!(entries[10]["what"]["revoked"][0]["serial"], issued["serial"]);
    assert_eq!(entries[5]["who"]["via"], "command line");
    assert!(!trail.contains(token.out.trim()), "no secret is in the trail");
    assert_eq!(call(folder.path(), &["audit", "--verify"]).status, Some(0));
    let list = call(folder.path(), &["audit"]).out;
    assert!(list.contains("auth issue grants"), "{list}");
}

/// Goal: a trail that can't be written keeps nobody from taking access back.
#[test]
fn access_is_taken_back_without_a_trail_and_not_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let auth = |words: &[&str]| call(folder.path(), &[&["auth"], words].concat());
    auth(&["init"]);
    auth(&["issue", "anna", "--role", "operator"]);
    let trail = folder.path().join("state/@daemon/audit.db");
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", trail.display()));
    }
    fs::create_dir(&trail).unwrap();
    let refused = auth(&["issue", "bert", "--role", "viewer"]);
    assert_eq!(refused.status, Some(2), "{}", refused.out);
    assert!(!folder.path().join("bert").exists(), "{}", refused.err);
    let revoked = auth(&["revoke", "anna"]);
    assert_eq!(revoked.status, Some(0), "{}", revoked.err);
    assert!(revoked.err.contains("not in the audit trail"), "{}", revoked.err);
    assert!(auth(&["list"]).out.contains("revoked"));
}

#[test]
fn names_roles_grants_and_lives_that_are_none_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(call(folder.path(), &["auth", "init"]).status, Some(0));
    let cases: [&[&str]; 8] = [
        &["issue", "../anna", "--role", "viewer"],
        &["issue", "an\nna", "--role", "viewer"],
        &["issue", "🙂", "--role", "viewer"],
        &["issue", "anna", "--role", "root"],
        &["issue", "anna", "--role", "viewer", "--grant", "line/axis/x"],
        &["issue", "anna", "--role", "viewer", "--days", "0"],
        &["token", "anna", "--role", "viewer", "--hours", "9000"],
        &["issue", "anna", "--role", "viewer", "--out", "state"],
    ];
    for case in cases {
        let said = call(folder.path(), &[&["auth"], case].concat());
        assert_eq!(said.status, Some(2), "{case:?}: {}", said.err);
        assert_eq!(said.out, "", "{case:?}");
    }
    let list = call(folder.path(), &["auth", "list"]);
    assert_eq!(list.out, "nothing was handed out yet\n");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
