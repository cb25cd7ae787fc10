//! Folders that lack something: what is left out or put in its place, and what the user is told.

use quietcore_program::Options;

use crate::support::{build_files, build_model, failure, folder, model, options, try_build};

/// Goal: whoever has such a folder learns what it is that is missing, where it is used, and how to
/// generate the model without it; and nothing is blamed that has no part in it.
#[test]
fn what_a_folder_lacks_is_told_by_its_true_name() {
    need_compiler!();
    for (header, call, what, without) in [
        ("MW_PWM.h", "MW_PWM_Open()", "driver blocks for a board", "no hardware board"),
        ("c2000BoardSupport.h", "config_ADC()", "driver blocks for a board", "no hardware board"),
        ("F2802x_Device.h", "c2000_reset()", "driver blocks for a board", "no hardware board"),
        ("DSP2833x_Device.h", "config_QEP()", "driver blocks for a board", "no hardware board"),
        ("wiringPi.h", "digitalWrite(1, 1)", "driver blocks for a board", "no hardware board"),
        ("arduino_digitaloutput_lct.h", "digitalWrite(1, 1)", "a board", "no hardware board"),
        ("Arduino.h", "analogRead(3)", "driver blocks for a board", "no hardware board"),
        ("ne_std.h", "ne_solve()", "Simscape", "the controller alone"),
        ("nesl_rtw.h", "nesl_step()", "Simscape", "the controller alone"),
        ("windows.h", "QueryPerformanceCounter()", "Windows", "Linux on x86-64"),
        ("rt_matrixlib.h", "rt_MatMultRR_Dbl()", "a library of the generator", "packNGo"),
        ("rtiostream.h", "rtIOStreamOpen()", "external mode", "without external mode"),
    ] {
        let source = format!(
            "#include \"fan.h\"\nvoid fan_initialize(void) {{ }}\n\
             void fan_step(void) {{ {call}; }}\n"
        );
        let wanted = format!("#include \"{header}\"\n");
        let text = failure(&[("fan.c", &source), ("fan.h", &wanted)], &options());
        let name = call.split('(').next().unwrap();
        for part in [
            format!("`{header}` is missing: it belongs to "),
            what.to_owned(),
            "`fan.h:1` includes it, for `fan.c`; ".to_owned(),
            format!("`fan_step` in `fan.c` calls `{name}`. "),
            without.to_owned(),
        ] {
            assert!(text.contains(&part), "{header}: `{part}` in {text}");
        }
        assert!(!text.contains("_sharedutils"), "{text}");
    }
}

/// Goal: external mode is no part of a program: code that was generated with it builds and steps.
#[test]
fn external_mode_is_left_out() {
    need_compiler!();
    for name in ["external", "external_events"] {
        let program = build_model(name);
        let output = format!("{name}_Y?");
        assert_eq!(program.run(&["init", "step:0:3", &output]), ["3.0"]);
        assert!(program.built.remarks[0].contains("`rtw_extmode.h`"), "{name}");
        assert_eq!(program.built.warnings, [], "{name}");
    }
}

/// Goal: types and tables of several releases fit what is put in place of the installation.
/// Method: `rtwtypes.h` of 2015, which defines integers of 64 bits itself; tables of two releases.
#[test]
fn headers_in_place_of_the_installations_fit_old_and_new_code() {
    need_compiler!();
    for defines in [vec![], vec!["FUNCTIONS".to_owned()]] {
        let options = Options { defines, ..options() };
        let program = try_build(&model("logged"), &options).unwrap();
        assert_eq!(program.run(&["init", "step:0:3", "logged_Y?"]), ["3"]);
        assert_eq!(program.built.warnings, []);
    }
}

/// Goal: S-functions that are not inlined find that they are in generated code, as the generator's
/// makefile would tell them; without them a name of two letters is the program's own.
#[test]
fn s_functions_that_are_not_inlined_know_where_they_are() {
    need_compiler!();
    let simstruc = "#ifndef RT\n#error neither in a simulation nor in generated code\n#endif\n\
                    typedef struct { double *out; } SimStruct;\n";
    let bridge = "#include \"simstruc.h\"\nvoid mdlOutputs(SimStruct *S) { *S->out += 1; }\n";
    let source = "#include \"simstruc.h\"\nextern void mdlOutputs(SimStruct *S);\ndouble f_Y;\n\
                  static SimStruct child = { &f_Y };\nvoid f_initialize(void) { }\n\
                  void f_step(void) { mdlOutputs(&child); }\n";
    let files = [("src/simstruc.h", simstruc), ("sfun.c", bridge), ("f.c", source)];
    assert_eq!(build_files(&files).run(&["init", "step:0:2", "f_Y?"]), ["2.0"]);
    let missing = failure(&files[1..], &options());
    assert!(missing.contains("belongs to S-functions that are not inlined"), "{missing}");
    let own = "double RT;\nvoid f_initialize(void) { }\nvoid f_step(void) { RT += 1; }\n";
    assert_eq!(build_files(&[("f.c", own)]).run(&["init", "step:0:1", "RT?"]), ["1.0"]);
}

/// Goal: a model beside its code, in a folder of its own or with a short name, hides no program.
#[test]
fn a_model_beside_the_code_generated_from_it_is_no_obstacle() {
    need_compiler!();
    let source = "double f_Y;\nvoid f_initialize(void) { }\nvoid f_step(void) { f_Y += 1; }\n";
    for name in ["f.c", "f_ert_rtw/f.c"] {
        let program = build_files(&[("f.slx", ""), (name, source)]);
        assert_eq!(program.run(&["init", "step:0:2", "f_Y?"]), ["2.0"], "{name}");
    }
}

/// Goal: what people name besides folders of C is recognised, and said to be not supported yet.
#[test]
fn what_is_known_and_not_supported_is_called_by_its_name() {
    let cases: [(&[&str], &str); 5] = [
        (&["modelDescription.xml", "sources/all.c"], "an FMU (Functional Mock-up Unit)"),
        (&["main.st", "library.st"], "Structured Text (IEC 61131-3)"),
        (&["POUS.c", "POUS.h", "config.c", "plc_main.c"], "a Beremiz project or its build"),
        (&["POUS.c", "POUS.h", "Config0.c", "Res0.c", "glueVars.cpp"], "an OpenPLC build"),
        (&["servo.slx"], "a Simulink model; generate C or C++ from it"),
    ];
    for (names, expected) in cases {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        let text = failure(&files, &options());
        assert!(text.contains(&format!("` is {expected}")), "{text}");
    }
    for (name, expected) in [
        ("pump.fmu", "an FMU"),
        ("pump.st", "Structured Text"),
        ("pump.c", "a single file; name the folder that it lies in"),
        ("pump", "no folder; name the folder that the generator wrote"),
    ] {
        let files = folder(&[(name, "")]);
        let text = try_build(&files.path().join(name), &options()).err().unwrap().to_string();
        assert!(text.contains(&format!("` is {expected}")), "{text}");
    }
}
