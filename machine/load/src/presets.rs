//! Loads that are used again and again.

use quietcore_site::LoadKind;
use quietcore_units::ByteSize;

use crate::request::LoadRequest;

/// The load of the published measurements: 10 workers spinning on the square root and 10 on malloc
/// and free of blocks of 64 MB (queiroz2023, section 5.2).
///
/// The paper's tool counts in powers of two, so a block has 64 MiB.
pub fn papers_load() -> Vec<LoadRequest> {
    let malloc = LoadRequest {
        size: Some(ByteSize::new(64 << 20)),
        ..LoadRequest::new(LoadKind::Malloc, 10)
    };
    vec![LoadRequest::new(LoadKind::Sqrt, 10), malloc]
}

/// One worker of each kind that the published load doesn't have.
pub fn other_loads() -> Vec<LoadRequest> {
    LoadKind::ALL
        .into_iter()
        .filter(|kind| !matches!(kind, LoadKind::Sqrt | LoadKind::Malloc))
        .map(|kind| LoadRequest::new(kind, 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_cover_every_kind_once() {
        let kinds: Vec<_> =
            papers_load().iter().chain(&other_loads()).map(|request| request.kind).collect();
        assert_eq!(kinds, LoadKind::ALL);
    }

    #[test]
    fn the_papers_load_has_twenty_workers_and_640_mib() {
        let load = papers_load();
        assert_eq!(load.iter().map(|request| request.workers).sum::<u32>(), 20);
        let malloc = &load[1];
        let bytes = malloc.size.unwrap().get() * u64::from(malloc.workers);
        assert_eq!(bytes, 640 << 20);
    }
}
