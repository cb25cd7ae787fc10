//! Domains of Xen whose owner was killed, and with it whoever would have ended them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::{Command, Stdio};

use quietcore_backend::rooms::Cleared;
use quietcore_backend::xen::clear;
use quietcore_host::Source;
use quietcore_host::process::{ProcessName, began_at};
use quietcore_xen::{DomainId, Store};

/// Returns a process that has ended.
fn ended() -> ProcessName {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let process = child.id();
    let began = began_at(&Source::live(), process).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    ProcessName { process, began, ..ProcessName::own(&Source::live()) }
}

/// Calls `xl`, and returns what it says.
///
/// # Errors
/// Its words where it fails.
fn xl(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("xl").args(arguments).stdin(Stdio::null()).output().unwrap();
    let [said, why] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    if output.status.success() { Ok(said) } else { Err(why) }
}

/// Makes a domain of this name that waits for its first instruction, and that nobody keeps.
fn leave(name: &str) -> DomainId {
    let folder = tempfile::tempdir().unwrap();
    let [image, words] = ["image", "words"].map(|name| folder.path().join(name));
    fs::write(&image, quietcore_guests::PARTITION.bytes().unwrap()).unwrap();
    let image = image.display();
    let text = format!(
        "name = \"{name}\"\ntype = \"pvh\"\nkernel = \"{image}\"\nmemory = 8\n\
         vcpus = 1\n"
    );
    fs::write(&words, text).unwrap();
    xl(&["create", "-q", "-e", "-p", words.to_str().unwrap()]).unwrap();
    DomainId(xl(&["domid", name]).unwrap().trim().parse().unwrap())
}

/// Goal: what a kill leaves of a domain is removed, and nothing of others. Method: a domain that
/// nobody keeps has a name of an owner that has ended. Of others there are keys in the store: what
/// is left of one whose end was cut off, one whose owner lives, and one that is not ours.
#[test]
fn what_a_killed_owner_has_left_is_removed_and_nothing_else() {
    let Ok(mut store) = Store::connect() else {
        assert_eq!(clear(), Cleared::default(), "where there is no Xen nothing is left of it");
        quietcore_skip::skip!("this machine is not dom0 of Xen");
        return;
    };
    let [left, old] = ["axis", "old"].map(|partition| format!("quietcore.{}.{partition}", ended()));
    let domain = leave(&left);
    let machine = String::from_utf8(store.read(&domain.path("vm")).unwrap()).unwrap();
    let [remains, alive, foreign] = [30_001, 30_002, 30_003].map(DomainId);
    let own = format!("quietcore.{}.axis", ProcessName::own(&Source::live()));
    store.write(&remains.path("name"), &old).unwrap();
    store.write(&alive.path("name"), &own).unwrap();
    store.write(&foreign.path("name"), "quietcore-like").unwrap();
    let Cleared { mut gone, left: stays } = clear();
    gone.sort();
    let mut expected = [left, old];
    expected.sort();
    assert_eq!((&stays[..], &gone[..]), (&[][..], &expected[..]));
    assert!(xl(&["list", &domain.0.to_string()]).is_err());
    let libxl = format!("/libxl/{}", domain.0);
    for key in [domain.path("name"), machine, libxl, remains.path("name")] {
        assert!(store.read(&key).is_err(), "{key}");
    }
    for kept in [alive, foreign] {
        assert!(store.read(&kept.path("name")).is_ok(), "{kept:?}");
        store.remove(kept.path("").trim_end_matches('/')).unwrap();
    }
    assert_eq!(clear(), Cleared::default());
}
