//! Tests of the files of a site for systemd, Podman and Kubernetes.

use quietcore_site::{Backend, ExportKind, ExportMachine, ExportPaths, ExportedFile, Site, export};

use crate::support::{assert_stored, changed, read_text};

const SITE: &str = r#"
[site]
name = "press_line"
[host]
housekeeping = [0]
[[partition]]
name = "axis"
class = "motion-control"
backend = "process"
[partition.vcr]
cpus = [1]
memory = "64 MiB"
[partition.program]
model = "models/servo"
[fieldbus.ec0]
partition = "axis"
interface = "eth1"
cycle = "1 ms"
[campaign]
profiles = ["tp2"]
"#;

fn paths() -> ExportPaths {
    ExportPaths {
        program: "/usr/bin/quietcore".to_owned(),
        site_file: "/etc/quietcore/press.toml".to_owned(),
        variables: Vec::new(),
        machine: ExportMachine::default(),
    }
}

fn exported(text: &str, kind: ExportKind) -> Vec<ExportedFile> {
    export(&site(text), text, kind, None, &paths()).unwrap()
}

fn site(text: &str) -> Site {
    read_text(text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_site_is_exported_as_it_is_stored() {
    for (kind, folder) in [
        (ExportKind::Systemd, "systemd"),
        (ExportKind::Podman, "podman"),
        (ExportKind::Kubernetes, "kubernetes"),
    ] {
        for file in exported(SITE, kind) {
            let name = format!("logic/site/tests/stored/export-{folder}-{}.txt", file.name);
            assert_stored(&name, &file.text);
        }
    }
}

/// Goal: a site whose caller has its sites elsewhere is found there.
#[test]
fn a_unit_has_the_variables_of_who_exports_it() {
    let variables = vec![("QUIETCORE_STATE_DIR".to_owned(), "/srv/50% \"off\"".to_owned())];
    let paths = ExportPaths { variables, ..paths() };
    let unit = export(&site(SITE), SITE, ExportKind::Systemd, None, &paths).unwrap().remove(0).text;
    let line =
        "\n[Service]\nType=exec\nEnvironment=\"QUIETCORE_STATE_DIR=/srv/50%% \\\"off\\\"\"\n";
    assert!(unit.contains(line), "{unit}");
    assert!(unit.contains("brought up by hand with the variables below.\n"), "{unit}");
}

#[test]
fn what_a_site_needs_is_asked_for_and_nothing_else() {
    let podman = |text: &str| exported(text, ExportKind::Podman).remove(0).text;
    assert!(podman(SITE).contains("--cap-add=SYS_NICE,IPC_LOCK,NET_RAW --"));
    assert!(podman(SITE).contains("--network=host") && !podman(SITE).contains("/dev/kvm"));
    let simulated = changed(SITE, "interface = \"eth1\"", "interface = \"sim\"");
    assert!(podman(&simulated).contains("--network=none"));
    assert!(podman(&simulated).contains("--cap-add=SYS_NICE,IPC_LOCK --"));
    let guest = changed(SITE, "backend = \"process\"", "backend = \"kvm\"");
    assert!(podman(&guest).contains("--device=/dev/kvm"));
    assert!(exported(&guest, ExportKind::Kubernetes)[0].text.contains("mountPath: /dev/kvm"));
    assert!(exported(&guest, ExportKind::Podman)[1].text.contains("musl-dev"));
    // One partition, and housekeeping: named, or one at least.
    for host in ["housekeeping = [0]", "housekeeping = []"] {
        let text = changed(SITE, "housekeeping = [0]", host);
        let pod = exported(&text, ExportKind::Kubernetes).remove(0).text;
        assert_eq!(pod.matches("cpu: \"2\"").count(), 2, "requests and limits: {pod}");
        assert_eq!(pod.matches("memory: 385Mi").count(), 2, "64, twice 32 and 256 MiB: {pod}");
    }
}

/// Goal: a partition that is a container is a process of the container that is exported.
/// Method: read the site file that the image has in place of the one that it was exported from.
#[test]
fn a_partition_that_is_a_container_becomes_a_process_of_the_exported_one() {
    let remark =
        "# backend = \"container\" is for the other machine\n  backend = 'container' # runc";
    let text = changed(SITE, "backend = \"process\"", remark);
    for kind in [ExportKind::Podman, ExportKind::Kubernetes] {
        let [_, image, own] = &exported(&text, kind)[..] else { panic!("three files") };
        assert!(image.text.contains("(axis): the container is the one"), "{}", image.text);
        let step = format!("\nCOPY {} /site/press.toml\nENTRYPOINT", own.name);
        assert!(image.text.contains(&step), "{}", image.text);
        assert!(image.text.contains(&format!(" and `{}`:\n", own.name)), "{}", image.text);
        assert_eq!(own.text, changed(&text, "'container' # runc", "\"process\" # runc"));
        assert_eq!(site(&own.text).partitions()[0].backend, Backend::Process);
    }
    assert_eq!(exported(&text, ExportKind::Systemd).len(), 1);
    let plain = exported(SITE, ExportKind::Podman);
    assert!(plain.len() == 2 && !plain[1].text.contains(".site.toml"));
}
