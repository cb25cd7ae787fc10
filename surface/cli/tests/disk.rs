//! Guests that start from their disks, from the command line: what `plan` says of their images, and
//! the domains of libvirt that `export` writes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::path::Path;
use std::process::Command;

use command::call;

/// Writes a site file with two such guests, and returns its name.
fn site(folder: &Path) -> String {
    let text = "[site]\nname = \"line\"\n[host]\nhousekeeping = []\n\
        [[partition]]\nname = \"desk\"\nclass = \"process-control\"\nbackend = \"qemu\"\n\
        guest = { system = \"disk\", image = \"desk.img\", accelerator = \"tcg\", priority = 20, \
        vnc = true }\n[partition.vcr]\ncpus = [0]\nmemory = \"1 GiB\"\n\
        [[partition]]\nname = \"old\"\nclass = \"process-control\"\nbackend = \"qemu\"\n\
        guest = { system = \"disk\", image = \"old & co.qcow2\", accelerator = \"tcg\", \
        firmware = \"uefi\", devices = \"plain\", tap = \"tap0\" }\n[partition.vcr]\n\
        cpus = [1, 2]\nmemory_bandwidth = 40\n";
    fs::write(folder.join("site.toml"), text).unwrap();
    "site.toml".to_owned()
}

#[test]
fn a_plan_names_the_disks_that_no_guest_can_have() {
    let folder = tempfile::tempdir().unwrap();
    let site = site(folder.path());
    fs::write(folder.path().join("desk.img"), "no disk").unwrap();
    let refused = call(folder.path(), &["plan", &site]);
    assert_ne!(refused.status, Some(0));
    let desk = "site.toml:9:36: `partition.desk.guest.image`: `./desk.img` is not the disk of \
                partition `desk`: it is no image of a disk";
    assert!(refused.err.contains(desk), "{}", refused.err);
    let gone =
        "`./old & co.qcow2` is not the disk of partition `old`: it can't be opened: No such file";
    assert!(refused.err.contains(gone), "{}", refused.err);
}

#[test]
fn a_domain_is_valid_for_libvirt() {
    let folder = tempfile::tempdir().unwrap();
    let site = site(folder.path());
    let written = call(folder.path(), &["export", "libvirt", &site, "--out", "domains"]);
    assert_eq!(written.status, Some(0), "{}", written.err);
    let domains =
        ["line-desk.xml", "line-old.xml"].map(|name| folder.path().join("domains").join(name));
    let text = fs::read_to_string(&domains[0]).unwrap();
    assert!(text.contains("<vcpusched vcpus=\"0\" scheduler=\"fifo\" priority=\"20\"/>"), "{text}");
    let one = call(folder.path(), &["export", "libvirt", &site, "--partition", "desk"]);
    assert_eq!(one.out, text, "{}", one.err);
    let unit = call(folder.path(), &["export", "systemd", &site, "--partition", "desk"]);
    assert!(unit.err.contains("chooses a domain of libvirt"), "{}", unit.err);
    let Ok(checked) =
        Command::new("virt-xml-validate").args([&domains[0], Path::new("domain")]).output()
    else {
        return quietcore_skip::skip!("needs `virt-xml-validate`; install `libvirt-clients`");
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let checked =
        Command::new("virt-xml-validate").arg(&domains[1]).arg("domain").output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let broken = folder.path().join("broken.xml");
    fs::write(&broken, text.replace("<vcpupin vcpu=", "<vcpupin cpu=")).unwrap();
    let checked = Command::new("virt-xml-validate").arg(&broken).arg("domain").output().unwrap();
    assert!(!checked.status.success(), "the check would find a fault");
}
