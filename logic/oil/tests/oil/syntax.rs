//! Tests of the syntax.

use proptest::prelude::*;
use quietcore_osek::configuration::Checking;

use crate::support::{accept, accept_objects, problems, read_text, whole};

#[test]
fn comments_descriptions_and_white_space_separate_and_mean_nothing() {
    let plain =
        accept_objects("TASK t { PRIORITY = 1; AUTOSTART = TRUE { APPMODE = m; }; };\nAPPMODE m;");
    let decorated = accept(
        "\u{feff}// first\r\nOIL_VERSION = \"2.5\" : \"with \\\"quotes\\\" and \\\\\";\r\n\
         CPU/**/c{OS k : \"kernel\";TASK t{PRIORITY/* of * t **/=+1;AUTOSTART=TRUE{APPMODE=m;} : \
         \"now\";} : \"größer\";APPMODE m{};} : \"all\";// last",
    );
    assert_eq!(plain, decorated);
}

#[test]
fn numbers_are_decimal_or_hexadecimal() {
    let task = |priority: &str| {
        let objects = format!("TASK t {{ PRIORITY = {priority}; }};");
        accept_objects(&objects).tasks()[0].given_priority
    };
    assert_eq!(task("20"), 20);
    assert_eq!(task("0x14"), 20);
    assert_eq!(task("0X1f"), 31);
    assert_eq!(task("0020"), 20);
    assert_eq!(task("-0"), 0);
    assert_eq!(task("4294967295"), u32::MAX);
}

#[test]
fn columns_count_characters() {
    let text = whole("/* äöü */ TASK t { PRIORITY = 1; X = 2; };");
    assert!(problems(&text).starts_with("a.oil:2:34: `X`:"), "{}", problems(&text));
}

#[test]
fn sections_may_stand_in_any_order() {
    accept("CPU c { OS k; TASK t { PRIORITY = 1; }; };\nOIL_VERSION = \"2.5\";");
}

#[test]
fn defaults_are_those_of_the_implementation_where_it_has_some() {
    let implementation = r#"OIL_VERSION = "2.5";
        IMPLEMENTATION x {
            TASK {
                UINT32 [1..200000] STACK = 100000;
                ENUM [NON, FULL] SCHEDULE = NON;
                UINT32 ACTIVATION = NO_DEFAULT;
                BOOLEAN [TRUE { APPMODE_TYPE APPMODE[]; UINT64 X; }, FALSE] AUTOSTART = TRUE;
            };
            OS {
                ENUM [STANDARD, EXTENDED] STATUS = STANDARD;
                BOOLEAN STARTUPHOOK = FALSE;
                FLOAT [0.5..1.5] F = 1.0;
                STRING S = "s";
            };
            COUNTER { UINT32 [1, 2, 4] TICKSPERBASE = 4; };
            ISR { UINT32 [1, 2] CATEGORY; };
            ALARM { ENUM [ACTIVATETASK { TASK_TYPE TASK; } : "one", SETEVENT] ACTION; };
        };"#;
    let cpu = "CPU c { OS k; TASK t { PRIORITY = 1; }; COUNTER s { MAXALLOWEDVALUE = 9; };\n\
               TASK u { PRIORITY = 2; STACK = 9000; SCHEDULE = FULL; AUTOSTART = FALSE; }; };";
    let configuration = accept(&format!("{implementation}{cpu}"));
    assert_eq!(configuration.checking(), Checking::Standard);
    let [first, second] = configuration.tasks() else { panic!("there are two tasks") };
    assert_eq!((first.stack_bytes, first.preemptable, first.autostart), (100_000, false, 1));
    assert_eq!((second.stack_bytes, second.preemptable, second.autostart), (9000, true, 0));
    assert_eq!(configuration.counters()[0].ticks_per_base, 4);
}

#[test]
fn attributes_that_only_the_implementation_knows_are_remarked_and_ignored() {
    let configuration = accept(
        "OIL_VERSION = \"2.5\";\nIMPLEMENTATION x { TASK { UINT32 CORE; STRING NOTE; }; };\n\
         CPU c { OS k; TASK t { PRIORITY = 1; CORE = 3 { DEEP = 1; }; NOTE = \"x\"; }; EVENT e; };",
    );
    let remarks: Vec<_> = configuration.remarks().iter().map(ToString::to_string).collect();
    let expected = [
        "a.oil:3:38: `CORE`: not used here: TASK `CORE`, `NOTE`".to_owned(),
        "a.oil:3:83: `e`: no task may wait for this event; write `EVENT = …;` into those that do"
            .to_owned(),
    ];
    assert_eq!(remarks, expected);
}

#[test]
fn isrs_may_share_a_source_which_is_remarked() {
    let configuration = crate::support::accept_objects(
        "TASK t { PRIORITY = 1; };\n\
         ISR i { CATEGORY = 2; PRIORITY = 5; SOURCE = 2; };\n\
         ISR j { CATEGORY = 2; PRIORITY = 6; SOURCE = 2; };",
    );
    let remarks: Vec<_> = configuration.remarks().iter().map(ToString::to_string).collect();
    assert_eq!(remarks, ["a.oil:4:46: `2`: the source of ISR `i`, too; it raises both"]);
}

#[test]
fn many_problems_are_counted_and_not_listed() {
    let text = whole(&"X y;\n".repeat(1000));
    let problems = read_text(&text).unwrap_err();
    assert_eq!(problems.iter().count(), quietcore_oil::PROBLEMS_MAX);
    // The thousand. That there is no task is not told: one of these may be meant as one.
    assert_eq!(problems.left_out(), 1000 - quietcore_oil::PROBLEMS_MAX);
    assert!(problems.to_string().ends_with("\n… and 800 more"));
}

/// Goal: whatever is too large or too deep ends at once, and no recursion follows the text.
#[test]
fn texts_up_to_the_limit_are_read_in_bounded_depth() {
    let size = 1 << 20;
    let parts =
        ["{", "}", "A={", "TASK t{", ";", "/*", "\"", "#x\n", "[", "=", "x ", "a=b;", "\u{7f}"];
    for part in parts {
        let mut text = "OIL_VERSION = \"2.5\"; CPU c { OS k; TASK t { PRIORITY = 1; ".to_owned();
        text.push_str(&part.repeat((size - text.len()) / part.len()));
        assert!(read_text(&text).is_err(), "{part}");
    }
    let frame = whole("TASK t { PRIORITY = 1; }; /**/");
    let filling = "x".repeat(size - frame.len());
    let comment = frame.replace("/**/", &format!("/*{filling}*/"));
    accept(&comment);
    let too_long = format!("{comment}{}", " ".repeat(20));
    let limit =
        "a.oil:1:1: `a.oil`: with this file there are 1048596 bytes of text; 1048576 are the most";
    assert_eq!(problems(&too_long), limit);
}

proptest! {
    /// Forgetting one token of a good text is told at a place, or changes what it means.
    #[test]
    fn each_token_counts(forgotten in 0_usize..60) {
        let text = whole(
            "TASK t { PRIORITY = 1 : \"d\"; AUTOSTART = TRUE { APPMODE = m; }; EVENT = e; };\n\
             APPMODE m; EVENT e { MASK = 2; };",
        );
        let tokens: Vec<&str> = text.split_inclusive(' ').collect();
        let kept = tokens.iter().enumerate().filter(|(index, _)| *index != forgotten);
        let shorter: String = kept.map(|(_, token)| *token).collect();
        let meant = read_text(&text).unwrap();
        match read_text(&shorter) {
            Ok(other) => prop_assert!(forgotten >= tokens.len() || other != meant),
            Err(problems) => {
                let places = problems.iter().map(|one| &one.position);
                let mut counts = places.flat_map(|place| [place.line, place.column]);
                prop_assert!(counts.all(|count| count >= 1));
            }
        }
    }
}
