//! `like`: an element that takes from another what it doesn't say itself.

use crate::reading::collector::Collector;
use crate::reading::place::Path;

/// Names that the report of a circle shows.
const CIRCLE_NAMES_MAX: usize = 8;

/// The end of a chain of `like`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// The elements from the first to the last one that has no own `like` beyond it, and the known
    /// name outside the file that the last one is like.
    Complete { elements: Vec<usize>, base: Option<String> },
    /// The elements of a circle that can be reached.
    Circle(Vec<usize>),
    /// An element is like something that doesn't exist or has no readable name.
    Broken,
}

/// The references that chains are computed from.
pub(super) struct Likes<'l> {
    /// Name and `like` of each element.
    pub(super) elements: Vec<(Option<&'l str>, Option<&'l str>)>,
    /// Names that exist outside the file.
    pub(super) known: Vec<&'l str>,
}

impl Likes<'_> {
    /// Follows `like` from an element. It ends after at most as many steps as there are elements.
    pub(super) fn chain(&self, start: usize) -> Chain {
        let mut elements = vec![start];
        let mut last = start;
        loop {
            let Some(like) = self.elements[last].1 else {
                return Chain::Complete { elements, base: None };
            };
            if self.known.contains(&like) {
                let base = Some(like.to_owned());
                return Chain::Complete { elements, base };
            }
            let Some(next) = self.find(like) else {
                return Chain::Broken;
            };
            if let Some(entry) = elements.iter().position(|element| *element == next) {
                return Chain::Circle(elements.split_off(entry));
            }
            elements.push(next);
            last = next;
        }
    }

    /// Reports the `like` of an element if it leads into a circle or to nothing. `path` leads to
    /// the element; `remedy` says what would be right in place of an unknown name.
    pub(super) fn report(
        &self,
        index: usize,
        what: &str,
        path: &Path,
        collector: &mut Collector<'_, '_>,
        remedy: impl FnOnce(&str, Vec<&str>) -> String,
    ) {
        let Some(like) = self.elements[index].1 else {
            return;
        };
        let path = path.key("like");
        if let Chain::Circle(circle) = self.chain(index) {
            if let Some(names) = self.circle_from(index, &circle) {
                collector.refuse(
                    &path,
                    format!("`like` runs in a circle: {names}"),
                    "let one of them stand on its own",
                );
            }
            return;
        }
        let own = self.elements.iter().filter_map(|(name, _)| *name);
        let names: Vec<_> = self.known.iter().copied().chain(own).collect();
        if !names.contains(&like) {
            let problem = format!("there is no {what} `{like}`");
            collector.refuse(&path, problem, remedy(like, names));
        }
    }

    /// The names of a circle as `a → b → a`, if `start` is where it is to be reported.
    fn circle_from(&self, start: usize, circle: &[usize]) -> Option<String> {
        if circle.iter().min() != Some(&start) {
            return None;
        }
        // A circle is entered where its first element is, so `start` may stand anywhere in it.
        let at = circle.iter().position(|element| *element == start)?;
        let mut names: Vec<_> = circle[at..]
            .iter()
            .chain(&circle[..=at])
            .filter_map(|element| self.elements[*element].0)
            .collect();
        if names.len() > CIRCLE_NAMES_MAX {
            names.splice(CIRCLE_NAMES_MAX - 2..names.len() - 1, ["…"]);
        }
        Some(names.join(" → "))
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.elements.iter().position(|(own, _)| *own == Some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likes(elements: &[(&'static str, &'static str)]) -> Likes<'static> {
        Likes {
            elements: elements
                .iter()
                .map(|(name, like)| (Some(*name), Some(*like).filter(|like| !like.is_empty())))
                .collect(),
            known: vec!["base"],
        }
    }

    #[test]
    fn a_chain_ends_at_what_is_known_outside() {
        let likes = likes(&[("a", "b"), ("b", "base"), ("c", ""), ("d", "nothing")]);
        let complete = |elements: &[usize], base: Option<&str>| Chain::Complete {
            elements: elements.to_vec(),
            base: base.map(str::to_owned),
        };
        assert_eq!(likes.chain(0), complete(&[0, 1], Some("base")));
        assert_eq!(likes.chain(2), complete(&[2], None));
        assert_eq!(likes.chain(3), Chain::Broken);
    }

    #[test]
    fn a_circle_is_reported_once_with_its_names() {
        let likes = likes(&[("x", "a"), ("b", "a"), ("a", "b"), ("self", "self")]);
        let reports: Vec<_> = (0..4)
            .filter_map(|start| match likes.chain(start) {
                Chain::Circle(circle) => likes.circle_from(start, &circle),
                _ => None,
            })
            .collect();
        assert_eq!(reports, ["b → a → b", "self → self"]);
    }

    #[test]
    fn a_large_circle_is_shortened() {
        let elements: Vec<_> = (0..100)
            .map(|index| (format!("c{index}"), format!("c{}", (index + 1) % 100)))
            .collect();
        let likes = Likes {
            elements: elements
                .iter()
                .map(|(name, like)| (Some(name.as_str()), Some(like.as_str())))
                .collect(),
            known: Vec::new(),
        };
        let Chain::Circle(circle) = likes.chain(0) else {
            panic!("a circle is expected");
        };
        let report = likes.circle_from(0, &circle).unwrap();
        assert_eq!(report, "c0 → c1 → c2 → c3 → c4 → c5 → … → c0");
    }
}
