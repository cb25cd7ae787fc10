//! Values that go over into a changed program, or back into a restarted one.

use quietcore_program::carry::{CarryPlan, OldData, carry_over};
use quietcore_program::retain::RetainError;
use quietcore_program::symbols::Pattern;
use quietcore_program::{Build, RetainLayout, Value};
use quietcore_units::Causes;

use crate::support::{Program, build_files};

const ENTRY: &str = "\nvoid m_initialize(void) { }\nvoid m_step(void) { }\n";

fn program(declarations: &str) -> Program {
    build_files(&[("m.c", &format!("{declarations}{ENTRY}"))])
}

/// The data of a program with some variables set.
fn data(build: &Build, values: &[(&str, &str)]) -> Vec<u8> {
    let mut data = build.initial_data().unwrap();
    for (path, text) in values {
        let place = build.symbols.resolve(path).unwrap();
        let value = place.encode_text(text).unwrap();
        let (at, bytes) = (place.offset as usize, place.bytes());
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&data[at..at + bytes]);
        let word = (u64::from_le_bytes(word) & !place.mask()) | value;
        data[at..at + bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
    }
    data
}

fn get(build: &Build, data: &[u8], path: &str) -> String {
    let place = build.symbols.resolve(path).unwrap();
    let value: Option<Value> = place.decode(&data[place.offset as usize..]);
    value.unwrap().to_string()
}

/// The new program's data after the copies of a plan.
fn apply(plan: &CarryPlan, from: &[u8], new: &Build) -> Vec<u8> {
    let mut to = new.initial_data().unwrap();
    for copy in &plan.copies {
        let bytes = copy.bytes as usize;
        let source = &from[copy.from as usize..][..bytes];
        to[copy.to as usize..][..bytes].copy_from_slice(source);
    }
    to
}

/// Carries the given values over from one program to another; the answers are the new ones.
fn carried(
    old: &Program,
    new: &Program,
    set: &[(&str, &str)],
    asked: &[&str],
) -> (Vec<String>, CarryPlan) {
    let current = data(&old.built, set);
    let initial = old.built.initial_data().unwrap();
    let old_data = OldData { initial: &initial, current: &current };
    let plan = carry_over(&old.built.symbols, &new.built.symbols, old_data, None);
    let result = apply(&plan, &current, &new.built);
    for pair in plan.copies.windows(2) {
        assert!(pair[0].to + pair[0].bytes <= pair[1].to, "{pair:?}");
    }
    (asked.iter().map(|path| get(&new.built, &result, path)).collect(), plan)
}

fn reasons(plan: &CarryPlan) -> Vec<String> {
    plan.not_carried.iter().map(|it| format!("{}: {}", it.path, it.why)).collect()
}

#[test]
fn states_are_carried_by_name_wherever_they_have_moved() {
    need_compiler!();
    let old = program("struct { double a; int filter[3]; } m_DW; int m_count;");
    let new = program(
        "double m_before[9]; struct { int filter[3]; char fresh; double a; } m_DW; int m_count = \
         5;",
    );
    let set =
        [("m_DW.a", "1.5"), ("m_DW.filter[0]", "7"), ("m_DW.filter[2]", "9"), ("m_count", "8")];
    let (answers, plan) = carried(
        &old,
        &new,
        &set,
        &["m_DW.a", "m_DW.filter[0]", "m_DW.filter[2]", "m_count", "m_DW.fresh"],
    );
    assert_eq!(answers, ["1.5", "7", "9", "8", "0"]);
    assert_eq!((plan.carried, plan.not_carried.len()), (5, 0));
    assert_eq!(plan.fresh, ["m_before"]);
}

#[test]
fn an_unchanged_structure_is_one_copy() {
    need_compiler!();
    let old = program("struct { double a; char b; int c[100]; } m_DW;");
    let new = program("int m_more; struct { double a; char b; int c[100]; } m_DW;");
    let (_, plan) = carried(&old, &new, &[], &[]);
    assert_eq!((plan.copies.len(), plan.carried), (1, 102));
}

#[test]
fn what_has_another_type_starts_afresh_and_is_listed() {
    need_compiler!();
    let old = program(
        "enum E { E_A, E_B } m_e; struct { double gone; float number; int list[3]; } m_DW; int \
         m_x; int m_y;",
    );
    let new = program(
        "enum E { E_B, E_A } m_e; struct { double number; int list[4]; } m_DW; struct { int a; } \
         m_x; const int m_y = 1;",
    );
    let (answers, plan) =
        carried(&old, &new, &[("m_e", "E_B"), ("m_DW.number", "2")], &["m_e", "m_DW.number"]);
    assert_eq!(answers, ["E_B", "0.0"]);
    assert_eq!(plan.carried, 0);
    assert_eq!(
        reasons(&plan),
        [
            "m_DW.gone: the new build has none",
            "m_DW.number: it was f32 and is f64",
            "m_DW.list: it was an array of 3 and is an array of 4",
            "m_e: the values of E have changed",
            "m_x: it was a single i32 and is a structure",
            "m_y: it is a constant of the new build",
        ]
    );
}

/// Goal: a gain that was changed in the source takes effect, one that was tuned by hand stays.
#[test]
fn of_parameters_only_those_tuned_by_hand_are_carried() {
    need_compiler!();
    let text = |gain, tuned, table| {
        format!(
            "struct {{ double gain, tuned; int table[3]; }} m_P = {{ {gain}, {tuned}, {{ {table} \
             }} }};"
        )
    };
    let old = program(&text("1.0", "1.0", "1, 2, 3"));
    let new = program(&text("5.0", "6.0", "10, 20, 30"));
    let set = [("m_P.tuned", "2"), ("m_P.table[1]", "7")];
    let asked = ["m_P.gain", "m_P.tuned", "m_P.table[0]", "m_P.table[1]", "m_P.table[2]"];
    let (answers, plan) = carried(&old, &new, &set, &asked);
    assert_eq!(answers, ["5.0", "2.0", "10", "7", "30"]);
    assert_eq!((plan.carried, plan.not_carried.len()), (2, 0));
    assert_eq!(plan.tuned, ["m_P.tuned", "m_P.table[1]"]);
}

#[test]
fn addresses_stay_with_the_program_that_made_them() {
    need_compiler!();
    let old =
        program("int m_a; struct { int *at; int state; } m_DW = { &m_a, 0 }; void *m_list[4];");
    let (answers, plan) = carried(&old, &old, &[("m_DW.state", "4")], &["m_DW.state"]);
    assert_eq!(answers, ["4"]);
    assert_eq!((plan.carried, plan.not_carried.len()), (2, 0));
    let place = old.built.symbols.resolve("m_DW.at").unwrap();
    let touched = plan
        .copies
        .iter()
        .any(|copy| copy.to < place.offset + 8 && place.offset < copy.to + copy.bytes);
    assert!(!touched, "{:?}", plan.copies);
}

#[test]
fn bit_fields_are_carried_with_their_bytes_or_not_at_all() {
    need_compiler!();
    let old = program("struct { unsigned a : 3, b : 4; int c; } m_DW;");
    let moved = program("struct { int more; unsigned a : 3, b : 4; int c; } m_DW;");
    let set = [("m_DW.a", "5"), ("m_DW.b", "9"), ("m_DW.c", "3")];
    let asked = ["m_DW.a", "m_DW.b", "m_DW.c"];
    let (answers, plan) = carried(&old, &moved, &set, &asked);
    assert_eq!((answers, plan.not_carried.len()), (["5", "9", "3"].map(str::to_owned).to_vec(), 0));

    let widened = program("struct { unsigned a : 3, b : 5; int c; } m_DW;");
    let (answers, plan) = carried(&old, &widened, &set, &asked);
    assert_eq!(answers, ["0", "0", "3"]);
    assert_eq!(plan.not_carried.len(), 2);

    let joined = program("struct { unsigned a : 3, b : 4, stranger : 1; int c; } m_DW;");
    let (answers, _) = carried(&old, &joined, &set, &asked);
    assert_eq!(answers, ["0", "0", "3"]);
}

#[test]
fn unions_are_carried_whole_or_not_at_all() {
    need_compiler!();
    let old = program("union { double a; long b; } m_DW; union { int a; } m_other;");
    let new = program("union { double a; long b; } m_DW; union { int a; float b; } m_other;");
    let (answers, plan) = carried(&old, &new, &[("m_DW.a", "2.5")], &["m_DW.a"]);
    assert_eq!(answers, ["2.5"]);
    assert_eq!(reasons(&plan), ["m_other: a union has changed"]);
}

#[test]
fn patterns_restrict_what_is_carried() {
    need_compiler!();
    let old = program("struct { int a, b, c[2]; } m_DW;");
    let current = data(&old.built, &[("m_DW.a", "1"), ("m_DW.b", "2"), ("m_DW.c[1]", "3")]);
    let initial = old.built.initial_data().unwrap();
    let only = ["m_DW.b", "m_DW.c"].map(|text| Pattern::parse(text).unwrap());
    let symbols = &old.built.symbols;
    let old_data = OldData { initial: &initial, current: &current };
    let plan = carry_over(symbols, symbols, old_data, Some(&only));
    let result = apply(&plan, &current, &old.built);
    let answers = ["m_DW.a", "m_DW.b", "m_DW.c[1]"].map(|path| get(&old.built, &result, path));
    assert_eq!(answers, ["0", "2", "3"]);
}

fn retained(
    program: &Program,
    patterns: &[&str],
    limit: u32,
) -> Result<RetainLayout, Vec<(usize, String)>> {
    let patterns: Vec<Pattern> = patterns.iter().map(|it| Pattern::parse(it).unwrap()).collect();
    let layout = RetainLayout::new(&program.built.symbols, &patterns, limit);
    let told = |(number, error): (usize, RetainError)| (number, Causes(&error).to_string());
    layout.map_err(|errors| errors.into_iter().map(told).collect())
}

#[test]
fn retained_variables_keep_name_and_type_in_a_rebuild_that_moves_them() {
    need_compiler!();
    let old = program("struct { double a; int list[3]; char other; } m_DW;");
    let new = program("int m_more[7]; struct { int list[3]; double fresh; double a; } m_DW;");
    let of = |program, patterns: &[&str]| {
        let entries = retained(program, patterns, 100).unwrap().entries;
        entries.into_iter().map(|it| (it.path, it.kind, it.bytes)).collect::<Vec<_>>()
    };
    let entry = |path: &str, kind: &str, bytes| (path.to_owned(), kind.to_owned(), bytes);
    let both = [entry("m_DW.a", "f64", 8), entry("m_DW.list[0]", "i32", 12)];
    assert_eq!(of(&old, &["m_DW.list", "m_DW.a", "m_DW.l*"]), both);
    assert_eq!(of(&new, &["m_DW.a", "m_DW.list"]), both);
    let layout = retained(&new, &["m_DW.a"], 100).unwrap();
    assert_eq!(layout.entries[0].offset, new.built.symbols.resolve("m_DW.a").unwrap().offset);
}

#[test]
fn a_retained_variable_of_another_type_is_another_one() {
    need_compiler!();
    let kinds = |declarations: &str| {
        let entries = retained(&program(declarations), &["m_DW"], 100).unwrap().entries;
        entries.into_iter().map(|it| format!("{}: {}", it.path, it.kind)).collect::<Vec<_>>()
    };
    let on_off = kinds("struct { enum mode { OFF, ON } mode; float a; } m_DW;");
    assert_eq!(on_off, ["m_DW.a: f32", "m_DW.mode: mode u32 {OFF=0, ON=1}"]);
    let on_first = kinds("struct { enum mode { ON, OFF } mode; int a; } m_DW;");
    assert_eq!(on_first, ["m_DW.a: i32", "m_DW.mode: mode u32 {ON=0, OFF=1}"]);
}

#[test]
fn what_cannot_be_retained_is_told() {
    need_compiler!();
    let program =
        program("struct { int *at; unsigned bit : 1; int a; } m_DW; const int m_table = 3;");
    let unfit = |number: usize, pattern: &str, why: &str| {
        let text = format!(
            "`{pattern}` can't be retained: it is {why}; choose numbers of whole bytes \
             that the program can write"
        );
        (number, text)
    };
    assert_eq!(
        retained(&program, &["m_DW.b", "m_DW.a", "m_DW.bit", "m_DW.at", "m_table"], 100),
        Err(vec![
            (
                0,
                "`m_DW.b` chooses no variable of the program: there is no `b` in `m_DW`; perhaps \
                 `bit`"
                    .to_owned()
            ),
            unfit(2, "m_DW.bit", "a bit field"),
            unfit(3, "m_DW.at", "an address"),
            unfit(4, "m_table", "a constant"),
        ])
    );
    assert_eq!(
        retained(&program, &["m_DW"], 3),
        Err(vec![(0, "the retained variables need more than 3 bytes; choose fewer".to_owned())])
    );
    let layout = retained(&program, &["m_DW.a", "m_DW"], 100).unwrap();
    assert_eq!(layout.entries.len(), 1);
    let left_out: Vec<_> =
        layout.left_out.iter().map(|it| (it.chosen, it.path.as_str(), it.why)).collect();
    assert_eq!(left_out, [(1, "m_DW.at", "an address"), (1, "m_DW.bit", "a bit field")]);
}
