//! Tests of the facts that a plan gets.

use super::Facts;
use quietcore_site::CacheWays;
use quietcore_units::ByteSize;

use crate::Reading;
use crate::attempts::GuestSpeed;
use crate::machines::Machine;
use quietcore_record::record::TimeReality;

#[test]
fn a_plan_learns_what_the_facts_say() {
    let mut facts = Machine::tuned().facts();
    facts.limits.user = Reading::Read(0);
    facts.limits.capabilities = Reading::Read(u64::MAX);
    let machine = facts.machine();
    assert!(machine.root && machine.fifo);
    assert_eq!(machine.memory_lock_limit, None);
    assert!(!machine.online.is_empty());
    assert!(machine.memory_available > ByteSize::new(0));
}

#[test]
fn a_plan_learns_what_resctrl_divides_or_what_it_lacks() {
    let mut facts = Machine::tuned().facts();
    assert_eq!(facts.machine().cache_ways, Ok(CacheWays { all: 12, least: 1 }));
    assert!(facts.machine().memory_bandwidth.unwrap_err().what.contains("no MBA"));
    facts.caches.resctrl.levels.clear();
    assert!(facts.machine().cache_ways.unwrap_err().what.contains("no CAT"));
    facts.caches.resctrl.mounted = false;
    for obstacle in [
        facts.machine().cache_ways.map(drop).unwrap_err(),
        facts.machine().memory_bandwidth.map(drop).unwrap_err(),
    ] {
        assert_eq!(obstacle.what, "resctrl is not mounted");
        assert!(obstacle.remedy.contains("`mount -t resctrl resctrl /sys/fs/resctrl`"));
    }
    facts.caches.resctrl.known = Reading::Read(false);
    assert!(facts.machine().cache_ways.unwrap_err().what.contains("no CAT"));
}

/// Goal: guests that KVM interprets are no backend; but where everything is emulated, whatever
/// emulates is the processor of guests as of programs.
#[test]
fn guests_that_are_interpreted_are_none() {
    let speed = |rate| {
        let has_sse = Some(true);
        Reading::Read(GuestSpeed { instructions_per_second: rate, has_sse })
    };
    let mut facts = Machine::tuned().facts();
    facts.virtualization.kvm.opens = Reading::Read(());
    facts.virtualization.kvm.speed = speed(1e9);
    facts.clock.calibration.instructions_per_second = 2e9;
    assert_eq!(facts.machine().kvm, Ok(()));
    facts.virtualization.kvm.speed = speed(1.2e6);
    let why = facts.machine().kvm.unwrap_err().what;
    assert!(why.contains("interpreted: 1.2 million instructions a second"), "{why}");
    facts.clock.calibration.time = TimeReality::Emulated("it is slow".to_owned());
    facts.clock.calibration.instructions_per_second = 9e8;
    assert!(facts.machine().kvm.is_err(), "slower than the machine around it by far");
    facts.virtualization.kvm.speed = speed(3e7);
    assert_eq!(facts.machine().kvm, Ok(()));
    facts.virtualization.kvm.speed = Reading::Unreadable("not tried".to_owned());
    assert_eq!(facts.machine().kvm, Ok(()), "that is no reason");
}

/// Goal: a plan knows what the kernel leaves to real-time threads.
#[test]
fn the_share_of_real_time_threads_is_that_of_the_kernel() {
    let mut facts = Machine::tuned().facts();
    for (runtime, period, ppm) in
        [(950_000, 1_000_000, 950_000), (100_000, 400_000, 250_000), (7, 5, 1_000_000)]
    {
        facts.scheduler.rt_runtime_us = Reading::Read(runtime);
        facts.scheduler.rt_period_us = Reading::Read(period);
        assert_eq!(facts.machine().real_time_ppm, ppm);
    }
    facts.scheduler.rt_period_us = Reading::Absent;
    assert_eq!(facts.machine().real_time_ppm, 950_000);
}

#[test]
fn what_could_not_be_read_is_not_counted_on() {
    let mut facts = Machine::tuned().facts();
    facts.limits.capabilities = Reading::Read(0);
    facts.limits.locked_memory_bytes = Reading::Unreadable("no".to_owned());
    facts.memory.available_kib = Reading::Absent;
    let machine = facts.machine();
    assert_eq!(machine.memory_lock_limit, Some(ByteSize::new(0)));
    assert_eq!(machine.memory_available, ByteSize::new(0));
}

#[test]
fn a_plan_needs_nothing_that_takes_time() {
    let [quick, whole] = [Facts::read_quickly(), Facts::read()].map(|facts| facts.machine());
    // Others take and give back memory meanwhile.
    let memory_available = whole.memory_available;
    // A guest was not tried.
    let kvm = whole.kvm.clone();
    assert_eq!(quietcore_site::Machine { memory_available, kvm, ..quick }, whole);
}
