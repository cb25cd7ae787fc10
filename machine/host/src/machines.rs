//! Machines for tests: folders with the kernel's files, laid out as those machines show them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixListener;

use tempfile::TempDir;

use crate::attempts::{CpuidWords, Fake, Timestamping};
use crate::facts::Facts;
use crate::source::Source;

/// A machine that a test describes.
pub(crate) struct Machine {
    folder: TempDir,
    /// Its services, which take connections.
    services: Vec<UnixListener>,
    /// Results of attempts on this machine.
    pub(crate) attempts: Fake,
}

impl Machine {
    /// One without a single file.
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder for the machine"),
            services: Vec::new(),
            attempts: Fake::granting(),
        }
    }

    /// A four-core industrial computer with PREEMPT_RT, tuned for control on CPUs 2 and 3.
    pub(crate) fn tuned() -> Self {
        let mut machine = Self::empty();
        for (path, text) in TUNED {
            machine.write(path, text);
        }
        for cpu in 0..4 {
            let at = |name: &str| format!("sys/devices/system/cpu/cpu{cpu}/{name}");
            machine.write(&at("topology/physical_package_id"), "0");
            machine.write(&at("topology/die_id"), "0");
            machine.write(&at("topology/core_id"), &cpu.to_string());
            machine.write(&at("topology/core_cpus_list"), &cpu.to_string());
            machine.write(&at("cpuidle/state0/name"), "POLL");
            machine.write(&at("cpuidle/state0/latency"), "0");
            machine.write(&at("cpuidle/state0/residency"), "0");
            machine.write(&at("cpuidle/state0/disable"), "0");
            machine.write(&at("cpuidle/state1/name"), "C10");
            machine.write(&at("cpuidle/state1/latency"), "230");
            machine.write(&at("cpuidle/state1/residency"), "600");
            machine.write(&at("cpuidle/state1/disable"), if cpu < 2 { "0" } else { "1" });
            machine.write(&at("cache/index3/level"), "3");
            machine.write(&at("cache/index3/type"), "Unified");
            machine.write(&at("cache/index3/size"), "12M");
            machine.write(&at("cache/index3/ways_of_associativity"), "12");
            machine.write(&at("cache/index3/number_of_sets"), "16384");
            machine.write(&at("cache/index3/coherency_line_size"), "64");
            machine.write(&at("cache/index3/shared_cpu_list"), if cpu < 2 { "0-1" } else { "2-3" });
            machine.write(&at("thermal_throttle/core_throttle_count"), "0");
        }
        // Room for the word at 0x34; zeros count no interrupt.
        machine.write("dev/cpu/0/msr", &"\0".repeat(0x40));
        machine.attempts.cpuid = BTreeMap::from([
            ((1, 0), CpuidWords::default()),
            ((7, 0), CpuidWords::default()),
            ((0x10, 0), words(0, 0b110, 0, 0)),
            ((0x10, 1), words(11, 0xc00, 0b100, 15)),
            ((0x8000_0007, 0), words(0, 0, 0, 1 << 8)),
        ]);
        machine.attempts.timestamping = BTreeMap::from([(
            "enp3s0".to_owned(),
            Timestamping {
                hardware_transmit: true,
                hardware_receive: true,
                software_transmit: true,
                software_receive: true,
                every_received_frame: true,
                clock_index: Some(0),
            },
        )]);
        machine
    }

    /// The tuned machine as a guest: with a hypervisor below, and an ordinary kernel.
    pub(crate) fn guest() -> Self {
        let mut machine = Self::tuned();
        machine.attempts.cpuid.insert((1, 0), words(0, 0, 1 << 31, 0));
        machine.attempts.cpuid.insert(
            (0x4000_0000, 0),
            words(0, u32::from_le_bytes(*b"KVMK"), u32::from_le_bytes(*b"VMKV"), 0x4d),
        );
        machine.remove("sys/kernel/realtime");
        machine.write("proc/version", "Linux version 6.1.0 #1 SMP PREEMPT_DYNAMIC Debian");
        machine
    }

    /// The tuned machine as dom0 of Xen, with the files that Debian's Xen showed in the lab.
    pub(crate) fn dom0() -> Self {
        let mut machine = Self::tuned();
        for (path, text) in [
            ("proc/xen/capabilities", "control_d\n"),
            ("sys/hypervisor/type", "xen\n"),
            ("sys/hypervisor/guest_type", "PV\n"),
            ("sys/hypervisor/version/major", "4\n"),
            ("sys/hypervisor/version/minor", "17\n"),
            ("sys/hypervisor/version/extra", ".7\n"),
            ("sys/module/xen_gntalloc/parameters/limit", "1024\n"),
            ("usr/sbin/xl", ""),
        ] {
            machine.write(path, text);
        }
        machine.serve("run/xenstored/socket");
        machine
    }

    /// Has a service take connections at a socket.
    fn serve(&mut self, path: &str) {
        let place = self.folder.path().join(path);
        fs::create_dir_all(place.parent().expect("a path below the root"))
            .expect("the folder is ours");
        self.services.push(UnixListener::bind(place).expect("a socket"));
    }

    /// Ends all services, whose sockets stay where they are, as after a kill.
    pub(crate) fn end_services(&mut self) {
        self.services.clear();
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&mut self, path: &str, text: &str) {
        let place = self.folder.path().join(path);
        fs::create_dir_all(place.parent().expect("a path below the root"))
            .expect("the folder is ours");
        fs::write(place, text).expect("the folder is ours");
    }

    /// Takes a file away.
    pub(crate) fn remove(&mut self, path: &str) {
        fs::remove_file(self.folder.path().join(path)).expect("the folder is ours");
    }

    /// Makes a file unreadable for everyone, root included: a folder in its place.
    pub(crate) fn spoil(&mut self, path: &str) {
        let place = self.folder.path().join(path);
        let _ = fs::remove_file(&place);
        fs::create_dir_all(place).expect("the folder is ours");
    }

    /// Returns the files of this machine, below its folder.
    pub(crate) fn source(&self) -> Source {
        Source::below(self.folder.path())
    }

    /// Reads the facts of this machine from its files.
    pub(crate) fn facts(&self) -> Facts {
        Facts::read_from(&Source::below(self.folder.path()), &self.attempts)
    }
}

pub(crate) fn words(eax: u32, ebx: u32, ecx: u32, edx: u32) -> CpuidWords {
    CpuidWords { eax, ebx, ecx, edx }
}

const TUNED: &[(&str, &str)] = &[
    ("usr/bin/qemu-system-x86_64", ""),
    ("proc/version", "Linux version 6.1.0-rt (Debian) #1 SMP PREEMPT_RT Debian 6.1"),
    ("proc/sys/kernel/osrelease", "6.1.0-rt\n"),
    ("proc/cmdline", "root=/dev/sda1 isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 quiet"),
    (
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 140\nmodel \
         name\t: Industrial CPU\nstepping\t: 1\nmicrocode\t: 0xa4\nflags\t\t: constant_tsc \
         nonstop_tsc tsc_known_freq tsc_adjust cat_l3 vmx\n",
    ),
    (
        "proc/meminfo",
        "MemTotal:       16000000 kB\nMemAvailable:   15000000 kB\n\
         SwapTotal:             0 kB\nSwapFree:              0 kB\n",
    ),
    ("proc/loadavg", "0.05 0.10 0.20 1/180 4242"),
    (
        "proc/stat",
        "cpu  1 0 1 100 0 0 0 0 0 0\ncpu0 1 0 1 100 0 0 0 0 0 0\nintr 1\nctxt 1\nprocesses 1\n",
    ),
    ("proc/filesystems", "nodev\tresctrl\n\text4\n"),
    (
        "proc/self/status",
        "Name:\tdoctor\nUid:\t0\t0\t0\t0\nCapEff:\t1ffffffffff\n\
         Cpus_allowed_list:\t0-3\nSeccomp:\t0\n",
    ),
    (
        "proc/self/limits",
        "Limit Soft Hard Units\nMax locked memory         8388608              8388608          \
             bytes\nMax realtime priority     0                    0\n",
    ),
    ("proc/self/timerslack_ns", "50000"),
    (
        "proc/self/mountinfo",
        "34 30 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n35 30 0:31 / \
         /sys/kernel/tracing rw - tracefs tracefs rw\n",
    ),
    ("proc/self/cgroup", "0::/user.slice\n"),
    (
        "proc/interrupts",
        "           CPU0       CPU1       CPU2       CPU3\n 24:       100        0        0     \
            0  PCI-MSIX-0000:03:00.0  0-edge  enp3s0\n",
    ),
    ("proc/irq/24/smp_affinity_list", "0-1"),
    ("proc/irq/24/effective_affinity_list", "0"),
    ("proc/irq/default_smp_affinity", "3"),
    ("proc/sys/kernel/sched_rt_runtime_us", "-1"),
    ("proc/sys/kernel/sched_rt_period_us", "1000000"),
    ("proc/sys/kernel/watchdog", "0"),
    ("proc/sys/kernel/nmi_watchdog", "0"),
    ("proc/sys/kernel/soft_watchdog", "0"),
    ("proc/sys/kernel/numa_balancing", "0"),
    ("proc/sys/kernel/timer_migration", "0"),
    ("proc/sys/kernel/perf_event_paranoid", "1"),
    ("proc/sys/vm/swappiness", "60"),
    (
        "boot/config-6.1.0-rt",
        "CONFIG_PREEMPT_RT=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_NO_HZ_FULL=y\n\
         CONFIG_RCU_NOCB_CPU=y\n# CONFIG_RT_GROUP_SCHED is not set\n",
    ),
    ("sys/kernel/realtime", "1"),
    ("sys/devices/system/cpu/online", "0-3"),
    ("sys/devices/system/cpu/isolated", "2-3"),
    ("sys/devices/system/cpu/nohz_full", "2-3"),
    ("sys/devices/system/cpu/smt/active", "0"),
    ("sys/devices/system/cpu/smt/control", "off"),
    ("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle"),
    ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1 2 3"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq", "2400000"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "2400000"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
    ("sys/devices/system/node/node0/cpulist", "0-3"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"),
    ("sys/devices/virtual/workqueue/cpumask", "3"),
    ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids"),
    ("sys/fs/cgroup/user.slice/cgroup.procs", ""),
    ("sys/fs/cgroup/user.slice/cgroup.subtree_control", "cpu memory"),
    ("sys/fs/resctrl/schemata", "L3:0=fff;1=fff"),
    ("sys/fs/resctrl/info/L3/num_closids", "16"),
    ("sys/fs/resctrl/info/L3/cbm_mask", "fff"),
    ("sys/fs/resctrl/info/L3/shareable_bits", "c00"),
    ("sys/fs/resctrl/info/L3/min_cbm_bits", "1"),
    ("sys/kernel/tracing/available_tracers", "timerlat osnoise hwlat function nop"),
    ("sys/kernel/tracing/current_tracer", "nop"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"),
    ("sys/kernel/mm/ksm/run", "0"),
    ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "64"),
    ("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "64"),
    ("sys/class/net/enp3s0/device/vendor", "0x8086"),
    ("sys/class/net/enp3s0/speed", "1000"),
    ("sys/class/net/enp3s0/device/msi_irqs/24", "msix"),
    ("dev/kvm", ""),
    ("dev/cpu_dma_latency", ""),
];
