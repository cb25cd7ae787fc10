//! The rules of a program: its tasks, and what happens when it fails.

use quietcore_site::{
    Literal, Program, ProgramKind, RESTART_LIMIT_DEFAULT, RESTART_WAIT_DEFAULT, Release, Scheduling,
};
use quietcore_units::{FaultReaction, Nanos, Overrun, ReleaseRule};

use crate::support::{self, accept, changed, expect_problem};

/// A good file that the rules are broken in.
const GOOD: &str = r#"
[site]
name = "s"
[[partition]]
name = "a"
class = "fast-control-loop"
[partition.vcr]
cpus = [1]
[partition.program]
model = "models/turbine"
#P
[[partition.program.task]]
name = "fast"
period = "10 ms"
#F
[[partition.program.task]]
name = "slow"
period = "100 ms"
#S
[campaign]
profiles = ["tp2"]
duration = "1 min"
exceedance = 1e-1
"#;

const FAST: &str = "partition.a.program.task.fast";
const SLOW: &str = "partition.a.program.task.slow";

fn in_program(text: &str) -> String {
    changed(GOOD, "#P", text)
}

/// The good file with the second task replaced.
fn second(task: &str) -> String {
    changed(GOOD, "name = \"slow\"\nperiod = \"100 ms\"", &format!("name = \"slow\"\n{task}"))
}

fn without_tasks(program: &str) -> String {
    let start = GOOD.find("[[partition.program.task]]").unwrap();
    let end = GOOD.find("[campaign]").unwrap();
    format!("{}{}", &GOOD[..start], &GOOD[end..]).replace("#P", program)
}

fn program(text: &str) -> Program {
    accept(text).partitions()[0].program.clone()
}

fn priorities(text: &str) -> Vec<u32> {
    let tasks = program(text).tasks;
    let priority = |scheduling| match scheduling {
        Scheduling::Fifo { priority } => priority,
        other => panic!("{other:?}"),
    };
    tasks.iter().map(|task| priority(task.scheduling)).collect()
}

#[test]
fn the_file_to_be_broken_is_good() {
    assert_eq!(support::remarks(GOOD), "");
    let program = program(GOOD);
    assert_eq!(program.period, Nanos::from_millis(10));
    assert_eq!(program.tasks.len(), 2);
    assert_eq!((program.tasks[0].rate, program.tasks[1].rate), (0, 1));
    assert_eq!(priorities(GOOD), [90, 89]);
    let slow = &program.tasks[1];
    let period = Nanos::from_millis(100);
    assert_eq!(slow.release.rule, ReleaseRule::Cyclic { period, offset: Nanos::ZERO });
    assert_eq!((slow.deadline, slow.watchdog, slow.sensitivity), (Some(period), period, 1));
}

#[test]
fn without_tasks_there_is_one_with_the_times_of_the_program() {
    let text = "period = \"2 ms\"\ndeadline = \"1 ms\"\nwcet = \"100 us\"\nwatchdog = \"500 \
                us\"\nsensitivity = 3\npriority = 70";
    let program = program(&without_tasks(text));
    let [only] = &program.tasks[..] else { panic!("{:?}", program.tasks) };
    assert_eq!((only.name.as_str(), only.rate), ("main", 0));
    assert_eq!(only.release.rule.period(), Some(Nanos::from_millis(2)));
    assert_eq!(only.deadline, Some(Nanos::from_millis(1)));
    assert_eq!(only.watchdog, Nanos::from_micros(500));
    assert_eq!(only.sensitivity, 3);
    assert_eq!(only.scheduling, Scheduling::Fifo { priority: 70 });
    assert_eq!(program.scheduling, only.scheduling);
    let short = "wcet = \"200 us\"\nwatchdog = \"100 us\"";
    let key = "partition.a.program.watchdog";
    expect_problem(&without_tasks(short), key, "100 µs is less than the wcet of 200 µs");
}

#[test]
fn an_osek_program_names_its_oil_file_and_the_deadlines_of_its_tasks() {
    let text = "period = \"1 ms\"\noil = \"a.oil\"\ndeadlines = { Control = \"500 us\", slow_1 = \
                \"2 min\" }";
    let osek = program(&without_tasks(text));
    assert_eq!(osek.oil.as_deref(), Some("a.oil"));
    let deadlines: Vec<_> = osek.deadlines.iter().map(|(name, time)| (&name[..], *time)).collect();
    assert_eq!(
        deadlines,
        [("Control", Nanos::from_micros(500)), ("slow_1", Nanos::from_secs(120))]
    );
    assert!(osek.tasks[0].implied);
    let plain = program(GOOD);
    assert!(plain.deadlines.is_empty() && plain.oil.is_none() && !plain.tasks[0].implied);
    let short = text.replace("500 us", "500 ns");
    let key = "partition.a.program.deadlines.Control";
    expect_problem(
        &without_tasks(&short),
        key,
        "`500 ns` is less than is allowed; write 1 us to 10 min",
    );
    let probe = without_tasks(text).replace("model = \"models/turbine\"", "");
    let problems = support::read_text(&probe).unwrap_err().to_string();
    for key in ["oil", "deadlines"] {
        let problem = format!("`partition.a.program.{key}`: it says how a program runs");
        assert!(problems.contains(&problem), "{problems}");
    }
}

#[test]
fn the_kind_of_a_program_and_the_model_of_a_folder_can_be_named() {
    let text = "period = \"1 ms\"\nkind = \"generated\"\nmodel_name = \"governor\"";
    let named = program(&without_tasks(text));
    assert_eq!(named.kind, Some(ProgramKind::Generated));
    assert_eq!(named.model_name.as_deref(), Some("governor"));
    let spaced = text.replace("governor", "plant::axis::Governor");
    let spaced = program(&without_tasks(&spaced));
    assert_eq!(spaced.model_name.as_deref(), Some("plant::axis::Governor"));
    assert_eq!(program(GOOD).kind, None);
    let osek = text.replace("generated", "osek");
    let key = "partition.a.program.model_name";
    expect_problem(
        &without_tasks(&osek),
        key,
        "it has an effect under `kind = \"generated\"` only",
    );
    let with_oil = format!("{text}\noil = \"a.oil\"");
    let key = "partition.a.program.oil";
    expect_problem(&without_tasks(&with_oil), key, "it has an effect under `kind = \"osek\"` only");
}

#[test]
fn the_defaults_of_failure_are_those_of_the_reference() {
    let program = program(GOOD);
    assert_eq!(program.overrun, Overrun::Skip);
    assert_eq!(program.on_fault, FaultReaction::Zero);
    assert_eq!(program.retain, Vec::<String>::new());
    assert_eq!(program.restart.limit, RESTART_LIMIT_DEFAULT);
    assert_eq!(program.restart.wait, RESTART_WAIT_DEFAULT);
}

#[test]
fn everything_about_failure_arrives() {
    let program = program(&in_program(
        "overrun = \"catch-up\"\non_fault = \"substitute\"\nsubstitute = { \"t_Y.valve\" = 0.5, \
         \"t_Y.trip\" = true, \"t_Y.step[1]\" = -3 }\nretain = [\"t_DW.*\", \"t_P\"]\nrestart = { \
         limit = 0, wait = \"1 s\" }\nsensitivity = 4",
    ));
    assert_eq!(program.overrun, Overrun::CatchUp);
    assert_eq!(program.on_fault, FaultReaction::Substitute);
    let values = program.substitutes.iter();
    let values: Vec<_> = values.map(|one| (one.variable.as_str(), one.value)).collect();
    let expected = [
        ("t_Y.step[1]", Literal::Whole(-3)),
        ("t_Y.trip", Literal::Truth(true)),
        ("t_Y.valve", Literal::Real(0.5)),
    ];
    assert_eq!(values, expected);
    assert_eq!(program.retain, ["t_DW.*", "t_P"]);
    assert_eq!((program.restart.limit, program.restart.wait), (0, Nanos::from_secs(1)));
    assert!(program.tasks.iter().all(|task| task.sensitivity == 4));
}

#[test]
fn substitutes_go_with_their_reaction() {
    let key = "partition.a.program.substitute";
    let broken = |text: &str, key: &str, part: &str| expect_problem(&in_program(text), key, part);
    broken("on_fault = \"substitute\"", key, "no value is given");
    broken("on_fault = \"substitute\"\nsubstitute = {}", key, "no value is given");
    broken("substitute = { \"a\" = 1 }", key, "`on_fault = \"substitute\"` only");
    broken("on_fault = \"hold\"\nsubstitute = { \"a\" = 1 }", key, "choose `substitute`");
    let given =
        |values: &str| format!("on_fault = \"substitute\"\nsubstitute = {{ a = 1, {values} }}");
    broken(&given("\"b c\" = 1"), &format!("{key}.b c"), "isn't a good path");
    broken(&given("b.c = 1"), &format!("{key}.b"), "in quotes, such as `\"b.x\" = 0.0`");
    broken(&given("b = \"1\""), &format!("{key}.b"), "this is the text `1`");
    broken(&given("b = inf"), &format!("{key}.b"), "isn't finite");
    let only_bad = "on_fault = \"substitute\"\nsubstitute = { \"b c\" = 1 }";
    broken(only_bad, &format!("{key}.b c"), "isn't a good path");
}

#[test]
fn retained_variables_are_paths_and_named_once() {
    let key = "partition.a.program.retain";
    let broken = |text: &str, at: &str, part: &str| {
        expect_problem(&in_program(text), &format!("{key}{at}"), part);
    };
    broken("retain = []", "", "the array is empty");
    broken("retain = [\"a\", \"a\"]", "[1]", "`a` is named twice");
    broken("retain = [\"a\", \"a b\"]", "[1]", "no name of C");
    broken("retain = [\"*.b\", \"a*b\"]", "[1]", "no name of C");
    broken("retain = \"a\"", "", "this is the text `a`");
    let many: Vec<_> = (0..257).map(|index| format!("\"v{index}\"")).collect();
    broken(&format!("retain = [{}]", many.join(", ")), "[256]", "256 are allowed");
}

#[test]
fn restarts_are_bounded() {
    let key = "partition.a.program.restart";
    let broken = |text: &str, at: &str, part: &str| {
        expect_problem(&in_program(text), &format!("{key}.{at}"), part);
    };
    broken("restart = { limit = 1001 }", "limit", "from 0 to 1000");
    broken("restart = { wait = \"61 s\" }", "wait", "1 ms to 1 min");
    broken("restart = { wait = \"0 s\" }", "wait", "1 ms to 1 min");
    broken("restart = { retries = 3 }", "retries", "the keys there are `limit`, `wait`");
    assert_eq!(program(&in_program("restart = { limit = 9 }")).restart.wait, RESTART_WAIT_DEFAULT);
}

#[test]
fn what_needs_a_model_is_refused_without_one() {
    let text = without_tasks("#P").replace("model = \"models/turbine\"\n", "");
    for setting in [
        "watchdog = \"1 ms\"",
        "sensitivity = 2",
        "overrun = \"stop\"",
        "on_fault = \"hold\"",
        "retain = [\"a\"]",
        "restart = {}",
        "task = [{ name = \"t\" }]",
    ] {
        let key = setting.split(' ').next().unwrap();
        let text = text.replace("#P", setting);
        expect_problem(&text, &format!("partition.a.program.{key}"), "name a `model`");
    }
    // A model that is written wrong is there all the same.
    let wrong = in_program("overrun = \"stop\"").replace("\"models/turbine\"", "5");
    expect_problem(&wrong, "partition.a.program.model", "this is the integer 5");
}

#[test]
fn times_belong_to_the_tasks_where_there_are_some() {
    for key in ["deadline", "wcet", "watchdog"] {
        let text = in_program(&format!("{key} = \"1 ms\""));
        expect_problem(&text, &format!("partition.a.program.{key}"), "[[partition.program.task]]");
    }
    let at = |key: &str| format!("{FAST}.{key}");
    let broken =
        |text: &str, key: &str, part: &str| expect_problem(&changed(GOOD, "#F", text), key, part);
    broken("deadline = \"11 ms\"", &at("deadline"), "beyond the period of 10 ms");
    broken("deadline = \"5 ms\"\nwcet = \"6 ms\"", &at("wcet"), "the deadline of 5 ms");
    broken("wcet = \"6 ms\"\nwatchdog = \"5 ms\"", &at("watchdog"), "less than the wcet");
    broken("offset = \"10 ms\"", &at("offset"), "not less than the period of 10 ms");
    broken("sensitivity = 0", &at("sensitivity"), "from 1 to 100");
    broken("watchdog = \"11 s\"", &at("watchdog"), "1 us to 10 s");
    broken("trigger = \"a\"", &at("trigger"), "a cyclic task has no `trigger`");
    broken("gap = \"1 ms\"", &at("gap"), "a cyclic task has no `gap`");
    broken("kind = \"periodic\"", &at("kind"), "`cyclic`, `event`, `status`, `freewheeling`");
}

#[test]
fn the_period_of_the_program_is_that_of_its_fastest_task() {
    let period = "partition.a.program.period";
    assert_eq!(program(&in_program("period = \"10 ms\"")).period, Nanos::from_millis(10));
    expect_problem(&in_program("period = \"5 ms\""), period, "write `10 ms`, or leave it out");
    let key = format!("{FAST}.period");
    expect_problem(&in_program("period = \"20 ms\""), &key, "less than 20 ms");
    // A task without a period has that of the program, here the cycle of the class.
    let text = GOOD.replace("period = \"10 ms\"\n", "");
    assert_eq!(program(&text).tasks[0].release.rule.period(), Some(Nanos::from_millis(10)));
    // Where one period can't be read, nothing is said of the others.
    let unread = GOOD.replace("period = \"10 ms\"", "period = \"10\"");
    expect_problem(&unread, &key, "the unit is missing");
}

#[test]
fn each_step_function_has_one_task() {
    let key = format!("{SLOW}.rate");
    let with = |rate: &str| changed(GOOD, "#S", rate);
    expect_problem(&with("rate = 0"), &key, "run by task `fast` already");
    expect_problem(&with("rate = 2"), &key, "write 0 to 1");
    expect_problem(&with("rate = 16"), &key, "from 0 to 15");
    expect_problem(&with("rate = -1"), &key, "from 0 to 15");
    let turned = with("rate = 0").replace("#F", "rate = 1");
    assert!(support::remarks(&turned).contains("10 ms is no multiple of 100 ms"));
    let name = changed(GOOD, "name = \"slow\"", "name = \"fast\"");
    expect_problem(&name, &format!("{FAST}.name"), "a task `fast` is there already");
    let many: String =
        (0..17).map(|at| format!("[[partition.program.task]]\nname = \"t{at}\"\n")).collect();
    let many = without_tasks(&format!("priority = 50\n{many}"));
    let problems = support::read_text(&many).unwrap_err().to_string();
    assert!(problems.contains("16 are allowed at most"), "{problems}");
}

#[test]
fn priorities_are_rate_monotonic_and_equal_only_on_purpose() {
    assert_eq!(priorities(&in_program("priority = 20")), [20, 19]);
    let turned = GOOD.replace("10 ms", "X").replace("100 ms", "10 ms").replace("X", "100 ms");
    // The period of both was 10 ms and 100 ms; turned round the second one is the faster.
    let turned = turned.replace("\"10 ms\"", "\"1 ms\"").replace("#F", "rate = 1");
    let turned = turned.replace("#S", "rate = 0");
    assert_eq!(priorities(&turned), [89, 90]);
    let key = format!("{SLOW}.priority");
    let with = |priority: &str| changed(GOOD, "#S", priority);
    assert_eq!(priorities(&with("priority = 30")), [90, 30]);
    expect_problem(&with("priority = 90"), &key, "both have priority 90");
    let both = with("priority = 90").replace("#F", "priority = 90");
    assert_eq!(priorities(&both), [90, 90]);
    assert!(support::remarks(&with("priority = 91")).contains("goes before the faster `fast`"));
    assert!(support::remarks(&with("priority = 99")).contains("98 is enough"));
    let equal = GOOD.replace("\"100 ms\"", "\"10 ms\"");
    expect_problem(&equal, &key, "as fast as `fast`");
    assert_eq!(priorities(&equal.replace("#S", "priority = 10")), [90, 10]);
    expect_problem(&in_program("priority = 1"), &key, "below priority 1");
    let other = with("priority = 5").replace("#P", "policy = \"other\"");
    expect_problem(&other, &key, "knows no priority");
}

#[test]
fn tasks_that_are_not_cyclic_have_what_releases_them() {
    let event = second("kind = \"event\"\ntrigger = \"t_Y.trip\"");
    let gap = Nanos::from_millis(10);
    let trigger = Some("t_Y.trip".to_owned());
    assert_eq!(
        program(&event).tasks[1].release,
        Release { rule: ReleaseRule::Event { gap }, trigger }
    );
    let status = second("kind = \"status\"\ntrigger = \"t_Y.trip\"\ngap = \"50 ms\"");
    assert_eq!(program(&status).tasks[1].deadline, Some(Nanos::from_millis(50)));
    let free = program(&second("kind = \"freewheeling\"\ngap = \"20 us\""));
    assert_eq!(
        free.tasks[1].release.rule,
        ReleaseRule::Freewheeling { gap: Nanos::from_micros(20) }
    );
    assert_eq!((free.tasks[1].deadline, free.tasks[1].watchdog), (None, Nanos::from_secs(1)));
    // However short its gap, it gets what the others leave.
    assert_eq!(priorities(&second("kind = \"freewheeling\"\ngap = \"20 us\"")), [90, 89]);
    let key = |name: &str| format!("{SLOW}.{name}");
    let broken = |task: &str, name: &str, part: &str| {
        expect_problem(&second(task), &key(name), part);
    };
    broken("kind = \"event\"", "trigger", "an event task needs a `trigger`");
    broken("kind = \"status\"\ntrigger = \"\"", "trigger", "a part of the path is empty");
    broken("kind = \"freewheeling\"", "gap", "a freewheeling task needs a `gap`");
    let event = "kind = \"event\"\ntrigger = \"a\"\n";
    broken(&format!("{event}period = \"1 s\""), "period", "an event task has no `period`");
    broken(&format!("{event}deadline = \"1 s\""), "deadline", "beyond the gap of 10 ms");
    let free = "kind = \"freewheeling\"\ngap = \"1 ms\"\n";
    broken(&format!("{free}deadline = \"1 ms\""), "deadline", "has no `deadline`");
    broken(&format!("{free}trigger = \"a\""), "trigger", "has no `trigger`");
    let alone = without_tasks("task = [{ name = \"e\", kind = \"event\", trigger = \"a\" }]");
    expect_problem(&alone, "partition.a.program.task.e.trigger", "add a cyclic task");
}

#[test]
fn policy_deadline_reserves_time_for_each_cyclic_task() {
    let text = in_program("policy = \"deadline\"").replace("#F", "wcet = \"2 ms\"");
    expect_problem(&text, &format!("{SLOW}.wcet"), "reserves this run time");
    let good = text.replace("#S", "wcet = \"20 ms\"");
    let expected = Scheduling::Deadline {
        run_time: Nanos::from_millis(20),
        deadline: Nanos::from_millis(100),
        period: Nanos::from_millis(100),
    };
    assert_eq!(program(&good).tasks[1].scheduling, expected);
    let event = second("kind = \"event\"\ntrigger = \"a\"").replace("#F", "wcet = \"2 ms\"");
    let event = event.replace("#P", "policy = \"deadline\"");
    expect_problem(&event, &format!("{SLOW}.kind"), "only a cyclic task has one");
}
