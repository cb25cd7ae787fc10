//! Tests of a site file on an OSEK program, held against its OIL file.

use std::path::Path;

use quietcore_assembly::{AssemblyError, Workshop};
use quietcore_record::class::catalogue;
use quietcore_units::Nanos;

const SITE: &str = r#"
[site]
name = "s"
[[partition]]
name = "belt"
class = "motion-control"
[partition.vcr]
cpus = [1]
[partition.program]
model = "models/conveyor"
period = "1 ms"
deadlines = { Drive = "500 us" }
"#;

/// Skips the surrounding test where there is no compiler.
macro_rules! need_compiler {
    () => {
        if std::process::Command::new("gcc").arg("--version").output().is_err() {
            quietcore_skip::skip!("there is no gcc; install it");
            return;
        }
    };
}

fn assemble(text: &str) -> Result<quietcore_assembly::Assembly, AssemblyError> {
    let site = quietcore_site::read("s.toml", text.as_bytes(), &catalogue());
    let site = site.unwrap_or_else(|problems| panic!("{problems}"));
    let out = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workshop = Workshop { site_folder: root, build_folder: out.path().to_owned() };
    workshop.assemble(&site, &site.partitions()[0])
}

fn refusal(text: &str) -> String {
    assemble(text).map(|_| ()).expect_err("it is refused").to_string()
}

#[test]
fn the_kernels_tasks_stand_behind_the_one_that_drives_it() {
    need_compiler!();
    let assembly = assemble(SITE).unwrap();
    let names: Vec<_> = assembly.task_names().collect();
    assert_eq!(names, ["cycle", "Drive", "Sort", "Supervise", "Report"]);
    assert_eq!((assembly.shape.task_count, assembly.job.tasks.len()), (5, 1));
    let deadlines: Vec<_> = assembly.job.kernel_tasks.iter().map(|task| task.deadline).collect();
    assert_eq!(deadlines, [Some(Nanos::from_micros(500)), None, None, None]);
    let named = format!("{SITE}[[partition.program.task]]\nname = \"tick\"\n");
    assert_eq!(assemble(&named).unwrap().task_names().next(), Some("tick"));
}

#[test]
fn what_does_not_agree_with_the_oil_file_names_both_files() {
    need_compiler!();
    let slow = SITE.replace("\"1 ms\"", "\"2 ms\"");
    let text = refusal(&slow);
    assert!(text.starts_with("s.toml:11:"), "{text}");
    assert!(
        text.contains(
            "2 ms is not the tick of counter `Milliseconds` in `models/conveyor/conveyor.oil`, \
             which is 1 ms; write `period = \"1 ms\"`, or `NANOSECONDSPERTICK = 2000000` \
             there"
        ),
        "{text}"
    );
    let text = refusal(&SITE.replace("Drive =", "Drvie ="));
    assert!(text.contains("has no task `Drvie`; it has `Drive`, `Sort`"), "{text}");
    let task = "[[partition.program.task]]\nname = ";
    let two = format!("{task}\"a\"\n{task}\"b\"\nperiod = \"2 ms\"");
    let text = refusal(&format!("{SITE}{two}\n"));
    assert!(text.contains("`b` is a second one"), "{text}");
    let free = "[[partition.program.task]]\nname = \"a\"\nkind = \"freewheeling\"\ngap = \"1 ms\"";
    let text = refusal(&format!("{SITE}{free}\n"));
    assert!(text.contains("is driven by a cyclic task"), "{text}");
    let plain = SITE.replace("models/conveyor", "models/servo");
    let text = refusal(&plain);
    assert!(text.contains("the program has no OIL file, and so no tasks of its own"), "{text}");
    let other = SITE.replace("period =", "oil = \"other.oil\"\nperiod =");
    let error = assemble(&other).map(|_| ()).unwrap_err();
    let text = quietcore_units::Causes(&error).to_string();
    assert!(text.contains("there is no OIL file `other.oil`"), "{text}");
}
