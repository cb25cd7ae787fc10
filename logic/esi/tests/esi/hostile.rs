//! Bytes that a stranger wrote: read or refused, within limits.
//!
//! The fuzz target `esi` uses [`use_bytes`] as well.

use quietcore_esi::{PROCESS_DATA_BYTES_MAX, read};

/// Reads bytes; what is accepted keeps its promises.
pub(crate) fn use_bytes(bytes: &[u8]) {
    let Ok(esi) = read(bytes) else { return };
    for device in &esi.devices {
        let all: Vec<_> = device.pdos.iter().map(|pdo| pdo.index).collect();
        for chosen in [None, Some(&all[..])] {
            let Ok(data) = device.process_data(chosen) else { continue };
            assert!(data.input_bytes <= PROCESS_DATA_BYTES_MAX);
            for (entries, bytes) in
                [(&data.inputs, data.input_bytes), (&data.outputs, data.output_bytes)]
            {
                let ends = entries.iter().map(|it| it.bit + it.entry.bits);
                assert!(ends.max().unwrap_or_default() <= bytes * 8);
                assert!(entries.is_sorted_by_key(|it| it.bit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quietcore_esi::{ChoiceError, EsiError, read};

    use super::use_bytes;
    use crate::support::{device, esi, file, pdo};

    const FILE: &str = include_str!("../../../../examples/esi/quietcore.xml");

    proptest! {
        #[test]
        fn a_damaged_file_is_read_or_refused(
            place in any::<prop::sample::Index>(),
            bytes in proptest::collection::vec(any::<u8>(), 0..8),
            removed in 0_usize..200,
        ) {
            let mut file = FILE.as_bytes().to_vec();
            let start = place.index(file.len());
            let end = (start + removed).min(file.len());
            file.splice(start..end, bytes);
            use_bytes(&file);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            use_bytes(&bytes);
        }
    }

    #[test]
    fn entities_are_refused() {
        let text = "<!DOCTYPE a [<!ENTITY b \"bbbbbbbbbb\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;\">]>\
                    <EtherCATInfo>&c;</EtherCATInfo>";
        assert!(read(text.as_bytes()).unwrap_err().to_string().contains("no XML that can be read"));
        let outside = "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><EtherCATInfo/>";
        assert!(read(outside.as_bytes()).is_err());
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "<a>".repeat(200_000) + &"</a>".repeat(200_000);
        assert_eq!(read(file(&deep).as_bytes()).unwrap().devices, []);
    }

    /// Each would take time by the square of its size.
    #[test]
    fn crowds_are_refused() {
        let attributes: String = (0..300).map(|at| format!(" a{at}=\"\"")).collect();
        let namespaces: String = (0..70).map(|at| format!("<a xmlns:n{at}=\"n\"/>")).collect();
        for crowd in [format!("<a{attributes}/>"), namespaces] {
            assert_eq!(read(file(&crowd).as_bytes()), Err(EsiError::Crowded));
        }
        let many: String = (0..1025).map(|_| pdo("TxPdo", "", 0x1a00, "", &[])).collect();
        let esi = esi(&format!("<Device><Type ProductCode=\"1\">BOX</Type>{many}</Device>"));
        assert_eq!(esi.left_out[0].problem, "it has more than 1024 PDOs");
        // Lines are counted once, however many devices have none of what they need.
        assert_eq!(self::esi(&"<Device/>\n".repeat(200_000)).left_out.len(), 200_000);
    }

    #[test]
    fn an_error_is_no_longer_than_a_line() {
        let long = format!("<EtherCATInfo></{}>", "x".repeat(100_000));
        assert!(read(long.as_bytes()).unwrap_err().to_string().len() < 300);
    }

    #[test]
    fn sizes_beyond_a_device_are_refused() {
        for bits in [&[u32::MAX, u32::MAX][..], &[60 << 13, 1]] {
            let device =
                device(&format!("<Sm>Inputs</Sm>{}", pdo("TxPdo", "Sm=\"0\"", 1, "", bits)));
            assert_eq!(device.process_data(None), Err(ChoiceError::TooLarge), "{bits:?}");
        }
    }
}
