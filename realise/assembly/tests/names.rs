//! Tests of a site file that expects of a program what it does not do: remarked at its position.

use std::fs;
use std::process::Command;

use quietcore_assembly::Workshop;
use quietcore_record::class::catalogue;
use quietcore_skip::skip;

const PROGRAM: &str = "double axis_Y;\nvoid axis_initialize(void) { axis_Y = 0; }\n\
                       void axis_step(void) { axis_Y += 1; }\n";

#[test]
fn a_channel_that_a_program_never_uses_is_remarked() {
    if !Command::new("gcc").arg("--version").output().is_ok_and(|answer| answer.status.success()) {
        return skip!("there is no gcc; install it");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("axis")).unwrap();
    fs::write(folder.path().join("axis/axis.c"), PROGRAM).unwrap();
    let partition = |name: &str, cpu: u32| {
        format!(
            "[[partition]]\nname = \"{name}\"\nclass = \"process-control\"\n[partition.vcr]\n\
             cpus = [{cpu}]\n[partition.program]\nmodel = \"axis\"\n"
        )
    };
    let text = format!(
        "[site]\nname = \"press\"\n{}{}[[channel]]\nname = \"setpoint\"\nfrom = \"left\"\nto = \
         \"right\"\nsignals = [{{ name = \"speed\", type = \"f64\" }}]\n",
        partition("left", 1),
        partition("right", 2)
    );
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue());
    let site = site.unwrap_or_else(|error| panic!("{error}"));
    let build_folder = folder.path().join("builds");
    let workshop = Workshop { site_folder: folder.path().to_owned(), build_folder };
    let remarks = [0, 1].map(|index| {
        let first = workshop.first_of(&site, &site.partitions()[index]).unwrap();
        first.remarks.iter().map(|it| it.remark.clone()).collect::<Vec<_>>()
    });
    let expected = |name: &str, verb: &str| {
        [format!("the program of `{name}` {verb} on it: it calls no function of `Com.h`")]
    };
    assert_eq!(remarks[0], expected("left", "sends nothing"));
    assert_eq!(remarks[1], expected("right", "receives nothing"));
}
