//! Programs in C++: a class with `initialize` and `step`, and functions beside it.

use quietcore_program::Options;
use quietcore_program::interface::{Language, Packaging};
use quietcore_program::place::Access;

use crate::support::{
    build_files, build_model, failure, folder, guest_options, model, options, try_build,
};

/// Goal: a class runs as functions of C do, its members known by the same names.
/// Method: read every value through a second mapping of the memory that shall hold it.
#[test]
fn a_class_runs_with_its_members_in_shared_memory() {
    need_cpp!();
    let program = build_model("encapsulated");
    let answers = program.run(&[
        "remap",
        "init",
        "encapsulated_DW.Total?",
        "encapsulated_U.In1=3",
        "step:0:2",
        "encapsulated_Y.Out1?",
        "encapsulated_P.Gain=100",
        "step:0:5",
        "encapsulated_Y.Out1?",
        "LimiterMDLOBJ1.innerling_limit?",
        "encapsulated_DW.Steps?",
        "step::calls?",
        "status",
        "encapsulated_U.Reset=true",
        "step:0:1",
        "status",
        "terminate",
        "encapsulated_Y.Out1?",
    ]);
    // 0.5 + 2 · 2 · 3 + 1 + 10; then the limit of the model inside.
    let expected = ["0.5", "23.5", "1000.0", "1000.0", "7", "7", "none", "reset was asked for"];
    assert_eq!(answers[..8], expected);
    assert_eq!(answers[8], "-1.0");
    let interface = &program.built.interface;
    assert_eq!(interface.class.as_deref(), Some("encapsulatedModelClass"));
    assert_eq!((interface.language, interface.packaging), (Language::Cpp, Packaging::Class));
    assert_eq!(program.built.model, "encapsulated");
    let access = |path| program.built.symbols.resolve(path).unwrap().access;
    assert_eq!(access("encapsulated_U.In1"), Access::Input);
    assert_eq!(access("encapsulated_Y.Out1"), Access::Output);
    assert_eq!(access("encapsulated_P.Table[1]"), Access::Parameter);
    assert_eq!(program.built.left_out[0].file, "ert_main.cpp");
    assert_eq!(program.built.warnings, []);
}

#[test]
fn a_class_in_a_namespace_has_its_rates_and_static_members() {
    need_cpp!();
    let program = build_model("spaced");
    let answers = program.run(&[
        "init",
        "spaced_U.speed=-8",
        "step:0:1",
        "spaced_Y.position?",
        "spaced_U.enable=true",
        "step:0:2",
        "spaced_Y.position?",
        "spaced_DW.phase?",
        "spaced_P.Ts=10",
        "step:0:1",
        "status",
        "step:1:1",
        "status",
        "terminate",
    ]);
    assert_eq!(answers, ["1.0", "9.0", "Moving", "none", "at its end"]);
    let interface = &program.built.interface;
    assert_eq!(interface.class.as_deref(), Some("plant::spaced"));
    assert_eq!(interface.rates[1].period_ns, Some(10_000_000));
    assert_eq!(program.built.taken_for(), "generated C++, class `plant::spaced` with 2 rates");
}

/// Goal: what lies beside a class does not hide it, and either of two models can be named.
#[test]
fn c_beside_a_class_is_no_obstacle() {
    need_cpp!();
    let header = "class Valve {\n public:\n  struct { double open; } valve_U;\n  double flow;\n  \
                  void initialize();\n  void step();\n};\n";
    let source = "#include \"Valve.h\"\nextern \"C\" double square(double);\n\
                  void Valve::initialize() { flow = 0; }\n\
                  void Valve::step() { flow = square(valve_U.open); }\n";
    let files = [
        ("Valve.h", header),
        ("Valve.cpp", source),
        ("square.c", "double square(double a) { return a * a; }\n"),
        ("stray.c", "#include \"stm32f4xx.h\"\nvoid stray(void) { }\n"),
    ];
    let program = build_files(&files);
    let answers = program.run(&["init", "valve_U.open=3", "step:0:1", "flow?", "status"]);
    assert_eq!(answers, ["9.0", "none"]);
    let other = ("other.c", "void other_initialize(void) { }\nvoid other_step(void) { }\n");
    let both = [files[0], files[1], files[2], other];
    assert!(failure(&both, &options()).contains("several models: `Valve`, `other`"));
    let named = |name: &str| Options { model: Some(name.to_owned()), ..options() };
    assert_eq!(try_build(folder(&both).path(), &named("Valve")).unwrap().built.model, "Valve");
    assert_eq!(try_build(folder(&both).path(), &named("other")).unwrap().built.model, "other");
}

/// Goal: classes of one name in nested namespaces are told apart by these, and of an overloaded
/// `step` the form without arguments is run.
#[test]
fn a_class_in_nested_namespaces_is_named_with_them() {
    need_cpp!();
    let header = "namespace plant { namespace axis {\nclass Servo {\n public:\n  double \
                  servo_Y;\n  void initialize();\n  void step(double by);\n  void step();\n  \
                  void step(int times);\n};\n} }\n\
                  namespace model { class Servo {\n public:\n  double other_Y;\n  void \
                  initialize();\n  void step(double by);\n  void step(int times);\n}; }\n";
    let source = "#include \"Servo.h\"\nusing plant::axis::Servo;\n\
                  void Servo::initialize() { servo_Y = 1; }\n\
                  void Servo::step(double by) { servo_Y += by; }\n\
                  void Servo::step(int times) { servo_Y *= times; }\n\
                  void Servo::step() { step(2); step(0.5); }\n\
                  void model::Servo::initialize() { other_Y = 0; }\n\
                  void model::Servo::step(double by) { other_Y = by; }\n\
                  void model::Servo::step(int) { }\n";
    let files = [("Servo.h", header), ("Servo.cpp", source)];
    let named = |name: &str| Options { model: Some(name.to_owned()), ..options() };
    let program = try_build(folder(&files).path(), &named("plant::axis::Servo")).unwrap();
    assert_eq!(program.built.interface.class.as_deref(), Some("plant::axis::Servo"));
    assert_eq!(program.run(&["init", "step:0:2", "servo_Y?"]), ["5.5"], "(1 · 2 + ½) · 2 + ½");
    let text = failure(&files, &options());
    assert!(text.contains("several models: `model::Servo`, `plant::axis::Servo`"), "{text}");
    let text = failure(&files, &named("model::Servo"));
    assert!(text.starts_with("`model::Servo::step` is overloaded, and no form of it"), "{text}");
}

/// Goal: a parameter that is infinite, which C++ allows where C does not, is a value that is
/// computed when the program is initialised, and not in the loader.
#[test]
fn what_begins_with_a_computed_value_has_it_after_initialize() {
    need_cpp!();
    let header = "class Valve {\n public:\n  struct P { double upper; double gain; };\n  static P \
                  valve_P;\n  double valve_Y;\n  void initialize();\n  void step();\n};\n";
    let source = "#include \"Valve.h\"\n#include <cmath>\ndouble largest() { return HUGE_VAL; }\n\
                  double limit = largest();\nValve::P Valve::valve_P{ limit, 2.0 };\n\
                  void Valve::initialize() { valve_Y = valve_P.upper; }\n\
                  void Valve::step() { valve_Y = valve_P.gain; }\n";
    let program = build_files(&[("Valve.h", header), ("Valve.cpp", source)]);
    let answers =
        program.run(&["remap", "init", "valve_Y?", "valve_P.upper?", "step:0:1", "valve_Y?"]);
    assert_eq!(answers, ["inf", "inf", "2.0"]);
}

#[test]
fn functions_in_files_of_cpp_are_run_as_those_of_c() {
    need_cpp!();
    let declared = "void pump_initialize();\nvoid pump_step();\nextern double pump_Y;\n";
    let defined = "#include \"pump.h\"\ndouble pump_Y;\nvoid pump_initialize() { pump_Y = 1; }\n\
                   void pump_step() { pump_Y += 1; }\n";
    let plain = format!("extern \"C\" {{\n{declared}}}\n");
    for header in [Some(declared), Some(plain.as_str()), None] {
        let source = match header {
            Some(_) => defined.to_owned(),
            None => defined.replace("#include \"pump.h\"\n", ""),
        };
        let mut files = vec![("pump.cpp", source.as_str())];
        files.extend(header.map(|header| ("pump.h", header)));
        let answers = build_files(&files).run(&["init", "step:0:2", "pump_Y?"]);
        assert_eq!(answers, ["3.0"], "{header:?}");
    }
}

#[test]
fn inputs_and_outputs_of_a_method_are_variables() {
    need_cpp!();
    let header = "typedef double real_T;\nclass Mixer {\n public:\n  struct Out { real_T sum; };\n\
                  void initialize();\n  void step(real_T arg_In1, const real_T arg_In2[2], real_T \
                  *arg_Out1, real_T &arg_Out2, Out &arg_Out3);\n};\n";
    let source = "#include \"Mixer.h\"\nvoid Mixer::initialize() { }\nvoid Mixer::step(real_T \
                  arg_In1, const real_T arg_In2[2], real_T *arg_Out1, real_T &arg_Out2, Out \
                  &arg_Out3)\n{\n  *arg_Out1 = arg_In1;\n  arg_Out2 = arg_In2[1];\n  arg_Out3.sum \
                  = arg_In1 + arg_In2[1];\n}\n";
    let program = build_files(&[("Mixer.h", header), ("Mixer.cpp", source)]);
    let answers = program.run(&[
        "init",
        "arg_In1=4",
        "arg_In2[1]=5",
        "step:0:1",
        "arg_Out1?",
        "arg_Out2?",
        "arg_Out3.sum?",
    ]);
    assert_eq!(answers, ["4.0", "5.0", "9.0"]);
}

#[test]
fn a_class_that_cannot_be_made_or_built_is_refused_with_the_reason() {
    need_cpp!();
    let header = "class Port { };\nclass Sender {\n public:\n  Sender(Port &port);\n  void \
                  initialize();\n  void step();\n};\n";
    let source = "#include \"Sender.h\"\nSender::Sender(Port &) { }\nvoid Sender::initialize() { \
                  }\nvoid Sender::step() { }\n";
    let text = failure(&[("Sender.h", header), ("Sender.cpp", source)], &options());
    assert!(text.starts_with("an object of the class `Sender` is made from something"), "{text}");
    let header = "class Thrower {\n public:\n  void initialize();\n  void step();\n};\n";
    let source = "#include \"Thrower.h\"\nvoid Thrower::initialize() { }\n\
                  void Thrower::step() { throw 1; }\n";
    let text = failure(&[("Thrower.h", header), ("Thrower.cpp", source)], &options());
    assert!(text.contains("; programs are built without exceptions of C++:\n"), "{text}");
}

#[test]
fn a_class_is_refused_for_a_guest_with_the_reason() {
    need_musl!();
    let guest = try_build(&model("spaced"), &guest_options()).err().unwrap().to_string();
    assert!(guest.contains("C++ only, which is not built for a guest"), "{guest}");
}
