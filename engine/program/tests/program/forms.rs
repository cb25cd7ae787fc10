//! Every form in which a generator packs a program: built, loaded and run.

use crate::support::{build_files, build_model, model, options, try_build};
use quietcore_program::interface::Packaging;

/// Goal: a program runs as a partition runs it, with its data in shared memory.
/// Method: read every value through a second mapping of that memory.
#[test]
fn a_program_runs_with_its_data_in_shared_memory() {
    need_compiler!();
    let program = build_model("plain");
    let answers = program.run(&[
        "remap",
        "init",
        "plain_DW.UnitDelay_DSTATE?",
        "plain_U.In1=3",
        "step:0:2",
        "plain_Y.Out1?",
        "plain_P.Gain=10",
        "step:0:1",
        "plain_Y.Out1?",
        "plain_DW.Steps?",
        "status",
        "plain_U.In1=1e6",
        "step:0:1",
        "status",
        "terminate",
        "plain_Y.Out1?",
    ]);
    // 0.5 + 6 + 6 + table[1], then + 30 + table[2].
    assert_eq!(answers, ["0.5", "22.5", "62.5", "3", "none", "input out of range", "-1.0"]);
    let interface = &program.built.interface;
    assert_eq!(interface.packaging, Packaging::Global);
    assert_eq!(interface.terminate.as_deref(), Some("plain_terminate"));
    assert!(interface.error_status);
    assert!(!interface.com);
    assert_eq!(program.built.left_out[0].file, "ert_main.c");
}

#[test]
fn each_rate_has_its_function_whatever_its_number() {
    need_compiler!();
    let program = build_model("two_rates");
    let answers = program.run(&[
        "init",
        "step:0:10",
        "step:1:1",
        "step:0:10",
        "step:1:1",
        "step:2:9",
        "two_rates_DW.Fast?",
        "two_rates_DW.Slow?",
        "status",
        "terminate",
    ]);
    assert_eq!(answers, ["20", "30", "none"]);
    let rates = &program.built.interface.rates;
    assert_eq!(rates[1].functions, ["two_rates_step2"]);
    assert_eq!([rates[0].period_ns, rates[1].period_ns], [Some(1_000_000), Some(10_000_000)]);
}

#[test]
fn a_step_that_takes_the_rates_number_is_called_with_it() {
    need_compiler!();
    let program = build_model("numbered");
    let answers = program.run(&[
        "init",
        "step:0:2",
        "step:2:4",
        "numbered_DW.Count[0]?",
        "numbered_DW.Count[2]?",
        "status",
        "step:2:1",
        "status",
    ]);
    // A model that would end after 10 s of simulation runs on; one that asks to be stopped says so.
    assert_eq!(answers, ["102", "4", "none", "the model asked to be stopped"]);
}

#[test]
fn the_number_of_rates_can_be_given_where_nothing_tells_it() {
    need_compiler!();
    let folder = model("halves");
    let error = try_build(&folder, &options()).err().unwrap().to_string();
    assert!(error.contains("`halves_output` takes the number of a rate"), "{error}");

    let options = quietcore_program::Options { rates: Some(2), ..options() };
    let program = try_build(&folder, &options).unwrap();
    let answers = program.run(&["init", "step:1:3", "halves_Y?", "counter?"]);
    assert_eq!(answers, ["13", "13"]);
}

#[test]
fn a_wrong_number_of_rates_is_an_error() {
    need_compiler!();
    let options = quietcore_program::Options { rates: Some(3), ..options() };
    let error = try_build(&model("two_rates"), &options).err().unwrap();
    assert_eq!(error.to_string(), "the model has 2 rates and not 3");
}

#[test]
fn a_reusable_program_gets_its_data_and_its_first_parameters() {
    need_compiler!();
    let program = build_model("reusable");
    let answers = program.run(&[
        "remap",
        "init",
        "rtDW.Held?",
        "rtP.Limits[0]?",
        "rtU.In1=-500",
        "step:0:1",
        "rtY.Out1?",
        "rtP.Enable=false",
        "rtU.In1=12",
        "step:0:1",
        "rtY.Out1?",
    ]);
    assert_eq!(answers, ["7", "-100", "-100", "-100"]);
    assert_eq!(program.built.interface.packaging, Packaging::Reusable);
    // It was generated for a processor whose `long` has 32 bits.
    assert!(program.built.remarks[0].contains("`long` has 32 bits"));
}

#[test]
fn what_is_passed_one_by_one_has_the_names_of_the_parameters() {
    need_compiler!();
    let program = build_model("passed");
    let answers = program.run(&[
        "init",
        "y1?",
        "arg_Sums[1]?",
        "passed_DW.Total?",
        "y0=-4",
        "arg_In2[0]=1",
        "arg_In2[1]=2",
        "arg_In2[2]=3",
        "step:0:1",
        "y1?",
        "arg_Sums[0]?",
        "arg_Sums[1]?",
        "passed_step_result?",
        "status",
        "terminate",
        "passed_DW.Total?",
    ]);
    assert_eq!(answers, ["3.0", "4.0", "1.0", "3.0", "3.0", "5.0", "-2.0", "negative", "0.0"]);
}

#[test]
fn the_short_names_work_without_the_generators_header_of_types() {
    need_compiler!();
    let program = build_model("compact");
    let answers = program.run(&[
        "init",
        "rtU.Fill=39",
        "step:0:1",
        "rtY.Full?",
        "rtP.Size=39",
        "rtU.Fill=0",
        "step:0:1",
        "rtY.Full?",
        "rtDW.Phase.im?",
    ]);
    assert_eq!(answers, ["false", "true", "2.0"]);
}

#[test]
fn a_program_sends_and_receives_through_the_loaders_services() {
    need_compiler!();
    let program = build_model("channels");
    assert!(program.built.interface.com);
    assert_eq!(program.run(&["init", "step:0:1", "channels_Result?"]), ["128"]);
    let answers = program.run(&["services", "init", "step:0:1", "channels_Result?"]);
    assert_eq!(answers, ["sent 4 42", "0"]);
}

/// A value that the compiler could prove never to change is what one tunes.
#[test]
fn a_static_parameter_that_is_never_written_can_be_tuned() {
    need_compiler!();
    let program = build_files(&[(
        "p.c",
        "static double gain = 2.0; double p_Y;\n\
         void p_initialize(void) { }\nvoid p_step(void) { p_Y += gain; }\n",
    )]);
    assert_eq!(program.run(&["init", "gain=5", "step:0:2", "p_Y?"]), ["10.0"]);
}

/// Goal: what crashes is told by its line.
#[test]
fn the_line_of_a_crash_is_found() {
    need_compiler!();
    let program = build_files(&[(
        "crash.c",
        "int *volatile crash_target;\nstatic void write_it(int value)\n{\n  *crash_target = \
         value;\n}\n\
         void crash_initialize(void) { }\nvoid crash_step(void)\n{\n  write_it(3);\n}\n",
    )]);
    let answers = program.run(&["init", "step:0:1"]);
    let words: Vec<&str> = answers[0].split(' ').collect();
    assert_eq!(words[..2], ["fault", "11"]);
    let address = u64::from_str_radix(words[2], 16).unwrap();
    let location = quietcore_program::symbolise(&program.built.module, address).unwrap();
    assert_eq!(location.function, "write_it");
    assert_eq!((location.file.as_deref(), location.line), (Some("crash.c"), Some(4)));
    assert_eq!(quietcore_program::symbolise(&program.built.module, 0), None);
}

/// Goal: a continuous model builds without the generator's installation, and runs on when its
/// simulation would have ended.
#[test]
fn headers_of_the_generators_installation_may_be_missing() {
    need_compiler!();
    let program = build_model("continuous");
    let answers = program.run(&[
        "init",
        "continuous_U.In1=-2",
        "step:0:4",
        "continuous_X.Integrator_CSTATE?",
        "continuous_M_.Timing.tArray[0]?",
        "continuous_U.In1=3",
        "step:0:1",
        "continuous_X.Integrator_CSTATE?",
        "status",
    ]);
    assert_eq!(answers, ["-4.0", "2.0", "1.5", "none"]);
    assert_eq!(
        program.built.remarks,
        ["the folder comes without `multiword_types.h`, `builtin_typeid_types.h`, \
          `zero_crossing_types.h`, `rtw_continuous.h`, `rtw_solver.h`, `rt_logging.h`; what a \
          controller needs of it was put in its place"]
    );
    let [rate] = &program.built.interface.rates[..] else { panic!("it has one rate") };
    assert_eq!(rate.period_ns, Some(500_000_000), "{:?}", rate.stated);
    assert_eq!(rate.stated[0].to_string(), "`Timing.stepSize0` in `continuous.c`");
    assert_eq!(program.built.warnings, []);
}

/// Goal: code of a generator with entry points of other names runs by a file that calls them.
/// Method: the file that the documentation shows, beside a header of the model's name.
#[test]
fn entry_points_of_other_names_are_called_by_a_file_of_ones_own() {
    need_compiler!();
    let page = include_str!("../../../../docs/site-file.md");
    let blocks = page.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next());
    let entry = blocks.into_iter().find(|block| block.contains("tank_init")).unwrap();
    let header = "int tank_init(void);\ndouble tank_tick(double);\nint tank_end(void);\n";
    let code = "#include \"tank.h\"\nstatic double sum;\n\
                int tank_init(void) { sum = 1; return 0; }\n\
                double tank_tick(double u) { return sum += u; }\n\
                int tank_end(void) { return 0; }\n";
    let files = [("tank.h", header), ("tank.c", code), ("entry.c", entry)];
    for more in [None, Some(("plant.h", "extern int unrelated;\n"))] {
        let files: Vec<_> = files.into_iter().chain(more).collect();
        let program = build_files(&files);
        assert_eq!(program.built.left_out, []);
        let answers =
            program.run(&["init", "plant_U.level=3", "step:0:2", "plant_Y.valve?", "terminate"]);
        assert_eq!(answers, ["7.0"]);
    }
}
