//! Code that the demo and the benchmarks share: self-contained HTML pages with tables and SVG charts, figures
//! as text, errors with their context, the memory of the process, and the date.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "no part of the engine: it reads what the system tells of the process"
)]

pub mod failure;
pub mod figures;
mod html;
mod machine;
mod radar;
mod scale;
pub mod sheet;
mod svg;
mod timeline;

#[cfg(test)]
mod tests;

use html::escape;
pub use machine::{resident_bytes, today};
pub use radar::Radar;
pub use svg::{Bars, COLORS, Chart, Series};
pub use timeline::{Curve, Mark, Panel, Timeline};

/// A page under construction.
pub struct Page {
    html: String,
}

const STYLE: &str = include_str!("page.css");

impl Page {
    /// Returns a page with a title.
    pub fn new(title: &str) -> Page {
        let title = escape(title);
        let head = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title>\
             <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        Page { html: head }
    }

    /// Adds a paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) {
        self.html += &format!("<p>{}</p>\n", escape(text));
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) {
        self.html += &format!("<h2>{}</h2>\n", escape(text));
    }

    /// Adds a heading one level lower.
    pub fn subheading(&mut self, text: &str) {
        self.html += &format!("<h3>{}</h3>\n", escape(text));
    }

    /// Adds an SVG drawing without a title, as the charts produce it.
    pub fn drawing(&mut self, svg: &str) {
        self.html += svg;
    }

    /// Adds the content that `body` writes. The page hides it under the line `summary` until a reader opens
    /// it.
    pub fn details(&mut self, summary: &str, body: impl FnOnce(&mut Page)) {
        self.html += &format!("<details><summary>{}</summary>\n", escape(summary));
        body(self);
        self.html += "</details>\n";
    }

    /// Adds a chart of curves under its title.
    pub fn chart(&mut self, chart: &Chart) {
        self.heading(&chart.title);
        self.html += &chart.to_svg();
    }

    /// Adds a chart of bars under its title.
    pub fn bars(&mut self, bars: &Bars) {
        self.heading(&bars.title);
        self.html += &bars.to_svg();
    }

    /// Adds a command line.
    pub fn command(&mut self, text: &str) {
        self.html += &format!("<pre><code>{}</code></pre>\n", escape(text));
    }

    /// Adds the steps of a story. A step has a class of the style, a moment, a name and a text.
    pub fn steps(&mut self, steps: &[(&str, String, &str, String)]) {
        self.html += "<ol class=\"steps\">\n";
        for (class, at, name, text) in steps {
            self.html += &format!(
                "<li class=\"{class}\"><span class=\"at\">{}</span><span><b>{}.</b> {}</span></li>\n",
                escape(at),
                escape(name),
                escape(text)
            );
        }
        self.html += "</ol>\n";
    }

    /// Adds a table. If `head` is empty, it has no header row.
    pub fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        self.table_of("<table>", |_| "<td>".to_owned(), head, rows);
    }

    /// Adds a table of sentences. On a narrow screen each row becomes a block of lines.
    pub fn stacked_table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let cell = |column: &str| format!("<td data-head=\"{}\">", escape(column));
        self.table_of("<table class=\"stacked\">", cell, head, rows);
    }

    fn table_of(
        &mut self,
        table: &str,
        cell: impl Fn(&str) -> String,
        head: &[&str],
        rows: impl Iterator<Item = Vec<String>>,
    ) {
        self.html += table;
        if !head.is_empty() {
            let columns: String = head.iter().map(|column| format!("<th>{}</th>", escape(column))).collect();
            self.html += &format!("<tr>{columns}</tr>\n");
        }
        for row in rows {
            let columns = head.iter().copied().chain(std::iter::repeat(""));
            let cells = row.iter().zip(columns).map(|(text, column)| cell(column) + &escape(text) + "</td>");
            self.html += &format!("<tr>{}</tr>\n", cells.collect::<String>());
        }
        self.html += "</table>\n";
    }

    /// Returns the whole page.
    pub fn finish(self) -> String {
        self.html + "</body></html>\n"
    }
}
