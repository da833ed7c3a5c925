//! Parts that the demo and the benchmarks share: self-contained HTML pages with tables and SVG charts, figures
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
mod svg;

#[cfg(test)]
mod tests;

use html::escape;
pub use machine::{resident_bytes, today};
pub use radar::Radar;
pub use svg::{Bars, COLORS, Chart, Mark, Series};

/// A page under construction.
pub struct Page {
    html: String,
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#222;background:#fff}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;\
margin-top:1.6rem}table{border-collapse:collapse;display:block;overflow-x:auto}\
td,th{vertical-align:top;padding:.25rem .8rem .25rem 0;text-align:left;border-bottom:1px solid #ddd}svg{width:100%;height:auto}";

impl Page {
    /// Returns a page with a title.
    pub fn new(title: &str) -> Page {
        let title = escape(title);
        let head = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
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

    /// Adds a heading of the next level.
    pub fn subheading(&mut self, text: &str) {
        self.html += &format!("<h3>{}</h3>\n", escape(text));
    }

    /// Adds a drawing without a title, as the charts make them.
    pub fn drawing(&mut self, svg: &str) {
        self.html += svg;
    }

    /// Adds the content of `body`, hidden under a line of text until a reader opens it.
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

    /// Adds a table.
    pub fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
            cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
        };
        self.html += &format!("<table><tr>{}</tr>\n", cells("th", &mut head.iter().copied()));
        for row in rows {
            self.html += &format!("<tr>{}</tr>\n", cells("td", &mut row.iter().map(String::as_str)));
        }
        self.html += "</table>\n";
    }

    /// Returns the whole page.
    pub fn finish(self) -> String {
        self.html + "</body></html>\n"
    }
}
