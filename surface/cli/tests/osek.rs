//! `quietcore osek`: the description of an OIL file, its errors, and a stand-alone program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::path::Path;
use std::process::Command;

use command::call;

const OIL: &str = r#"OIL_VERSION = "2.5";
CPU five {
    OS Kernel { STATUS = EXTENDED; SHUTDOWNHOOK = TRUE; ACCOUNTING = TRUE; };
    APPMODE Normal;
    COUNTER Tick {
        MAXALLOWEDVALUE = 100; TICKSPERBASE = 1; MINCYCLE = 1;
        TYPE = HARDWARE; NANOSECONDSPERTICK = 1000000;
    };
    TASK Count { PRIORITY = 2; BUDGET = 500000000; };
    ALARM Wake {
        COUNTER = Tick;
        ACTION = ACTIVATETASK { TASK = Count; };
        AUTOSTART = TRUE { ALARMTIME = 1; CYCLETIME = 1; APPMODE = Normal; };
    };
};
"#;
const C: &str = r#"
#include <stdio.h>
#include "os.h"
static int count;
TASK(Count)
{
    count++;
    if (count == 5) {
        ShutdownOS(E_OK);
    }
    TerminateTask();
}
void ShutdownHook(StatusType Error) { (void)Error; }
int main(void)
{
    StartOS(Normal);
    printf("%d\n", count);
    return 0;
}
"#;

fn folder(oil: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("five.oil"), oil).unwrap();
    fs::write(folder.path().join("five.c"), C).unwrap();
    folder
}

#[test]
fn a_good_file_is_described() {
    let folder = folder(OIL);
    let said = call(folder.path(), &["osek", "check", "five.oil"]);
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""));
    let lines: Vec<_> = said.out.lines().collect();
    assert!(lines[0].contains("extended status, a tick every 1.00 ms"), "{}", said.out);
    let rows: Vec<Vec<&str>> = lines.iter().map(|line| line.split_whitespace().collect()).collect();
    let count = ["Count", "basic", "2", "1", "16.0", "KiB", "budget", "500", "ms"];
    assert!(rows.iter().any(|row| *row == count), "{}", said.out);
    let wake = ["Wake", "Tick", "1", "1", "activates", "Count"];
    assert!(rows.iter().any(|row| *row == wake), "{}", said.out);
    let said = call(folder.path(), &["osek", "check", "five.oil", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["schema"], "quietcore.osek-check/1");
    assert_eq!(document["application"]["tick_ns"], 1_000_000);
    assert_eq!(document["application"]["tasks"][0]["name"], "Count");
    assert_eq!(document["application"]["alarms"][0]["cycle"], 1);
}

/// Goal: every kind of object is described, in the words of the file and in 100 columns.
#[test]
fn all_objects_of_a_file_are_described() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let oil = fs::read_to_string(root.join("logic/oil/tests/stored/conveyor.oil")).unwrap();
    fs::write(folder.path().join("all.oil"), &oil).unwrap();
    let said = call(folder.path(), &["osek", "check", "all.oil"]);
    assert_eq!(said.out, include_str!("stored/osek-check.txt"));
    assert!(said.out.lines().all(|line| line.chars().count() <= 100));
    let said = call(folder.path(), &["osek", "check", "all.oil", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let application = &document["application"];
    assert_eq!(application["isrs"][0]["level"], 3);
    assert_eq!(application["resources"][0]["ceiling"]["interrupt-level"], 3);
    assert_eq!(application["resources"][0]["used_by"][1], "light_barrier");
    assert_eq!(application["resources"][1]["linked_to"], "belt");
    assert_eq!(application["events"][0]["received_by"][0], "sort");
    assert_eq!(application["counters"][0]["ticks_per_base"], 10);
    assert_eq!(application["alarms"][0]["autostart_modes"][0], "normal");
    assert_eq!(application["schedule_tables"][0]["expiry_points"][1]["offset"], 50);
    assert_eq!(application["messages"][1]["notification"], "sets jam of sort");
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_status_1() {
    let folder = folder(&OIL.replace("TASK = Count;", "TASK = Cuont;"));
    let said = call(folder.path(), &["osek", "check", "five.oil"]);
    assert_eq!((said.status, said.out.as_str()), (Some(1), ""));
    assert!(said.err.starts_with("five.oil:12:"), "{}", said.err);
    assert!(said.err.contains("`Cuont`"), "{}", said.err);
    let said = call(folder.path(), &["osek", "check", "five.oil", "--json"]);
    assert_eq!(said.status, Some(1));
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["problems"][0]["line"], 12);
    assert_eq!(document["problems"][0]["token"], "Cuont");
    let said = call(folder.path(), &["osek", "generate", "five.oil", "--out", "build"]);
    assert_eq!((said.status, said.out.as_str()), (Some(1), ""));
    assert!(!folder.path().join("build").exists(), "nothing is written");
    let said = call(folder.path(), &["osek", "check", "none.oil"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("`none.oil` could not be read"), "{}", said.err);
}

/// Goal: the files and the command that are written make a program that runs.
#[test]
fn the_command_that_is_printed_makes_a_program_of_its_own() {
    let folder = folder(OIL);
    let said = call(folder.path(), &["osek", "generate", "five.oil", "--out", "build"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    for file in ["os_cfg.h", "os_cfg.c", "os.h", "quietcore_osek.h", "libquietcore_osek.a"] {
        assert!(said.out.contains(&format!("wrote build/{file}\n")), "{}", said.out);
    }
    let compile = said.out.lines().last().unwrap().trim();
    if !run(folder.path(), "gcc --version").0 {
        quietcore_skip::skip!("there is no gcc; install it");
        return;
    }
    let (compiled, text) = run(folder.path(), compile);
    assert!(compiled, "{compile}: {text}");
    let (ended, text) = run(folder.path(), "./five");
    assert!(ended && text == "5\n", "{text}");
    let said = call(folder.path(), &["osek", "generate", "five.oil", "--out", "b", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["files"].as_array().unwrap().len(), 5);
    assert_eq!(document["command"], compile.replace("build", "b"));
}

/// Runs a line in a shell; returns its success and its output.
fn run(folder: &Path, line: &str) -> (bool, String) {
    let output = Command::new("sh").current_dir(folder).args(["-c", line]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Goal: a file of another tool is described, with what is not used and assumed beside it; with
/// `--strict` it is refused.
#[test]
fn a_file_of_another_tool_is_described_and_refused_strictly() {
    let oil = "CPU c { OS k { EE_OPT = \"DEBUG\"; KERNEL_TYPE = FP; };\n\
               TASK Count { PRIORITY = 1; STACK = SHARED; }; };\n";
    let folder = folder(oil);
    let said = call(folder.path(), &["osek", "check", "five.oil"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.out.contains("Count"), "{}", said.out);
    let listed = "`EE_OPT`: not used here (ERIKA Enterprise 2): OS `EE_OPT`, `KERNEL_TYPE`";
    assert!(said.err.contains(listed), "{}", said.err);
    assert!(said.err.contains("`OIL_VERSION` is missing"), "{}", said.err);
    let said = call(folder.path(), &["osek", "check", "--strict", "five.oil"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert!(said.err.contains("`OIL_VERSION = \"2.5\";` is missing"), "{}", said.err);
    let said = call(folder.path(), &["osek", "generate", "five.oil", "--out", "out"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.err.contains("not used here"), "{}", said.err);
    let said = call(folder.path(), &["osek", "generate", "--strict", "five.oil", "--out", "out"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
}
