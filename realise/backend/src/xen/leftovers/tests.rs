//! Names of domains, and the removal of those whose owner was killed.

use std::path::Path;
use std::process::Command;

use quietcore_units::ByteSize;
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::xen::XenSetting;
use crate::xen::domain::Domain;

#[test]
fn a_domain_of_ours_is_known_by_its_name() {
    let own = DomainName::of("axis.x");
    assert_eq!(DomainName::read(&own.text), Some(own.clone()));
    assert!(own.owner.lives(&Source::live()) && own.text.ends_with(".axis.x"));
    for foreign in ["Domain-0", "quietcore", "quietcore.7-1", "quietcore.x.axis", "other.7-1.axis"]
    {
        assert_eq!(DomainName::read(foreign), None, "{foreign}");
    }
}

#[test]
fn where_there_is_no_xen_nothing_is_removed() {
    if Path::new("/proc/xen/capabilities").exists() {
        quietcore_skip::skip!("this machine has Xen");
        return;
    }
    assert_eq!(clear(), Cleared::default());
}

/// Returns a process that has ended.
fn ended() -> ProcessName {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let process = child.id();
    let began = quietcore_host::process::began_at(&Source::live(), process).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    ProcessName { process, began, ..ProcessName::own(&Source::live()) }
}

/// Makes a domain of an owner that has ended, and kills its keeper.
fn leave() -> (DomainId, DomainName) {
    let image = quietcore_guests::PARTITION.bytes().unwrap();
    let setting = XenSetting { memory: ByteSize::new(8 << 20), cpus: None };
    let name = DomainName::owned(ended(), "axis");
    let mut domain = Domain::create(&name, &setting, image).unwrap();
    let keeper = Pid::from_raw(domain.keeper().cast_signed()).unwrap();
    kill_process(keeper, Signal::KILL).unwrap();
    // The keeper is waited for; it has ended, and destroys nothing.
    domain.end();
    (domain.id(), name)
}

/// Goal: what a kill leaves of a domain is removed, and nothing of others. Method: the keeper of a
/// domain without an owner is killed. Of others there are keys in the store: what is left of one
/// whose end was cut off, one whose owner lives, and one that is not ours.
#[test]
fn what_a_killed_owner_has_left_is_removed_and_nothing_else() {
    if Xl::find().is_err() || Store::connect().is_err() {
        quietcore_skip::skip!("this machine is not dom0 of Xen");
        return;
    }
    let (domain, name) = leave();
    let (xl, mut store) = (Xl::find().unwrap(), Store::connect().unwrap());
    assert!(xl.knows(domain), "nobody has ended it");
    let machine = String::from_utf8(store.read(&domain.path("vm")).unwrap()).unwrap();
    let [remains, alive, foreign] = [30_001, 30_002, 30_003].map(DomainId);
    let old = DomainName::owned(ended(), "old");
    store.write(&remains.path("name"), old.text()).unwrap();
    store.write(&alive.path("name"), DomainName::of("axis").text()).unwrap();
    store.write(&foreign.path("name"), "quietcore-like").unwrap();
    let mut cleared = clear();
    cleared.gone.sort();
    let mut expected = [name.text, old.text];
    expected.sort();
    assert_eq!((&cleared.left[..], &cleared.gone[..]), (&[][..], &expected[..]));
    assert!(!xl.knows(domain));
    let libxl = format!("/libxl/{}", domain.0);
    for gone in [domain.path("name"), machine, libxl, remains.path("name")] {
        assert!(store.read(&gone).is_err(), "{gone}");
    }
    for kept in [alive, foreign] {
        assert!(store.read(&kept.path("name")).is_ok(), "{kept:?}");
        store.remove(kept.path("").trim_end_matches('/')).unwrap();
    }
    assert_eq!(clear(), Cleared::default(), "nothing is left");
}
