//! Programs for guests: the same as for a process, in images for two places.
//!
//! The code of an image runs in a child process of the tests, whose memory it gets at the addresses
//! that it has in a guest; see `harness/run.c`.

mod kernel;

use std::fs;
use std::path::{Path, PathBuf};

use quietcore_program::build::{BuildError, Options, Target, build};
use quietcore_program::{Memory, Scalar, VariableLocation, symbolise};
use quietcore_program_image::{ProgramImage, Slot};
use quietcore_units::DataType;
use tempfile::TempDir;

use crate::support::{Program, failure, folder, guest_options, model, options, try_build};

/// Leaves of a program that are compared.
const LEAVES_MAX: usize = 100_000;

/// The folder of an example program.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)
}

/// Lists what a monitor knows of each variable before the program runs: path, kind, class, value.
fn known(program: &Program) -> Vec<(String, Scalar, quietcore_program::Access, Option<String>)> {
    let initial = program.built.initial_data().unwrap();
    let value = |place: &VariableLocation| match place.memory {
        // Addresses differ with the place of the program.
        _ if place.scalar == Scalar::Address => None,
        Memory::Constant => program.built.constant(place).unwrap(),
        Memory::Data => place.decode(&initial[place.offset as usize..]),
    };
    let leaves = program.built.symbols.leaves(None, LEAVES_MAX);
    let known = leaves.into_iter().map(|(path, place)| {
        let value = value(&place).map(|value| value.to_string());
        (path, place.scalar, place.access, value)
    });
    known.collect()
}

/// Goal: a monitor finds the same variables with the same values, whatever runs the program.
/// Method: all models of the tests and all examples that need no channels, built for both.
#[test]
fn a_guest_has_the_variables_and_values_of_the_module() {
    need_musl!();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let models = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path());
    let examples = ["servo", "tank", "turbine"].map(example);
    // A guest has no C++.
    let is_c = |folder: &PathBuf| {
        let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.all(|file| file.extension().is_none_or(|ending| ending != "cpp"))
    };
    for folder in models.filter(is_c).chain(examples) {
        let rates = folder.ends_with("halves").then_some(2);
        let build = |target| {
            let options = Options { target, rates, ..options() };
            try_build(&folder, &options).unwrap_or_else(|error| panic!("{folder:?}: {error}"))
        };
        let (module, guest) = (build(Target::Module), build(Target::Guest));
        assert_eq!(known(&module), known(&guest), "{folder:?}");
        assert_eq!(module.built.interface, guest.built.interface);
        assert_eq!(module.built.second, None);
    }
}

/// Goal: both images hold the same program, each at its own place.
#[test]
fn the_images_differ_by_their_place_alone() {
    need_musl!();
    let program = try_build(&example("servo"), &guest_options()).unwrap();
    let read = |path: &Path| ProgramImage::parse(&fs::read(path).unwrap()).unwrap();
    let first = read(&program.built.module);
    let second = read(program.built.second.as_ref().unwrap());
    assert_eq!((first.slot(), second.slot()), (Slot::A, Slot::B));
    assert_eq!(second.face() - first.face(), 0x0200_0000);
    assert_eq!(first.data().len(), second.data().len());
    assert_eq!(program.built.data.address, 0x2000_0000);
    assert_eq!(program.built.data.bytes, first.data().len() as u64);
    assert_eq!(program.built.initial_data().unwrap(), first.data());
    // What the segment register FS is to refer to is first, and its word is zero in every build.
    let words = |image: &ProgramImage| {
        let words = image.data().chunks_exact(8).take(8);
        words.map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(words(&first), [0x2000_0000, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(words(&second), [0x3000_0000, 0, 0, 0, 0, 0, 0, 0]);
    let lengths =
        |image: &ProgramImage| image.parts().iter().map(|it| it.bytes.len()).collect::<Vec<_>>();
    assert_eq!(lengths(&first), lengths(&second));
}

/// Goal: the same C computes the same numbers in both slots and in a module, bit for bit.
/// Method: 1000 steps of the examples; then every number that is not an address.
#[test]
fn a_guest_computes_what_the_module_computes() {
    need_musl!();
    for (name, steps) in [("servo", 1000), ("tank", 1000), ("turbine", 1000)] {
        let module = try_build(&example(name), &options()).unwrap();
        let guest = try_build(&example(name), &guest_options()).unwrap();
        let leaves: Vec<_> = module.built.symbols.leaves(None, LEAVES_MAX).collect();
        let asked = leaves
            .iter()
            .filter(|(_, place)| place.memory == Memory::Data && place.scalar != Scalar::Address);
        let asked: Vec<String> = asked.map(|(path, _)| format!("{path}?")).collect();
        let inputs = leaves.iter().filter(|(_, place)| {
            place.access == quietcore_program::Access::Input
                && place.scalar == Scalar::Number(DataType::F64)
        });
        let inputs: Vec<String> = inputs.map(|(path, _)| format!("{path}=0.37")).collect();
        let mut commands = vec!["init".to_owned()];
        commands.extend(inputs);
        commands.push(format!("step:0:{steps}"));
        commands.extend(asked);
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let expected = module.run(&commands);
        assert!(expected.len() > 5, "{name}: {expected:?}");
        assert_eq!(guest.run(&commands), expected, "{name}");
        assert_eq!(guest.run_second(&commands), expected, "{name}");
    }
}

/// Goal: headers and library agree, and nothing of the library needs a thread.
/// Method: the program's own results, and those of the process's library where both must be equal.
#[test]
fn the_library_of_a_guest_does_what_generated_code_asks_of_it() {
    need_musl!();
    let guest = try_build(&model("library"), &guest_options()).unwrap();
    assert!(guest.built.warnings.is_empty(), "{:?}", guest.built.warnings);
    let commands = [
        "init",
        "step:0:1",
        "kinds?",
        "parsed?",
        "wrong?",
        "sorted[0]?",
        "sorted[3]?",
        "kept?",
        "copied.name[0]?",
        "copied.name[5]?",
        "parts[0]?",
        "parts[2]?",
        "quotient?",
    ];
    let answers = guest.run(&commands);
    assert_eq!(answers[..3], ["127", "-96.5", "1"], "{answers:?}");
    assert_eq!(guest.run_second(&commands), answers);
    let text: String = (0..64)
        .map(|index| guest.run(&["init", "step:0:1", &format!("text[{index}]?")]).remove(0))
        .map(|code| code.parse::<u8>().unwrap() as char)
        .take_while(|letter| *letter != '\0')
        .collect();
    assert_eq!(text, "2147483647 0.500 axis ffffffffffffffff error of the C library z");
    let module = try_build(&model("library"), &options()).unwrap();
    let sum = |program: &Program| -> f64 {
        program.run(&["init", "step:0:1", "library_Y?"])[0].parse().unwrap()
    };
    // The two libraries may differ in the last digit of a sine.
    assert!((sum(&guest) - sum(&module)).abs() < 1e-12, "{} {}", sum(&guest), sum(&module));
}

#[test]
fn what_would_ask_an_operating_system_is_refused_with_who_asks() {
    need_musl!();
    let with = |name: &str, calls: &str| {
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#include <string.h>\n\
             #include <math.h>\n#include <locale.h>\n#include <wchar.h>\nlong a_Y;\n\
             void a_initialize(void) {{ }}\nvoid a_step(void) {{ {calls} }}\n"
        );
        (name.to_owned(), text)
    };
    let refusal = |calls: &str| {
        let (name, text) = with("a.c", calls);
        failure(&[(&name, &text)], &guest_options())
    };
    let text = refusal("printf(\"%ld\\n\", a_Y); a_Y = time(NULL);");
    assert!(text.starts_with("a guest has no operating system, which the program would ask: `pr"));
    assert!(text.contains("`printf` in a.c (by way of `"), "{text}");
    assert!(text.contains(", `time` in a.c (by way of `"), "{text}");
    assert!(text.ends_with("or run the partition as a process"), "{text}");
    for (calls, function) in [
        ("a_Y = (long)malloc((size_t)a_Y);", "malloc"),
        ("a_Y = (long)fopen(\"log\", \"w\");", "fopen"),
        ("a_Y = clock();", "clock"),
        ("exit(1);", "exit"),
        ("a_Y = (long)localtime(&a_Y);", "localtime"),
        ("a_Y = (long)setlocale(LC_ALL, \"\");", "setlocale"),
        ("puts(\"\");", "puts"),
        // The language of a thread, and no system call.
        ("a_Y = strcoll((char *)&a_Y, \"b\");", "strcoll"),
    ] {
        let text = refusal(calls);
        assert!(text.contains(&format!("`{function}` in a.c")), "{text}");
    }
    // The program knows what it is built for.
    let (name, text) = with("a.c", "\n#ifndef QUIETCORE_GUEST\nputs(\"\");\n#endif\n");
    assert!(try_build(folder(&[(&name, &text)]).path(), &guest_options()).is_ok());
}

#[test]
fn a_guest_that_would_wait_for_a_signal_is_refused_and_a_process_is_not() {
    need_musl!();
    let text = "#include \"Com.h\"\nlong a_Y;\nvoid a_initialize(void) { }\n\
                void a_step(void) { (void)Com_WaitSignal(0, &a_Y, 1000u); }\n";
    let refused = failure(&[("a.c", text)], &guest_options());
    assert!(refused.contains("a program in a guest"), "{refused}");
    assert!(refused.contains("look at it in each step with Com_ReceiveSignal"), "{refused}");
    assert!(try_build(folder(&[("a.c", text)]).path(), &options()).is_ok());
}

#[test]
fn what_no_guest_can_take_is_refused_as_for_modules() {
    need_musl!();
    let empty = "void a_initialize(void) { }\nvoid a_step(void) { }\n";
    let with = |more: &str| failure(&[("a.c", &format!("{empty}{more}"))], &guest_options());
    let constructor =
        "int a_early;\n__attribute__((constructor)) static void early(void) { a_early = 1; }\n";
    assert!(with(constructor).contains("has constructors (`.init_array`)"));
    let apart = "__thread int apart; int *a_where(void) { return &apart; }\n";
    assert!(with(apart).contains("has thread-local variables"));
    let stack = "__asm__(\".section .note.GNU-stack,\\\"x\\\",@progbits\\n.text\\n\");\n";
    assert!(with(stack).contains("executable stack"));
    let chosen = "static int one(void) { return 1; }\nstatic void *choose(void) { return one; }\n\
                  int a_chosen(void) __attribute__((ifunc(\"choose\")));\n";
    let text = with(chosen);
    assert!(text.contains("a function that is chosen when it is loaded (`a_chosen`)"), "{text}");
    let text = with("char a_large[300 * 1024 * 1024];\n");
    assert!(text.contains("slot A takes them from 0x20000000 to 0x30000000"), "{text}");
    let text = with("extern void MW_pwm(void); void a_more(void) { MW_pwm(); }\n");
    assert!(text.contains("undefined reference to `MW_pwm'"), "{text}");
}

/// Goal: data in sections of their own stay, and are variables like others.
#[test]
fn sections_of_the_program_are_part_of_the_image() {
    need_musl!();
    let source = "int calibrated __attribute__((section(\".calib\"))) = 3;\n\
                  int kept __attribute__((section(\".noinit\"))), a_Y;\n\
                  const int version __attribute__((section(\".identity\"))) = 12;\n\
                  void a_initialize(void) { }\nvoid a_step(void) { a_Y = calibrated + version; }\n";
    let program = try_build(folder(&[("a.c", source)]).path(), &guest_options()).unwrap();
    let answers = program.run(&["init", "calibrated=30", "step:0:1", "a_Y?", "kept?"]);
    assert_eq!(answers, ["42", "0"]);
}

#[test]
fn an_address_of_a_crash_is_a_line_of_source_in_either_slot() {
    need_musl!();
    let source = "int a_U = 1, a_Y;\nvoid a_initialize(void) { }\nvoid a_step(void)\n{\n  \
                  volatile int *nowhere = (int *)8;\n  *nowhere = a_U;\n}\n";
    let program = try_build(folder(&[("a.c", source)]).path(), &guest_options()).unwrap();
    for answers in [program.run(&["init", "step:0:1"]), program.run_second(&["init", "step:0:1"])] {
        let address = answers[0].strip_prefix("fault 11 ").unwrap();
        let address = u64::from_str_radix(address, 16).unwrap();
        let location = symbolise(&program.built.module, address).unwrap();
        assert_eq!((location.function.as_str(), location.line), ("a_step", Some(6)), "{address:x}");
        let second = program.built.second.as_ref().unwrap();
        assert_eq!(symbolise(second, address), Some(location));
    }
    assert_eq!(symbolise(&program.built.module, 0x7C00_0000), None);
}

/// A function that gives up ends in an instruction that crashes, and not in a halt.
#[test]
fn a_program_that_aborts_crashes() {
    need_musl!();
    for call in ["abort();", "assert(a_U == 0);"] {
        let source = format!(
            "#include <stdlib.h>\n#include <assert.h>\nint a_U = 1;\n\
             void a_initialize(void) {{ }}\n\
             void a_step(void) {{ {call} }}\n"
        );
        let program = try_build(folder(&[("a.c", &source)]).path(), &guest_options()).unwrap();
        let answers = program.run(&["init", "step:0:1"]);
        assert!(answers[0].starts_with("fault 4 "), "{answers:?}");
    }
}

#[test]
fn builds_for_a_process_and_for_a_guest_are_kept_apart_and_found_again() {
    need_musl!();
    let out = TempDir::new().unwrap();
    let module = build(&model("plain"), &options(), out.path()).unwrap();
    let guest = build(&model("plain"), &guest_options(), out.path()).unwrap();
    assert_ne!(module.hash, guest.hash);
    let again = build(&model("plain"), &guest_options(), out.path()).unwrap();
    assert!(again.cached && !guest.cached);
    assert_eq!(
        (again.target, &again.module, &again.second),
        (Target::Guest, &guest.module, &guest.second)
    );
    assert_eq!((again.data, &again.symbols), (guest.data, &guest.symbols));
    // An image that is damaged is linked again.
    let second = guest.second.unwrap();
    let whole = fs::read(&second).unwrap();
    fs::write(&second, &whole[..100]).unwrap();
    assert!(!build(&model("plain"), &guest_options(), out.path()).unwrap().cached);
    assert_eq!(fs::read(&second).unwrap(), whole);
}

#[test]
fn a_compiler_for_another_processor_is_refused() {
    need_compiler!();
    let tools = folder(&[(
        "other",
        "#!/bin/sh\ncase \"$1\" in\n-v) echo 'Target: aarch64-linux-gnu'\n\
         echo 'gcc version 12.2.0 (test)';;\nesac\n",
    )]);
    let other = tools.path().join("other");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&other, mode).unwrap();
    let options = Options { compiler: Some(other), ..guest_options() };
    let error = try_build(&model("plain"), &options).err().unwrap();
    assert!(matches!(error, BuildError::Guest(_)), "{error}");
    assert!(error.to_string().contains("guests run on x86-64 alone"), "{error}");
}
