//! Code that was received: it is compiled in a sandbox, and can't look around with it.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use quietcore_program::build::{BuildError, CompilerError, Listener, Options, RECEIVED_MARK};
use quietcore_skip::skip;
use tempfile::TempDir;

use crate::support::{Program, folder, guest_options, model, options, try_build};

const GOOD: &str = "static double total;\nvoid plant_initialize(void) { total = 0.0; }\n\
                    void plant_step(void) { total += 1.0; }\n\
                    void plant_terminate(void) {}\n";

fn mark(folder: &Path) {
    fs::write(folder.join(RECEIVED_MARK), "").unwrap();
}

fn received(files: &[(&str, &str)]) -> TempDir {
    let folder = folder(files);
    mark(folder.path());
    folder
}

/// Builds a folder; `None` where this machine grants no sandbox, which is refused and said.
fn build(folder: &Path, options: &Options) -> Option<Result<Program, String>> {
    match try_build(folder, options) {
        Err(BuildError::Compiler(refused @ CompilerError::Sandbox(_))) => {
            skip!("{refused}");
            None
        }
        built => Some(built.map_err(|error| error.to_string())),
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn code_that_was_received_is_built_into_the_same_bytes() {
    need_compiler!();
    let copied = folder(&[]);
    copy(&model("two_rates"), copied.path());
    let own = try_build(copied.path(), &options()).unwrap();
    mark(copied.path());
    let Some(built) = build(copied.path(), &options()) else { return };
    let built = built.unwrap();
    assert_eq!(built.built.hash, own.built.hash);
    assert_eq!(fs::read(&built.built.module).unwrap(), fs::read(&own.built.module).unwrap());
}

#[test]
fn a_guests_program_and_one_of_cpp_are_built_in_the_sandbox_too() {
    need_musl!();
    let folder = received(&[("plant.c", GOOD)]);
    let Some(built) = build(folder.path(), &guest_options()) else { return };
    assert!(built.unwrap().built.second.is_some());
    need_cpp!();
    let files = [("plant.c", GOOD), ("part.cpp", "extern \"C\" double part() { return 2.0; }\n")];
    let folder = received(&files);
    build(folder.path(), &options()).unwrap().unwrap();
}

#[test]
fn a_folder_below_the_mark_is_received_as_well() {
    need_compiler!();
    let outer = received(&[("deep/down/plant.c", GOOD), ("deep/down/steal.h", "")]);
    let secret = outer.path().join("secret");
    fs::write(&secret, "12.5").unwrap();
    let inner = outer.path().join("deep/down");
    let text = format!("double stolen =\n#include \"{}\"\n;\n{GOOD}", secret.display());
    fs::write(inner.join("plant.c"), text).unwrap();
    let Some(built) = build(&inner, &options()) else { return };
    assert!(built.unwrap_err().contains("No such file"));
}

/// Goal: no file of the machine gets into a program or into the compiler's words.
/// Method: each way by which C names a file, with a secret beside the folder that must not be told.
#[test]
fn no_file_of_the_machine_is_read() {
    need_compiler!();
    let ground = folder(&[("secret", "int planted_secret_4711 = 4711;\n")]);
    let secret = ground.path().join("secret").display().to_string();
    let hostile = [
        "#include \"/etc/shadow\"\n".to_owned(),
        format!("#include \"{secret}\"\n"),
        "#include \"../secret\"\n".to_owned(),
        "#include \"../../../../../../../../etc/hostname\"\n".to_owned(),
        format!("#define FILE \"{secret}\"\n#include FILE\n"),
        format!("__asm__(\".incbin \\\"{secret}\\\"\");\n"),
        format!("__asm__(\".include \\\"{secret}\\\"\");\n"),
        "__asm__(\".incbin \\\"/etc/shadow\\\"\");\n".to_owned(),
        format!("#pragma GCC dependency \"{secret}\"\n#include \"/proc/self/root{secret}\"\n"),
    ];
    for text in hostile {
        let model = ground.path().join("model");
        fs::create_dir_all(&model).unwrap();
        fs::write(model.join("plant.c"), format!("{text}{GOOD}")).unwrap();
        mark(&model);
        let Some(built) = build(&model, &options()) else { return };
        let told = built.map(|program| program.built.hash).unwrap_err();
        let is_missing = told.contains("No such file") || told.contains("file not found");
        assert!(is_missing || told.contains("can't open"), "{text}{told}");
        assert!(!told.contains("4711") && !told.contains("root:"), "{text}{told}");
    }
}

#[test]
fn makefiles_specs_and_response_files_of_the_folder_are_not_used() {
    need_compiler!();
    let ground = TempDir::new().unwrap();
    let touched = ground.path().join("touched");
    let make = format!("all:\n\ttouch {}\n", touched.display());
    let folder = received(&[
        ("plant.c", GOOD),
        ("Makefile", &make),
        ("plant.mk", &make),
        ("specs", "*cc1:\n-fplugin=./evil.so\n"),
        ("-fplugin=evil.c", "int one;\n"),
        ("@evil.c", "int two;\n"),
        ("-specs=specs.c", "int three;\n"),
    ]);
    let Some(built) = build(folder.path(), &options()) else { return };
    let built = built.unwrap().built;
    assert!(!touched.exists(), "a makefile was run");
    assert_eq!(built.left_out.len(), 3, "plain files that nothing needs: {:?}", built.left_out);
}

/// Goal: code that never ends to compile, or eats memory, ends with an error.
/// Method: macros that double 40 times, and an initialiser of 16 GiB.
#[test]
fn code_that_eats_memory_or_time_is_refused() {
    need_compiler!();
    let mut macros = "#define M0 +1+1+1+1\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        macros.push_str(&format!("#define M{level} M{below} M{below}\n"));
    }
    let eats = [
        format!("{macros}long eaten = 0 M39;\n{GOOD}"),
        format!("char eaten[1L << 34] = {{ 1 }};\n{GOOD}"),
        format!("#include __FILE__\n{GOOD}"),
    ];
    for text in eats {
        let folder = received(&[("plant.c", &text)]);
        let limits = Options { time_limit: std::time::Duration::from_secs(5), ..options() };
        let Some(built) = build(folder.path(), &limits) else { return };
        let told = built.map(|program| program.built.hash).unwrap_err();
        assert!(told.contains("does not compile") || told.contains("did not end"), "{told}");
    }
}

#[test]
fn a_listener_hears_files_and_the_compilers_words() {
    need_compiler!();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let listener = Listener::new(move |line| hears.lock().unwrap().push(line.to_owned()));
    let bad = format!("{GOOD}void broken(void) {{ missing = 1; }}\n");
    let folder = folder(&[("plant.c", &bad)]);
    let options = Options { listener: Some(listener), ..options() };
    try_build(folder.path(), &options).map(|program| program.built.hash).unwrap_err();
    let heard = heard.lock().unwrap();
    assert_eq!(heard[0], "compiling plant.c");
    assert!(heard.iter().any(|line| line.contains("plant.c:5") && line.contains("missing")));
}
