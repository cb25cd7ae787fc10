//! Tables of a program's times, limits of slower tasks, and the platform among the conditions.

use super::*;

/// Returns the cells of a row of the table of execution and response times.
fn scan_row(page: &str, heading: &str) -> Vec<String> {
    let xml = xml(page);
    let document = Document::parse(&xml).unwrap();
    let is_table =
        |node: &Node<'_, '_>| node.attribute("aria-label") == Some("Execution and response");
    let table = document.descendants().find(is_table).unwrap();
    let text = |node: Node<'_, '_>| {
        let parts = node.descendants().filter(Node::is_text);
        parts.filter_map(|part| part.text()).collect::<String>()
    };
    let mut rows = table.descendants().filter(|node| node.has_tag_name("tr"));
    let found = rows.find(|row| row.first_element_child().is_some_and(|one| text(one) == heading));
    found.unwrap().children().skip(1).map(text).collect()
}

#[test]
fn a_program_has_a_table_of_its_execution_and_response_times() {
    let fast = with_program(record("tp2", 1, 40_000, QUIET, 2), "fast", 0);
    let slow = with_program(record("tp2", 1, 40_000, QUIET, 3), "slow", 3);
    let page = html::render(&evidence(vec![fast, slow], EXCEEDANCE), &[]);
    check(&page);
    assert_eq!(scan_row(&page, "Overruns"), ["0", "3"]);
    assert_eq!(scan_row(&page, "Deadline"), ["800µs", "800µs"]);
    assert_eq!(scan_row(&page, "Longest")[1], "850µs");
    // Tasks share a CPU, so they are told apart by their names.
    assert!(page.contains("tp2 · fast") && page.contains("tp2 · slow"));
    assert!(page.contains("3 of 40\u{202f}000 cycles of the program ended after their deadline"));
    assert!(page.contains(">3 overruns<"), "the cell names what failed, and not the jitter");
    let without = html::render(&mixed(), &[]);
    assert!(!without.contains("Execution and response"));
}

#[test]
fn a_task_without_a_deadline_has_none_in_words() {
    let mut idle = with_program(record("tp2", 1, 40_000, QUIET, 2), "idle", 0);
    let scan = idle.scan_mut().unwrap();
    scan.terms.deadline_ns = None;
    scan.counters.watchdog_hits = 2;
    let page = html::render(&evidence(vec![idle], EXCEEDANCE), &[]);
    check(&page);
    assert_eq!(scan_row(&page, "Deadline"), ["none"]);
    assert!(page.contains("the task has no deadline; its longest response time was"));
    assert!(page.contains(">cycles left out<"));
    assert!(!page.contains("18\u{202f}446") && !page.contains("\u{a0}d"), "a number of ages");
}

/// Goal: a plot shows the limit that the verdict beside it is made with.
/// Method: the slower task of a program beside its fast one; their class has a cycle of 1 ms.
#[test]
fn a_slower_task_is_drawn_with_the_limit_of_its_own_period() {
    let fast = with_program(record("tp2", 1, 40_000, LOUD, 2), "fast", 0);
    let mut slow = with_program(record("tp2", 1, 40_000, LOUD, 3), "slow", 0);
    slow.period_ns = Some(3_000_000);
    let page = html::render(&evidence(vec![fast, slow], EXCEEDANCE), &[]);
    check(&page);
    let xml = xml(&page);
    let document = Document::parse(&xml).unwrap();
    let declared = |task: &str| -> Vec<String> {
        let is_plot = |node: &Node<'_, '_>| {
            let title = node.children().find(|child| child.has_tag_name("title"));
            let title = title.and_then(|title| title.text()).unwrap_or("");
            node.has_tag_name("svg") && title.contains(&format!("tp2 · {task} of axis"))
        };
        let is_name = |node: &Node<'_, '_>| {
            node.has_tag_name("text")
                && node.parent().and_then(|parent| parent.attribute("class"))
                    == Some("limit declared")
        };
        let plots = document.descendants().filter(is_plot);
        let names = plots.flat_map(|plot| plot.descendants().filter(is_name).collect::<Vec<_>>());
        names.filter_map(|name| name.text().map(str::to_owned)).collect()
    };
    assert_eq!(declared("fast"), ["tenth of 1\u{a0}ms", "tenth of 1\u{a0}ms"]);
    assert_eq!(declared("slow"), ["tenth of 3\u{a0}ms", "tenth of 3\u{a0}ms"]);
}

/// Goal: a reader sees what a verdict depends on; of a record from before, nothing is invented.
#[test]
fn the_platform_stands_among_the_conditions() {
    let mut record = record("tp2", 1, 300, ASLEEP, 8);
    let without = html::render(&evidence(vec![record.clone()], EXCEEDANCE), &[]);
    assert!(!without.contains("Reservation, read back"));
    let eth = InterruptPlacement { number: 24, name: "eth0".to_owned(), cpus: Default::default() };
    record.conditions.platform = Some(Box::new(Platform {
        firmware: FirmwareVersions {
            bios_version: Some("F.22".to_owned()),
            ..FirmwareVersions::default()
        },
        interrupts: Some(vec![eth]),
        reservation: Some(ReservationInForce {
            cpu_quota_us: Some(Limit::At(950_000)),
            cpu_period_us: Some(1_000_000),
            memory_bytes: Some(Limit::Unlimited),
            cache_mask: Some(0xc00),
            ..ReservationInForce::default()
        }),
        ..Platform::default()
    }));
    let page = html::render(&evidence(vec![record], EXCEEDANCE), &[]);
    check(&page);
    for told in [
        "BIOS F.22",
        "24 eth0",
        "950000 of 1000000 µs of CPU time, memory without a limit, cache ways c00",
    ] {
        assert!(page.contains(told), "{told}");
    }
}
