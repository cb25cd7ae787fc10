//! OSEK programs for guests: the kernel without an operating system, driven as a guest does.
//!
//! The loader in `harness/kernel.c` plays the guest: it gives time and a timer, whose signal runs
//! on the stack that it interrupts.

use std::fs;
use std::path::Path;

use quietcore_program::build::Options;
use quietcore_program_image::ProgramImage;

use crate::support::{Program, drive, folder, guest_options, options, try_build};

const OIL: &str = r#"OIL_VERSION = "2.5";
CPU small {
    OS Kernel { STATUS = EXTENDED; };
    APPMODE Normal;
    COUNTER Tick {
        MAXALLOWEDVALUE = 100; TICKSPERBASE = 1; MINCYCLE = 1;
        TYPE = HARDWARE; NANOSECONDSPERTICK = 5000000;
    };
    TASK Fast { PRIORITY = 3; };
    EVENT Go;
    TASK Waiting { PRIORITY = 2; EVENT = Go; AUTOSTART = TRUE { APPMODE = Normal; }; };
    TASK Slow { PRIORITY = 1; STACK = 8192; AUTOSTART = TRUE { APPMODE = Normal; }; };
    ALARM Wake {
        COUNTER = Tick;
        ACTION = ACTIVATETASK { TASK = Fast; };
        AUTOSTART = TRUE { ALARMTIME = 1; CYCLETIME = 1; APPMODE = Normal; };
    };
};
"#;

/// Slow takes until two more cycles have begun, however fast the processor is.
const C: &str = r#"
#include <math.h>
#include "os.h"
#include "Com.h"
double sum;
TASK(Fast)
{
  (void) SetEvent(Waiting, Go);
  TerminateTask();
}
TASK(Waiting)
{
  for (;;) {
    (void) WaitEvent(Go);
    (void) ClearEvent(Go);
  }
}
TASK(Slow)
{
  uint64_t began = Com_Now();
  double root = 2.0;
  while (Com_Now() < began + 10000000u) {
    root = sqrt(root) + 1.0;
  }
  sum += root;
  ChainTask(Slow);
}
"#;

fn small(c: &str, options: &Options) -> Program {
    try_build(folder(&[("small.oil", OIL), ("small.c", c)]).path(), options).unwrap()
}

/// The number of jobs of a task, and the cycles that the longest took.
fn jobs(said: &[String], task: &str) -> (u64, u64) {
    let line = said.iter().find(|line| line.starts_with(&format!("{task} "))).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    (words[1].parse().unwrap(), words[3].parse().unwrap())
}

/// Counts how often the first task was still active when it was to be again (`E_OS_LIMIT`): a
/// machine that is busy may take a whole step away. There are few of them.
fn missed(said: &[String]) -> u64 {
    let count = said.iter().filter(|line| *line == "error task 0 status 4 service 1").count();
    let errors = said.iter().filter(|line| line.starts_with("error")).count();
    assert!(count == errors && count < 8, "{said:?}");
    count as u64
}

/// Goal: tasks run, wait, are preempted and go on over the ends of steps.
/// Method: a task that takes longer than a cycle, below one that is released in each.
#[test]
fn a_kernel_in_a_guest_is_driven_and_interrupted() {
    need_musl!();
    const CYCLES: u64 = 60;
    let guest = small(C, &guest_options());
    for file in [&guest.built.module, guest.built.second.as_ref().unwrap()] {
        let said = drive(file, 60, 5000);
        // The first cycle is tick zero.
        assert_eq!(jobs(&said, "Fast").0 + missed(&said), CYCLES - 1, "{said:?}");
        assert_eq!(jobs(&said, "Waiting").0 + missed(&said), CYCLES, "{said:?}");
        let (slow, longest) = jobs(&said, "Slow");
        assert!((CYCLES / 6..=CYCLES / 2).contains(&slow), "{said:?}");
        assert!(longest >= 2, "{said:?}");
        let interrupted = said.iter().find_map(|line| line.strip_prefix("interrupted ")).unwrap();
        assert!(interrupted.parse::<u64>().unwrap() >= CYCLES / 2, "{said:?}");
        assert_eq!(said.last().unwrap(), "none", "{said:?}");
    }
}

#[test]
fn the_conveyor_of_the_examples_runs_in_a_guest() {
    need_musl!();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/conveyor");
    let guest = try_build(&folder, &guest_options()).unwrap();
    let module = try_build(&folder, &options()).unwrap();
    assert_eq!(guest.built.interface, module.built.interface);
    let names = |program: &Program| -> Vec<String> {
        program.built.symbols.leaves(None, 1000).map(|(path, _)| path).collect()
    };
    assert_eq!(names(&guest), names(&module));
    let image = ProgramImage::parse(&fs::read(&guest.built.module).unwrap()).unwrap();
    // Stacks of four tasks and of the idle context, with what keeps them apart.
    assert!((256 << 10..2 << 20).contains(&image.data().len()), "{}", image.data().len());
    let said = drive(&guest.built.module, 300, 1000);
    assert_eq!(jobs(&said, "Drive").0 + missed(&said), 299, "{said:?}");
    assert!((13..=14).contains(&jobs(&said, "Supervise").0), "{said:?}");
    assert_eq!(said.last().unwrap(), "none", "{said:?}");
}

/// Goal: a stack that overflows is found, and who has it is named; no other stack is harmed.
/// Method: a task that goes deeper than its stack and its reserve for interrupts, and comes back.
#[test]
fn a_stack_that_overflows_is_found_by_its_last_word() {
    need_musl!();
    let deep = C.replace(
        "TASK(Slow)\n{",
        "__attribute__((noinline)) int deep(int depth, volatile char *above)\n\
         { volatile char here[512]; for (int i = 0; i < 512; i++) here[i] = (char)depth;\n\
           return depth == 0 ? *above : deep(depth - 1, here) + here[1]; }\n\
         TASK(Slow)\n{ volatile char none = 0; sum = deep(200, &none);",
    );
    let guest = small(&deep, &guest_options());
    let said = drive(&guest.built.module, 20, 5000);
    // `E_OS_STACKFAULT`, of the third task.
    assert!(said[0].starts_with("error task 2 status 12 "), "{said:?}");
    assert_eq!(said.last().unwrap(), "ShutdownOS with status 12", "{said:?}");
}

/// A loader of an older kind, which tells no time, is told why nothing runs.
#[test]
fn without_a_clock_the_kernel_does_not_start() {
    need_musl!();
    let guest = small(C, &guest_options());
    let answers = guest.run(&["services", "init", "step:0:3", "status"]);
    let why =
        "the OSEK kernel did not start: the loader tells no time, which a guest's kernel asks";
    assert_eq!(answers, [why]);
}
