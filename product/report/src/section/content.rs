//! The content of a section as data: answers, tables, figures, remarks. Nothing here knows a page
//! or a terminal.

use std::ops::Not;

use maud::PreEscaped;
use quietcore_record::verdict::Verdict;
use serde::Serialize;

use crate::figures;

/// The content of a section; empty where the evidence has nothing of its kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Content {
    /// The answers, where the evidence is about nothing else, the most important first.
    pub answers: Vec<Answer>,
    /// The other parts, from top to bottom.
    pub blocks: Vec<Block>,
}

/// An answer in a sentence, with the figures that it rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// The class of the style sheet that colours it: a verdict's, or `neutral`.
    pub tone: &'static str,
    /// Subject of the answer.
    pub who: Vec<Span>,
    /// The verdict that it is; `None` where no class judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The answer itself, in a word or a sentence.
    pub word: String,
    /// `true` if the evidence suffices for a quick look only.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_quick_look: bool,
    /// The consequence for the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
    /// The reasons and conditions, a paragraph each.
    pub why: Vec<Vec<Span>>,
    /// The figures that it rests on; `None` where the sentence tells all.
    pub tiles: Option<Vec<Tile>>,
}

/// The tone of an answer that no class judges.
pub(crate) const NEUTRAL: &str = "neutral";

/// A figure that stands by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tile {
    /// Name of the figure.
    pub label: String,
    /// The figure with its unit.
    pub value: String,
    /// Its meaning and its conditions.
    pub note: String,
}

/// A part of a section, below the answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// A heading, with a remark on it.
    Heading(String, Option<String>),
    /// A heading below another one, with a remark on it, on the page.
    SubHeading(String, Option<String>),
    /// A paragraph of its own.
    Text(Vec<Span>),
    /// A paragraph that explains what stands around it.
    Remark(Vec<Span>),
    /// Facts, one line each, behind their names.
    Facts(Facts),
    /// A table of rows and columns.
    Table(Table),
    /// Terms of tables with their meanings, below them.
    Definitions(Vec<Definition>),
    /// A drawing with its words.
    Figure(Figure),
    /// Drawings that stand beside each other.
    Plots(Vec<Figure>),
    /// A command that goes on from here.
    Command(Command),
    /// Lines of a file or for a terminal, as they are.
    Listing(String),
    /// Text for readers who want to know how the figures come about.
    Prose(Vec<Paragraph>),
    /// Parts that a reader of the page opens and closes.
    Details(Details),
    /// Sources, numbered from 1.
    Sources(Vec<String>),
    /// The end of a group of blocks.
    Gap,
}

/// Parts below a summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Details {
    /// The words that stand for them while they are closed.
    pub title: String,
    /// `true` if they are open at first.
    pub is_open: bool,
    /// The parts, from top to bottom.
    pub blocks: Vec<Block>,
}

/// Named facts, laid out for a terminal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// Columns before a name.
    pub indent: usize,
    /// Columns of a name.
    pub width: usize,
    /// The facts, from top to bottom.
    pub facts: Vec<Fact>,
}

/// A value or a sentence behind a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its name; empty where it goes on from the one before.
    pub name: String,
    /// Its value with the unit, or a sentence.
    pub text: String,
    /// `true` for a value that programs read, such as a checksum.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_code: bool,
}

/// A table, whose first column names the row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// A description for readers who can't see it.
    pub name: String,
    /// The classes of its layout in the style sheet, where it is not `statistics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<&'static str>,
    /// The first column, which names the rows.
    pub lead: Column,
    /// Headings above those of the other columns on the page, each with the number of columns that
    /// it is above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<(String, usize)>,
    /// The others, from left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// Headings above groups of rows, each with the number of rows below it; together they have all
    /// rows, or there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<(String, usize)>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Heading of the column.
    pub name: String,
    /// The name where the page has no room for a table; empty for the heading.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub short: &'static str,
    /// A caption, where the heading does not tell all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// The fewest characters of its width.
    pub width: usize,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// Remarks below the heading, on the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
    /// `true` for a column that is there for comparison only.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_dim: bool,
}

/// The kind of the values of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers, which stand below each other by their last digits.
    #[default]
    Numbers,
    /// Words, which stand below each other by their first letters.
    Words,
    /// Reasons, which take several lines.
    Reasons,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The subject of the row.
    pub name: String,
    /// Marks that set it apart from other rows of the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subs: Vec<String>,
    /// An explanation of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// The definition of the name, by its `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defined: Option<&'static str>,
    /// Number of the source below the tables that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// `true` for the row that the site file declares.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_declared: bool,
    /// One cell for each column.
    pub cells: Vec<Cell>,
    /// `true` for a row without a value.
    pub is_dim: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its text, with the unit where the column has none.
    pub text: String,
    /// `true` for a number with a unit, which is aligned with others at its decimal point.
    pub is_quantity: bool,
    /// `true` for text with code between backticks.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_marked: bool,
    /// Its text line by line, where it has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Vec<Span>>,
    /// Further values of it, which the page has below.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Cell>,
    /// The source of a value that was not measured here; `None` for one that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The class of the style sheet that colours it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tone: Option<&'static str>,
    /// The verdict that its text is the word of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The reason for it, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// A term with its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// Identifier of the definition, in kebab case.
    pub id: &'static str,
    /// The term as tables write it.
    pub term: &'static str,
    /// The definition in one sentence, or a few.
    pub meaning: &'static str,
}

/// A drawing with its words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The class of its layout in the style sheet.
    pub layout: Option<&'static str>,
    /// The quantity, or the record, and the manner of the drawing; the latter may be empty.
    pub caption: Option<(String, String)>,
    /// The verdict on what is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Marks that set it apart from others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<&'static str>,
    /// `true` for a drawing that is there for comparison only.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_dim: bool,
    /// The kinds of marks: class of the style sheet, and word.
    pub legend: Vec<(String, String)>,
    /// A description, where the drawing may be wider than its place and scrolls.
    pub scrolls: Option<&'static str>,
    /// The drawing as SVG, or as a table of HTML.
    pub svg: String,
    /// The figures below it, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<String>,
}

/// A command for a terminal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Command {
    /// Anchor of the command on the page.
    pub anchor: &'static str,
    /// The purpose of the command.
    pub purpose: String,
    /// The words to type, on one line or several.
    pub command: String,
}

/// A part of a longer text about the method.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paragraph {
    /// Sentences of running text.
    Text(Vec<Span>),
    /// Words with their meanings.
    Glossary(Vec<(String, String)>),
}

/// A stretch of text with one look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// Text as it is.
    Plain(String),
    /// Text that is stressed.
    Bold(String),
    /// Text with code between backticks.
    Marked(String),
    /// The record that something was found in.
    Place(String),
    /// A link to a part of the page, by its anchor, with its words.
    Link(&'static str, &'static str),
}

impl Content {
    /// Returns `true` if there is nothing of the section's kind.
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.blocks.is_empty()
    }

    /// Adds a paragraph of plain text.
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Remark(vec![plain(text)]));
    }

    /// Adds a fact behind its name, to the facts before it if these have the same layout.
    pub(super) fn fact(&mut self, (indent, width): (usize, usize), name: &str, text: &str) {
        let fact = Fact::new(name, text);
        match self.blocks.last_mut() {
            Some(Block::Facts(facts)) if (facts.indent, facts.width) == (indent, width) => {
                facts.facts.push(fact);
            }
            _ => self.blocks.push(Block::Facts(Facts { indent, width, facts: vec![fact] })),
        }
    }

    /// Adds the reason why a record's numbers can't be trusted.
    pub(super) fn not_valid(&mut self, because: &impl ToString) {
        let because = Span::Marked(because.to_string());
        self.blocks.push(Block::Remark(vec![bold("Not valid: "), because, plain(".")]));
    }

    /// Adds the text about how the figures come about.
    pub(super) fn method(&mut self, paragraphs: Vec<Paragraph>) {
        self.blocks.push(Block::Heading("What is measured".to_owned(), None));
        self.blocks.push(Block::Prose(paragraphs));
    }
}

impl Block {
    /// Makes parts that are closed at first.
    pub(super) fn details(title: &str, blocks: Vec<Self>) -> Self {
        Self::Details(Details { title: title.to_owned(), is_open: false, blocks })
    }
}

impl Facts {
    /// Makes facts for a page, which lays them out itself.
    pub(super) fn of_page(facts: Vec<Fact>) -> Self {
        Self { indent: 0, width: 0, facts }
    }
}

impl Fact {
    /// Makes a fact of words.
    pub(super) fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), is_code: false }
    }
}

impl Table {
    /// Returns `true` if its rows have names, and so a first column.
    pub(super) fn has_names(&self) -> bool {
        !self.lead.name.is_empty() || self.rows.iter().any(|row| !row.name.is_empty())
    }
}

impl Tile {
    /// Makes a figure with its meaning.
    pub(super) fn new(label: &str, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { label: label.to_owned(), value: value.into(), note: note.into() }
    }
}

impl Column {
    /// Makes a column without a caption.
    pub(super) fn new(name: impl Into<String>, width: usize) -> Self {
        Self { name: name.into(), width, ..Self::default() }
    }

    /// Makes columns of one width.
    pub(super) fn all<const N: usize>(names: [&str; N], width: usize) -> Vec<Self> {
        names.map(|name| Self::new(name, width)).into()
    }

    /// Makes a column of words.
    pub(super) fn words(name: impl Into<String>, width: usize) -> Self {
        Self { kind: ColumnKind::Words, ..Self::new(name, width) }
    }

    /// Makes a column of reasons, for the page.
    pub(super) fn reasons(name: impl Into<String>) -> Self {
        Self { kind: ColumnKind::Reasons, ..Self::new(name, 0) }
    }

    /// Adds a remark below the heading.
    pub(super) fn below(mut self, below: impl Into<String>) -> Self {
        self.below.push(below.into());
        self
    }

    /// Gives it a name for pages without room for a table.
    pub(super) fn short(self, short: &'static str) -> Self {
        Self { short, ..self }
    }

    /// Adds a caption that explains the values.
    pub(super) fn meaning(self, meaning: impl Into<String>) -> Self {
        Self { meaning: Some(meaning.into()), ..self }
    }
}

impl Cell {
    /// Makes a cell of text without a unit.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Makes a cell of a number with its unit.
    pub(super) fn quantity(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_quantity: true, ..Self::default() }
    }

    /// Makes a cell of text with code between backticks.
    pub(super) fn marked(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_marked: true, ..Self::default() }
    }

    /// Makes a cell of several lines.
    pub(super) fn lines(lines: Vec<Vec<Span>>) -> Self {
        let words: Vec<String> = lines.iter().map(|line| words(line)).collect();
        Self { text: words.join("; "), lines, ..Self::default() }
    }

    /// Gives it a class of the style sheet: `pass`, `fail` or `neutral`.
    pub(super) fn tone(self, tone: &'static str) -> Self {
        Self { tone: Some(tone), ..self }
    }

    /// Makes a cell of a verdict with its reason.
    pub(super) fn verdict(verdict: Verdict, because: impl Into<String>) -> Self {
        let because = Some(because.into());
        Self { text: verdict.to_string(), verdict: Some(verdict), because, ..Self::default() }
    }

    /// Makes a cell of a time in ns with its unit, or of a dash.
    pub(super) fn time(value_ns: Option<f64>) -> Self {
        Self::quantity(figures::or_dash(value_ns, figures::nanos_f64))
    }
}

impl Row {
    /// Makes a row without marks and explanations.
    pub(super) fn new(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { name: name.into(), cells, ..Self::default() }
    }
}

impl Figure {
    /// Makes a drawing without words.
    pub(super) fn new(svg: PreEscaped<String>) -> Self {
        Self {
            layout: None,
            caption: None,
            verdict: None,
            tags: Vec::new(),
            is_dim: false,
            legend: Vec::new(),
            scrolls: None,
            svg: svg.0,
            numbers: Vec::new(),
        }
    }
}

/// Returns the text of some stretches without their looks.
pub(super) fn words(spans: &[Span]) -> String {
    let text = |span: &Span| match span {
        Span::Plain(text) | Span::Bold(text) | Span::Marked(text) => text.clone(),
        Span::Link(_, words) => (*words).to_owned(),
        Span::Place(text) => format!("({text})"),
    };
    spans.iter().map(text).collect()
}

/// Makes a stretch of text as it is.
pub(super) fn plain(text: impl Into<String>) -> Span {
    Span::Plain(text.into())
}

/// Makes a stretch of text that is stressed.
pub(super) fn bold(text: impl Into<String>) -> Span {
    Span::Bold(text.into())
}

/// Makes a paragraph of sentences.
pub(super) fn text(text: impl Into<String>) -> Paragraph {
    Paragraph::Text(vec![plain(text)])
}
