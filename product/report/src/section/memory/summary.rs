//! Accesses to memory in summary, curve by curve, and the cost of neighbours.

use quietcore_evidence::Evidence;
use quietcore_record::published;
use quietcore_record::record::{AccessPattern, CacheLevel, MemoryRun, PointEntry, Record};
use quietcore_record::slowdown::{
    self, Estimate, MemorySlowdown, Pressure, RoutineSlowdown, SlowdownPoint,
};

/// The table of the paper's largest slowdowns of accesses.
const TABLE: &str = "scordino2020/figure-5";

/// The results of all accesses to memory.
#[derive(Debug, Default)]
pub(crate) struct MemorySummary<'a> {
    /// The curves, by own ways, pattern and neighbours.
    pub(crate) curves: Vec<CurveSummary<'a>>,
    /// The cost of neighbours, by working set.
    pub(crate) slowdowns: Vec<MemorySlowdown>,
    /// The slowdown over the neighbours' bandwidth.
    pub(crate) pressures: Vec<Pressure>,
    /// The cost of neighbours for a kernel's routines.
    pub(crate) routines: Vec<RoutineSlowdown>,
}

/// A curve with its points.
#[derive(Debug)]
pub(crate) struct CurveSummary<'a> {
    /// The run that it was measured in.
    pub(crate) run: &'a MemoryRun,
    /// Its working sets, ascending.
    pub(crate) points: Vec<PointEntry>,
}

/// A place in the memory of the machine, and the time of an access to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plateau {
    /// Name of the place, such as `L2`, or `memory` beyond the last cache.
    pub(crate) place: String,
    /// The size of the cache, in bytes; `None` beyond the last one.
    pub(crate) cache_bytes: Option<u64>,
    /// The working set that stands for it: the largest one well inside the cache, or the largest of
    /// all.
    pub(crate) working_set_bytes: u64,
    /// Access time alone, in ns; `None` where it was not measured.
    pub(crate) alone: Option<Estimate>,
    /// Access time beside neighbours, in ns; `None` where it was not measured.
    pub(crate) beside: Option<Estimate>,
    /// Ratio of both, from pairs of blocks.
    pub(crate) slowdown: Option<Estimate>,
}

impl<'a> MemorySummary<'a> {
    pub(super) fn of(evidence: &'a Evidence) -> Self {
        let curve = |record: &'a Record| {
            let run = record.memory()?;
            let points = run.entry().points;
            (!points.is_empty()).then_some(CurveSummary { run, points })
        };
        let mut curves: Vec<_> = evidence.records.iter().filter_map(curve).collect();
        curves.sort_by_key(|curve| {
            let ways = curve.run.ways.as_ref().map(|ways| ways.count);
            (ways, curve.run.pattern, curve.run.interference.is_some())
        });
        Self {
            curves,
            slowdowns: slowdown::memory(&evidence.records),
            pressures: slowdown::pressure(&evidence.records),
            routines: slowdown::routines(&evidence.records),
        }
    }

    /// Returns `true` if there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.pressures.is_empty() && self.routines.is_empty()
    }

    /// Lists the numbers of own ways that curves were measured with; `None` stands for a curve
    /// without.
    pub(crate) fn ways(&self) -> Vec<Option<u32>> {
        let mut ways: Vec<_> = self.curves.iter().map(CurveSummary::ways).collect();
        ways.dedup();
        ways
    }

    /// Returns the curves with `ways` of the partition's own.
    pub(crate) fn curves_of(
        &self,
        ways: Option<u32>,
    ) -> impl Iterator<Item = &CurveSummary<'a>> + Clone {
        self.curves.iter().filter(move |curve| curve.ways() == ways)
    }

    /// Returns the slowdowns with `ways` of the partition's own.
    pub(crate) fn slowdowns_of(
        &self,
        ways: Option<u32>,
    ) -> impl Iterator<Item = &MemorySlowdown> + Clone {
        self.slowdowns.iter().filter(move |slowdown| slowdown.ways == ways)
    }

    /// Returns the largest slowdown of a pattern, without ways of the partition's own.
    pub(crate) fn worst(&self, pattern: AccessPattern) -> Option<&SlowdownPoint> {
        self.slowdowns_of(None).find(|it| it.pattern == pattern)?.worst()
    }

    /// Returns the time of an access in each cache and beyond.
    pub(crate) fn plateaus(&self, ways: Option<u32>, pattern: AccessPattern) -> Vec<Plateau> {
        let of = |beside: bool| {
            let mut curves = self.curves_of(ways);
            curves.find(|it| it.run.pattern == pattern && it.run.interference.is_some() == beside)
        };
        let (alone, beside) = (of(false), of(true));
        let Some(any) = alone.or(beside) else { return Vec::new() };
        let slowdown = self.slowdowns_of(ways).find(|it| it.pattern == pattern);
        let sizes: Vec<u64> = any.points.iter().map(|point| point.working_set_bytes).collect();
        let plateau = |(place, cache_bytes, size): (String, Option<u64>, u64)| {
            let at = |curve: Option<&CurveSummary<'_>>| {
                let point = curve?.points.iter().find(|point| point.working_set_bytes == size)?;
                Some(point.access_ns)
            };
            let ratio = slowdown.and_then(|slowdown| {
                slowdown.points.iter().find(|point| point.working_set_bytes == size)
            });
            Plateau {
                place,
                cache_bytes,
                working_set_bytes: size,
                alone: at(alone),
                beside: at(beside),
                slowdown: ratio.map(|point| point.ratio),
            }
        };
        places(&any.run.caches, &sizes).into_iter().map(plateau).collect()
    }
}

impl CurveSummary<'_> {
    /// Returns the number of the partition's own ways; `None` where it had none.
    pub(crate) fn ways(&self) -> Option<u32> {
        self.run.ways.as_ref().map(|ways| ways.count)
    }

    /// Describes pattern and neighbours.
    pub(crate) fn label(&self) -> String {
        let who = if self.run.interference.is_some() { "beside neighbours" } else { "alone" };
        format!("{}, {who}", self.run.pattern.name())
    }
}

/// Finds the working set that stands for each cache: the largest one of at most three quarters of
/// it that the cache before does not hold. The largest working set of all stands for the memory
/// beyond, if it is at least one and a half of the last cache.
fn places(caches: &[CacheLevel], sizes: &[u64]) -> Vec<(String, Option<u64>, u64)> {
    let mut places = Vec::new();
    let mut before = 0;
    for cache in caches {
        let inside = |size: &&u64| **size > before && **size <= cache.bytes / 4 * 3;
        if let Some(size) = sizes.iter().rev().find(inside) {
            places.push((format!("L{}", cache.level), Some(cache.bytes), *size));
        }
        before = cache.bytes;
    }
    if let Some(size) = sizes.last().filter(|size| **size >= before / 2 * 3) {
        places.push(("memory".to_owned(), None, *size));
    }
    places
}

/// Returns the largest slowdown that the paper saw for a pattern.
pub(crate) fn published_worst(pattern: AccessPattern) -> Option<f64> {
    let table = published::find(TABLE).ok()?;
    let name = table.column("pattern")?;
    let row = table.rows.iter().find(|row| row[name].0 == pattern.name())?;
    row[table.column("slowdown_max")?].number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cache_has_a_working_set_that_stands_for_it() {
        let cache = |level, kib: u64| CacheLevel { level, bytes: kib << 10, cpus: "0".to_owned() };
        let caches = [cache(1, 32), cache(2, 256), cache(3, 6144)];
        let sizes: Vec<u64> = (0..14).map(|octave| 1_u64 << (10 + octave)).collect();
        let found = places(&caches, &sizes);
        let short: Vec<_> = found.iter().map(|it| (&*it.0, it.2 >> 10)).collect();
        assert_eq!(short, [("L1", 16), ("L2", 128), ("L3", 4096)], "8 MiB is hardly beyond");
        let sizes: Vec<u64> = sizes.into_iter().chain([16 << 20]).collect();
        assert_eq!(places(&caches, &sizes)[3], ("memory".to_owned(), None, 16 << 20));
        assert_eq!(places(&[], &sizes).len(), 1);
    }

    #[test]
    fn the_paper_has_a_figure_for_each_pattern() {
        assert_eq!(published_worst(AccessPattern::Sequential), Some(7.0));
        assert_eq!(published_worst(AccessPattern::Random), Some(11.0));
    }
}
