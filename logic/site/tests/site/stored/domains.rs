//! Tests of the domains of libvirt.

use quietcore_site::{ExportKind, ExportMachine, ExportPaths, ExportedFile, export};
use quietcore_units::ByteSize;

use crate::support::{assert_stored, read_text};

const SITE: &str = r#"
[site]
name = "press-line"
[host]
housekeeping = [0]
[[partition]]
name = "axis"
class = "motion-control"
backend = "qemu"
[partition.vcr]
cpus = [1]
[partition.program]
model = "models/servo"
[[partition]]
name = "desk"
class = "process-control"
backend = "qemu"
[partition.guest]
system = "disk"
image = "desk & co.qcow2"
firmware = "uefi"
vnc = true
tap = "tap0"
priority = 20
[partition.vcr]
cpus = [2, 3]
memory = "2 GiB"
cache = { ways = 4 }
memory_bandwidth = 40
[[partition]]
name = "old"
class = "process-control"
backend = "qemu"
guest = { system = "disk", image = "/srv/old.img", devices = "plain", accelerator = "tcg" }
[partition.vcr]
cpus = [4]
[[partition]]
name = "cell"
class = "motion-control"
backend = "qemu"
guest = { system = "linux", image = "guest-rt" }
[partition.vcr]
cpus = [5]
[partition.program]
model = "models/servo"
"#;

fn exported(partition: Option<&str>) -> Result<Vec<ExportedFile>, String> {
    let site = read_text(SITE).unwrap_or_else(|problems| panic!("{problems}"));
    let paths = ExportPaths {
        program: "/usr/bin/quietcore".to_owned(),
        site_file: "/etc/quietcore/press.toml".to_owned(),
        variables: Vec::new(),
        machine: ExportMachine {
            online: "0-7".parse().unwrap(),
            cache_way: Some(ByteSize::new(1536 << 10)),
        },
    };
    let files = export(&site, SITE, ExportKind::Libvirt, partition, &paths);
    files.map_err(|error| error.to_string())
}

#[test]
fn the_guests_of_qemu_are_domains_as_they_are_stored() {
    let files = exported(None).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["press-line-desk.xml", "press-line-old.xml", "press-line-cell.xml"]);
    for file in &files {
        assert_stored(&format!("logic/site/tests/stored/export-libvirt-{}", file.name), &file.text);
    }
    let desk = exported(Some("desk")).unwrap();
    assert_eq!(desk, files[..1], "the one that is named");
    let text = &desk[0].text;
    for said in [
        "<vcpupin vcpu=\"1\" cpuset=\"3\"/>",
        "<emulatorpin cpuset=\"0\"/>",
        "<vcpusched vcpus=\"0-1\" scheduler=\"fifo\" priority=\"20\"/>",
        "size=\"6144\" unit=\"KiB\"",
        "<node id=\"0\" bandwidth=\"40\"/>",
        "<source file=\"/etc/quietcore/desk &amp; co.qcow2\"/>",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_can_be_no_domain_says_why() {
    let own = exported(Some("axis")).unwrap_err();
    assert!(own.contains("a guest of our own kernel"), "{own}");
    let unknown = exported(Some("disk")).unwrap_err();
    assert!(unknown.contains("there is no partition `disk`"), "{unknown}");
}
