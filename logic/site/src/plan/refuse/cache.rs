//! What stands against the parts of the last-level cache that partitions ask for.

use super::Refusals;
use crate::site::{Backend, Cache, Partition};

impl Refusals<'_> {
    /// The part of one partition, as far as its backend has any.
    pub(super) fn cache(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        match &partition.vcr.cache {
            None => {}
            Some(Cache::Ways(ways)) => self.ways(partition.backend, *ways, key),
            Some(Cache::Colours(colours)) if partition.backend == Backend::Kvm => {
                self.colours(partition, colours, key);
            }
            Some(Cache::Colours(_)) => self.no_part(partition.backend, key),
        }
    }

    fn no_part(&mut self, backend: Backend, key: &impl Fn(&str) -> String) {
        self.refuse(
            &key("vcr.cache"),
            format!("backend `{backend}` can't reserve a part of the cache yet"),
            "take it out",
        );
    }

    fn ways(&mut self, backend: Backend, ways: u32, key: &impl Fn(&str) -> String) {
        let key_of_ways = key("vcr.cache.ways");
        let Some(there) = self.machine.cache_ways else {
            let reason = "this machine can't assign cache ways (no CAT)".to_owned();
            return self.refuse(&key_of_ways, reason, "take `cache` out");
        };
        // Everything else needs one at least.
        let most = there.saturating_sub(1);
        if ways > most {
            let can = format!("{there} can be assigned, one of them to everything else");
            let reason = format!("{ways} cache ways are asked for and {can}");
            return self.refuse(&key_of_ways, reason, format!("ask for {most} at most"));
        }
        if backend != Backend::Kvm {
            return self.no_part(backend, key);
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
            Err(reason) => return self.refuse(&key, reason.clone(), "take `cache` out"),
        };
        if let Some(colour) = colours.iter().find(|colour| **colour >= count) {
            let reason = format!("there is no colour {colour}: this cache has {count} at most");
            self.refuse(&key, reason, format!("choose from 0 to {}", count - 1));
        }
        let site = self.site;
        let before = site.partitions().iter().take_while(|other| other.name != partition.name);
        for other in before.filter(|other| other.backend == Backend::Kvm) {
            let Some(Cache::Colours(theirs)) = &other.vcr.cache else { continue };
            if let Some(colour) = colours.iter().find(|colour| theirs.contains(colour)) {
                let reason = format!("colour {colour} is also claimed by `{}`", other.name);
                self.refuse(&key, reason, "give each colour one owner");
            }
        }
    }

    /// The ways of all partitions together.
    pub(super) fn all_ways(&mut self) {
        let Some(there) = self.machine.cache_ways else { return };
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
