//! Elements of XML, made as a tree and written as a document.

use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};

/// Spaces by which an element is indented in the one around it.
const INDENT: usize = 2;

/// An element: a name, attributes, and either text or other elements.
#[derive(Clone, Debug)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: Option<String>,
    children: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Element(Element),
    Comment(String),
}

impl Element {
    /// Makes an element with nothing in it yet.
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), text: None, children: Vec::new() }
    }

    /// Makes an element with a text in it.
    #[expect(clippy::needless_pass_by_value, reason = "literals and sums are written in place")]
    pub(super) fn of_text(name: &'static str, text: impl ToString) -> Self {
        Self { text: Some(text.to_string()), ..Self::new(name) }
    }

    /// Adds an attribute, whose value is escaped where it is written.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "literals and sums are written in place")]
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Adds an element in it, behind the others.
    #[must_use]
    pub(super) fn and(mut self, child: Self) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds elements in it, behind the others.
    #[must_use]
    pub(super) fn and_all(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }

    /// Adds a comment in it, behind the others.
    #[must_use]
    pub(super) fn and_comment(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Comment(text.into()));
        self
    }

    /// Returns `true` if it has neither text nor anything else in it.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_none() && self.children.is_empty()
    }

    /// Returns the document whose root it is.
    pub(super) fn to_document(&self) -> String {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', INDENT);
        self.write(&mut writer);
        let mut text = String::from_utf8(writer.into_inner()).expect("all of it was text");
        text.push('\n');
        text
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) {
        let mut put = |event: Event<'_>| {
            writer.write_event(event).expect("writing into memory cannot fail");
        };
        let attributes = self.attributes.iter().map(|(name, value)| (*name, value.as_str()));
        let start = BytesStart::new(self.name).with_attributes(attributes);
        if self.is_empty() {
            return put(Event::Empty(start));
        }
        put(Event::Start(start));
        if let Some(text) = &self.text {
            put(Event::Text(BytesText::new(text)));
        }
        for child in &self.children {
            match child {
                Node::Element(element) => element.write(writer),
                Node::Comment(text) => {
                    // Two hyphens would end it; this is no text for programs.
                    let text = format!(" {} ", text.replace("--", "- -"));
                    let comment = Event::Comment(BytesText::from_escaped(text));
                    writer.write_event(comment).expect("writing into memory cannot fail");
                }
            }
        }
        let end = Event::End(BytesEnd::new(self.name));
        writer.write_event(end).expect("writing into memory cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_are_escaped_wherever_they_stand() {
        let source = Element::new("source").with("file", "/a \"b\" & <c>.img");
        let disk = Element::new("disk").and(source).and(Element::of_text("title", "<&>"));
        let text = disk.and_comment("never -- two").to_document();
        assert_eq!(
            text,
            "<disk>\n  <source file=\"/a &quot;b&quot; &amp; &lt;c&gt;.img\"/>\n  \
             <title>&lt;&amp;&gt;</title>\n  <!-- never - - two -->\n</disk>\n"
        );
    }
}
