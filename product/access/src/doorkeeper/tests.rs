//! Credentials are made in a folder and shown to the doorkeeper.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use jiff::SignedDuration;
use tempfile::TempDir;

use super::*;
use crate::{CERTIFICATE_DAYS_MAX, Order, ServerNames};

fn folder() -> (TempDir, Access) {
    let state = TempDir::new().expect("a folder");
    let access = Access::of_state(state.path());
    access.init(&names(), Timestamp::now()).expect("an authority");
    (state, access)
}

fn names() -> ServerNames {
    ServerNames::new(vec!["plant7".to_owned()], Vec::new()).expect("a name")
}

fn order(name: &str, role: Role) -> Order {
    Order { name: name.parse().expect("a name"), role, grants: Grants::default() }
}

fn hours(count: i64) -> SignedDuration {
    SignedDuration::from_hours(count)
}

#[test]
fn a_token_opens_until_its_end_and_its_secret_is_nowhere() {
    let (_state, access) = folder();
    let now = Timestamp::now();
    let issued = access.token(&order("anna", Role::Operator), 8, now).expect("a token");
    let keeper = Doorkeeper::of(&access).expect("a registry");
    let found = keeper.by_token(&issued.secret).expect("it holds");
    assert_eq!((found.name.as_str(), found.role), ("anna", Role::Operator));
    let at = |time| keeper.find(CredentialKind::Token, issued.secret.as_bytes(), time);
    assert!(at(now + hours(8) - SignedDuration::from_secs(1)).is_ok());
    assert!(matches!(at(now + hours(8)), Err(Refused::Expired { .. })));
    for entry in fs::read_dir(access.folder()).expect("a folder").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a text");
        assert!(!text.contains(&issued.secret[TOKEN_PREFIX.len()..]), "{:?}", entry.path());
    }
    assert!(!format!("{issued:?}").contains(&issued.secret));
}

#[test]
fn what_was_revoked_opens_no_more_at_the_next_call() {
    let (_state, access) = folder();
    let now = Timestamp::now();
    let first = access.token(&order("anna", Role::Admin), 8, now).expect("a token");
    let second = access.token(&order("anna", Role::Viewer), 8, now).expect("a token");
    let other = access.token(&order("bert", Role::Viewer), 8, now).expect("a token");
    let keeper = Doorkeeper::of(&access).expect("a registry");
    assert!([&first, &second, &other].iter().all(|it| keeper.by_token(&it.secret).is_ok()));
    access.revoke(&first.credential.serial, now).expect("it held");
    assert!(matches!(keeper.by_token(&first.secret), Err(Refused::Revoked { .. })));
    assert!(keeper.by_token(&second.secret).is_ok());
    assert_eq!(access.revoke("anna", now).expect("one held").len(), 1);
    assert!(matches!(keeper.by_token(&second.secret), Err(Refused::Revoked { .. })));
    assert!(keeper.by_token(&other.secret).is_ok());
    assert!(matches!(access.revoke("anna", now), Err(AccessError::NoCredential(_))));
}

#[test]
fn a_registry_that_is_damaged_or_gone_opens_to_nobody() {
    let (_state, access) = folder();
    let issued = access.token(&order("anna", Role::Admin), 8, Timestamp::now()).expect("a token");
    let keeper = Doorkeeper::of(&access).expect("a registry");
    let whole = fs::read_to_string(access.registry_path()).expect("a text");
    let longer = whole.replace("\"anna\"", "\"anna\\nroot\"");
    let broken = [&whole[..whole.len() / 2], "", "{}", &whole.replace("/1", "/2"), &longer];
    for text in broken {
        fs::write(access.registry_path(), text).expect("a file");
        let refused = keeper.by_token(&issued.secret);
        assert!(matches!(refused, Err(Refused::Registry(AccessError::Damaged { .. }))), "{text}");
    }
    fs::remove_file(access.registry_path()).expect("it is there");
    assert!(matches!(keeper.by_token(&issued.secret), Err(Refused::Registry(_))));
    fs::write(access.registry_path(), whole).expect("a file");
    assert!(keeper.by_token(&issued.secret).is_ok());
}

#[test]
fn a_text_that_is_no_token_is_unknown() {
    let (_state, access) = folder();
    let keeper = Doorkeeper::of(&access).expect("a registry");
    for text in ["", "quietcore_", "Bearer", &format!("quietcore_{}", "x".repeat(10_000))] {
        assert!(matches!(keeper.by_token(text), Err(Refused::Unknown(_))), "{text}");
    }
}

#[test]
fn a_certificate_comes_as_a_whole_folder_or_not_at_all() {
    let (state, access) = folder();
    let now = Timestamp::now();
    let out = state.path().join("anna");
    let issued = access.issue(&order("anna", Role::Operator), 30, &out, now).expect("one");
    assert_eq!((issued.expires_at, issued.serial.len()), (now + hours(720), 16));
    let mut files: Vec<_> = fs::read_dir(&out).expect("a folder").flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let names: Vec<_> = files.iter().map(fs::DirEntry::file_name).collect();
    assert_eq!(names, ["authority.pem", "certificate.pem", "key.pem"]);
    for file in files {
        let mode = file.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.path());
    }
    let before = fs::read(access.registry_path()).expect("a file");
    let again = access.issue(&order("anna", Role::Admin), 30, &out, now);
    assert!(matches!(again, Err(AccessError::OutExists(_))));
    for days in [0, CERTIFICATE_DAYS_MAX + 1] {
        let odd = access.issue(&order("anna", Role::Admin), days, &state.path().join("odd"), now);
        assert!(matches!(odd, Err(AccessError::Life { .. })));
    }
    assert_eq!(fs::read(access.registry_path()).expect("a file"), before);
    let beside = fs::read_dir(state.path()).expect("a folder").count();
    assert_eq!(beside, 2, "the folder of access and that of anna");
}

#[test]
fn there_is_one_authority_and_nothing_without_it() {
    let state = TempDir::new().expect("a folder");
    let access = Access::of_state(state.path());
    assert!(matches!(Doorkeeper::of(&access), Err(AccessError::NoAuthority { .. })));
    let token = access.token(&order("anna", Role::Admin), 1, Timestamp::now());
    assert!(token.unwrap_err().to_string().contains("quietcore auth init"));
    access.init(&names(), Timestamp::now()).expect("an authority");
    let key = fs::read(access.folder().join("authority.key.pem")).expect("a key");
    let again = access.init(&names(), Timestamp::now());
    assert!(matches!(again, Err(AccessError::Authority { .. })));
    let server = access.server().expect("a server").identity;
    access.renew_server(&names(), Timestamp::now()).expect("another certificate");
    assert_ne!(access.server().expect("a server").identity, server);
    assert_eq!(fs::read(access.folder().join("authority.key.pem")).expect("a key"), key);
    for entry in fs::read_dir(access.folder()).expect("a folder").flatten() {
        let mode = entry.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?}", entry.path());
    }
}

#[test]
fn names_of_a_server_are_checked() {
    let one = |name: &str| ServerNames::new(vec![name.to_owned()], Vec::new());
    for bad in ["", "a b", "../x", "x\n", "-..-", "*.plant", "🙂"] {
        assert!(matches!(one(bad), Err(AccessError::ServerName(_))), "{bad}");
    }
    let twice = one("localhost").expect("a name");
    assert_eq!(twice.all().collect::<Vec<_>>(), ["localhost", "127.0.0.1", "::1"]);
    let many = (0..100).map(|number| format!("m{number}")).collect();
    assert!(matches!(ServerNames::new(many, Vec::new()), Err(AccessError::ServerNames(103))));
}
