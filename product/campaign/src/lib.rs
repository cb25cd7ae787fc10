//! A campaign: partitions × profiles, run, measured and judged.
