//! The pool of Xen that has CPUs. Each pool has a scheduler of its own, and domains run on the CPUs
//! of their pool alone.
//!
//! | value | the CPUs are |
//! |-------|--------------|
//! | `Pool-0` | in the pool of dom0, with all domains of which nobody says anything else |
//! | `own` | in a pool that has them and no others |
//! | `none` | in no pool, where nothing runs: so between two writes, or as somebody has left them |
//!
//! The pool that is made has the scheduler [`SCHEDULER`], Xen's default: it has no tick of its own
//! where one processor runs on a CPU, as Xen's older `credit` has. `null`, which would have nothing
//! at all, `rtds` and `arinc653` are not built into Debian's Xen.
//!
//! Xen leaves CPU 0 in the pool of dom0. A pool is known by its CPUs, not by its name: names are in
//! Xen's store, and a store that was started anew has none.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::SettingError;
use super::tool::{Tool, ToolError};
use quietcore_host::{CpuList, Source};
use quietcore_units::CpuSet;

/// The value of CPUs with a pool of their own.
pub(crate) const OWN: &str = "own";
/// Scheduler of a pool that is made.
pub(crate) const SCHEDULER: &str = "credit2";
/// Name of the pool that dom0 is in, and the value of CPUs there.
const FIRST: &str = "Pool-0";
/// The value of CPUs that are in no pool.
const NONE: &str = "none";
/// Socket of Xen's store.
const STORE: &str = "/run/xenstored/socket";

const XL: Tool = Tool { name: "xl", package: "xen-utils-common" };
/// Longest time that `xl` takes, on a machine that has much to do.
const XL_MAX: Duration = Duration::from_secs(20);

/// Asks Xen: arguments of `xl`, and its answer.
type Ask<'a> = &'a dyn Fn(&[&str]) -> Result<String, ToolError>;

/// Reads where CPUs are, a list.
pub(super) fn read(source: &Source, cpus: &str) -> Result<String, SettingError> {
    read_by(&asked(source)?, super::cpus(cpus)?)
}

/// Gives CPUs, a list, another pool.
pub(super) fn write(source: &Source, cpus: &str, value: &str) -> Result<(), SettingError> {
    write_by(&asked(source)?, super::cpus(cpus)?, value)
}

/// Returns who asks Xen, where its store answers: without it `xl` would wait for ever.
fn asked(
    source: &Source,
) -> Result<impl Fn(&[&str]) -> Result<String, ToolError> + use<>, SettingError> {
    UnixStream::connect(source.place(STORE)).map_err(|_| {
        let words = "Xen's store does not answer; is `xenstored` running?";
        SettingError::Refused(words.to_owned())
    })?;
    Ok(|arguments: &[&str]| XL.run_within(XL_MAX, arguments))
}

/// A pool, as `xl cpupool-list -c` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pool {
    name: String,
    cpus: CpuSet,
}

/// The pools that CPUs are in.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    First,
    Own(Pool),
    None,
    /// In several pools, or in one with others.
    Among(Vec<Pool>),
}

fn read_by(ask: Ask<'_>, cpus: CpuSet) -> Result<String, SettingError> {
    Ok(match standing(&pools(ask)?, cpus) {
        Standing::First => FIRST.to_owned(),
        Standing::Own(_) => OWN.to_owned(),
        Standing::None => NONE.to_owned(),
        Standing::Among(pools) => {
            let words: Vec<String> = pools.into_iter().map(|it| format!("`{}`", it.name)).collect();
            format!("among others in {}", words.join(", "))
        }
    })
}

fn write_by(ask: Ask<'_>, cpus: CpuSet, value: &str) -> Result<(), SettingError> {
    let all = pools(ask)?;
    let list = cpus.to_string();
    let add_to_first = || ask(&["cpupool-cpu-add", FIRST, &list]);
    match (value, standing(&all, cpus)) {
        (OWN, Standing::Own(_)) | (FIRST, Standing::First) | (NONE, Standing::None) => {}
        (OWN, Standing::First) => {
            check_free(&all, ask, cpus)?;
            if let Err(error) = take(ask, cpus).and_then(|()| Ok(make(ask, cpus)?)) {
                // Where this fails as well, the CPUs are told to be in no pool.
                let _ = add_to_first();
                return Err(error);
            }
        }
        (OWN, Standing::None) => make(ask, cpus)?,
        (FIRST, Standing::Own(pool)) => {
            ask(&["cpupool-destroy", &pool.name])?;
            add_to_first()?;
        }
        (FIRST, Standing::None) => {
            add_to_first()?;
        }
        (NONE, Standing::Own(pool)) => {
            ask(&["cpupool-destroy", &pool.name])?;
        }
        (NONE, Standing::First) | (OWN | FIRST | NONE, Standing::Among(_)) => {
            let words = format!("no pool is made of {}: {}", plural(cpus), read_by(ask, cpus)?);
            return Err(SettingError::Refused(words));
        }
        _ => {
            let words = format!("`{}` is no place of CPUs in Xen", value.escape_debug());
            return Err(SettingError::Refused(words));
        }
    }
    Ok(())
}

/// Takes CPUs out of dom0's pool. `xl` says of some that it could not, and succeeds.
fn take(ask: Ask<'_>, cpus: CpuSet) -> Result<(), SettingError> {
    ask(&["cpupool-cpu-remove", FIRST, &cpus.to_string()])?;
    let rest = pools(ask)?.into_iter().find(|pool| pool.name == FIRST);
    let rest = rest.map_or(CpuSet::EMPTY, |pool| pool.cpus);
    let kept = cpus.without(&cpus.without(&rest));
    if kept.is_empty() {
        return Ok(());
    }
    let words = format!("Xen leaves {} in the pool of dom0", plural(kept));
    Err(SettingError::Refused(words))
}

/// Makes a pool of CPUs that are in none.
fn make(ask: Ask<'_>, cpus: CpuSet) -> Result<(), ToolError> {
    let list = cpus.to_string();
    // In a name a comma would part two.
    let name = format!("name=\"quietcore-{}\"", list.replace(',', "."));
    let words: Vec<String> = cpus.iter().map(|cpu| format!("\"{}\"", cpu.get())).collect();
    let words = format!("cpus=[{}]", words.join(", "));
    ask(&["cpupool-create", &name, &format!("sched=\"{SCHEDULER}\""), &words]).map(drop)
}

/// Refuses CPUs on which others depend: without them dom0 would have none, or a processor of a
/// domain would lose what it is pinned to.
fn check_free(all: &[Pool], ask: Ask<'_>, cpus: CpuSet) -> Result<(), SettingError> {
    let first = all.iter().find(|pool| pool.name == FIRST);
    if first.is_none_or(|first| first.cpus.without(&cpus).is_empty()) {
        let words = format!("dom0 would have no CPU without {}", plural(cpus));
        return Err(SettingError::Refused(words));
    }
    let list = ask(&["vcpu-list"])?;
    let pinned = list.lines().skip(1).find_map(|line| {
        // Name, number, processor, CPU, state, time, CPUs that it may run on, `/` …
        let words: Vec<&str> = line.split_whitespace().collect();
        let own: CpuList = words.get(6)?.parse().ok()?;
        let is_lost = !own.0.is_empty() && own.0.without(&cpus).is_empty();
        is_lost.then(|| format!("processor {} of domain `{}`", words[2], words[0]))
    });
    match pinned {
        None => Ok(()),
        Some(who) => {
            let words = format!("{who} is pinned to {}", plural(cpus));
            Err(SettingError::Refused(words))
        }
    }
}

fn plural(cpus: CpuSet) -> String {
    if cpus.iter().count() == 1 { format!("CPU {cpus}") } else { format!("CPUs {cpus}") }
}

/// Lists all pools: a line of titles, and of each name and CPUs, where it has any.
fn pools(ask: Ask<'_>) -> Result<Vec<Pool>, SettingError> {
    let list = ask(&["cpupool-list", "-c"])?;
    let pool = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let cpus =
            words.next().map_or(Some(CpuSet::EMPTY), |it| Some(it.parse::<CpuList>().ok()?.0));
        Some(Pool { name, cpus: cpus? })
    };
    let pools: Option<Vec<Pool>> = list.lines().skip(1).map(pool).collect();
    let odd = || SettingError::Refused(format!("`xl` says `{}`", list.escape_debug()));
    pools.filter(|pools| !pools.is_empty()).ok_or_else(odd)
}

fn standing(pools: &[Pool], cpus: CpuSet) -> Standing {
    let rest = |pool: &Pool| cpus.without(&pool.cpus);
    let with: Vec<Pool> = pools.iter().filter(|pool| rest(pool) != cpus).cloned().collect();
    match &with[..] {
        [] => Standing::None,
        [pool] if pool.name == FIRST && rest(pool).is_empty() => Standing::First,
        [pool] if pool.name != FIRST && pool.cpus == cpus => Standing::Own(pool.clone()),
        _ => Standing::Among(with),
    }
}

#[cfg(test)]
mod tests;
