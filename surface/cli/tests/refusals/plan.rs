//! Tests of the output of `quietcore plan` about the programs of a site.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{Said, quietcore, said};

const HEADER: &str = "typedef struct { double position; } ExtU_axis_T;\n\
                      typedef struct { double force; } ExtY_axis_T;\n\
                      extern ExtU_axis_T axis_U;\nextern ExtY_axis_T axis_Y;\n\
                      extern void axis_initialize(void);\nextern void axis_step(void);\n";
const SOURCE: &str = "#include \"axis.h\"\nExtU_axis_T axis_U;\nExtY_axis_T axis_Y;\n\
                      void axis_initialize(void) { axis_Y.force = 0; }\n\
                      void axis_step(void) { axis_Y.force = 2 * axis_U.position; }\n";

/// Returns a site with these keys of its program and these connections.
fn site(program: &str, map: &str) -> String {
    format!(
        "[site]\nname = \"planned\"\n[host]\nhousekeeping = [0]\n[[partition]]\nname = \"axis\"\n\
         class = \"process-control\"\nbackend = \"process\"\n[partition.vcr]\ncpus = [1]\n\
         [partition.program]\nperiod = \"10 ms\"\npriority = 50\n{program}\n\
         [fieldbus.ec0]\npartition = \"axis\"\ninterface = \"sim\"\ncycle = \"10 ms\"\n\
         [[fieldbus.ec0.subdevice]]\nname = \"ai\"\ndevice = \"analog-input-4\"\n\
         [[fieldbus.ec0.subdevice]]\nname = \"ao\"\ndevice = \"analog-output-4\"\n{map}"
    )
}

fn connection(variable: &str, entry: &str) -> String {
    format!("[[fieldbus.ec0.map]]\nvariable = \"{variable}\"\nentry = \"{entry}\"\n")
}

/// The name and the content of a file.
type File<'a> = (&'a str, &'a str);

/// Plans a site whose folder holds these files.
fn plan(files: &[File<'_>], site: &str, arguments: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(folder.path().join("site.toml"), site).unwrap();
    let state = folder.path().join("state");
    let mut command = quietcore(folder.path());
    command.env("QUIETCORE_STATE_DIR", &state).env("QUIETCORE_RUN_DIR", folder.path().join("run"));
    said(&command.args(["plan", "site.toml"]).args(arguments).output().unwrap())
}

/// Returns `true` if this machine can have the partition; skips the test if it can't.
fn has_two_cpus() -> bool {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let compiler = Path::new("/usr/bin/gcc").exists();
    if online.trim() == "0" || !compiler {
        quietcore_skip::skip!("needs two CPUs and gcc");
        return false;
    }
    true
}

const FILES: [(&str, &str); 2] = [("axis/axis.h", HEADER), ("axis/axis.c", SOURCE)];

/// Goal: whatever `up` would refuse of a program, `plan` refuses, with its place.
#[test]
fn a_program_that_up_would_refuse_is_refused_by_plan() {
    if !has_two_cpus() {
        return;
    }
    let model = "model = \"axis\"";
    let good = connection("axis_U.position", "ai.input_1");
    let wrong_step = SOURCE.replace("axis_step(void)", "axis_step(double dt)");
    let wrong_header = HEADER.replace("axis_step(void)", "axis_step(double dt)");
    let broken = SOURCE.replace("2 *", "two *");
    let cases: [(&[File<'_>], String, &str); 9] = [
        (
            &FILES,
            site(model, &connection("axis_U.positron", "ai.input_1")),
            "`fieldbus.ec0.map[0].variable`: there is no `positron` in `axis_U`",
        ),
        (
            &FILES,
            site(model, &connection("axis_Y.force", "ai.input_1")),
            "`axis_Y.force` is an output of the program",
        ),
        (&FILES, site("model = \"axle\"", &good), "`partition.axis.program.model`: the program"),
        (&FILES, site("model = \"axle\"", &good), "there is no folder `./axle`"),
        (&[("axis/readme.md", "")], site(model, &good), "holds no source file of C"),
        (&[("axis/axis.h", HEADER), ("axis/axis.c", &broken)], site(model, &good), "'two' undecl"),
        (
            &[("axis/axis.h", &wrong_header), ("axis/axis.c", &wrong_step)],
            site(model, &good),
            "`axis_step` takes `dt`, a number that nothing gives it in each cycle",
        ),
        (&[("pump.fmu", "PK")], site("model = \"pump.fmu\"", &good), "an FMU"),
        (
            &FILES,
            site("model = \"axis\"\nmodel_name = \"axel\"", &good),
            "there is no model `axel` in the folder; there is axis",
        ),
    ];
    for (files, site, expected) in cases {
        let planned = plan(files, &site, &[]);
        assert!(planned.err.contains(expected), "`{expected}` in {}", planned.err);
        assert_eq!((planned.status, planned.out.as_str()), (Some(1), ""), "{}", planned.err);
    }
    let planned = plan(&FILES, &site("model = \"axle\"", &good), &["--json"]);
    let document: Value = serde_json::from_str(&planned.out).unwrap();
    assert_eq!(planned.status, Some(1));
    assert!(document["problems"][0].as_str().unwrap().contains("site.toml:"), "{document}");
}

#[test]
fn plan_says_what_a_folder_was_taken_for_what_is_left_out_and_what_the_compiler_says() {
    if !has_two_cpus() {
        return;
    }
    let map = connection("axis_U.position", "ai.input_1");
    let careless = SOURCE.replace("{ axis_Y.force = 2", "{ int unused; axis_Y.force = 2");
    let main = ("axis/ert_main.c", "int main(void) { return 0; }\n");
    let files = [("axis/axis.h", HEADER), ("axis/axis.c", &careless), main];
    let planned = plan(&files, &site("model = \"axis\"", &map), &[]);
    assert_eq!(planned.status, Some(0), "{}", planned.err);
    let left_out = "remark: `axis`: left out: `ert_main.c` (it has a `main` of its own)\n";
    assert!(planned.err.contains(left_out), "{}", planned.err);
    assert!(
        planned.out.contains("`axis` is generated C, model `axis` with one rate"),
        "{}",
        planned.out
    );
    assert!(planned.err.contains("`axis`: the compiler has 1 warning:\n"), "{}", planned.err);
    assert!(planned.err.contains("axis.c:5:28: warning: unused variable"), "{}", planned.err);
}

/// Goal: an OIL file beside generated C is no trap: the site file says what the folder is.
#[test]
fn the_site_file_says_what_kind_of_program_a_folder_is() {
    if !has_two_cpus() {
        return;
    }
    let map = connection("axis_U.position", "ai.input_1");
    let oil = ("axis/conf.oil", "CPU mySystem { OS myOs { EE_OPT = \"DEBUG\"; }; };");
    let files = [FILES[0], FILES[1], oil];
    let planned = plan(&files, &site("model = \"axis\"", &map), &[]);
    assert_eq!(planned.status, Some(1), "{}", planned.out);
    assert!(planned.err.contains("write `kind = \"generated\"`"), "{}", planned.err);
    let planned = plan(&files, &site("model = \"axis\"\nkind = \"generated\"", &map), &[]);
    assert_eq!(planned.status, Some(0), "{}", planned.err);
    let planned = plan(&FILES, &site("model = \"axis\"\nkind = \"osek\"", &map), &[]);
    assert_eq!(planned.status, Some(1), "{}", planned.out);
    assert!(planned.err.contains("holds no OIL file"), "{}", planned.err);
}
