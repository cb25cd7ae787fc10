//! Folders that can't be built: what the user is told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use quietcore_program::build::{BuildError, Severity};
use quietcore_program::{Diagnostic, Options};

use crate::support::{failure, folder, model, options, try_build};

const EMPTY_MODEL: &str = "void a_initialize(void) { }\nvoid a_step(void) { }\n";

#[test]
fn a_compilers_error_comes_back_as_it_was_said() {
    need_compiler!();
    let files = [
        (
            "servo.c",
            "#include \"servo.h\"\nvoid servo_initialize(void) { }\nvoid servo_step(void)\n{\n  \
             gain = 1;\n}\n",
        ),
        ("servo.h", "extern int speed;\n"),
    ];
    let error = try_build(folder(&files).path(), &options()).err().unwrap();
    let text = error.to_string();
    assert!(
        text.contains("./servo.c:5:3: error: 'gain' undeclared (first use in this function)"),
        "{text}"
    );
    assert!(text.contains("    5 |   gain = 1;\n      |   ^~~~"), "{text}");
    let BuildError::Refused { errors, .. } = error else { panic!("{text}") };
    let first = Diagnostic {
        severity: Severity::Error,
        file: "servo.c".to_owned(),
        line: Some(5),
        column: Some(3),
        message: "'gain' undeclared (first use in this function)".to_owned(),
    };
    assert_eq!(errors, [first]);
}

#[test]
fn a_file_that_nothing_needs_may_fail_but_is_named() {
    need_compiler!();
    let files =
        [("a.c", EMPTY_MODEL), ("board.c", "#include \"stm32f4xx.h\"\nvoid board(void) { }\n")];
    let program = try_build(folder(&files).path(), &options()).unwrap();
    let left_out = &program.built.left_out[0];
    assert_eq!(left_out.file, "board.c");
    assert!(
        left_out.why.contains("board.c:1:10: error: stm32f4xx.h: No such file"),
        "{}",
        left_out.why
    );
}

#[test]
fn a_file_that_something_needs_may_not_fail() {
    need_compiler!();
    let files = [
        (
            "a.c",
            "extern double look(void);\nvoid a_initialize(void) { }\ndouble a_Y; void \
             a_step(void) { a_Y = look(); }\n",
        ),
        ("look.c", "double look(void) { return 1 }\n"),
    ];
    let text = failure(&files, &options());
    assert!(text.contains("./look.c:1:29: error: expected ';'"), "{text}");
}

#[test]
fn the_model_that_is_meant_is_not_replaced_by_another() {
    need_compiler!();
    let files = [
        ("a.c", EMPTY_MODEL),
        ("b.c", "void b_initialize(void) { }\nvoid b_step(void) { oops }\n"),
    ];
    assert!(failure(&files, &options()).contains("'oops' undeclared"));
    let chosen = Options { model: Some("a".to_owned()), ..options() };
    assert_eq!(try_build(folder(&files).path(), &chosen).unwrap().built.model, "a");
}

#[test]
fn an_undefined_name_is_told_by_the_linker() {
    need_compiler!();
    let files = [(
        "a.c",
        "extern void MW_pwm(void);\nvoid a_initialize(void) { }\nvoid a_step(void) { MW_pwm(); }\n",
    )];
    let text = failure(&files, &options());
    assert!(text.contains("undefined reference to `MW_pwm'"), "{text}");
    assert!(text.contains("a.c:3"), "{text}");
}

#[test]
fn several_models_are_named_and_one_may_be_chosen() {
    need_compiler!();
    let files =
        [("a.c", EMPTY_MODEL), ("b.c", "void b_initialize(void) { }\nvoid b_step(void) { }\n")];
    assert_eq!(
        failure(&files, &options()),
        "the folder holds several models: `a`, `b`; name the one to run, in the site file as \
         `model_name`"
    );
    let wrong = Options { model: Some("c".to_owned()), ..options() };
    assert_eq!(failure(&files, &wrong), "there is no model `c` in the folder; there is a, b");
    let right = Options { model: Some("b".to_owned()), ..options() };
    assert_eq!(try_build(folder(&files).path(), &right).unwrap().built.model, "b");
}

#[test]
fn a_folder_without_a_model_is_told_so() {
    need_compiler!();
    let text = failure(&[("a.c", "int a;\n")], &options());
    assert!(text.starts_with("no model was found"), "{text}");
    let text = failure(&[("readme.txt", "")], &options());
    assert!(
        text.ends_with(
            "holds no source file of C or C++; name the folder that the generator wrote"
        )
    );
    let text = failure(&[("a.cpp", "class A { };\n")], &options());
    assert!(text.starts_with("no model was found"), "{text}");
    let text = failure(&[("ert_main.c", "int main(void) { return 0; }\n")], &options());
    let beside = "holds no source file of C or C++ that is part of a program: `ert_main.c` (it has \
                  a `main` of its own); name";
    assert!(text.contains(beside), "{text}");
    let nowhere = folder(&[]).path().join("nowhere");
    let text = try_build(&nowhere, &options()).err().unwrap().to_string();
    assert!(text.starts_with("there is no folder `"), "{text}");
}

#[test]
fn parameters_that_cannot_be_made_are_named() {
    need_compiler!();
    for (parameter, problem) in [
        ("void *data", "`a_step` takes `data`, an address of something that is not described"),
        ("double **data", "`a_step` takes `data`, an address of something that cannot be made"),
        ("struct { int a; } *data", "`a_step` takes `data`, whose type has no name"),
    ] {
        let source =
            format!("void a_initialize(void) {{ }}\nvoid a_step({parameter}) {{ (void)data; }}\n");
        assert_eq!(failure(&[("a.c", &source)], &options()), problem);
    }
    let source = "void a_initialize(void) { }\nvoid a_step(double dt) { (void)dt; }\n";
    assert_eq!(
        failure(&[("a.c", source), ("a.h", "void a_step(double dt);\n")], &options()),
        "`a_step` takes `dt`, a number that nothing gives it in each cycle; make it a global \
         variable, which the site file can map and everybody can set, or a constant"
    );
    let source = "typedef double real_T;\nvoid a_initialize(void) { }\nvoid a_step(real_T u) { \
                  (void)u; }\n";
    let text = failure(&[("a.c", source)], &options());
    assert_eq!(text, "the header `a.h` is missing, which declares what `a_initialize` takes");
}

#[test]
fn code_for_other_word_sizes_is_refused() {
    need_compiler!();
    let source =
        "typedef long int32_T;\nint32_T a_Y;\nvoid a_initialize(void) { }\nvoid a_step(void) { }\n";
    let text = failure(&[("a.c", source)], &options());
    assert!(
        text.starts_with("`int32_T` has 8 bytes instead of 4; the code was generated for another"),
        "{text}"
    );
    let source = "#include <limits.h>\n#if ( UINT_MAX != (0xFFFFU) )\n\
                  #error Code was generated for compiler with different sized uint/int.\n#endif\n";
    let text = failure(&[("a.c", source)], &options());
    assert!(text.contains("generated for a processor of other word sizes"), "{text}");
}

#[test]
fn what_would_run_before_or_beside_the_program_is_refused() {
    need_compiler!();
    let with = |more: &str| failure(&[("a.c", &format!("{EMPTY_MODEL}{more}"))], &options());
    let text = with(
        "int a_early;\n__attribute__((constructor)) static void early(void) { a_early = 1; }\n",
    );
    assert!(text.contains("has constructors (`.init_array`)"), "{text}");
    let text = with("__thread int apart; int *a_where(void) { return &apart; }\n");
    assert!(text.contains("has thread-local variables"), "{text}");
    let text = with("__asm__(\".section .note.GNU-stack,\\\"x\\\",@progbits\\n.text\\n\");\n");
    assert!(text.contains("executable stack"), "{text}");
    let text = with("char a_large[300 * 1024 * 1024];\n");
    assert!(text.contains("the exchange takes 268435456 at most"), "{text}");
}

/// A name that other libraries define too must not be taken from them, nor given to them.
#[test]
fn a_module_exports_its_face_alone() {
    need_compiler!();
    let source =
        format!("{EMPTY_MODEL}__attribute__((visibility(\"default\"))) int malloc_count;\n");
    assert!(try_build(folder(&[("a.c", &source)]).path(), &options()).is_ok());
}

#[test]
fn a_missing_header_of_the_generator_comes_with_a_remedy() {
    need_compiler!();
    let source = format!("#include \"rtw_capi.h\"\n{EMPTY_MODEL}");
    let text = failure(&[("a.c", &source)], &options());
    assert!(text.contains("packNGo"), "{text}");
    assert!(text.contains("rtw_capi.h: No such file or directory"), "{text}");
    let source = format!("#include \"look1.h\"\n{EMPTY_MODEL}");
    assert!(failure(&[("a.c", &source)], &options()).contains("_sharedutils"));
}

#[test]
fn a_compiler_that_cannot_be_used_is_told_so() {
    let files = [("a.c", EMPTY_MODEL)];
    let missing = Options { compiler: Some("no-such-compiler".into()), ..options() };
    assert_eq!(
        failure(&files, &missing),
        "the compiler `no-such-compiler` cannot be run; install gcc, or name one with CC"
    );
    let other = Options { compiler: Some("echo".into()), ..options() };
    let text = failure(&files, &other);
    assert!(text.starts_with("`echo` is not the GNU C compiler"), "{text}");
}

/// Goal: a compiler that hangs is stopped with all that it started.
/// Method: a script that answers as the compiler does, and then waits in a process of its own.
#[test]
fn a_compiler_that_does_not_end_is_stopped() {
    let tools = folder(&[(
        "slow",
        "#!/bin/sh\ncase \"$1\" in\n-v) echo 'Target: x86_64-linux-gnu'\n\
         echo 'gcc version 12.2.0 (test)';;\n*) sleep 600 & wait;;\nesac\n",
    )]);
    let slow = tools.path().join("slow");
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let options =
        Options { compiler: Some(slow), time_limit: Duration::from_millis(300), ..options() };
    let start = Instant::now();
    let text = failure(&[("a.c", EMPTY_MODEL)], &options);
    assert!(text.ends_with("did not end within 300ms; it was stopped"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Goal: a build whose inputs are not known is none.
/// Method: the compiler itself, without what it prints.
#[test]
fn a_compiler_that_does_not_list_what_it_reads_is_refused() {
    need_compiler!();
    let tools = folder(&[("quiet", "#!/bin/sh\nexec gcc \"$@\" > /dev/null\n")]);
    let quiet = tools.path().join("quiet");
    fs::set_permissions(&quiet, fs::Permissions::from_mode(0o755)).unwrap();
    let options = Options { compiler: Some(quiet.clone()), ..options() };
    let text = failure(&[("a.c", EMPTY_MODEL)], &options);
    let expected = format!("`{}` does not list the files that it reads", quiet.display());
    assert!(text.starts_with(&expected), "{text}");
    fs::write(&quiet, "#!/bin/sh\ngcc \"$@\" && head -c 5000000 /dev/zero\n").unwrap();
    let text = failure(&[("a.c", EMPTY_MODEL)], &options);
    assert!(text.ends_with("printed more than 4 MiB"), "{text}");
    fs::write(&quiet, "#!/bin/sh\n[ $1 = -v ] && exec gcc -v\necho no licence\nexit 1\n").unwrap();
    let text = failure(&[("a.c", EMPTY_MODEL)], &options);
    assert!(text.trim_end().ends_with("no licence"), "{text}");
}

/// Names that a command line could take for something else stay names.
#[test]
fn strange_names_of_files_are_names() {
    need_compiler!();
    let files = [
        ("-o.c", EMPTY_MODEL),
        ("@list.c", "int unused;\n"),
        ("with space.c", "int unused_too;\n"),
    ];
    let program = try_build(folder(&files).path(), &options()).unwrap();
    assert_eq!(program.built.model, "a");
    let left_out: Vec<&str> = program.built.left_out.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(left_out, ["@list.c", "with space.c"]);
}

#[test]
fn links_are_left_out_and_folders_of_reports_not_entered() {
    need_compiler!();
    let whole = format!("#include \"part.c\"\n{EMPTY_MODEL}");
    let part = ("part.c", "int part_Y;\n");
    let folder =
        folder(&[("a.c", &whole), part, ("html/a.c", "#error\n"), (".git/a.c", "#error\n")]);
    std::os::unix::fs::symlink(model("plain/plain.c"), folder.path().join("plain.c")).unwrap();
    let program = try_build(folder.path(), &options()).unwrap();
    assert_eq!(program.built.left_out.len(), 1);
    assert_eq!(program.built.left_out[0].file, "plain.c");
    assert!(program.built.left_out[0].why.contains("no plain file"));
    let told = program.built.remarks_told();
    assert_eq!(told, ["left out: `plain.c` (it is no plain file; put a copy in its place)"]);
}

/// Goal: a file that is there and not read is never said to be missing.
#[test]
fn what_is_there_and_not_read_is_told_with_the_reason() {
    need_compiler!();
    let source = "#include \"cfg.h\"\nint a_Y;\nvoid a_initialize(void) { }\n\
                  void a_step(void) { a_Y = GAIN; }\n";
    let folder = folder(&[
        ("shared/cfg.h", "#define GAIN 1\n"),
        ("beside/a.c", &source.replace("cfg.h", "../shared/cfg.h")),
        ("linked/a.c", source),
        ("only/readme.txt", ""),
    ]);
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("../shared/cfg.h", at("linked/cfg.h")).unwrap();
    std::os::unix::fs::symlink("../linked/a.c", at("only/a.c")).unwrap();
    for (name, expected) in [
        (
            "beside",
            "`../shared/cfg.h` is not read: it lies outside of the folder, and only the folder is \
             read; include a copy in it. `a.c:1` includes it",
        ),
        (
            "linked",
            "`cfg.h` is not read: it is no plain file; put a copy in its place. `a.c:1` includes \
             it",
        ),
        (
            "only",
            "that is part of a program: `a.c` (it is no plain file; put a copy in its place); name",
        ),
    ] {
        let text = try_build(&at(name), &options()).err().unwrap().to_string();
        assert!(text.contains(expected), "{name}: {text}");
        assert!(!text.contains("Put "), "{name}: {text}");
    }
}
