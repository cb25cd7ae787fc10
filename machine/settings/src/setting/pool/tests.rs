//! Pools of a Xen that a test plays.

use std::cell::RefCell;

use super::*;

/// Xen with its pools, a name and CPUs each, as far as this module asks it.
struct Xen {
    pools: RefCell<Vec<(String, CpuSet)>>,
    /// Lines of the list of processors.
    processors: &'static str,
    /// The command that fails.
    fails: &'static str,
    asked: RefCell<Vec<String>>,
}

fn set(cpus: &str) -> CpuSet {
    cpus.parse().unwrap()
}

impl Xen {
    fn new(pools: &[(&str, &str)]) -> Self {
        let pools = pools.iter().map(|(name, cpus)| ((*name).to_owned(), set(cpus)));
        let (pools, asked) = (RefCell::new(pools.collect()), RefCell::default());
        Self { pools, processors: "", fails: "nothing", asked }
    }

    fn answer(&self, arguments: &[&str]) -> Result<String, ToolError> {
        self.asked.borrow_mut().push(arguments.join(" "));
        let mut pools = self.pools.borrow_mut();
        if arguments[0] == self.fails {
            return Err(ToolError::Said(format!("`xl`: {} failed", self.fails)));
        }
        match arguments {
            ["cpupool-list", "-c"] => {
                let line = |(name, cpus): &(String, CpuSet)| format!("{name}   {cpus}\n");
                let lines: String = pools.iter().map(line).collect();
                return Ok(format!("Name               CPU list\n{lines}"));
            }
            ["vcpu-list"] => return Ok(format!("Name ID VCPU CPU …\n{}", self.processors)),
            ["cpupool-cpu-remove", name, list] => {
                let pool = pools.iter_mut().find(|it| it.0 == *name).unwrap();
                let kept = if *name == FIRST { set("0") } else { CpuSet::EMPTY };
                pool.1 = pool.1.without(&set(list).without(&kept));
            }
            ["cpupool-cpu-add", name, list] => {
                let pool = pools.iter_mut().find(|it| it.0 == *name).unwrap();
                pool.1 = pool.1.union(&set(list));
            }
            ["cpupool-create", name, "sched=\"credit2\"", list] => {
                let name = name.trim_start_matches("name=").trim_matches('"').to_owned();
                let list = list.trim_start_matches("cpus=[").trim_end_matches(']');
                pools.push((name, set(&list.replace(['"', ' '], ""))));
            }
            ["cpupool-destroy", name] => pools.retain(|it| it.0 != *name),
            other => panic!("{other:?}"),
        }
        Ok(String::new())
    }

    fn read(&self, cpus: &str) -> Result<String, SettingError> {
        read_by(&|it| self.answer(it), set(cpus))
    }

    fn write(&self, cpus: &str, value: &str) -> Result<(), SettingError> {
        write_by(&|it| self.answer(it), set(cpus), value)
    }
}

#[test]
fn cpus_get_a_pool_of_their_own_and_go_back() {
    let xen = Xen::new(&[("Pool-0", "0-3")]);
    assert_eq!(xen.read("1,3").unwrap(), "Pool-0");
    xen.write("1,3", OWN).unwrap();
    assert_eq!(xen.read("1,3").unwrap(), OWN);
    let made = ("quietcore-1.3".to_owned(), set("1,3"));
    assert_eq!(xen.pools.borrow()[..], [("Pool-0".to_owned(), set("0,2")), made]);
    assert_eq!(xen.read("1").unwrap(), "among others in `quietcore-1.3`");
    assert_eq!(xen.read("2,3").unwrap(), "among others in `Pool-0`, `quietcore-1.3`");
    // A store that was started anew knows no name any more.
    xen.pools.borrow_mut()[1].0 = "Pool-1".to_owned();
    assert_eq!(xen.read("1,3").unwrap(), OWN);
    xen.write("1,3", FIRST).unwrap();
    assert_eq!(xen.pools.borrow()[..], [("Pool-0".to_owned(), set("0-3"))]);
}

#[test]
fn a_write_that_was_cut_off_is_completed_or_undone() {
    let cut_off = || Xen::new(&[("Pool-0", "0")]);
    for value in [OWN, FIRST, NONE] {
        let xen = cut_off();
        assert_eq!(xen.read("1").unwrap(), NONE);
        xen.write("1", value).unwrap();
        assert_eq!(xen.read("1").unwrap(), value);
    }
    let xen = Xen { fails: "cpupool-create", ..Xen::new(&[("Pool-0", "0,1")]) };
    let refused = xen.write("1", OWN).unwrap_err().to_string();
    assert_eq!(refused, "`xl`: cpupool-create failed");
    assert_eq!(xen.read("1").unwrap(), "Pool-0");
}

#[test]
fn cpus_on_which_others_depend_stay_where_they_are() {
    let refused = |xen: &Xen, cpus: &str, value: &str| {
        let refused = xen.write(cpus, value).unwrap_err().to_string();
        let changes = ["cpupool-cpu-remove", "cpupool-create", "cpupool-destroy"];
        let asked = xen.asked.borrow();
        assert!(!asked.iter().any(|it| changes.iter().any(|change| it.starts_with(change))));
        refused
    };
    let xen = Xen::new(&[("Pool-0", "0,1"), ("other", "2,3")]);
    assert_eq!(refused(&xen, "0,1", OWN), "dom0 would have no CPU without CPUs 0,1");
    let taken = refused(&xen, "2", OWN);
    assert_eq!(taken, "no pool is made of CPU 2: among others in `other`");
    refused(&xen, "0", NONE);
    assert_eq!(refused(&xen, "0", "x\n"), "`x\\n` is no place of CPUs in Xen");
    let processors = "Domain-0   0   0    0   r--  7.3  all / all\n\
                      Domain-0   0   1    1   ---  6.1  1 / all\n";
    let xen = Xen { processors, ..Xen::new(&[("Pool-0", "0,1")]) };
    let pinned = refused(&xen, "1", OWN);
    assert_eq!(pinned, "processor 1 of domain `Domain-0` is pinned to CPU 1");
    let xen = Xen::new(&[("Pool-0", "0-3")]);
    let kept = xen.write("0-2", OWN).unwrap_err().to_string();
    assert_eq!(kept, "Xen leaves CPU 0 in the pool of dom0");
    assert_eq!(xen.pools.borrow()[..], [("Pool-0".to_owned(), set("0-3"))]);
}

#[test]
fn nonsense_of_xl_is_no_pool() {
    for nonsense in ["", "Name CPU list\n", "Name CPU list\nPool-0 zero\n"] {
        let told = read_by(&|_| Ok(nonsense.to_owned()), set("1")).unwrap_err().to_string();
        assert!(told.starts_with("`xl` says"), "{told}");
    }
    let folder = tempfile::tempdir().unwrap();
    let told = read(&Source::below(folder.path()), "1").unwrap_err().to_string();
    assert_eq!(told, "Xen's store does not answer; is `xenstored` running?");
}
