//! All scalars of a program, one after the other.

use crate::place::VariableLocation;
use crate::symbols::pattern::{PathPart, Pattern, matches_name};
use crate::symbols::resolve::Spot;
use crate::symbols::types::Shape;
use crate::symbols::{Root, Symbols};

/// The scalars that a pattern chooses, roots by name and parts in the order of declaration.
///
/// It walks as far as it is asked to and holds one position a level, so the length of an array
/// costs nothing until its elements are taken.
#[derive(Debug)]
pub struct Leaves<'a> {
    symbols: &'a Symbols,
    pattern: Option<&'a Pattern>,
    roots: std::slice::Iter<'a, Root>,
    root: Option<&'a Root>,
    stack: Vec<Level>,
    path: String,
    left: usize,
}

/// One level of the walk: a structure or array, and the part that comes next.
#[derive(Debug)]
struct Level {
    spot: Spot,
    path_bytes: usize,
    next: u64,
    end: u64,
}

impl Symbols {
    /// The scalars that `filter` chooses, or all, `limit` at most.
    pub fn leaves<'a>(&'a self, filter: Option<&'a Pattern>, limit: usize) -> Leaves<'a> {
        Leaves {
            symbols: self,
            pattern: filter,
            roots: self.roots().iter(),
            root: None,
            stack: Vec::new(),
            path: String::new(),
            left: limit,
        }
    }
}

impl Iterator for Leaves<'_> {
    type Item = (String, VariableLocation);

    fn next(&mut self) -> Option<(String, VariableLocation)> {
        if self.left == 0 {
            return None;
        }
        loop {
            let found = if self.stack.is_empty() { self.enter_root()? } else { self.advance() };
            if let Some(place) = found {
                self.left -= 1;
                return Some((self.path.clone(), place));
            }
        }
    }
}

impl Leaves<'_> {
    /// Returns `true` if the walk ended at its limit and not, or not only, at its end.
    pub(crate) fn is_cut(&self) -> bool {
        self.left == 0
    }

    /// Goes to the next chosen root; `None` after the last.
    fn enter_root(&mut self) -> Option<Option<VariableLocation>> {
        let chosen = |root: &Root| match self.pattern.and_then(|pattern| pattern.part(0)) {
            Some(PathPart::Name(name)) => matches_name(name, &root.name),
            _ => true,
        };
        let root = self.roots.by_ref().find(|root| chosen(root))?;
        self.root = Some(root);
        self.path.clone_from(&root.name);
        Some(self.enter(Spot::of_root(root)))
    }

    /// Takes a scalar, or goes one level down and takes nothing.
    fn enter(&mut self, spot: Spot) -> Option<VariableLocation> {
        let root = self.root.expect("a walk is inside of a root");
        let depth = self.stack.len() + 1;
        let part = self.pattern.and_then(|pattern| pattern.part(depth));
        let (next, end) = match (self.symbols.shape(spot.shape), part) {
            (Shape::Scalar(_), None) => {
                return self.symbols.place(root.access, root.memory, spot);
            }
            (Shape::Structure { members, .. }, None | Some(PathPart::Name(_))) => {
                (0, members.len() as u64)
            }
            (Shape::Array { length, .. }, None | Some(PathPart::AnyIndex)) => (0, *length),
            (Shape::Array { length, .. }, Some(PathPart::Index(index))) if index < length => {
                (*index, *index + 1)
            }
            _ => return None,
        };
        // Elements without scalars would be walked for nothing, a billion of them too.
        if self.symbols.scalar_count(spot.shape) == 0 {
            return None;
        }
        self.stack.push(Level { spot, path_bytes: self.path.len(), next, end });
        None
    }

    /// Goes to the next part of the innermost level, or leaves the level.
    fn advance(&mut self) -> Option<VariableLocation> {
        let depth = self.stack.len();
        let level = self.stack.last_mut().expect("the caller found a level");
        self.path.truncate(level.path_bytes);
        if level.next == level.end {
            self.stack.pop();
            return None;
        }
        let (index, spot) = (level.next, level.spot);
        level.next += 1;
        match self.symbols.shape(spot.shape) {
            Shape::Structure { members, .. } => {
                let member = &members[usize::try_from(index).expect("an index of a list")];
                let part = self.pattern.and_then(|pattern| pattern.part(depth));
                if matches!(part, Some(PathPart::Name(name)) if !matches_name(name, &member.name)) {
                    return None;
                }
                self.path.extend([".", &member.name]);
                self.enter(spot.member(member))
            }
            Shape::Array { element, .. } => {
                self.path.push_str(&format!("[{index}]"));
                let bytes = self.symbols.shape(*element).bytes();
                self.enter(spot.element(*element, bytes, index))
            }
            Shape::Scalar(_) | Shape::Opaque { .. } => unreachable!("a level has parts"),
        }
    }
}
