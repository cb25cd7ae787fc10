//! Obstacles to the parts of the last-level cache, and to the limits of the memory's bandwidth,
//! that partitions ask for.

use super::Refusals;
use crate::machine::{CacheWays, Obstacle};
use crate::site::{Cache, Partition};

impl Refusals<'_> {
    /// The part of one partition, as far as its backend has any.
    pub(super) fn cache(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        match &partition.vcr.cache {
            None => {}
            Some(Cache::Ways(_)) if !partition.declaration().has_memory_share => {
                self.not_of_this_kernel(&key("vcr.cache.ways"), "psr-cat-set", "cache");
            }
            Some(Cache::Ways(ways)) => self.ways(*ways, key),
            Some(Cache::Colours(colours)) if partition.declaration().has_colours => {
                self.colours(partition, colours, key);
            }
            Some(Cache::Colours(_)) => {
                let backend = partition.backend;
                let reason =
                    format!("backend `{backend}` has no colours; its pages are the kernel's");
                let has_ways = partition.declaration().has_memory_share;
                let remedy =
                    if has_ways { "ask for `ways`, or take it out" } else { "take it out" };
                self.refuse(&key("vcr.cache.colours"), reason, remedy);
            }
        }
    }

    /// The limit of one partition.
    pub(super) fn memory_bandwidth(
        &mut self,
        partition: &Partition,
        key: &impl Fn(&str) -> String,
    ) {
        let Some(percent) = partition.vcr.memory_bandwidth_percent else { return };
        let key = key("vcr.memory_bandwidth");
        if !partition.declaration().has_memory_share {
            return self.not_of_this_kernel(&key, "psr-mba-set", "memory_bandwidth");
        }
        match &self.machine.memory_bandwidth {
            Err(Obstacle { what, remedy }) => self.refuse(&key, what.clone(), remedy.clone()),
            Ok(least) if percent < *least => {
                let reason = format!("this machine's least limit is {least} %");
                self.refuse(&key, reason, format!("ask for {least} at least"));
            }
            Ok(_) if !self.machine.root => {
                let reason = "only root limits the memory's bandwidth".to_owned();
                self.refuse(&key, reason, "run as root, or take it out");
            }
            Ok(_) => {}
        }
    }

    /// Refuses a share of what another kernel than this one divides, and the command that does.
    fn not_of_this_kernel(&mut self, key: &str, command: &str, word: &str) {
        let reason = format!(
            "resctrl of this kernel does not reach a domain, which Xen runs, and Xen's own \
             `xl {command}` is not used yet"
        );
        self.refuse(key, reason, format!("take `{word}` out, and set it by hand"));
    }

    fn ways(&mut self, ways: u32, key: &impl Fn(&str) -> String) {
        let key_of_ways = key("vcr.cache.ways");
        let CacheWays { all: there, least } = match &self.machine.cache_ways {
            Ok(there) => *there,
            Err(Obstacle { what, remedy }) => {
                return self.refuse(&key_of_ways, what.clone(), remedy.clone());
            }
        };
        // Everything else needs one at least.
        let most = there.saturating_sub(1);
        if ways > most {
            let can = format!("{there} can be assigned, one of them to everything else");
            let reason = format!("{ways} cache ways are asked for and {can}");
            return self.refuse(&key_of_ways, reason, format!("ask for {most} at most"));
        }
        if ways < least {
            let reason = format!("this machine assigns {least} cache ways at least");
            return self.refuse(&key_of_ways, reason, format!("ask for {least} at least"));
        }
        if !self.machine.root {
            let reason = "only root assigns cache ways".to_owned();
            self.refuse(&key_of_ways, reason, "run as root, or take `cache` out");
        }
    }

    fn colours(&mut self, partition: &Partition, colours: &[u32], key: &impl Fn(&str) -> String) {
        let key = key("vcr.cache.colours");
        let machine = self.machine;
        let count = match &machine.page_colours {
            Ok(count) => *count,
            Err(error) => return self.refuse(&key, error.to_string(), "take `cache` out"),
        };
        if let Some(colour) = colours.iter().find(|colour| **colour >= count) {
            let reason = format!("there is no colour {colour}: this cache has {count} at most");
            self.refuse(&key, reason, format!("choose from 0 to {}", count - 1));
        }
        let site = self.site;
        let before = site.partitions().iter().take_while(|other| other.name != partition.name);
        for other in before.filter(|other| other.declaration().has_colours) {
            let Some(Cache::Colours(theirs)) = &other.vcr.cache else { continue };
            if let Some(colour) = colours.iter().find(|colour| theirs.contains(colour)) {
                let reason = format!("colour {colour} is also claimed by `{}`", other.name);
                self.refuse(&key, reason, "give each colour one owner");
            }
        }
    }

    /// The ways of all partitions together.
    pub(super) fn all_ways(&mut self) {
        let Ok(CacheWays { all: there, .. }) = self.machine.cache_ways else { return };
        let mut claimed = 0_u32;
        let site = self.site;
        for partition in site.partitions() {
            let Some(Cache::Ways(ways)) = partition.vcr.cache else { continue };
            claimed = claimed.saturating_add(ways);
            if claimed >= there && ways < there {
                self.refuse(
                    &format!("partition.{}.vcr.cache.ways", partition.name),
                    format!(
                        "the partitions up to this one claim {claimed} of {there} cache ways, and \
                         one must be left to everything else"
                    ),
                    "ask for fewer",
                );
            }
        }
    }
}
