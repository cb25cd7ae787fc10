//! Processes of partitions on a machine that is made of files.

use std::fs;

use super::*;

/// Policies of the kernel (Linux, `include/uapi/linux/sched.h`).
const FIFO: u32 = 1;
const DEADLINE: u32 = 6;

const SUPERVISOR: &str = "4711-500-4026531836";

/// A machine on which processes can be put.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.put("etc/passwd", "root:x:0:0:root:/:/bin/sh\nmaria:x:1000:1000::/:/bin/sh\n");
        machine.link("self");
        machine.process(4711, 0, "quietcore\0up\0press.toml\0", &[]);
        machine
    }

    fn source(&self) -> Source {
        Source::below(self.0.path())
    }

    fn put(&self, path: &str, text: &str) {
        let place = self.0.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn link(&self, process: &str) {
        let folder = self.0.path().join(format!("proc/{process}/ns"));
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("pid:[4026531836]", folder.join("pid")).unwrap();
    }

    /// A process of a user with threads of a policy, a priority and CPUs.
    fn process(&self, number: u32, user: u32, arguments: &str, threads: &[(u32, u32, &str)]) {
        let own = format!("proc/{number}");
        self.put(&format!("{own}/cmdline"), arguments);
        self.put(&format!("{own}/status"), &format!("PPid:\t1\nUid:\t{user}\t{user}\n"));
        let stat = |policy, priority| {
            let zeros = |count| "0 ".repeat(count);
            format!("1 (a (b)) S {}500 {}{priority} {policy} 0\n", zeros(18), zeros(17))
        };
        self.put(&format!("{own}/stat"), &stat(0, 0));
        self.link(&number.to_string());
        for (thread, (policy, priority, cpus)) in (number..).zip(threads) {
            let own = format!("{own}/task/{thread}");
            self.put(&format!("{own}/stat"), &stat(*policy, *priority));
            self.put(&format!("{own}/status"), &format!("Cpus_allowed_list:\t{cpus}\n"));
        }
    }
}

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

#[test]
fn partitions_of_all_users_are_found_with_their_owner_and_real_time_threads() {
    let machine = Machine::new();
    let of_press =
        format!("/bin/supervised\0partition\x007\0of=press/axis\0cpus=1\0by={SUPERVISOR}\0");
    machine.process(70, 1000, &of_press, &[(0, 0, "0"), (FIFO, 90, "1"), (FIFO, 50, "0-1")]);
    machine.process(80, 7, "/usr/bin/quietcore-runtime\0partition\x009\0", &[(DEADLINE, 0, "2")]);
    machine.process(90, 0, "quietcore-runtime\0load\x001\0", &[(FIFO, 1, "1")]);
    machine.process(91, 0, "vi\0partition\x001\0", &[]);
    let found = RunningPartition::find_others(&machine.source());
    let [press, measured] = &found[..] else { panic!("{found:?}") };
    let owner = press.owner.as_ref().unwrap();
    assert_eq!((&*owner.site, &*owner.partition, owner.cpus), ("press", "axis", cpus("1")));
    assert_eq!((press.process, &*press.user), (70, "maria"));
    let [cpu0, cpu1] = [0, 1].map(|number| CpuId::new(number).unwrap());
    assert_eq!(press.policy_on(cpu1, true), Some(SchedulingPolicy::Fifo { priority: 90 }));
    assert_eq!(press.policy_on(cpu0, false), Some(SchedulingPolicy::Fifo { priority: 50 }));
    assert_eq!(press.policy_on(cpu0, true), None, "it may run elsewhere, too");
    assert_eq!((&measured.owner, &*measured.user), (&None, "user 7"));
    assert_eq!(measured.threads[0].policy.to_string(), "SCHED_DEADLINE");
}

/// Goal: nothing of a site that has ended is reported, whatever number its supervisor had.
#[test]
fn a_partition_whose_supervisor_is_gone_is_not_reported() {
    for supervisor in ["4712-500-4026531836", "4711-501-4026531836"] {
        let machine = Machine::new();
        let left = format!("supervised\0partition\x007\0of=press/axis\0cpus=1\0by={supervisor}\0");
        machine.process(70, 0, &left, &[(FIFO, 90, "1")]);
        assert_eq!(RunningPartition::find_others(&machine.source()), []);
    }
}

#[test]
fn what_arguments_say_is_read_as_it_was_written() {
    let owner = PartitionOwner::own("press", "axis", cpus("1,3-5"));
    let arguments = owner.arguments();
    let read = PartitionOwner::of_arguments(&arguments.each_ref().map(String::as_str));
    assert_eq!(read, Some(owner));
    assert_eq!(PartitionOwner::of_arguments(&["of=press", "cpus=1", "by=1-2"]), None);
}
