//! Tests of texts that were received.

use super::*;

fn text(partition: &str, rest: &str) -> String {
    format!(
        "[site]\nname = \"line\"\n[[partition]]\nname = \"axis\"\nclass = \"process-control\"\n\
         vcr = {{ cpus = [0] }}\n{partition}\n{rest}\n"
    )
}

fn refused(text: &str, chosen: &[ChosenProgram]) -> Vec<String> {
    let problems = SiteText::read(text, chosen).expect_err("it is refused");
    problems.iter().map(ToString::to_string).collect()
}

fn choice(partition: &str, program: &str, version: u64) -> ChosenProgram {
    let (partition, program) = (partition.to_owned(), program.to_owned());
    ChosenProgram { partition, program, version }
}

#[test]
fn a_model_is_the_name_of_a_program_with_or_without_a_version() {
    for (written, version) in [("servo", 0), ("servo@3", 3)] {
        let text = text(&format!("program = {{ model = \"{written}\" }} # keep me"), "");
        let read = SiteText::read(&text, &[]).expect("a good text");
        assert_eq!(
            (read.site(), read.programs()),
            ("line", &[choice("axis", "servo", version)][..])
        );
        let placed = read.with_folders(|program| format!("programs/{}", program.partition));
        assert_eq!(placed, text.replace(written, "programs/axis"), "nothing else changes");
    }
}

/// Goal: no path of a text leads anywhere on the machine, and all are told at once.
#[test]
fn paths_are_refused_all_at_once_with_their_places() {
    for path in ["/etc", "../servo", "models/servo", "servo@", "servo@0", "servo@x", "a@1/../b"] {
        let text = text(&format!("program = {{ model = {path:?}, oil = \"/etc/passwd\" }}"), "");
        let told = refused(&text, &[]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].starts_with("site.toml:7:21: `partition.axis.program.model`: "),
            "{told:?}"
        );
        assert!(
            told[1].contains("`partition.axis.program.oil`: `/etc/passwd` is no file"),
            "{told:?}"
        );
    }
    let guest = "backend = \"qemu\"\n[partition.guest]\nsystem = \"linux\"\nimage = \"/boot\"";
    let told = refused(&text(guest, "[campaign]\nneighbour_image = \"rt\""), &[]);
    assert!(told.iter().any(|it| it.contains("`partition.axis.guest.image`: ")), "{told:?}");
    assert!(told.iter().any(|it| it.contains("`campaign.neighbour_image`: ")), "{told:?}");
}

#[test]
fn a_choice_replaces_the_path_of_the_text_and_has_to_be_for_a_partition_with_one() {
    let with_path = text("[partition.program]\nmodel = \"../models/servo\"", "");
    let read = SiteText::read(&with_path, &[choice("axis", "servo", 2)]).expect("a good text");
    assert_eq!(read.programs(), [choice("axis", "servo", 2)]);
    assert!(
        read.with_folders(|_| "programs/axis".to_owned()).contains("model = \"programs/axis\"")
    );
    let twice = [choice("axis", "servo", 1), choice("axis", "servo", 2)];
    assert!(refused(&with_path, &twice)[0].contains("two programs are chosen"));
    assert!(refused(&with_path, &[choice("tank", "servo", 1)])[0].contains("no partition `tank`"));
    assert!(refused(&with_path, &[choice("axis", "../x", 1)])[0].contains("no name of a program"));
    assert!(
        refused(&text("", ""), &[choice("axis", "servo", 1)])[0].contains("there is no `model`")
    );
}

#[test]
fn problems_of_the_site_file_come_first() {
    let told = refused("[site]\nname = \"line\"\n", &[]);
    assert!(told[0].contains("`partition`"), "{told:?}");
    let long = " ".repeat(quietcore_site::SITE_BYTES_MAX + 1);
    assert!(refused(&long, &[])[0].contains("1 MiB"), "a limit of bytes");
}
