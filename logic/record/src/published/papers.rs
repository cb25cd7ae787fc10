//! The five papers whose tables are here.

use super::Citation;

/// All papers, in the order of their numbers.
pub(super) static ALL: [&Citation; 5] = [&QUEIROZ, &SCORDINO, &KONG, &HOFER, &MAHMUD];

pub(super) static QUEIROZ: Citation = Citation {
    key: "queiroz2023",
    number: "000",
    authors: "R. Queiroz, T. Cruz, P. Simões",
    title: "Testing the limits of general-purpose hypervisors for real-time control systems",
    venue: "Microprocessors and Microsystems",
    year: 2023,
    doi: Some("10.1016/j.micpro.2023.104848"),
};

pub(super) static SCORDINO: Citation = Citation {
    key: "scordino2020",
    number: "001",
    authors: "C. Scordino, I. M. Savino, L. Cuomo, L. Miccio, A. Tagliavini, M. Bertogna, M. \
              Solieri",
    title: "Real-Time Virtualization For Industrial Automation",
    venue: "IEEE ETFA",
    year: 2020,
    doi: Some("10.1109/ETFA46521.2020.9211890"),
};

pub(super) static KONG: Citation = Citation {
    key: "kong2021",
    number: "002",
    authors: "X. Kong, X. Kong",
    title: "Research on Real-time Virtualization Technology for Control System",
    venue: "CSAE",
    year: 2021,
    doi: Some("10.1145/3487075.3487080"),
};

pub(super) static HOFER: Citation = Citation {
    key: "hofer2019",
    number: "003",
    authors: "F. Hofer, M. A. Sehr, A. Iannopollo, I. Ugalde, A. Sangiovanni-Vincentelli, B. Russo",
    title: "Industrial Control via Application Containers: Migrating from Bare-Metal to IAAS",
    venue: "IEEE CloudCom",
    year: 2019,
    doi: None,
};

pub(super) static MAHMUD: Citation = Citation {
    key: "mahmud2014",
    number: "004",
    authors: "N. Mahmud, K. Sandström, A. Vulgarakis",
    title: "Evaluating industrial applicability of virtualization on a distributed multicore \
            platform",
    venue: "IEEE ETFA",
    year: 2014,
    doi: None,
};
