//! Bytes that are no site file: refused quickly, with one clear problem.

use quietcore_record::class::catalogue;
use quietcore_site::{PROBLEMS_MAX, Problem, Problems, SITE_BYTES_MAX, read};

use crate::support::read_text;

fn refused(bytes: &[u8]) -> Problems {
    read("site.toml", bytes, &catalogue()).unwrap_err()
}

fn only_problem(bytes: &[u8]) -> Problem {
    let problems = refused(bytes);
    let mut each = problems.iter();
    let first = each.next().unwrap().clone();
    assert_eq!(each.next(), None, "{problems}");
    first
}

#[test]
fn a_file_of_100_mb_is_refused_before_it_is_read() {
    let bytes = vec![b'a'; 100_000_000];
    let problem = only_problem(&bytes);
    assert!(problem.problem.contains("more than 1048576 bytes"), "{problem}");
    let just_fitting = vec![b'\n'; SITE_BYTES_MAX];
    assert!(only_problem(&just_fitting).problem.contains("empty"));
}

#[test]
fn what_is_not_utf_8_is_named_by_its_place() {
    let problem = only_problem(b"[site]\nname = \"\xff\"\n");
    assert_eq!((problem.place.position.line, problem.place.position.column), (2, 9));
    assert_eq!(problem.problem, "the byte at offset 15 isn't UTF-8");
    let utf_16 = only_problem(b"\xff\xfe[\0s\0");
    assert!(utf_16.remedy.contains("UTF-16"), "{utf_16}");
}

#[test]
fn an_empty_file_names_a_way_to_begin() {
    for bytes in [&b""[..], b"  \n\t\n", b"\xef\xbb\xbf"] {
        let problem = only_problem(bytes);
        assert_eq!(problem.problem, "the file is empty");
        assert!(problem.remedy.contains("quietcore init"));
        assert_eq!(problem.to_string().lines().count(), 1);
    }
    // A file of comments is no empty one; what it lacks is said.
    let problems = read_text("# nothing yet\n").unwrap_err().to_string();
    assert!(problems.contains("`site`: this key is missing"), "{problems}");
    assert!(problems.contains("`partition`: this key is missing"), "{problems}");
}

#[test]
fn a_flood_of_problems_is_counted_and_not_listed() {
    let text: String = (0..5_000).map(|index| format!("key{index} = 1\n")).collect();
    let problems = refused(text.as_bytes());
    assert_eq!(problems.iter().count(), PROBLEMS_MAX);
    assert!(problems.left_out() > 4_000);
    assert!(problems.to_string().ends_with("more"));
}

#[test]
fn too_many_elements_are_refused_by_count() {
    let partitions: String = (0..300)
        .map(|index| {
            format!(
                "[[partition]]\nname = \"p{index}\"\nclass = \"motion-control\"\nvcr.cpus = \
                 [{index}]\n"
            )
        })
        .collect();
    let problem = only_problem(format!("[site]\nname = \"x\"\n{partitions}").as_bytes());
    assert_eq!(problem.problem, "there are 300 elements");
    assert_eq!(problem.remedy, "256 are allowed at most");
    assert_eq!(problem.place.key, "partition.p256");
}

#[test]
fn deep_nesting_and_long_words_do_no_harm() {
    let depth = 200_000;
    let texts = [
        format!("a = {}", "[".repeat(depth)),
        format!("{}a = 1", "a.".repeat(depth)),
        format!("[{}a]", "a.".repeat(depth)),
        format!("{} = 1", "k".repeat(depth)),
        format!("[site]\nname = \"{}\"", "n".repeat(depth)),
        "= ".repeat(depth),
    ];
    for text in texts {
        let shown = refused(text.as_bytes()).to_string();
        let longest = shown.lines().map(str::len).max().unwrap();
        assert!(longest < 400, "{longest}");
    }
}

#[test]
fn a_key_that_is_written_twice_does_not_hide_the_rest() {
    let problems = read_text("[site]\nname = \"a\"\nname = \"b\"\nnmae = 1\n").unwrap_err();
    let shown = problems.to_string();
    assert!(shown.contains("site.toml:3:1: `name`: `name` is written twice"), "{shown}");
    assert!(shown.contains("did you mean `name`?"), "{shown}");
    assert!(shown.contains("`partition`: this key is missing"), "{shown}");
}
