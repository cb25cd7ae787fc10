//! Parts of a site's reservation that only a reboot or the firmware can give: parameters of the
//! kernel's command line, and settings that are made before there is a kernel.
//!
//! It is said and never done: a machine that does not start any more is worth less than a late
//! cycle.

use std::fmt;

use quietcore_site::{Control, Site};
use quietcore_units::CpuSet;
use serde::Serialize;

use crate::facts::{CgroupArrangement, Facts, PreemptionModel};
use crate::reading::Reading;
use crate::source::Source;

/// The program that starts the kernel, and so keeps its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootLoader {
    /// GRUB, with `/etc/default/grub`.
    Grub,
    /// systemd-boot, with `/etc/kernel/cmdline`.
    SystemdBoot,
    /// Neither of them was found.
    Unknown,
}

impl BootLoader {
    /// Finds it by its files.
    pub fn find(source: &Source) -> Self {
        let any =
            |paths: &[&str]| paths.iter().any(|path| source.exists(path) == Reading::Read(true));
        // A machine with systemd-boot may have GRUB's package, which keeps its settings.
        if any(&[
            "/boot/loader/loader.conf",
            "/efi/loader/loader.conf",
            "/boot/efi/loader/loader.conf",
        ]) {
            Self::SystemdBoot
        } else if any(&["/etc/default/grub", "/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"]) {
            Self::Grub
        } else {
            Self::Unknown
        }
    }

    /// Describes how parameters are added to the command line.
    fn remedy(self) -> &'static str {
        match self {
            Self::Grub => {
                "GRUB: add them to GRUB_CMDLINE_LINUX in /etc/default/grub, run `update-grub` (or \
                 `grub2-mkconfig -o /boot/grub2/grub.cfg`), reboot"
            }
            Self::SystemdBoot => {
                "systemd-boot: add them to the line in /etc/kernel/cmdline, run `kernel-install \
                 add $(uname -r) /boot/vmlinuz-$(uname -r)` (or edit `options` in \
                 loader/entries/*.conf), reboot"
            }
            Self::Unknown => {
                "neither GRUB nor systemd-boot was found: add them where this machine keeps its \
                 kernel's command line, reboot"
            }
        }
    }
}

/// Something to be set, and what it is good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BootSetting {
    /// The parameter or setting.
    pub set: String,
    /// The effect, as the rest of a sentence.
    pub so_that: &'static str,
}

/// Advice on what only a reboot or the firmware can give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BootAdvice {
    /// The program that starts the kernel.
    pub loader: BootLoader,
    /// Parameters that the kernel's command line lacks.
    pub parameters: Vec<BootSetting>,
    /// Settings of the firmware. Which of them hold can't be read, so they are all said.
    pub firmware: Vec<BootSetting>,
}

impl BootAdvice {
    /// Lists what a site's reservation lacks on this machine. CPUs that no profile pins a partition
    /// to need nothing.
    pub fn of(site: &Site, facts: &Facts, loader: BootLoader) -> Self {
        let pinned = site.campaign().profiles.iter().any(|profile| profile.pinned);
        let cpus = if pinned { site.claimed_cpus() } else { CpuSet::EMPTY };
        let parameters = if cpus.is_empty() { Vec::new() } else { parameters(site, facts, &cpus) };
        let firmware = if cpus.is_empty() { Vec::new() } else { firmware(facts) };
        Self { loader, parameters, firmware }
    }

    /// Returns `true` if nothing is lacking.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.firmware.is_empty()
    }
}

fn parameters(site: &Site, facts: &Facts, cpus: &CpuSet) -> Vec<BootSetting> {
    let online = facts.cpu.online.get().copied().unwrap_or_default().0;
    let house = site.housekeeping().unwrap_or_else(|| online.without(cpus));
    let given = |name: &str| facts.kernel.command_line.value(name);
    let lacks = |name: &str| given(name).is_none();
    // A kernel that does not say how it was built may have it.
    let can = |symbol: &str| facts.kernel.configured(symbol) != Some(false);
    let mut all = Vec::new();
    let mut add = |set: String, so_that| all.push(BootSetting { set, so_that });
    let isolated = facts.cpu.isolated.get().copied().unwrap_or_default().0;
    if !cpus.without(&isolated).is_empty() {
        let so_that = "no ordinary program and no managed interrupt comes to these CPUs";
        add(format!("isolcpus=managed_irq,domain,{cpus}"), so_that);
    }
    let tickless = facts.cpu.nohz_full.get().copied().unwrap_or_default().0;
    // The file is there only in kernels that can do it.
    let is_offered = can("CONFIG_NO_HZ_FULL") && !facts.cpu.nohz_full.is_absent();
    if is_offered && !cpus.without(&tickless).is_empty() {
        let so_that = "the kernel's tick does not interrupt a program that runs alone";
        add(format!("nohz_full={cpus}"), so_that);
    }
    if can("CONFIG_RCU_NOCB_CPU") && lacks("rcu_nocbs") {
        add(format!("rcu_nocbs={cpus}"), "the kernel frees its memory on other CPUs");
    }
    if lacks("irqaffinity") && !house.is_empty() && !site.controls().contains(&Control::Interrupts)
    {
        add(format!("irqaffinity={house}"), "interrupts come to the other CPUs from the start");
    }
    if lacks("skew_tick") {
        add("skew_tick=1".to_owned(), "the ticks of all CPUs do not meet at one lock");
    }
    let preemption = &facts.kernel.preemption;
    let is_preemptible =
        matches!(preemption.model, PreemptionModel::Realtime | PreemptionModel::Full);
    if preemption.dynamic && !is_preemptible && lacks("preempt") {
        add("preempt=full".to_owned(), "a system call of another program does not delay a release");
    }
    if facts.cgroups.arrangement == CgroupArrangement::Hybrid {
        let so_that = "control groups can give CPUs to one group alone";
        add("systemd.unified_cgroup_hierarchy=1".to_owned(), so_that);
    }
    let divides = facts.kernel.configured("CONFIG_RT_GROUP_SCHED") == Some(true);
    if divides && site.containers() > 0 && lacks("rt_group_sched") {
        let so_that = "containers need no share of real-time run time";
        add("rt_group_sched=0".to_owned(), so_that);
    }
    all
}

fn firmware(facts: &Facts) -> Vec<BootSetting> {
    // The owner of the host has the firmware that counts.
    if facts.virtualization.is_guest() == Some(true) {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut add = |set: &str, so_that| all.push(BootSetting { set: set.to_owned(), so_that });
    if facts.cpu.smt_active == Reading::Read(true) {
        add("Hyper-Threading (SMT) off", "no other thread shares a partition's core");
    }
    add(
        "C-states and package C-states off, or C1 at most",
        "a CPU wakes within a microsecond or two",
    );
    add("power profile `maximum performance`", "the frequency does not follow the load");
    add(
        "legacy USB, hardware monitoring and ECC scrubbing by SMI off, where there is a choice",
        "the firmware does not stop all CPUs (System Management Interrupts)",
    );
    all
}

impl fmt::Display for BootAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |settings: &[BootSetting], f: &mut fmt::Formatter<'_>| {
            let width = settings.iter().map(|it| it.set.len()).max().unwrap_or_default().min(48);
            settings
                .iter()
                .try_for_each(|it| writeln!(f, "  {:<width$}  so that {}", it.set, it.so_that))
        };
        if !self.parameters.is_empty() {
            writeln!(
                f,
                "Only a reboot gives these parameters of the kernel; quietcore never sets them:"
            )?;
            lines(&self.parameters, f)?;
            writeln!(f, "  {}", self.loader.remedy())?;
        }
        if !self.firmware.is_empty() {
            writeln!(
                f,
                "Only the firmware (BIOS, UEFI) gives these; whether it does can't be read:"
            )?;
            lines(&self.firmware, f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use quietcore_record::class::catalogue;

    use super::*;
    use crate::machines::Machine;

    fn site() -> Site {
        let text = "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"motion-control\"\n\
                    [partition.vcr]\ncpus = [1]\n[campaign]\nprofiles = [\"tp2\"]\n";
        quietcore_site::read("s.toml", text.as_bytes(), &catalogue()).unwrap()
    }

    #[test]
    fn what_the_command_line_lacks_is_said_for_the_loader_that_is_there() {
        let mut facts = Machine::tuned().facts();
        facts.kernel.command_line.text = Reading::Read("quiet skew_tick=1".to_owned());
        facts.cpu.isolated = Reading::Read("".parse().unwrap());
        facts.cpu.nohz_full = Reading::Read("1".parse().unwrap());
        let advice = BootAdvice::of(&site(), &facts, BootLoader::Grub);
        let sets: Vec<_> = advice.parameters.iter().map(|it| it.set.as_str()).collect();
        assert_eq!(sets[..2], ["isolcpus=managed_irq,domain,1", "rcu_nocbs=1"]);
        assert!(!sets.iter().any(|set| set.starts_with("skew_tick") || set.starts_with("nohz")));
        let said = advice.to_string();
        assert!(said.contains("update-grub"), "{said}");
        let other = BootAdvice { loader: BootLoader::SystemdBoot, ..advice };
        assert!(other.to_string().contains("/etc/kernel/cmdline"));
    }

    /// Goal: nothing is advised that this kernel would ignore.
    #[test]
    fn a_parameter_that_the_kernel_does_not_know_is_not_advised() {
        let mut facts = Machine::tuned().facts();
        facts.kernel.command_line.text = Reading::Read("quiet".to_owned());
        facts.cpu.nohz_full = Reading::Read("".parse().unwrap());
        let sets = |facts: &Facts| -> Vec<String> {
            let advice = BootAdvice::of(&site(), facts, BootLoader::Grub);
            advice.parameters.into_iter().map(|it| it.set).collect()
        };
        let has = |sets: &[String], name: &str| sets.iter().any(|set| set.starts_with(name));
        assert!(has(&sets(&facts), "nohz_full="), "{:?}", sets(&facts));
        facts.cpu.nohz_full = Reading::Absent;
        assert!(!has(&sets(&facts), "nohz_full="), "{:?}", sets(&facts));
        facts.cpu.nohz_full = Reading::Read("".parse().unwrap());
        facts.kernel.configuration = Reading::Read(std::collections::BTreeMap::new());
        let without = sets(&facts);
        assert!(!has(&without, "nohz_full=") && !has(&without, "rcu_nocbs="), "{without:?}");
    }

    #[test]
    fn a_guest_is_told_nothing_of_a_firmware_that_is_not_its() {
        let guest = Machine::guest().facts();
        assert_eq!(BootAdvice::of(&site(), &guest, BootLoader::Grub).firmware, []);
        let own = Machine::tuned().facts();
        assert!(BootAdvice::of(&site(), &own, BootLoader::Grub).firmware.len() >= 3);
    }

    #[test]
    fn a_loader_is_known_by_its_files() {
        let root = tempfile::tempdir().unwrap();
        let source = Source::below(root.path());
        assert_eq!(BootLoader::find(&source), BootLoader::Unknown);
        std::fs::create_dir_all(root.path().join("etc/default")).unwrap();
        std::fs::write(root.path().join("etc/default/grub"), "").unwrap();
        assert_eq!(BootLoader::find(&source), BootLoader::Grub);
        std::fs::create_dir_all(root.path().join("boot/loader")).unwrap();
        std::fs::write(root.path().join("boot/loader/loader.conf"), "").unwrap();
        assert_eq!(BootLoader::find(&source), BootLoader::SystemdBoot);
    }
}
