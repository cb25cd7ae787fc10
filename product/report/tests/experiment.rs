//! The page and the text about experiments: they tell what was shown, and nothing else.

#[expect(dead_code, reason = "other tests need the rest")]
mod synthetic;

use quietcore_record::record::Variant;
use quietcore_report::{html, text};
use synthetic::experiment::{compared, compared_by_routines, disturbed, tuned};

/// Returns the anchors of the sections, in their order.
fn sections(page: &str) -> Vec<&str> {
    page.split("<section id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn the_smallest_set_and_what_each_control_did_are_told() {
    let page = html::render(&tuned(), &[]);
    assert_eq!(sections(&page), ["verdict", "tuning", "conditions", "doctor"]);
    assert!(page.contains("It needs interrupts"));
    let plot = page.split("<svg ").find(|plot| plot.contains("What each control does")).unwrap();
    let plot = format!("<svg {}</svg>", plot.split("</svg>").next().unwrap());
    roxmltree::Document::parse(&plot).unwrap();
    assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
    for words in [">interrupts: helped<", ">timers: no effect<", ">all together: helped<"] {
        assert!(plot.contains(words), "{words} in {plot}");
    }
    let text = text::render(&tuned(), 100, false);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("interrupts").contains("helped"), "{text}");
    assert!(line("timers").contains("no effect "), "{text}");
    assert!(text.contains("controls = [\"interrupts\"]"), "{text}");
    assert!(!text.contains("rounds show nothing"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn only_what_was_shown_to_disturb_is_shaded() {
    let page = html::render(&disturbed(), &[]);
    assert_eq!(sections(&page), ["verdict", "disturbance", "conditions", "doctor"]);
    assert!(page.contains("Disk on the same CPU disturbs most: p99.9 12.0×"));
    let shades = |shade: &str| page.matches(&format!("<td class=\"heat-{shade}\"")).count();
    assert_eq!((shades("4"), shades("0")), (1, 1), "12 times, and as without");
    let text = text::render(&disturbed(), 100, false);
    assert!(text.contains("12.0× (12.0 to 12.0)"), "{text}");
    assert!(text.contains("1 234 rounds/s by 0.50 CPUs"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// Goal: a load has a row for each kind of neighbour that it works in, on page and terminal.
#[test]
fn each_kind_of_neighbour_has_a_row_of_the_matrix() {
    let mut within = disturbed();
    let trial = within.records[2].trial.as_mut().unwrap();
    let Variant::Beside { aggressor: Some(aggressor) } = &mut trial.variant else {
        panic!("{:?}", trial.variant)
    };
    aggressor.backend = Some("qemu".to_owned());
    let page = html::render(&within, &[]);
    let row = |title: &str| page.matches(&format!("<th scope=\"row\">{title}</th>")).count();
    assert_eq!((row("disk"), row("disk (qemu)")), (1, 1));
    assert!(page.contains("disk (qemu), other CPU"));
    let text = text::render(&within, 100, false);
    assert!(text.contains("\ndisk (qemu) other CPU"), "{text}");
}

/// Goal: a strip for each backend on one axis, the words beside it and in the tables, and nothing
/// judged by the times of an emulator.
#[test]
fn each_backend_has_a_strip_with_the_reference_in_it() {
    let page = html::render(&compared(), &[]);
    assert_eq!(sections(&page)[..2], ["verdict", "cost"]);
    assert!(page.contains("kvm costs most: +30.3\u{a0}µs in the maximum of release latency"));
    assert!(page.contains("some of these times are emulated"));
    let plot = page.split("<svg ").find(|plot| plot.contains("What each backend costs")).unwrap();
    let plot = format!("<svg {}</svg>", plot.split("</svg>").next().unwrap());
    roxmltree::Document::parse(&plot).unwrap();
    assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
    for words in [">container<", ">kvm<", ">qemu: timing not valid<", ">release latency<"] {
        assert!(plot.contains(words), "{words} in {plot}");
    }
    assert_eq!(plot.matches("class=\"reference\"").count(), 9, "it is drawn into each row");
    let text = text::render(&compared(), 100, false);
    let of = |backend: &str| {
        let table = text.split("\n\n").find(|block| block.starts_with(backend)).unwrap();
        let found = |word: &str| table.lines().filter(|line| line.ends_with(word)).count();
        (found("costs more"), found("no difference"), found("timing not valid"))
    };
    assert_eq!(of("container"), (0, 9, 0), "{text}");
    assert_eq!(of("kvm"), (6, 3, 0), "its execution time is the same: {text}");
    assert_eq!(of("qemu"), (0, 0, 9), "{text}");
    assert!(text.contains("1.50× (1.50 to 1.50)") && text.contains("seed 7"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// Goal: a row for each routine in each strip, by means and with what is below a nanosecond, and no
/// section of routines beside it, whose blocks would stand there as runs.
#[test]
fn each_routine_has_a_row_in_the_strip_of_each_backend() {
    let page = html::render(&compared_by_routines(), &[]);
    assert_eq!(sections(&page), ["verdict", "cost", "conditions", "doctor"]);
    assert!(page.contains("kvm costs most: +") && page.contains(" of routine ist"));
    assert!(page.contains(" loops of each routine as a process, and of as much time in each"));
    assert!(page.contains("ring: mean, bar: p99, each over the rounds"));
    let plot = page.split("<svg ").find(|plot| plot.contains("What each backend costs")).unwrap();
    let plot = format!("<svg {}</svg>", plot.split("</svg>").next().unwrap());
    roxmltree::Document::parse(&plot).unwrap();
    assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
    for words in [">kvm<", ">qemu: timing not valid<", ">act<", ">terml<", ">mean +"] {
        assert!(plot.contains(words), "{words} in {plot}");
    }
    assert!(!plot.contains(">empty<"), "the empty measurement is no routine");
    assert_eq!(plot.matches("class=\"reference\"").count(), 3 * 15, "it is drawn into each row");
    let text = text::render(&compared_by_routines(), 100, false);
    let table = |backend: &str| {
        text.split("\n\n").find(|block| block.starts_with(backend)).unwrap().to_owned()
    };
    let of = |backend: &str, word: &str| {
        table(backend).lines().filter(|line| line.ends_with(word)).count()
    };
    assert_eq!(of("container", "no difference"), 30, "{text}");
    assert_eq!(of("qemu", "timing not valid"), 30, "{text}");
    // Means of 2 ns that become 3 ns have become longer by no more than a nanosecond.
    assert!(of("kvm", "costs more") >= 26, "{text}");
    assert!(table("kvm").contains("1.50× (1.50 to 1.50)"), "{text}");
    let kernel = "Kernel in process: hosted port, class ECC1, synthetic.";
    assert!(text.contains(kernel) && page.contains(kernel), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn too_few_rounds_are_told() {
    let mut evidence = tuned();
    for record in &mut evidence.records {
        record.trial.as_mut().unwrap().blocks.truncate(3);
    }
    let page = html::render(&evidence, &[]);
    assert!(page.contains("3 rounds show nothing"));
    assert!(!page.contains(": helped<"));
    let text = text::render(&evidence, 100, false);
    assert!(text.contains("3 rounds show nothing"), "{text}");
    // "No set reaches the class" is a claim about all sets, and needs as many rounds.
    for record in &mut evidence.records {
        if let Variant::Confirming { reached, .. } = &mut record.trial.as_mut().unwrap().variant {
            *reached = false;
        }
    }
    let (page, text) = (html::render(&evidence, &[]), text::render(&evidence, 100, false));
    assert!(page.contains("Not shown that a set reaches the class: 3 of"), "{text}");
    assert!(text.contains("Not shown: no set reached it in 3 rounds"), "{text}");
    assert!(!text.contains("No set of these controls"), "{text}");
}
