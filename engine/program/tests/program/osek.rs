//! Folders with an OIL file: built with the kernel in them, or refused with the place of what is
//! wrong.

use std::path::Path;

use quietcore_program::build::{BuildError, Carried, Options};
use quietcore_program::place::Access;

use crate::support::{folder, options, try_build};

/// The conveyor of the examples.
fn conveyor() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/conveyor")
}

#[test]
fn an_oil_file_makes_a_folder_an_osek_program() {
    need_compiler!();
    let program = try_build(&conveyor(), &options()).unwrap();
    let build = &program.built;
    let kernel = build.interface.kernel.as_ref().unwrap();
    assert_eq!((build.model.as_str(), kernel.oil.as_str()), ("conveyor", "conveyor.oil"));
    assert_eq!(kernel.tasks, ["Drive", "Sort", "Supervise", "Report"]);
    let counter = kernel.counter.as_ref().unwrap();
    assert_eq!((counter.name.as_str(), counter.tick_ns), ("Milliseconds", 1_000_000));
    assert_eq!(build.interface.rates[0].period_ns, Some(1_000_000));
    assert!(build.warnings.is_empty(), "{:?}", build.warnings);
    let left_out: Vec<_> = build.left_out.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(left_out, ["conveyor_main.c"]);
    // The program's own variables, and none of the kernel's.
    let roots: Vec<_> = build.symbols.roots().iter().map(|root| root.name.as_str()).collect();
    assert_eq!(roots, ["conveyor_DW", "conveyor_P", "conveyor_U", "conveyor_Y"]);
    let speed = build.symbols.resolve("conveyor_P.speed").unwrap();
    assert_eq!(speed.access, Access::Parameter);
}

const OIL: &str = r#"OIL_VERSION = "2.5";
CPU small {
    OS Kernel { STATUS = EXTENDED; };
    APPMODE Normal;
    COUNTER Tick {
        MAXALLOWEDVALUE = 100; TICKSPERBASE = 1; MINCYCLE = 1;
        TYPE = HARDWARE; NANOSECONDSPERTICK = 2000000;
    };
    TASK Fast { PRIORITY = 2; };
    ALARM Wake {
        COUNTER = Tick;
        ACTION = ACTIVATETASK { TASK = Fast; };
        AUTOSTART = TRUE { ALARMTIME = 1; CYCLETIME = 1; APPMODE = Normal; };
    };
};
"#;
const C: &str = "#include \"os.h\"\nint32_t count;\nTASK(Fast) { count++; TerminateTask(); }\n";

fn refusal(files: &[(&str, &str)], options: &Options) -> BuildError {
    try_build(folder(files).path(), options).map(|_| ()).unwrap_err()
}

#[test]
fn what_is_wrong_with_an_oil_file_is_told_with_its_place() {
    need_compiler!();
    let wrong = OIL.replace("TASK = Fast;", "TASK = Fats;");
    let error = refusal(&[("small.oil", &wrong), ("small.c", C)], &options());
    let text = error.to_string();
    let BuildError::Oil { errors, .. } = error else { panic!("{text}") };
    let [only] = &errors[..] else { panic!("{text}") };
    assert_eq!((only.file.as_str(), only.line, only.column), ("small.oil", Some(12), Some(40)));
    assert!(only.message.contains("Fats") && text.contains("small.oil:12:40"), "{text}");
}

#[test]
fn an_object_that_the_program_does_not_define_is_named_as_it_would_be_written() {
    need_compiler!();
    let other = C.replace("TASK(Fast)", "TASK(Fasd)");
    let oil = ("small.oil", OIL);
    let text = refusal(&[oil, ("small.c", &other)], &options()).to_string();
    assert!(text.contains("`Fast` has no `TASK(Fast)` in the folder; there is `Fasd`"), "{text}");
    let broken = C.replace("count++", "coumt++");
    let error = refusal(&[oil, ("small.c", &broken)], &options());
    let text = error.to_string();
    let BuildError::Refused { errors, .. } = error else { panic!("{text}") };
    assert_eq!((errors[0].file.as_str(), errors[0].line), ("small.c", Some(3)), "{text}");
}

#[test]
fn what_the_program_lacks_is_told_where_the_oil_file_asks_for_it() {
    need_compiler!();
    let oil = OIL.replace("EXTENDED;", "EXTENDED; ERRORHOOK = TRUE;").replace(
        "TASK Fast",
        "ISR Button { CATEGORY = 2; PRIORITY = 3; SOURCE = 1; };\n    TASK Fast",
    );
    let error = refusal(&[("small.oil", &oil), ("small.c", "int count;\n")], &options());
    let expected = [
        "small.oil:3:48: error: there is no `ErrorHook` in the folder; write `void \
         ErrorHook(StatusType error) { … }`, or `FALSE` here",
        "small.oil:9:9: error: the ISR `Button` has no `ISR(Button)` in the folder; write \
         `ISR(Button) { … }`",
        "small.oil:10:10: error: the task `Fast` has no `TASK(Fast)` in the folder; write \
         `TASK(Fast) { … TerminateTask(); }`",
    ];
    assert_eq!(error.to_string().lines().skip(1).collect::<Vec<_>>(), expected);
}

/// Goal: who begins with the example of `docs/oil.md` has a program.
#[test]
fn the_example_of_the_language_is_a_program() {
    need_compiler!();
    let reference = quietcore_oil::reference();
    let block = |fence: &str| {
        let begin = reference.find(fence).unwrap() + fence.len();
        let length = reference[begin..].find("```").unwrap();
        &reference[begin..begin + length]
    };
    let files = [("belt.oil", block("```oil\n")), ("belt.c", block("```c\n"))];
    let program = try_build(folder(&files).path(), &options()).unwrap();
    assert!(program.built.warnings.is_empty());
    assert_eq!(program.built.interface.kernel.as_ref().unwrap().tasks, ["drive", "sort", "report"]);
}

#[test]
fn of_several_oil_files_the_one_that_is_meant_is_named() {
    need_compiler!();
    let files = [("a.oil", OIL), ("b.oil", OIL), ("small.c", C)];
    let text = refusal(&files, &options()).to_string();
    assert!(text.contains("several OIL files: a.oil, b.oil; name the one"), "{text}");
    let chosen = |oil: &str| Options { oil: Some(oil.to_owned()), ..options() };
    let text = refusal(&files, &chosen("c.oil")).to_string();
    assert_eq!(text, "there is no OIL file `c.oil` in the folder; there is a.oil, b.oil");
    let program = try_build(folder(&files).path(), &chosen("b.oil")).unwrap();
    assert_eq!(program.built.model, "b");
}

#[test]
fn the_application_mode_is_chosen_by_its_name() {
    need_compiler!();
    let two = OIL.replace("APPMODE Normal;\n", "APPMODE Normal;\n    APPMODE Service;\n");
    let files = [("small.oil", two.as_str()), ("small.c", C)];
    let chosen = |mode: &str| Options { mode: Some(mode.to_owned()), ..options() };
    let text = refusal(&files, &chosen("Servise")).to_string();
    assert_eq!(text, "`small.oil` has no application mode `Servise`; it has Normal, Service");
    let hash =
        |options: &Options| try_build(folder(&files).path(), options).unwrap().built.hash.clone();
    assert_ne!(hash(&chosen("Service")), hash(&options()));
}

/// Goal: what a `generate` left in the folder can't take the place of what is generated now.
#[test]
fn old_copies_of_generated_files_are_left_out() {
    need_compiler!();
    let old = [("os_cfg.h", "#error old\n"), ("os_cfg.c", "#error old\n"), ("os.h", "#error\n")];
    let whole: Vec<_> = [("small.oil", OIL), ("small.c", C)].into_iter().chain(old).collect();
    let program = try_build(folder(&whole).path(), &options()).unwrap();
    let left_out: Vec<_> = program.built.left_out.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(left_out, ["os.h", "os_cfg.c", "os_cfg.h"]);
}

#[test]
fn an_oil_file_is_part_of_what_is_built() {
    need_compiler!();
    let hash = |oil: &str| {
        let program = try_build(folder(&[("small.oil", oil), ("small.c", C)]).path(), &options());
        program.unwrap().built.hash.clone()
    };
    assert_ne!(hash(OIL), hash(&OIL.replace("2000000", "1000000")));
}

#[test]
fn a_task_of_a_kernel_that_would_wait_for_a_signal_is_refused() {
    need_compiler!();
    let wait = "TASK(Fast) { (void)Com_WaitSignalGroup(0, 1000u); TerminateTask(); }\n";
    let with_com = "#include \"os.h\"\n#include \"Com.h\"\n";
    let text = format!("{with_com}{wait}");
    let error = refusal(&[("small.oil", OIL), ("small.c", &text)], &options()).to_string();
    assert!(error.contains("with an OSEK kernel, can't wait for a signal"), "{error}");
    let looks = wait.replace("Com_WaitSignalGroup(0, 1000u)", "Com_ReceiveSignalGroup(0)");
    let text = format!("{with_com}{looks}");
    assert!(
        try_build(folder(&[("small.oil", OIL), ("small.c", &text)]).path(), &options()).is_ok()
    );
}

/// Signals `command_speed` and `state_speed`, queue `command_code` and group `command`; the state
/// is sent. With the numbers that they have in C.
fn with_channels() -> Options {
    let carried = |name: &str, is_group, is_received| Carried {
        name: name.to_owned(),
        is_group,
        is_received,
    };
    Options {
        carried: vec![
            carried("command_speed", false, true),
            carried("command_code", false, true),
            carried("command", true, true),
            carried("state_speed", false, false),
            carried("state", true, false),
        ],
        defines: ["command_speed=0u", "command_code=1u", "state_speed=2u"]
            .map(|signal| format!("ComConf_ComSignal_{signal}"))
            .into_iter()
            .chain(["command=0u", "state=1u"].map(|it| format!("ComConf_ComSignalGroup_{it}")))
            .collect(),
        ..options()
    }
}

/// An OIL file with messages of these names.
fn with_messages(names: &[&str]) -> String {
    let activates = "{ NOTIFICATION = ACTIVATETASK { TASK = Fast; }; };\n    ";
    let messages = names.iter().map(|name| format!("MESSAGE {name} {activates}"));
    OIL.replace("ALARM Wake", &(messages.collect::<String>() + "ALARM Wake"))
}

/// Goal: a program is notified of what its partition receives, and of nothing else: each other name
/// is told with its place and with what may be meant.
#[test]
fn a_message_is_something_that_the_partition_receives() {
    need_compiler!();
    let build = |names: &[&str], options: &Options| {
        try_build(folder(&[("small.oil", &with_messages(names)), ("small.c", C)]).path(), options)
    };
    let names = ["command", "command_speed", "command_code"];
    let built = build(&names, &with_channels()).unwrap().built;
    assert!(built.interface.com, "what notifies it is used");
    let mut turned = with_channels();
    for carried in &mut turned.carried {
        carried.is_received = !carried.is_received;
    }
    assert!(build(&names, &turned).is_err(), "another direction is another program");
    assert_ne!(built.hash, build(&names[..2], &with_channels()).unwrap().built.hash);
    let wrong = build(&["comand", "state", "elsewhere"], &with_channels()).map(|_| ()).unwrap_err();
    let expected = [
        "small.oil:10:13: error: `comand`: no signal, queue or group that the partition receives; \
         did you mean `command`?",
        "small.oil:11:13: error: `state`: the partition sends it; name what it receives",
        "small.oil:12:13: error: `elsewhere`: no signal, queue or group that the partition \
         receives; it receives `command_speed`, `command_code`, `command`",
    ];
    let text = wrong.to_string();
    let told: Vec<_> = text.lines().filter(|line| line.contains("error:")).collect();
    assert_eq!(told, expected, "{text}");
    let none = build(&["command"], &options()).map(|_| ()).unwrap_err().to_string();
    assert!(none.contains("it receives nothing: there is no channel to it"), "{none}");
    let mut both = with_channels();
    both.carried[2].name = "command_speed".to_owned();
    let unclear = build(&["command_speed"], &both).map(|_| ()).unwrap_err().to_string();
    assert!(unclear.contains("the name of a group and of a signal; rename"), "{unclear}");
}

/// An OIL file as ERIKA Enterprise is given: with its own attributes, and without a time of a tick.
const FOREIGN: &str = r#"CPU mySystem {
  OS myOs {
    EE_OPT = "DEBUG";
    CPU_DATA = X86_64 { MULTI_STACK = TRUE; };
    KERNEL_TYPE = OSEK { CLASS = BCC1; };
  };
  APPDATA app { APP_SRC = "small.c"; };
  TASK Fast { PRIORITY = 1; STACK = PRIVATE { SIZE = 128; }; };
  COUNTER Tick {
    MINCYCLE = 1; MAXALLOWEDVALUE = 100; TICKSPERBASE = 1;
    TYPE = HARDWARE { DEVICE = "T"; };
  };
  ALARM Wake {
    COUNTER = Tick;
    ACTION = ACTIVATETASK { TASK = Fast; };
    AUTOSTART = TRUE { ALARMTIME = 1; CYCLETIME = 1; };
  };
};
"#;

/// Goal: a file that another tool's users wrote makes a program, with the cycle of the partition as
/// its tick, and what was not used is told with the build.
#[test]
fn an_oil_file_of_another_tool_makes_a_program_with_the_cycle_of_the_partition() {
    need_compiler!();
    let files = [("conf.oil", FOREIGN), ("small.c", C)];
    let with = |tick_ns| Options { tick_ns, ..options() };
    let program = try_build(folder(&files).path(), &with(Some(250_000))).unwrap();
    let build = &program.built;
    let counter = build.interface.kernel.as_ref().unwrap().counter.as_ref().unwrap();
    assert_eq!((counter.name.as_str(), counter.tick_ns), ("Tick", 250_000));
    let remarks = build.remarks.join("\n");
    assert!(
        remarks.contains("not used here (ERIKA Enterprise 3): objects `APPDATA`; OS `EE_OPT`"),
        "{remarks}"
    );
    assert!(
        remarks.contains("no time of a tick is given for `Tick`; read as 250000 ns"),
        "{remarks}"
    );
    // Another cycle is another program.
    let other = try_build(folder(&files).path(), &with(Some(500_000))).unwrap();
    assert_ne!(build.hash, other.built.hash);
}

/// Goal: a comment in an encoding that is not UTF-8 is no error.
#[test]
fn comments_of_an_oil_file_are_in_any_encoding() {
    need_compiler!();
    let folder = folder(&[("small.c", C)]);
    let mut text = b"/* gr\xf6\xdfer \x95\x5c */ ".to_vec();
    text.extend(OIL.as_bytes());
    std::fs::write(folder.path().join("small.oil"), text).unwrap();
    try_build(folder.path(), &options()).unwrap();
}
