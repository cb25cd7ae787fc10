//! `#include`: files from a callback, within bounds.

use std::collections::HashMap;

use quietcore_oil::{Configuration, NotIncluded, Problems, Reading, read};

use crate::support::STRICT;

const MAIN: &str = "OIL_VERSION = \"2.5\";\n#include <vendor.oil> // its attributes\n\
     CPU c { OS k;\n  #include \"tasks.oil\"\n};\n";

fn read_files(main: &str, files: &[(&str, &str)]) -> Result<Configuration, Problems> {
    let files: HashMap<_, _> = files.iter().copied().collect();
    read("main.oil", main, STRICT, &mut |name| {
        files
            .get(name)
            .map(|text| (*text).to_owned())
            .ok_or_else(|| NotIncluded::Missing("there is no such file".to_owned()))
    })
}

#[track_caller]
fn problems(main: &str, files: &[(&str, &str)]) -> String {
    read_files(main, files).expect_err("something is wrong").to_string()
}

#[test]
fn included_files_stand_in_the_place_of_the_line() {
    let vendor = "IMPLEMENTATION i { TASK { UINT32 CORE; }; };";
    let tasks = "TASK t { PRIORITY = 1; CORE = 2;\n#include \"more.oil\"\n};";
    let more = "EVENT = e; }; EVENT e { MASK = 4;";
    let files = [("vendor.oil", vendor), ("tasks.oil", tasks), ("more.oil", more)];
    let configuration = read_files(MAIN, &files).unwrap();
    assert_eq!(configuration.tasks()[0].event_mask, 4);
    let remark = configuration.remarks()[0].to_string();
    assert!(remark.starts_with("tasks.oil:1:24: `CORE`:"), "{remark}");
}

#[test]
fn problems_name_the_file_that_they_are_in() {
    let tasks = "TASK t {\n  PRIORITY = 1;\n  EVENT = part;\n};\nTASK t { PRIORITY = 2 };\nEVENT p";
    let files = [("vendor.oil", ""), ("tasks.oil", tasks)];
    assert_eq!(
        problems(MAIN, &files),
        "main.oil:5:1: `}`: expected `;` behind EVENT `p`\n\
         tasks.oil:5:23: `}`: expected `;` behind the value of `PRIORITY`"
    );
    let tasks = "TASK t { PRIORITY = 1; };";
    let files = [("vendor.oil", ""), ("tasks.oil", tasks)];
    let twice = MAIN.replace("};\n", "TASK t { PRIORITY = 2; }; };\n");
    assert_eq!(
        problems(&twice, &files),
        "main.oil:5:6: `t`: the name of a task in tasks.oil:1 already; choose another one"
    );
}

#[test]
fn a_file_that_can_not_be_had_is_told_with_the_reason() {
    assert_eq!(
        problems(MAIN, &[("tasks.oil", "TASK t { PRIORITY = 1; };")]),
        "main.oil:2:1: `vendor.oil`: it can't be included: there is no such file"
    );
}

#[test]
fn files_that_include_each_other_are_told() {
    let files = [
        ("vendor.oil", "#include \"tasks.oil\""),
        ("tasks.oil", "#include \"a.oil\""),
        ("a.oil", "\n #include <tasks.oil>"),
    ];
    let problems = problems(MAIN, &files);
    let circle = "files include each other: `tasks.oil` includes `a.oil` includes `tasks.oil`";
    assert!(problems.contains(&format!("a.oil:2:2: `tasks.oil`: {circle}")), "{problems}");
}

/// Goal: a file that may be missing is still told where it is there and can't be read.
#[test]
fn an_optional_file_that_cannot_be_read_is_refused() {
    let text = "CPU c { OS k; TASK t { PRIORITY = 1; }; };\n#includeifexists \"more.oil\"\n";
    let read_with = |reason: NotIncluded| {
        read("main.oil", text, Reading::default(), &mut |_| Err(reason.clone()))
    };
    assert!(read_with(NotIncluded::Missing("there is none".to_owned())).is_ok());
    let said = read_with(NotIncluded::Unreadable("it is a folder".to_owned())).unwrap_err();
    assert_eq!(said.to_string(), "main.oil:2:1: `more.oil`: it can't be included: it is a folder");
}

#[test]
fn depth_number_and_size_of_includes_are_bounded() {
    let deep = |name: &str| {
        let number: usize = name.parse().unwrap();
        Ok(format!("#include \"{}\"\n", number + 1))
    };
    let problems =
        read("main.oil", "#include \"0\"\n", STRICT, &mut { deep }).unwrap_err().to_string();
    assert!(
        problems.contains("7:1:1: `8`: 8 files that include one another are the most"),
        "{problems}"
    );

    let many = "#include \"a\"\n".repeat(200);
    let problems = read("main.oil", &many, STRICT, &mut |_| Ok(String::new())).unwrap_err();
    let limit = problems.iter().filter(|it| it.message == "100 `#include` are the most").count();
    assert_eq!(limit, 100);

    let mut asked = 0;
    let problems = read("main.oil", &many, STRICT, &mut |_| {
        asked += 1;
        Ok(" ".repeat(100_000))
    });
    let problems = problems.unwrap_err().to_string();
    assert!(
        problems.contains("main.oil:11:1: `a`: with this file there are 1102600 bytes"),
        "{problems}"
    );
    assert!(asked <= 100);
}
