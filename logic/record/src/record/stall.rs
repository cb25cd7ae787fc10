//! Late releases that one stall made: a machine that stands still for five periods delays five
//! releases, and that is one event.
//!
//! ```text
//! due        1    2    3    4    5    6
//!            │    │    │    │    │    │
//! started    └─ stall ────────────┴┴┴┴┘    2 to 5 were due before 1 had started
//! ```
//!
//! The one rule for all that shows late releases: the report, from a record, and `top`, from the
//! exchange of a running partition.

/// A late release: its due instant and its latency, both in ns on one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateRelease {
    /// Due instant, in ns.
    pub due_ns: u64,
    /// Release latency, in ns.
    pub latency_ns: u64,
}

/// Late releases, each of which was due before one of those before it had started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall<T> {
    /// The latest of them; the first one where several are as late.
    pub worst: T,
    /// All of them, in the order in which they were due.
    pub releases: Vec<T>,
}

/// Groups late releases into stalls, the worst stall first.
pub fn stalls<T: Clone>(
    late: impl IntoIterator<Item = T>,
    of: impl Fn(&T) -> LateRelease,
) -> Vec<Stall<T>> {
    let mut late: Vec<T> = late.into_iter().collect();
    // A stable sort: of releases that were due at once the first one given stays first.
    late.sort_by_key(|release| of(release).due_ns);
    let mut stalls: Vec<Stall<T>> = Vec::new();
    // Up to here the stall before delays whatever is due.
    let mut until_ns = 0;
    for release in late {
        let LateRelease { due_ns, latency_ns } = of(&release);
        let end_ns = due_ns.saturating_add(latency_ns);
        match stalls.last_mut() {
            Some(stall) if due_ns < until_ns => {
                if latency_ns > of(&stall.worst).latency_ns {
                    stall.worst = release.clone();
                }
                stall.releases.push(release);
                until_ns = until_ns.max(end_ns);
            }
            _ => {
                stalls.push(Stall { worst: release.clone(), releases: vec![release] });
                until_ns = end_ns;
            }
        }
    }
    stalls.sort_by_key(|stall| std::cmp::Reverse(of(&stall.worst).latency_ns));
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A release every 1 ms, and its latency in µs.
    type Given = (u64, u64);

    fn found(late: &[Given]) -> Vec<(Given, Vec<u64>)> {
        let of = |(release, latency_us): &Given| LateRelease {
            due_ns: release * 1_000_000,
            latency_ns: latency_us * 1_000,
        };
        let stalls = stalls(late.iter().copied(), of);
        let numbers = |stall: &Stall<Given>| stall.releases.iter().map(|it| it.0).collect();
        stalls.iter().map(|stall| (stall.worst, numbers(stall))).collect()
    }

    #[test]
    fn one_stall_is_one_whatever_it_delayed() {
        // 4.2 ms from release 10 on delay five releases; release 40 is another matter.
        let late = [(10, 4_200), (12, 2_200), (11, 3_200), (13, 1_200), (14, 200), (40, 300)];
        let expected = [((10, 4_200), vec![10, 11, 12, 13, 14]), ((40, 300), vec![40])];
        assert_eq!(found(&late), expected);
    }

    #[test]
    fn releases_after_the_start_of_the_one_before_are_apart() {
        assert_eq!(found(&[(10, 900), (11, 900)]).len(), 2);
        assert_eq!(found(&[(10, 1_000), (11, 5)]).len(), 2, "it had started when this was due");
        assert_eq!(found(&[]), []);
    }

    /// Goal: a stall that goes on with a later release reaches as far as that one does.
    #[test]
    fn a_chain_of_late_releases_is_one_stall() {
        let late = [(10, 1_500), (11, 3_000), (13, 1_100), (20, 100)];
        let expected = [((11, 3_000), vec![10, 11, 13]), ((20, 100), vec![20])];
        assert_eq!(found(&late), expected);
    }
}
