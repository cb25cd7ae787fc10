//! Network namespaces: which one an interface is in, and how to get there from another.
//!
//! A name of an interface says nothing without its namespace: elsewhere there is no such interface,
//! or another one. A namespace is known by the number of its file. It is found where something
//! keeps it: a process in it, a place where it is mounted (`ip netns`, container runtimes) in
//! whichever mount namespace, or a process that has it open. One that nothing keeps is gone, with
//! its interfaces; only a process that sees all others can say so.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::SettingError;
use quietcore_host::Source;
use quietcore_host::process::IN_FIRST_NAMESPACE;

/// The most open files that are looked at of a process.
const FILES_MAX: usize = 4096;

/// The network namespace of this process; `None` where the kernel does not say it.
pub(crate) fn own(source: &Source) -> Option<u64> {
    number(&source.link("/proc/self/ns/net")?)
}

/// Acts in a network namespace; in this one where none is known.
///
/// # Errors
/// Those of `act`; [`SettingError::Gone`] where the namespace is gone, and
/// [`SettingError::Refused`] where it can't be entered, or may be there and is not seen from here.
pub(super) fn within<T: Send>(
    source: &Source,
    namespace: Option<u64>,
    act: impl FnOnce() -> Result<T, SettingError> + Send,
) -> Result<T, SettingError> {
    let Some(namespace) = namespace.filter(|it| own(source) != Some(*it)) else { return act() };
    let file = find(source, namespace)?;
    let enter_and_act = || {
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(file.as_fd(), network).map_err(|errno| {
            let why = quietcore_host::error_text(&io::Error::from(errno));
            SettingError::Refused(format!(
                "it is in the network namespace {namespace}, which can't be entered: {why}"
            ))
        })?;
        act()
    };
    // A thread of its own, which ends there: this one stays where it is.
    let acted = thread::scope(|scope| {
        thread::Builder::new()
            .spawn_scoped(scope, enter_and_act)
            .map(thread::ScopedJoinHandle::join)
    });
    let failed = || SettingError::Refused("the thread that enters its namespace failed".to_owned());
    acted.map_err(SettingError::from)?.map_err(|_| failed())?
}

/// Opens a namespace, wherever it is kept.
fn find(source: &Source, namespace: u64) -> Result<File, SettingError> {
    let processes = source.numbered("/proc", "");
    let places = processes.iter().flat_map(|process| {
        let in_it = format!("/proc/{process}/ns/net");
        let is_in_it = source.link(&in_it).is_some_and(|it| number(&it) == Some(namespace));
        is_in_it.then(|| source.place(&in_it))
    });
    let mounted = processes.iter().filter_map(|process| mounted(source, *process, namespace));
    let held = processes.iter().filter_map(|process| held(source, *process, namespace));
    let is_it = |file: &File| file.metadata().is_ok_and(|it| it.ino() == namespace);
    let mut opened = places.chain(mounted).chain(held).filter_map(|place| File::open(place).ok());
    if let Some(file) = opened.find(is_it) {
        return Ok(file);
    }
    if sees_all(source) {
        return Err(SettingError::Gone);
    }
    Err(SettingError::Refused(format!(
        "it is in the network namespace {namespace}, which is not seen from here; run `quietcore \
         down` there, or as root of the machine"
    )))
}

/// Returns where a process has a namespace mounted.
fn mounted(source: &Source, process: u32, namespace: u64) -> Option<PathBuf> {
    let text = source.text(&format!("/proc/{process}/mountinfo"));
    // Number, parent, device, root in the file system, place.
    let wanted = format!("net:[{namespace}]");
    let place = text.get()?.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(3);
        (fields.next()? == wanted).then(|| fields.next()).flatten()
    })?;
    Some(source.place(&format!("/proc/{process}/root{place}")))
}

/// Returns the open file of a process that refers to a namespace.
fn held(source: &Source, process: u32, namespace: u64) -> Option<PathBuf> {
    let files = fs::read_dir(source.place(&format!("/proc/{process}/fd"))).ok()?;
    let is_it = |place: &PathBuf| {
        fs::read_link(place).is_ok_and(|target| number(&target) == Some(namespace))
    };
    files.take(FILES_MAX).filter_map(|file| Some(file.ok()?.path())).find(is_it)
}

/// Returns whether this process sees all others of the machine, and what they have open.
fn sees_all(source: &Source) -> bool {
    let is_first =
        source.link("/proc/self/ns/pid").is_some_and(|it| it.as_os_str() == IN_FIRST_NAMESPACE);
    is_first && source.link("/proc/1/ns/net").is_some()
}

/// The number of a network namespace, as a link names it.
fn number(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_namespace_that_nobody_keeps_is_gone_only_for_who_sees_all() {
        let tree = tempfile::tempdir().unwrap();
        let ns = tree.path().join("proc/self/ns");
        fs::create_dir_all(&ns).unwrap();
        symlink("net:[7]", ns.join("net")).unwrap();
        symlink("pid:[8]", ns.join("pid")).unwrap();
        let source = Source::below(tree.path());
        assert_eq!(own(&source), Some(7));
        assert_eq!(within(&source, None, || Ok(1)), Ok(1));
        assert_eq!(within(&source, Some(7), || Ok(1)), Ok(1));
        let hidden = within(&source, Some(9), || Ok(1)).unwrap_err().to_string();
        assert!(hidden.contains("network namespace 9, which is not seen from here"), "{hidden}");
        fs::remove_file(ns.join("pid")).unwrap();
        symlink(IN_FIRST_NAMESPACE, ns.join("pid")).unwrap();
        fs::create_dir_all(tree.path().join("proc/1/ns")).unwrap();
        symlink("net:[7]", tree.path().join("proc/1/ns/net")).unwrap();
        assert_eq!(within(&source, Some(9), || Ok(1)), Err(SettingError::Gone));
    }

    #[test]
    fn a_mounted_namespace_is_found_by_its_number() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("proc/5")).unwrap();
        let line = "36 25 0:4 net:[4026532201] /run/netns/plant rw shared:9 - nsfs nsfs rw\n";
        fs::write(tree.path().join("proc/5/mountinfo"), line).unwrap();
        let source = Source::below(tree.path());
        let place = mounted(&source, 5, 4_026_532_201).unwrap();
        assert_eq!(place, source.place("/proc/5/root/run/netns/plant"));
        assert_eq!(mounted(&source, 5, 4_026_532_202), None);
    }
}
