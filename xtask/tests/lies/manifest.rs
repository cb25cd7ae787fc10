//! Lies in the manifest and the site file: what was asked for.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::edit::{Lie, change, lie, put, set};
use crate::sample;

const MANIFEST: &str = "manifest.json";

pub(crate) fn lies() -> Vec<Lie> {
    let mut lies = vec![
        set("a looser exceedance", MANIFEST, "/exceedance", json!(0.1)),
        set("a site of another name", MANIFEST, "/name", json!("other")),
        set("another sum of the site file", MANIFEST, "/site_sha256", json!("5e".repeat(32))),
        set("no sum of the site file", MANIFEST, "/site_sha256", json!("")),
        set("an easier class", MANIFEST, "/declared/axis", json!("process-control")),
        lie("no class declared", |root| {
            change(root, MANIFEST, |manifest| {
                manifest["declared"].as_object_mut().unwrap().remove("axis");
            });
        }),
        set("a class declared for nobody", MANIFEST, "/declared/nobody", json!("process-control")),
        lie("a wider latency limit", |root| {
            of_class(root, "fast-control-loop", "cycle_ns", json!(90_000_000_u64));
        }),
        lie("a wider jitter limit", |root| {
            of_class(root, "motion-control", "jitter_ns", json!(90_000_000_u64));
        }),
        lie("another definition of jitter", |root| {
            of_class(root, "motion-control", "jitter_definition", json!("successive"));
        }),
        lie("misses that a class does not bear", |root| {
            let firm = json!({"kind": "firm", "survival_cycles": 1_000});
            of_class(root, "motion-control", "strictness", firm);
        }),
        lie("another source of a class", |root| {
            of_class(root, "motion-control", "source", json!("IEC 61131, table 99"));
        })
        .beyond(),
        lie("a class that does not exist", |root| {
            change(root, MANIFEST, |manifest| {
                let mut class = manifest["classes"][0].clone();
                class["name"] = json!("anything");
                put(manifest, "/classes/-", class);
            });
        }),
        lie("a class twice", |root| {
            change(root, MANIFEST, |manifest| {
                let class = manifest["classes"][0].clone();
                put(manifest, "/classes/-", class);
            });
        }),
        set("an import", MANIFEST, "/origin", json!("import")),
        set("a probe", MANIFEST, "/origin", json!("probe")),
        set("a shorter length", MANIFEST, "/length", json!({ "cycles": 1000 })),
        set("a longer length", MANIFEST, "/length", json!({ "duration": 60_000_000_000_u64 })),
        set("a length of nothing", MANIFEST, "/length", json!({ "cycles": 0 })),
        set("a profile of no site", MANIFEST, "/profiles/0/0", json!("tp9")),
        set("a profile with another description", MANIFEST, "/profiles/0/1", json!("full load"))
            .beyond(),
        set("a limit that was not there", MANIFEST, "/limits", json!(["nothing"])).beyond(),
        set(
            "another start of the campaign",
            MANIFEST,
            "/started_at",
            json!("2020-01-01T00:00:00Z"),
        )
        .beyond(),
        set("a start after the records", MANIFEST, "/started_at", json!("2027-01-01T00:00:00Z")),
        set("another version", MANIFEST, "/quietcore_version", json!("9.9.9")).beyond(),
        set("another folder of the site file", MANIFEST, "/site_folder", json!("/srv/line"))
            .beyond(),
        set("another schema", MANIFEST, "/schema", json!("quietcore.manifest/9")),
        set("a campaign that did not end", MANIFEST, "/complete", json!(false)).beyond(),
    ];
    lies.extend(not_measured());
    lies.extend(site());
    lies
}

/// Takes away what says which records there must be, with the record that fails.
fn as_without_a_plan(root: &Path, origin: &str) {
    for file in ["site.toml", "doctor.json", sample::RECORD] {
        fs::remove_file(root.join(file)).unwrap();
    }
    change(root, MANIFEST, |manifest| manifest["origin"] = json!(origin));
}

fn of_class(root: &Path, name: &str, key: &str, value: serde_json::Value) {
    change(root, MANIFEST, |manifest| {
        let classes = manifest["classes"].as_array_mut().unwrap();
        classes.iter_mut().find(|class| class["name"] == name).unwrap()[key] = value;
    });
}

fn not_measured() -> Vec<Lie> {
    let missing = |partition: &str, reserved: bool| {
        json!({
            "partition": partition, "profile": "tp4", "reserved": reserved,
            "because": "it was not chosen on the command line",
        })
    };
    let (without, nobody, told) =
        (missing("axis", false), missing("nobody", true), missing("axis", true));
    vec![
        lie("the failing record away, as if its profile kept nothing", move |root| {
            fs::remove_file(root.join(sample::RECORD)).unwrap();
            change(root, MANIFEST, |it| put(it, "/not_measured/-", without.clone()));
        }),
        lie("something not measured of a partition that is not there", move |root| {
            change(root, MANIFEST, |it| put(it, "/not_measured/-", nobody.clone()));
        }),
        // It makes a FAIL to NOT PROVEN, and no PASS.
        lie("the failing record away, and said to be not measured", move |root| {
            fs::remove_file(root.join(sample::RECORD)).unwrap();
            change(root, MANIFEST, |it| put(it, "/not_measured/-", told.clone()));
        })
        .beyond(),
        lie("a campaign that failed, as a probe without the failing record", |root| {
            as_without_a_plan(root, "probe");
        }),
        lie("a campaign that failed, as an import without the failing record", |root| {
            as_without_a_plan(root, "import");
        }),
        lie("a profile and its records away", |root| {
            change(root, MANIFEST, |it| {
                it["profiles"].as_array_mut().unwrap().retain(|profile| profile[0] != "tp4");
            });
            for name in ["axis.tp4.cpu1", "press.tp4.cycle", "press.tp4.Sort"] {
                fs::remove_file(root.join(format!("records/{name}.json"))).unwrap();
            }
        }),
    ]
}

fn site() -> Vec<Lie> {
    let replace = |name, from: &'static str, to: &'static str| {
        lie(name, move |root| {
            let changed = sample::SITE.replace(from, to);
            assert_ne!(changed, sample::SITE);
            fs::write(root.join("site.toml"), changed).unwrap();
        })
    };
    vec![
        replace("a site file with an easier class", "fast-control-loop", "process-control"),
        replace("a site file with a looser exceedance", "1e-2", "1e-1"),
        replace("a site file with fewer profiles", "\"tp2\", \"tp4\"", "\"tp2\""),
        replace("a site file with a comment more", "[site]", "# reviewed\n[site]"),
        replace("a site file that is none", "[site]", "[sight]"),
        lie("no site file", |root| fs::remove_file(root.join("site.toml")).unwrap()),
        // Everything that names the site file is made to fit.
        lie("another site file with its sum everywhere", |root| {
            let changed = sample::SITE.replace("fast-control-loop", "process-control");
            fs::write(root.join("site.toml"), &changed).unwrap();
            new_site_sum(root, &changed);
        }),
        lie("another site file with its sum and its classes everywhere", |root| {
            let changed = sample::SITE.replace("fast-control-loop", "process-control");
            fs::write(root.join("site.toml"), &changed).unwrap();
            new_site_sum(root, &changed);
            change(root, MANIFEST, |it| put(it, "/declared/axis", json!("process-control")));
        })
        .beyond(),
    ]
}

fn new_site_sum(root: &Path, site: &str) {
    use sha2::Digest as _;
    let sum: String = sha2::Sha256::digest(site).iter().map(|it| format!("{it:02x}")).collect();
    change(root, MANIFEST, |it| put(it, "/site_sha256", json!(sum.clone())));
    for entry in fs::read_dir(root.join("records")).unwrap() {
        let file = format!("records/{}", entry.unwrap().file_name().to_string_lossy());
        change(root, &file, |it| put(it, "/conditions/site_sha256", json!(sum.clone())));
    }
}
