//! Which tables there are, and what their columns mean. The figures are in `data/`.

use super::papers::{HOFER, KONG, MAHMUD, QUEIROZ, SCORDINO};
use super::{Cell, Citation, Column, Figure, Quantity, Table, Unit};

const fn words(key: &'static str, title: &'static str, definition: &'static str) -> Column {
    Column { key, title, unit: Unit::Text, figure: None, definition }
}

const fn remark(key: &'static str, title: &'static str, definition: &'static str) -> Column {
    Column { key, title, unit: Unit::Remark, figure: None, definition }
}

const fn number(
    key: &'static str,
    title: &'static str,
    unit: Unit,
    definition: &'static str,
) -> Column {
    Column { key, title, unit, figure: None, definition }
}

const fn time(
    key: &'static str,
    title: &'static str,
    unit: Unit,
    figure: Figure,
    definition: &'static str,
) -> Column {
    Column { key, title, unit, figure: Some(figure), definition }
}

const MS: Unit = Unit::Milliseconds;
const US: Unit = Unit::Microseconds;

const LOWER_WHISKER: Column =
    time("lower_whisker", "lower whisker", MS, Figure::LowerWhisker, "2.5 % quantile");
const LOWER_QUARTILE: Column =
    time("lower_quartile", "lower quartile", MS, Figure::LowerQuartile, "25 % quantile");
const MEDIAN: Column = time("median", "median", MS, Figure::Median, "50 % quantile");
const MEAN: Column = time("mean", "µ", MS, Figure::Mean, "arithmetic mean");
const DEVIATION: Column = time("sd", "σ", MS, Figure::StandardDeviation, "standard deviation");
const UPPER_QUARTILE: Column =
    time("upper_quartile", "upper quartile", MS, Figure::UpperQuartile, "75 % quantile");
const UPPER_WHISKER: Column =
    time("upper_whisker", "upper whisker", MS, Figure::UpperWhisker, "97.5 % quantile");
const MAX_JITTER: Column =
    time("max_jitter", "max jitter", MS, Figure::JitterWhiskers, "upper − lower whisker");

const BY_PROFILE: &[Column] = &[
    words("system", "system profile", "the bare machine or a hypervisor, by its number"),
    words("profile", "testing profile", "tp1 to tp6: load, affinity, neighbours"),
    LOWER_WHISKER,
    LOWER_QUARTILE,
    MEDIAN,
    MEAN,
    DEVIATION,
    UPPER_QUARTILE,
    UPPER_WHISKER,
    MAX_JITTER,
];

const BY_HOURS: &[Column] = &[
    words("system", "system profile", "the bare machine or a hypervisor, by its number"),
    number("hours", "hours", Unit::Hours, "how long was measured"),
    LOWER_WHISKER,
    LOWER_QUARTILE,
    MEDIAN,
    MEAN,
    DEVIATION,
    UPPER_QUARTILE,
    UPPER_WHISKER,
    MAX_JITTER,
];

const RESPONSE_MIN: Column =
    time("minimum", "minimum", US, Figure::Minimum, "smallest of the sample");
const RESPONSE_MAX: Column =
    time("maximum", "maximum", US, Figure::Maximum, "largest of the sample");
const RESPONSE_MEAN: Column = time("average", "average", US, Figure::Mean, "arithmetic mean");

const EIGHT_HOURS: &str =
    "cyclictest at 10 ms with the highest FIFO priority, 8 h or over 2.5 million values a row";
const FIGURE_IN_TEXT: &str =
    "the figure is printed without numbers: these are the bounds that the text gives";
const PRECISION: &str = "printed in steps of 1 µs: each figure is known to ± 0.5 µs";

/// A table without its rows, and its file.
struct Entry {
    id: &'static str,
    title: &'static str,
    citation: &'static Citation,
    place: &'static str,
    quantity: Quantity,
    profile: Option<&'static str>,
    columns: &'static [Column],
    remarks: &'static [&'static str],
    file: &'static str,
}

static ENTRIES: [Entry; 17] = [
    Entry {
        id: "queiroz2023/table-1",
        title: "End-to-end latency of industrial systems",
        citation: &QUEIROZ,
        place: "table 1",
        quantity: Quantity::Limit,
        profile: None,
        columns: &[
            words("application", "service", "the application class"),
            number("latency_ms", "end-to-end latency", MS, "largest latency, taken as the cycle"),
            number("jitter_us", "jitter", US, "largest jitter; printed in µs or ms"),
        ],
        remarks: &["indicative values that the paper takes from its reference 4"],
        file: include_str!("../../data/queiroz2023-table-1.csv"),
    },
    Entry {
        id: "queiroz2023/table-2",
        title: "Test profiles: load, affinity and neighbours of each",
        citation: &QUEIROZ,
        place: "table 2",
        quantity: Quantity::Setup,
        profile: None,
        columns: &[
            words("system", "system profile", "the bare machine, or any of three hypervisors"),
            words("profile", "testing profile", "tp1 to tp6: load, affinity, neighbours"),
            remark("first_vm", "1st VM", "whether the real-time task runs in a virtual machine"),
            remark("cyclictest", "cyclictest", "whether it is measured"),
            remark("stress", "stress", "whether a load runs beside it, in the same system"),
            remark("affinity", "core affinity", "whether the real-time task has a core of its own"),
            remark("neighbours", "2nd and 3rd VM", "whether two more run loads of their own"),
        ],
        remarks: &[
            "the load: 10 workers that spin on square roots, 10 on malloc and free of 64 MB",
            EIGHT_HOURS,
        ],
        file: include_str!("../../data/queiroz2023-table-2.csv"),
    },
    Entry {
        id: "queiroz2023/table-3",
        title: "Release latency with a general-purpose operating system",
        citation: &QUEIROZ,
        place: "table 3",
        quantity: Quantity::ReleaseLatency,
        profile: None,
        columns: BY_PROFILE,
        remarks: &[
            EIGHT_HOURS,
            PRECISION,
            "hypervisor C, tp2: the printed upper quartile 0.015 lies below the median 0.025",
        ],
        file: include_str!("../../data/queiroz2023-table-3.csv"),
    },
    Entry {
        id: "queiroz2023/table-4",
        title: "Release latency with a real-time operating system",
        citation: &QUEIROZ,
        place: "table 4",
        quantity: Quantity::ReleaseLatency,
        profile: None,
        columns: BY_PROFILE,
        remarks: &[EIGHT_HOURS, PRECISION, "0.000 stands for less than 0.5 µs"],
        file: include_str!("../../data/queiroz2023-table-4.csv"),
    },
    Entry {
        id: "queiroz2023/table-5",
        title: "Release latency over time, with loaded neighbours",
        citation: &QUEIROZ,
        place: "table 5",
        quantity: Quantity::ReleaseLatency,
        profile: Some("tp5"),
        columns: BY_HOURS,
        remarks: &["with a real-time operating system, profile tp5", PRECISION],
        file: include_str!("../../data/queiroz2023-table-5.csv"),
    },
    Entry {
        id: "scordino2020/table-1",
        title: "Round trip to an EtherCAT SubDevice",
        citation: &SCORDINO,
        place: "table I",
        quantity: Quantity::EthercatRoundTrip,
        profile: None,
        columns: &[
            words("system", "operating system", "what the MainDevice runs on"),
            number("threads", "threads", Unit::Count, "threads of the EtherCAT stack"),
            RESPONSE_MIN,
            RESPONSE_MAX,
        ],
        remarks: &["1000 samples a row"],
        file: include_str!("../../data/scordino2020-table-1.csv"),
    },
    Entry {
        id: "scordino2020/figure-4",
        title: "Time of an OSEK kernel's routines under three hypervisors",
        citation: &SCORDINO,
        place: "section IV-A, on its figure 4",
        quantity: Quantity::KernelRoutine,
        profile: None,
        columns: &[
            words("hypervisor", "hypervisor", "what the kernel's guest runs under"),
            remark("version", "version", "as printed; KVM's is that of Linux"),
            remark("standing", "standing", "beside the others, as the text says"),
        ],
        remarks: &[
            "the figure is printed without numbers, on a logarithmic axis; the text compares the \
             hypervisors and gives none either",
            "shortest and longest of 100 runs of each of ten routines, in ns: act, actl, \
             intdisable, intenable, isrentry, isr2entry, isrexit, istentry, istexit, term1",
            "Xen ran with its null scheduler, the guest of KVM on a core isolated with isolcpus",
        ],
        file: include_str!("../../data/scordino2020-figure-4.csv"),
    },
    Entry {
        id: "scordino2020/figure-5",
        title: "Largest slowdown of memory accesses by three neighbours that copy memory",
        citation: &SCORDINO,
        place: "section V-A, on its figure 5",
        quantity: Quantity::Slowdown,
        profile: None,
        columns: &[
            words("pattern", "pattern", "sequential, or pseudo-random"),
            number("slowdown_max", "slowdown, at most", Unit::Ratio, "with neighbours / without"),
        ],
        remarks: &[FIGURE_IN_TEXT, "between 1 MiB and 6 MiB, the size of its last-level cache"],
        file: include_str!("../../data/scordino2020-figure-5.csv"),
    },
    Entry {
        id: "scordino2020/figure-6",
        title: "Slowdown of the routines of an OSEK kernel by three neighbours that copy memory",
        citation: &SCORDINO,
        place: "section V-A, on its figure 6",
        quantity: Quantity::Slowdown,
        profile: None,
        columns: &[
            words("routine", "routine", "as in its figure 4; `actl` is printed as `act1`"),
            number("slowdown_min", "slowdown, at least", Unit::Ratio, "with neighbours / without"),
            number("slowdown_max", "slowdown, at most", Unit::Ratio, "with neighbours / without"),
        ],
        remarks: &[
            FIGURE_IN_TEXT,
            "three routines range between 4 and 6.5, all others are not above 1.5",
        ],
        file: include_str!("../../data/scordino2020-figure-6.csv"),
    },
    Entry {
        id: "kong2021/table-1",
        title: "Interrupt response on a physical computer",
        citation: &KONG,
        place: "table 1",
        quantity: Quantity::InterruptResponse,
        profile: None,
        columns: &[
            words("guest", "operating system", "what handles the interrupt"),
            RESPONSE_MIN,
            RESPONSE_MAX,
            RESPONSE_MEAN,
        ],
        remarks: &[CLOCK_BOARD],
        file: include_str!("../../data/kong2021-table-1.csv"),
    },
    Entry {
        id: "kong2021/table-2",
        title: "Interrupt response in a virtual machine",
        citation: &KONG,
        place: "table 2",
        quantity: Quantity::InterruptResponse,
        profile: None,
        columns: &[
            words("host", "host", "the hypervisor"),
            words("guest", "guest", "what handles the interrupt"),
            RESPONSE_MIN,
            RESPONSE_MAX,
            RESPONSE_MEAN,
        ],
        remarks: &[CLOCK_BOARD, "without any load on the system"],
        file: include_str!("../../data/kong2021-table-2.csv"),
    },
    Entry {
        id: "kong2021/table-3",
        title: "Event response of a virtual machine",
        citation: &KONG,
        place: "table 3",
        quantity: Quantity::EventResponse,
        profile: None,
        columns: &[
            words("host", "host", "the hypervisor"),
            words("guest", "guest", "what answers the frame"),
            RESPONSE_MEAN,
            RESPONSE_MAX,
        ],
        remarks: &["100 000 frames at 10 ms", "without any load on the system"],
        file: include_str!("../../data/kong2021-table-3.csv"),
    },
    Entry {
        id: "hofer2019/table-1",
        title: "Release latency by isolation of guest and host",
        citation: &HOFER,
        place: "table I",
        quantity: Quantity::ReleaseLatency,
        profile: None,
        columns: &[
            words(
                "configuration",
                "test",
                "isolation and stress of the guest; after `;` of the host",
            ),
            words("kernel", "OS", "the kernel of the guest"),
            RESPONSE_MIN,
            RESPONSE_MEAN,
            time("sd", "σ", US, Figure::StandardDeviation, "standard deviation"),
            RESPONSE_MAX,
        ],
        remarks: &[
            "cyclictest at 1000 Hz in a guest of VirtualBox, one thread, more than a million \
             values a row; `stress` beside it at a load average of 100 %",
            "the paper gives all columns in µs, and they stand here as printed; an average of 6115 \
             µs would be six whole cycles late, beside minima of 2 µs; read as ns the averages \
             would be of 0.2 to 11 µs, but then the minima are 2 ns, which nothing wakes up in",
            "some deviations are too small for their maxima: σ of 26 µs beside a maximum of 599697 \
             µs (isolated with stress, host isolated, Standard) takes 530 million values, six days \
             at 1000 Hz",
        ],
        file: include_str!("../../data/hofer2019-table-1.csv"),
    },
    Entry {
        id: "hofer2019/figure-1",
        title: "Release latency by machine, under load",
        citation: &HOFER,
        place: "figure 1, from the histograms that its authors published, and section VII-B",
        quantity: Quantity::ReleaseLatency,
        profile: None,
        columns: &[
            words("machine", "machine", "a bare-metal server, or an instance of AWS"),
            words("kernel", "OS", "its kernel"),
            LOWER_WHISKER,
            LOWER_QUARTILE,
            MEDIAN,
            MEAN,
            UPPER_QUARTILE,
            UPPER_WHISKER,
            time("maximum", "maximum", MS, Figure::Maximum, "largest of the sample"),
        ],
        remarks: &[
            "cyclictest at 1000 Hz, ten million loops a thread, `stress` beside it; bare metal has \
             8 threads, C5 and T3 have 3, taken together here",
            "quantiles are of the raw histograms in steps of 1 µs (github.com/flhofer/\
             real-time-containers, test-monitor/latBPlot); of 29.9 million values of T3 with the \
             standard kernel 2.4 % lie beyond their 10 ms, and its mean is cyclictest's own",
            "of Preempt-RT on C5 and T3 only the peaks are published, in the text: 96 of ten \
             million values on T3 were beyond 100 µs",
        ],
        file: include_str!("../../data/hofer2019-figure-1.csv"),
    },
    Entry {
        id: "mahmud2014/table-1",
        title: "Set-up of the nodes",
        citation: &MAHMUD,
        place: "table I",
        quantity: Quantity::Setup,
        profile: None,
        columns: &[
            words("node", "node", "bare machines 1 and 2; domains of nodes 3 and 4, dom0 first"),
            remark("core", "core", "the cores it is bound to"),
            remark("vcpus", "vCPU", "virtual processors"),
            remark("memory", "memory", "its memory"),
            remark("bandwidth", "BW limit", "what the switch lets in"),
        ],
        remarks: &["nodes 1 and 2 are the baseline, 3 and 4 have four domains each"],
        file: include_str!("../../data/mahmud2014-table-1.csv"),
    },
    Entry {
        id: "mahmud2014/table-2",
        title: "Latency and jitter between two nodes",
        citation: &MAHMUD,
        place: "table II",
        quantity: Quantity::NetworkRoundTrip,
        profile: None,
        columns: &[
            words("system", "system", "bare machine, or a Xen PVHVM domain"),
            time("latency", "average latency", US, Figure::Mean, "mean round trip of a frame"),
            number("jitter", "average jitter", US, "mean jitter; the paper doesn't define it"),
            number(
                "throughput",
                "throughput",
                Unit::MegabitsPerSecond,
                "from the paper's text, experiment 2: TCP, 195 GB",
            ),
            number(
                "cpu_time",
                "CPU load test",
                Unit::Seconds,
                "from the paper's text, experiment 3: time for a fixed computation",
            ),
        ],
        remarks: &["10 000 frames at 100 ms, 400 times"],
        file: include_str!("../../data/mahmud2014-table-2.csv"),
    },
    Entry {
        id: "mahmud2014/table-3",
        title: "Cycle times of industrial control applications",
        citation: &MAHMUD,
        place: "table III",
        quantity: Quantity::Limit,
        profile: None,
        columns: &[
            words("application", "application", "the application class"),
            number("cycle_from", "cycle from", MS, "the shortest cycle"),
            number("cycle_to", "cycle to", MS, "the longest cycle; empty where it is open"),
        ],
        remarks: &["the text speaks of 5 to 10 ms for fast control loops"],
        file: include_str!("../../data/mahmud2014-table-3.csv"),
    },
];

const CLOCK_BOARD: &str = "10 000 interrupts of a clock board at 10 ms, which counts in steps of \
                           10 ns since its interrupt";

/// All tables with their rows.
pub(super) fn read() -> Vec<Table> {
    ENTRIES.iter().map(Entry::table).collect()
}

impl Entry {
    fn table(&self) -> Table {
        let mut lines = self.file.lines();
        let heading = lines.next().unwrap_or_default();
        assert!(
            heading.split(',').eq(self.columns.iter().map(|column| column.key)),
            "the heading of a data file names the columns of its table"
        );
        let rows: Vec<Vec<Cell>> = lines
            .map(|line| line.split(',').map(|field| Cell(field.to_owned())).collect())
            .collect();
        assert!(
            rows.iter().all(|row| row.len() == self.columns.len()),
            "a row of a data file has a field for each column"
        );
        Table {
            id: self.id,
            title: self.title,
            citation: self.citation,
            place: self.place,
            quantity: self.quantity,
            profile: self.profile,
            columns: self.columns,
            rows,
            remarks: self.remarks,
        }
    }
}
