//! The variables of a program: their paths, types and places, against what the program itself does.

use quietcore_program::symbols::{Pattern, Symbols};
use quietcore_program::{Access, Memory, Scalar};

use crate::support::{build_files, build_model};

#[test]
fn every_shape_of_data_has_paths_that_lead_to_it() {
    need_compiler!();
    let program = build_model("shapes");
    let answers = program.run(&[
        "remap",
        "init",
        "shapes_DW.ready?",
        "step:0:2",
        "shapes_DW.channels[1].Gain?",
        "shapes_DW.channels[2].Gain?",
        "shapes_DW.matrix[1][1]?",
        "shapes_DW.matrix[0][1]?",
        "shapes_DW.mode?",
        "shapes_DW.ready?",
        "shapes_DW.phase?",
        "shapes_DW.error?",
        "shapes_DW.overlay.word?",
        "shapes_DW.overlay.bytes[0]?",
        "shapes_DW.ticks?",
        "shapes_DW.flag?",
        "shapes_DW.name[0]?",
        "shapes_step::calls?",
    ]);
    // The sum of both variables called `gain` and of `only_here`: 3 + 11 + 4.
    assert_eq!(
        answers,
        [
            "1",
            "1.25",
            "0.0",
            "1.0",
            "0.0",
            "Mode_Following",
            "1",
            "6",
            "-5",
            "18",
            "18",
            "-2",
            "true",
            "113",
            "2"
        ]
    );
}

/// Goal: setting a bit field leaves its neighbours alone, and statics of one name are apart.
#[test]
fn what_is_set_is_what_was_named() {
    need_compiler!();
    let program = build_model("shapes");
    let answers = program.run(&[
        "init",
        "shapes_DW.error=-2048",
        "shapes_DW.phase=5",
        "shapes_DW.ready?",
        "shapes_DW.phase?",
        "shapes_DW.error?",
        "shapes_DW.ready=0",
        "shapes_DW.phase?",
        "shapes_DW.mode=Mode_Fault",
        "shapes_DW.mode?",
        "shapes::gain=100",
        "other::gain=1000",
        "only_here=0",
        "step:0:1",
        "shapes_DW.overlay.word?",
    ]);
    assert_eq!(answers, ["1", "5", "-2048", "5", "Mode_Fault", "1100"]);
}

#[test]
fn a_place_says_what_a_variable_is() {
    need_compiler!();
    let program = build_model("shapes");
    let symbols = &program.built.symbols;
    let mode = symbols.resolve("shapes_DW.mode").unwrap();
    assert_eq!((mode.memory, mode.access, mode.writable), (Memory::Data, Access::State, true));
    let Scalar::Enum(enumeration) = &mode.scalar else { panic!("{mode:?}") };
    assert_eq!((enumeration.name.as_str(), enumeration.signed), ("Mode", true));

    let constant = symbols.resolve("shapes_table[1]").unwrap();
    assert_eq!((constant.memory, constant.writable), (Memory::Constant, false));
    let value = program.built.constant(&constant).unwrap().unwrap();
    assert_eq!(value.to_string(), "-2.5");
    let error = constant.encode_text("1").unwrap_err().to_string();
    assert_eq!(error, "a variable of type f64 cannot be written; it is a constant of the program");

    let address = symbols.resolve("shapes_DW.selected").unwrap();
    assert_eq!((&address.scalar, address.writable), (&Scalar::Address, false));
    assert!(symbols.resolve("shapes_DW.wide").unwrap_err().to_string().contains("cannot be shown"));
}

#[test]
fn a_wrong_path_is_answered_with_the_nearest_right_one() {
    need_compiler!();
    let program = build_model("plain");
    let text = |path: &str| program.built.symbols.resolve(path).unwrap_err().to_string();
    assert_eq!(text("plain_P.gain"), "there is no `gain` in `plain_P`; perhaps `Gain`");
    assert_eq!(text("Gain"), "there is no `Gain` in the program; perhaps `plain_P.Gain`");
    assert_eq!(
        text("plan_DW.Steps"),
        "there is no `plan_DW` in the program; perhaps `plain_DW`, `plain_B`, `plain_M`"
    );
    assert_eq!(text("plain_P.Table[4]"), "`plain_P.Table` has 4 elements, 0 to 3; there is no [4]");
    assert_eq!(
        text("plain_P.Table"),
        "`plain_P.Table` is an array of 4; perhaps `plain_P.Table[0]`"
    );
    assert_eq!(
        text("plain_P"),
        "`plain_P` is a structure `P_plain_T`; perhaps `plain_P.Gain`, `plain_P.Table`"
    );
    assert_eq!(text("plain_P.Gain.x"), "`plain_P.Gain` is a single f64 and has no part `.x`");
    assert_eq!(
        text("plain_P.Table[x]"),
        "`plain_P.Table[x]` is no path: at position 14 an index is no number; write it like \
         `servo_DW.filter[2]`"
    );
    assert_eq!(
        text("plain_P..x"),
        "`plain_P..x` is no path: at position 8 a name is missing; write it like \
         `servo_DW.filter[2]`"
    );
}

#[test]
fn patterns_choose_variables_and_all_inside_of_them() {
    need_compiler!();
    let program = build_model("shapes");
    let chosen = |pattern: &str| -> Vec<String> {
        let pattern = Pattern::parse(pattern).unwrap();
        let leaves = program.built.symbols.leaves(Some(&pattern), 4);
        leaves.map(|(path, _)| path).collect()
    };
    assert_eq!(
        chosen("shapes_DW.channels[*].Gain"),
        ["shapes_DW.channels[0].Gain", "shapes_DW.channels[1].Gain", "shapes_DW.channels[2].Gain"]
    );
    assert_eq!(
        chosen("shapes_DW.channels[1]"),
        ["shapes_DW.channels[1].Gain", "shapes_DW.channels[1].Offset"]
    );
    assert_eq!(chosen("shapes_DW.*[1][2]"), ["shapes_DW.matrix[1][2]"]);
    assert_eq!(chosen("shapes_table"), ["shapes_table[0]", "shapes_table[1]"]);
    assert_eq!(chosen("*::gain"), ["other::gain", "shapes::gain"]);
    assert_eq!(
        chosen("shapes_DW.m*"),
        [
            "shapes_DW.matrix[0][0]",
            "shapes_DW.matrix[0][1]",
            "shapes_DW.matrix[0][2]",
            "shapes_DW.matrix[1][0]"
        ]
    );
    assert_eq!(chosen("nothing.*"), Vec::<String>::new());
}

/// Goal: every path that is listed resolves to the place that it was listed with, and back.
#[test]
fn listed_paths_resolve_and_places_have_names() {
    need_compiler!();
    for name in ["shapes", "plain", "passed", "reusable"] {
        let program = build_model(name);
        let symbols = &program.built.symbols;
        let mut count = 0;
        for (path, place) in symbols.leaves(None, usize::MAX) {
            assert_eq!(symbols.resolve(&path).unwrap(), place, "{path}");
            count += 1;
            if place.memory == Memory::Data && place.bit.is_none() {
                let found = symbols.name_at(place.offset).unwrap();
                // Of a union the first member that lies there is named.
                let expected = path.replace("overlay.bytes[0]", "overlay.word");
                let is_inside = path.contains("overlay.bytes[");
                assert!(is_inside || found == expected, "{path}: {found}");
            }
        }
        assert_eq!(count, symbols.leaf_count());
    }
}

#[test]
fn symbols_are_the_same_when_they_are_read_back() {
    need_compiler!();
    let program = build_model("shapes");
    let again = Symbols::load(&program.built.symbols_file).unwrap();
    assert_eq!(again, program.built.symbols);
    let text = String::from_utf8(again.to_json()).unwrap();
    let other = text.replace("quietcore.symbols/1", "quietcore.symbols/9");
    let error = Symbols::from_json(other.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("the schema is `quietcore.symbols/9`"), "{error}");
}

/// Goal: a large array costs what is taken from it, not what it holds.
#[test]
fn a_million_variables_are_not_expanded() {
    need_compiler!();
    let program = build_files(&[(
        "big.c",
        "struct { struct { double a; int b[4]; } cells[1000][1000]; } big_DW;\n\
         void big_initialize(void) { }\nvoid big_step(void) { big_DW.cells[0][0].a += 1; }\n",
    )]);
    let symbols = &program.built.symbols;
    assert_eq!(symbols.leaf_count(), 5_000_000);
    assert!(symbols.to_json().len() < 4096, "{}", symbols.to_json().len());
    assert_eq!(symbols.leaves(None, 10).count(), 10);
    let pattern = Pattern::parse("big_DW.cells[999][999].b[3]").unwrap();
    let (path, place) = symbols.leaves(Some(&pattern), 10).next().unwrap();
    assert_eq!(path, "big_DW.cells[999][999].b[3]");
    assert_eq!(symbols.name_at(place.offset).unwrap(), path);
}
