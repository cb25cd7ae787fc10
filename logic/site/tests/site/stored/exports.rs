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

/// Goal: a unit names a path whatever characters it has.
/// Method: systemd.syntax(7) and systemd.service(5) say how each is written. The lab's scenario
/// `systemd` starts such a site.
#[test]
fn a_unit_quotes_paths_as_systemd_reads_them() {
    let unit = |program: &str, site_file: &str| {
        let (program, site_file) = (program.to_owned(), site_file.to_owned());
        let paths = ExportPaths { program, site_file, ..paths() };
        export(&site(SITE), SITE, ExportKind::Systemd, None, &paths).unwrap().remove(0).text
    };
    let odd = unit("/opt/quiet core/$x/quietcore", r#"/srv/a b/50%h "$HOME" \e/site.toml"#);
    let start = r#"ExecStart="/opt/quiet core/$x/quietcore" up --until-stopped"#;
    let file = r#"/srv/a b/50%%h \"$$HOME\" \\e/site.toml"#;
    assert!(odd.contains(&format!("\n{start} \"{file}\"\n")), "{odd}");
    assert!(odd.contains("\nExecStopPost=-\"/opt/quiet core/$x/quietcore\" down press_line\n"));
    let paths = ExportPaths { program: "/opt/b'q/quietcore".to_owned(), ..paths() };
    let refused = export(&site(SITE), SITE, ExportKind::Systemd, None, &paths).unwrap_err();
    assert!(refused.to_string().contains("no program with a quote"), "{refused}");
    let plain = unit("/usr/bin/quietcore", "/etc/quietcore/press.toml");
    assert!(plain.contains("=/usr/bin/quietcore up --until-stopped /etc/quietcore/press.toml\n"));
}

/// A line end would put a line of its own into a file that root starts programs from.
#[test]
fn a_path_with_a_control_character_is_refused() {
    let odd = "/srv/a\nExecStartPre=/bin/sh/site.toml".to_owned();
    let variable = vec![("QUIETCORE_RUN_DIR".to_owned(), "/run/\u{7f}".to_owned())];
    for (paths, named) in [
        (ExportPaths { site_file: odd.clone(), ..paths() }, r"`/srv/a\nExecStartPre="),
        (ExportPaths { program: odd, ..paths() }, r"`/srv/a\nExecStartPre="),
        (ExportPaths { variables: variable, ..paths() }, r"`/run/\u{7f}`"),
    ] {
        for kind in [ExportKind::Systemd, ExportKind::Podman, ExportKind::Libvirt] {
            let error = export(&site(SITE), SITE, kind, None, &paths).unwrap_err().to_string();
            assert!(error.starts_with(named) && error.ends_with("rename it"), "{error}");
        }
    }
}

/// Goal: each site has an image, also one whose name no reference may have.
#[test]
fn an_image_has_a_name_that_a_reference_may_have() {
    let odd = changed(SITE, "press_line", "press-_line");
    let [unit, image] = &exported(&odd, ExportKind::Podman)[..] else { panic!("two files") };
    assert!(unit.text.contains("\nImage=localhost/quietcore-press--line\n"), "{}", unit.text);
    assert!(unit.text.contains("#     podman build -t quietcore-press--line -f"), "{}", unit.text);
    assert!(unit.text.contains("#         localhost/quietcore-press--line\n"), "{}", unit.text);
    assert!(image.text.contains("podman build -t quietcore-press--line -f"), "{}", image.text);
    assert!(unit.text.contains("\nContainerName=quietcore-press-_line\n"), "{}", unit.text);
    let pod = exported(&odd, ExportKind::Kubernetes).remove(0).text;
    assert!(pod.contains("image: localhost/quietcore-press--line\n"), "{pod}");
}

/// Goal: an image finds its site file whatever that is called.
#[test]
fn the_command_of_an_image_is_written_as_json() {
    let text = changed(SITE, "backend = \"process\"", "backend = \"container\"");
    let paths = ExportPaths { site_file: "/etc/my \"press\".toml".to_owned(), ..paths() };
    let files = export(&site(&text), &text, ExportKind::Podman, None, &paths).unwrap();
    let named = r#""/site/my \"press\".toml"]"#;
    let command = format!(r#"ENTRYPOINT ["/usr/bin/quietcore", "up", "--until-stopped", {named}"#);
    assert!(files[1].text.ends_with(&format!("{command}\n")), "{}", files[1].text);
    let copy = format!(r#"COPY ["quietcore-press_line.site.toml", {named}"#);
    assert!(files[1].text.contains(&format!("\n{copy}\n")), "{}", files[1].text);
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
        let step = format!("\nCOPY [\"{}\", \"/site/press.toml\"]\nENTRYPOINT", own.name);
        assert!(image.text.contains(&step), "{}", image.text);
        assert!(image.text.contains(&format!(" and `{}`:\n", own.name)), "{}", image.text);
        assert_eq!(own.text, changed(&text, "'container' # runc", "\"process\" # runc"));
        assert_eq!(site(&own.text).partitions()[0].backend, Backend::Process);
    }
    assert_eq!(exported(&text, ExportKind::Systemd).len(), 1);
    let plain = exported(SITE, ExportKind::Podman);
    assert!(plain.len() == 2 && !plain[1].text.contains(".site.toml"));
}
