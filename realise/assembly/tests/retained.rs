//! Tests of variables that a site file asks a program to retain: found, remarked or refused, each
//! at its position.
//!
//! Method: a small program in the generator's style is built; its state has a bit field and an
//! address beside numbers. Nothing of it is run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use quietcore_assembly::{Assembly, AssemblyError, Workshop};
use quietcore_record::class::catalogue;
use quietcore_skip::skip;

const PROGRAM: &str = "
typedef struct { double offset; unsigned is_homed : 1; unsigned is_cold : 1; void *log; } DW_axis_T;
DW_axis_T axis_DW;
const double axis_limit = 4.5;
void axis_initialize(void) { axis_DW.log = &axis_DW; }
void axis_step(void) { axis_DW.offset += axis_limit; }
";

/// The assembly of a site whose line 13 is `retain = [what]`; `None` without a compiler.
fn assembled(what: &str) -> Option<Result<Assembly, AssemblyError>> {
    if !Command::new("gcc").arg("--version").output().is_ok_and(|answer| answer.status.success()) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("axis")).unwrap();
    fs::write(folder.path().join("axis/axis.c"), PROGRAM).unwrap();
    let text = format!(
        "[site]\nname = \"press\"\n\n[[partition]]\nname = \"left\"\n\
         class = \"process-control\"\n\n[partition.vcr]\ncpus = [1]\n\n\
         [partition.program]\nmodel = \"axis\"\nretain = [{what}]\n"
    );
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue());
    let site = site.unwrap_or_else(|error| panic!("{error}"));
    let workshop = Workshop {
        site_folder: folder.path().to_owned(),
        build_folder: folder.path().join("builds"),
    };
    Some(workshop.assemble(&site, &site.partitions()[0]))
}

#[test]
fn what_the_site_file_names_and_cannot_be_retained_is_an_error_at_its_place() {
    let named =
        r#""axis_DW.offset", "axis_DW.is_homed", "axis_DW.is_*", "axis_limit", "axis_DW.of""#;
    let Some(assembled) = assembled(named) else { return skip!("there is no gcc; install it") };
    let refused = assembled.unwrap_err().to_string();
    let unfit = |column: u32, index: u32, pattern: &str, what: &str, why: &str| {
        format!(
            "press.toml:13:{column}: `partition.left.program.retain[{index}]`: `{pattern}` can't \
             be retained: {what} is {why}; choose numbers of whole bytes that the program can write"
        )
    };
    let expected = [
        unfit(29, 1, "axis_DW.is_homed", "it", "a bit field"),
        unfit(49, 2, "axis_DW.is_*", "`axis_DW.is_cold`", "a bit field"),
        unfit(65, 3, "axis_limit", "it", "a constant"),
        "press.toml:13:79: `partition.left.program.retain[4]`: `axis_DW.of` chooses no variable of \
         the program: there is no `of` in `axis_DW`; perhaps `offset`"
            .to_owned(),
    ];
    assert_eq!(refused.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn what_a_wide_pattern_leaves_out_is_remarked_at_its_place() {
    let Some(assembled) = assembled(r#""axis_DW""#) else {
        return skip!("there is no gcc; install it");
    };
    let first = assembled.unwrap_or_else(|error| panic!("{error}")).first;
    let retained: Vec<_> = first.retained.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(retained, ["axis_DW.offset"]);
    let remarks: Vec<_> = first.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        ["press.toml:13:11: `partition.left.program.retain[0]`: `axis_DW.is_cold` (a bit field), \
          `axis_DW.is_homed` (a bit field), `axis_DW.log` (an address) can't be retained and will \
          begin anew after a restart; to retain such a value make it a variable of whole bytes"]
    );
}

#[test]
fn what_can_be_retained_is_without_remarks() {
    let Some(assembled) = assembled(r#""axis_DW.offset""#) else {
        return skip!("there is no gcc; install it");
    };
    let first = assembled.unwrap_or_else(|error| panic!("{error}")).first;
    assert_eq!((first.retained.len(), first.remarks.len()), (1, 0));
    assert_eq!(first.stage.retained_bytes(), 8);
}
