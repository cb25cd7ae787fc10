//! A site that runs for a comparison, in folders of its own, and its figures between two instants.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::bins::{self, BIN_COUNT};
use quietcore_exchange::{HistogramTotals, SnapshotBuffers};
use quietcore_process::exchange::ExchangeView;
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_site::Site as SiteFile;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Activity, Restart};
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::places::{Places, StartedBy};
use quietcore_units::Causes;
use tempfile::TempDir;

/// Time in which a site must run.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks.
const GLANCE: Duration = Duration::from_millis(5);

/// The program of the partitions lies beside this one.
pub(crate) fn runtime() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let runtime = own.with_file_name("quietcore-runtime");
    if runtime.is_file() {
        Ok(runtime)
    } else {
        Err("quietcore-runtime is missing; run `cargo build --release -p quietcore-cli` first"
            .to_owned())
    }
}

/// A site file and where it runs. Builds are kept from one start to the next.
pub(crate) struct Stand {
    file: PathBuf,
    site: Arc<SiteFile>,
    places: Places,
    /// Takes what the site leaves while it runs, and goes with it.
    _folder: TempDir,
}

impl Stand {
    /// Reads a site file. `folder` takes what the site leaves while it runs.
    pub(crate) fn new(file: &Path, folder: TempDir) -> Result<Self, String> {
        let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let site = quietcore_site::read(&file.display().to_string(), &text, &catalogue())
            .map_err(|problems| problems.to_string())?;
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        Ok(Self { file: file.to_owned(), site: Arc::new(site), places, _folder: folder })
    }

    /// The CPU of the first partition, and its name.
    pub(crate) fn first(&self) -> Result<(u32, String), String> {
        let partition = self.site.partitions().first().ok_or("the site has no partition")?;
        let cpu = partition.vcr.cpus.iter().next().ok_or("the partition has no CPU")?;
        Ok((cpu.get(), partition.name.clone()))
    }

    /// The folders of the site while it runs.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Starts the site and waits until its first partition runs.
    pub(crate) fn up(&self) -> Result<Life, String> {
        let places = self.places.clone();
        let plan = Plan {
            site: Arc::clone(&self.site),
            site_file: self.file.clone(),
            runtime: runtime()?,
            start: Restart::Cold,
            controls: None,
            started_by: StartedBy::this_process(),
        };
        let running =
            Running::up(plan, &places, &mut |_| ()).map_err(|error| Causes(&error).to_string())?;
        let partition = self.first()?.1;
        let mut client =
            Client::connect(&places, None).map_err(|error| Causes(&error).to_string())?;
        let end = Instant::now() + PATIENCE;
        loop {
            let state =
                client.list().map_err(|error| Causes(&error).to_string())?.into_iter().next();
            match state.map(|partition| partition.state) {
                Some(Activity::Running) => break,
                Some(state) if Instant::now() >= end => {
                    return Err(format!("`{partition}` does not run after 30 s: {state}"));
                }
                _ => thread::sleep(GLANCE),
            }
        }
        let (_, file) = client.open(&partition).map_err(|error| Causes(&error).to_string())?;
        let exchange = ExchangeView::open(file).map_err(|error| error.to_string())?;
        Ok(Life { exchange, places, partition, _running: running })
    }
}

/// A running site. Dropping it brings it down.
pub(crate) struct Life {
    exchange: ExchangeView,
    places: Places,
    partition: String,
    _running: Running,
}

impl Life {
    /// Another client of it, and the name of the partition.
    pub(crate) fn client(&self) -> Result<(Client, &str), String> {
        let client =
            Client::connect(&self.places, None).map_err(|error| Causes(&error).to_string())?;
        Ok((client, &self.partition))
    }

    /// The cycle that the first task began last.
    pub(crate) fn cycle(&self) -> Result<u64, String> {
        let task = self.exchange.view().task(0).ok_or("the exchange has no task")?;
        Ok(task.scan_cycle())
    }

    /// The figures of the first task until now.
    pub(crate) fn moment(&self) -> Result<Moment, String> {
        let task = self.exchange.view().task(0).ok_or("the exchange has no task")?;
        let mut moment = Moment {
            release: Copied::empty(),
            wakeup: Copied::empty(),
            execution: Copied::empty(),
        };
        let mut buffers = SnapshotBuffers {
            release: &mut moment.release.bins,
            wakeup: &mut moment.wakeup.bins,
            execution: &mut moment.execution.bins,
            ..SnapshotBuffers::default()
        };
        let end = Instant::now() + PATIENCE;
        let snapshot = loop {
            match task.snapshot(&mut buffers) {
                Ok(snapshot) => break snapshot,
                Err(_) if Instant::now() < end => thread::sleep(GLANCE),
                Err(_) => return Err("the statistics could not be read whole".to_owned()),
            }
        };
        moment.release.totals = snapshot.release;
        moment.wakeup.totals = snapshot.wakeup;
        moment.execution.totals = snapshot.execution;
        Ok(moment)
    }

    /// Waits until so many cycles have passed since `since`, and returns the figures of them all.
    pub(crate) fn cycles_since(&self, since: &Moment, cycles: u64) -> Result<Window, String> {
        let task = self.exchange.view().task(0).ok_or("the exchange has no task")?;
        let wanted = since.release.totals.count + cycles;
        let mut last = (task.release().totals().count, Instant::now());
        while last.0 < wanted {
            thread::sleep(GLANCE);
            let count = task.release().totals().count;
            if count != last.0 {
                last = (count, Instant::now());
            } else if last.1.elapsed() > PATIENCE {
                return Err("the partition has run no cycle for 30 s".to_owned());
            }
        }
        Ok(self.moment()?.since(since))
    }
}

/// A histogram of the exchange at one instant.
struct Copied {
    bins: Vec<u64>,
    totals: HistogramTotals,
}

impl Copied {
    fn empty() -> Self {
        Self { bins: vec![0; BIN_COUNT], totals: HistogramTotals::default() }
    }

    /// Returns the values recorded after `before`, each as the upper end of its bin, as quantiles
    /// are.
    fn since(&self, before: &Self) -> Histogram {
        let mut histogram = Histogram::new();
        for (index, (now, then)) in self.bins.iter().zip(&before.bins).enumerate() {
            histogram.record_many(bins::highest_of(index), now.saturating_sub(*then));
        }
        let beyond = self.totals.overflow.saturating_sub(before.totals.overflow);
        let max_ns = self.totals.max_ns;
        histogram.record_overflow(beyond, max_ns, beyond.saturating_mul(max_ns));
        histogram
    }
}

/// The figures of a task until one instant.
pub(crate) struct Moment {
    release: Copied,
    wakeup: Copied,
    execution: Copied,
}

impl Moment {
    fn since(&self, before: &Self) -> Window {
        Window {
            release: self.release.since(&before.release),
            wakeup: self.wakeup.since(&before.wakeup),
            execution: self.execution.since(&before.execution),
        }
    }
}

/// The figures of a task between two instants.
pub(crate) struct Window {
    /// Release latencies in ns.
    pub(crate) release: Histogram,
    /// Wake-up latencies in ns.
    pub(crate) wakeup: Histogram,
    /// Execution times in ns.
    pub(crate) execution: Histogram,
}

/// A quantile of a histogram, in ns.
pub(crate) fn quantile(histogram: &Histogram, part: f64) -> Result<f64, String> {
    let value = histogram.quantile(part).ok_or("nothing was measured")?;
    Ok(value.lower_bound() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(values: &[(u64, u64)]) -> Copied {
        let mut copied = Copied::empty();
        for (value, times) in values {
            copied.bins[bins::index_of(*value).unwrap()] += times;
            copied.totals.count += times;
        }
        copied
    }

    #[test]
    fn only_what_came_between_two_instants_counts() {
        let before = copied(&[(100, 5), (200, 1)]);
        let after = copied(&[(100, 5), (200, 4), (50, 2)]);
        let between = after.since(&before);
        assert_eq!((between.count(), between.min_ns(), between.max_ns()), (5, 50, 200));
        assert_eq!(quantile(&between, 0.5).unwrap(), 200.0);
        assert!(quantile(&before.since(&before), 0.5).is_err());
    }
}
