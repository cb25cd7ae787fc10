//! Compiles the three models, each with its face, as a user's compiler would: C99, all warnings.

const MODELS: [(&str, &[&str]); 3] = [
    ("servo", &["servo.c", "servo_data.c"]),
    ("turbine", &["turbine.c", "turbine_data.c"]),
    ("tank", &["tank.c"]),
];

fn main() {
    for (model, files) in MODELS {
        let mut build = cc::Build::new();
        build.include(model).file(format!("faces/{model}.c"));
        for file in files {
            build.file(format!("{model}/{file}"));
        }
        // Without contraction every processor computes the same, so the figures are the same.
        build.std("c99").warnings(true).extra_warnings(true).warnings_into_errors(true);
        build.opt_level(2).flag("-ffp-contract=off").flag("-pedantic");
        build.compile(&format!("quietcore_model_{model}"));
        println!("cargo:rerun-if-changed={model}");
    }
    println!("cargo:rerun-if-changed=faces");
    println!("cargo:rustc-link-lib=m");
}
