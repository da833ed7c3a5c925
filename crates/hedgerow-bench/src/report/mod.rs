//! Self-contained HTML pages with tables and SVG curves.

mod html;
mod radar;
mod scale;
mod svg;

#[cfg(test)]
mod tests;

use html::escape;
pub(crate) use radar::Radar;
pub(crate) use svg::{Bars, COLORS, Chart, Mark, Series};

/// A page under construction.
pub(crate) struct Page {
    html: String,
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#222;background:#fff}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;\
margin-top:1.6rem}table{border-collapse:collapse;display:block;overflow-x:auto}\
td,th{vertical-align:top;padding:.25rem .8rem .25rem 0;text-align:left;border-bottom:1px solid #ddd}svg{width:100%;height:auto}";

impl Page {
    /// A page with a title.
    pub(crate) fn new(title: &str) -> Page {
        let title = escape(title);
        let head = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        Page { html: head }
    }

    /// Adds a paragraph of plain text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.html += &format!("<p>{}</p>\n", escape(text));
    }

    /// Adds a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.html += &format!("<h2>{}</h2>\n", escape(text));
    }

    /// Adds a heading below those.
    pub(crate) fn subheading(&mut self, text: &str) {
        self.html += &format!("<h3>{}</h3>\n", escape(text));
    }

    /// Adds a drawing without a title, as the charts make them.
    pub(crate) fn drawing(&mut self, svg: &str) {
        self.html += svg;
    }

    /// Adds what `body` adds, hidden under a line of text until a reader opens it.
    pub(crate) fn details(&mut self, summary: &str, body: impl FnOnce(&mut Page)) {
        self.html += &format!("<details><summary>{}</summary>\n", escape(summary));
        body(self);
        self.html += "</details>\n";
    }

    /// Adds a chart of curves under its title.
    pub(crate) fn chart(&mut self, chart: &Chart) {
        self.heading(&chart.title);
        self.html += &chart.to_svg();
    }

    /// Adds a chart of bars under its title.
    pub(crate) fn bars(&mut self, bars: &Bars) {
        self.heading(&bars.title);
        self.html += &bars.to_svg();
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
            cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
        };
        self.html += &format!("<table><tr>{}</tr>\n", cells("th", &mut head.iter().copied()));
        for row in rows {
            self.html += &format!("<tr>{}</tr>\n", cells("td", &mut row.iter().map(String::as_str)));
        }
        self.html += "</table>\n";
    }

    /// The whole page.
    pub(crate) fn finish(self) -> String {
        self.html + "</body></html>\n"
    }
}
