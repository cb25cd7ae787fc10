//! Tests of the place of journals, of journals of earlier versions, and of refused folders.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::fake::FakeSettings;
use crate::setting::{Form, Setting};
use crate::want::Want;
use crate::{Controls, Request};

fn interrupt() -> Setting {
    Setting::file("/proc/irq/7/smp_affinity_list", Form::CpuList)
}

fn policing() -> Setting {
    Setting::Policing { interface: "left".to_owned() }
}

fn originals() -> [(Setting, String); 2] {
    [(interrupt(), "0-3".to_owned()), (policing(), "rate 0 burst 0".to_owned())]
}

/// A machine, its file system, and the folders for state of two users of it.
struct Machine {
    settings: FakeSettings,
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { settings: FakeSettings::new(originals()), root: tempfile::tempdir().unwrap() }
    }

    fn state(&self, user: &str) -> PathBuf {
        let folder = self.root.path().join(user).join("@machine");
        make_own(&folder).unwrap();
        folder
    }

    /// The controls as a process with this folder for its state sees them.
    fn of(&self, process: u32, state: &str) -> Controls<FakeSettings> {
        let store = Store::below(self.root.path(), self.state(state));
        Controls::new(self.settings.seen_by(process), store)
    }

    fn exists(&self) -> bool {
        Store::below(self.root.path(), self.state("a")).exists()
    }

    fn value(&self, setting: &Setting) -> String {
        self.settings.values()[setting].clone()
    }
}

fn without(cpu: &str) -> Vec<Request<()>> {
    let want = Want::Without { cpus: cpu.parse().unwrap(), of: "0-3".parse().unwrap() };
    vec![Request { control: (), setting: interrupt(), want }]
}

fn limited() -> Vec<Request<()>> {
    let want = Want::Exactly("rate 1000 burst 100".to_owned());
    vec![Request { control: (), setting: policing(), want }]
}

/// Goal: sites with state in different folders share one machine, and one journal of it.
#[test]
fn sites_with_states_of_their_own_have_one_journal() {
    let machine = Machine::new();
    let (a, _) = machine.of(2, "a").hold("a", without("1")).unwrap();
    let (b, _) = machine.of(3, "b").hold("b", without("2")).unwrap();
    assert_eq!(machine.value(&interrupt()), "0,3");
    a.release().unwrap();
    assert_eq!(machine.value(&interrupt()), "0,1,3");
    b.release().unwrap();
    assert_eq!(machine.settings.values(), originals().into());
    assert!(!machine.exists());
}

/// Goal: what an earlier version wrote down in two folders for state is put back, whichever of
/// them was there first.
#[test]
fn journals_of_earlier_versions_are_taken_over() {
    for order in [[LASTING, "a/@machine"], ["a/@machine", LASTING]] {
        let machine = Machine::new();
        for (process, folder) in (2..).zip(order) {
            let folder = machine.root.path().join(folder);
            make_own(&folder).unwrap();
            let earlier = Controls::new(machine.settings.seen_by(process), Store::new(folder));
            let name = process.to_string();
            // Its process ends without a word.
            std::mem::forget(earlier.hold(&name, without(&name)).unwrap());
            machine.settings.kill(process);
        }
        assert_eq!(machine.value(&interrupt()), "0,1");
        let recovery = machine.of(4, "a").recover().unwrap();
        assert_eq!((recovery.gone.len(), recovery.left), (2, vec![]), "{order:?}");
        assert_eq!(machine.settings.values(), originals().into(), "{order:?}");
        assert!(!machine.exists());
    }
}

/// Goal: a reboot takes the journal along, but not what some program keeps on disk.
#[test]
fn what_outlives_a_boot_is_owed_after_it() {
    let machine = Machine::new();
    let requests = without("1").into_iter().chain(limited()).collect();
    let (held, _) = machine.of(2, "a").hold("a", requests).unwrap();
    std::mem::forget(held);
    fs::remove_dir_all(machine.root.path().join(MACHINE)).unwrap();
    let limited = "rate 1000 burst 100".to_owned();
    machine.settings.reboot([(interrupt(), "0-3".to_owned()), (policing(), limited)]);
    assert!(machine.exists());
    machine.of(3, "a").recover().unwrap();
    assert_eq!(machine.settings.values(), originals().into());
    assert!(!machine.exists());
}

/// Goal: nothing is written to disk for settings that a reboot undoes, as a machine may have none
/// that can be written to.
#[test]
fn a_journal_of_what_goes_with_the_boot_is_in_memory_only() {
    let machine = Machine::new();
    let (held, _) = machine.of(2, "a").hold("a", without("1")).unwrap();
    assert!(machine.root.path().join(MACHINE).join(JOURNAL).exists());
    assert!(!machine.root.path().join(LASTING).exists());
    held.release().unwrap();
}

#[test]
fn a_journal_that_somebody_else_could_have_written_is_refused() {
    let machine = Machine::new();
    let folder = machine.root.path().join(MACHINE);
    make_own(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = machine.of(2, "a").hold("a", without("1")).unwrap_err().to_string();
    assert!(refused.contains("may be written by others (mode 777)"), "{refused}");
    fs::remove_dir_all(&folder).unwrap();
    symlink(machine.state("b"), &folder).unwrap();
    let refused = machine.of(2, "a").hold("a", without("1")).unwrap_err().to_string();
    assert!(refused.contains("is no folder"), "{refused}");
    assert_eq!(machine.settings.values(), originals().into());
}

/// Goal: a process whose `/run` is another one finds the machine's.
#[test]
fn the_journal_is_found_from_another_mount_namespace() {
    let tree = tempfile::tempdir().unwrap();
    let proc = tree.path().join("proc");
    for of in ["1", "self"] {
        fs::create_dir_all(proc.join(of).join("ns")).unwrap();
        symlink(IN_FIRST_NAMESPACE, proc.join(of).join("ns/pid")).unwrap();
    }
    let source = Source::below(tree.path());
    assert_eq!(root(&source), Path::new("/"), "nothing says that it is another one");
    symlink("mnt:[1]", proc.join("1/ns/mnt")).unwrap();
    symlink("mnt:[2]", proc.join("self/ns/mnt")).unwrap();
    assert_eq!(root(&source), Path::new("/"), "the first process's folders can't be seen");
    fs::create_dir_all(proc.join("1/root/run")).unwrap();
    assert_eq!(root(&source), Path::new(FIRST_ROOT));
    fs::remove_file(proc.join("self/ns/pid")).unwrap();
    symlink("pid:[4026532000]", proc.join("self/ns/pid")).unwrap();
    assert_eq!(root(&source), Path::new("/"), "number 1 is somebody else there");
}

/// Goal: a file system that is only read hinders nobody who has nothing to remove there.
#[test]
fn what_is_not_there_need_not_be_removed_where_nothing_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outlives-boot.json");
    let read_only = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
    assert!(is_absent(&path, &read_only));
    fs::write(&path, "{}").unwrap();
    assert!(!is_absent(&path, &read_only), "what is owed is there, and stays");
}
