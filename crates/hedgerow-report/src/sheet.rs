//! A chart of horizontal bars in a file of its own. Names are next to the bars, so that it needs no legend.
//! It is readable on light, dark and narrow pages.

use std::fmt::Write;

use super::html::escape;
use super::scale::Scale;
use super::svg::{number, wrap};

const WIDTH: f64 = 560.0;
/// The x position at which names end; below, the two limits of the axis.
const NAMES: f64 = 132.0;
const LEFT: f64 = 140.0;
const RIGHT: f64 = 480.0;
/// The height of a bar with the gap below it; below, the height of the bar alone.
const ROW: f64 = 18.0;
const BAR: f64 = 13.0;
/// The height of a line of text.
const LINE: f64 = 16.0;
/// The approximate width of a letter, as a share of its font size.
const LETTER: f64 = 0.52;
/// The distance of texts from the edges.
const MARGIN: f64 = 12.0;

/// The colors of text and lines on light pages, then on dark pages. If a page embeds the chart, its colors
/// apply.
const STYLE: &str = ".ground{fill:#ffffff}.ink{fill:#24292f}.faint{fill:#57606a}.line{stroke:#57606a}\
@media (prefers-color-scheme:dark){.ground{fill:#161b22}.ink{fill:#e6edf3}.faint{fill:#9da7b1}.line{stroke:#9da7b1}}";

/// The color of a bar. Each is visible on light and on dark pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The subject of the chart.
    Main,
    /// The subject in another state.
    Second,
    /// The other subjects.
    Other,
}

impl Tone {
    fn color(self) -> &'static str {
        match self {
            Tone::Main => "#2f8f63",
            Tone::Second => "#7fbf9f",
            Tone::Other => "#8492a0",
        }
    }
}

/// A bar with its name and its value; `text` is written after the bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The name, before the bar.
    pub name: String,
    /// The value, greater than 0.
    pub value: f64,
    /// The value with its unit.
    pub text: String,
    /// The color.
    pub tone: Tone,
}

/// Bars under a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The label; empty if the heading of the panel is enough.
    pub label: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// Groups on one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The heading: the measured thing, the unit, and the better direction.
    pub heading: String,
    /// A value that the axis marks with a line, and the name of the line.
    pub mark: Option<(f64, String)>,
    /// The groups.
    pub groups: Vec<Group>,
}

impl Panel {
    /// Returns the scale of the axis. It is logarithmic if a linear one would hide the small values.
    fn scale(&self) -> Scale {
        let bars = self.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
        let values: Vec<f64> = bars.chain(self.mark.iter().map(|(value, _)| *value)).collect();
        Scale::of(&values, true)
    }
}

/// A chart of panels.
pub struct Sheet {
    title: String,
    panels: Vec<Panel>,
    foot: Vec<String>,
}

impl Sheet {
    /// Returns a chart with a title, and with lines of text below it, which are wrapped if they are too long.
    pub fn new(title: &str, panels: Vec<Panel>, foot: Vec<String>) -> Sheet {
        Sheet { title: title.to_owned(), panels, foot }
    }

    /// Returns the chart as an SVG file.
    pub fn to_svg(&self) -> String {
        let mut body = String::new();
        let mut y = 26.0;
        for line in wrap(&self.title, letters(16.0)) {
            text(&mut body, (MARGIN, y), "ink", "font-size=\"16\" font-weight=\"bold\"", &line);
            y += 20.0;
        }
        y -= 8.0;
        for panel in &self.panels {
            y = draw(&mut body, panel, y + 6.0);
        }
        y += 10.0;
        for line in self.foot.iter().flat_map(|line| wrap(line, letters(11.0))) {
            text(&mut body, (MARGIN, y), "faint", "font-size=\"11\"", &line);
            y += LINE - 2.0;
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y:.0}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<style>{STYLE}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{y:.0}\" \
             fill=\"none\"/>\n{body}</svg>\n"
        )
    }
}

/// Draws a panel below `y`, and returns the position of its lower edge.
fn draw(body: &mut String, panel: &Panel, y: f64) -> f64 {
    let scale = panel.scale();
    let at = |value: f64| LEFT + scale.share(value) * (RIGHT - LEFT);
    let mut y = y + 14.0;
    let suffix = if scale.is_log() { "; log scale" } else { "" };
    for line in wrap(&format!("{}{suffix}", panel.heading), letters(13.0)) {
        text(body, (MARGIN, y), "ink", "font-size=\"13\"", &line);
        y += LINE;
    }
    let height: f64 = panel
        .groups
        .iter()
        .map(|group| ROW * (group.bars.len() + usize::from(!group.label.is_empty())) as f64 + 4.0)
        .sum();
    // The grid lines are drawn first, so that the bars cover them.
    let (top, end) = (y - 6.0, y - 6.0 + height);
    for value in scale.ticks() {
        line(body, at(value), (top, end), "stroke-opacity=\"0.3\"");
        let place = (at(value), end + 12.0);
        text(body, place, "faint", "font-size=\"11\" text-anchor=\"middle\"", &number(value));
    }
    for group in &panel.groups {
        if !group.label.is_empty() {
            text(body, (MARGIN, y + 8.0), "ink", "", &group.label);
            y += ROW;
        }
        for bar in &group.bars {
            draw_bar(body, bar, y - 3.0, at(bar.value));
            y += ROW;
        }
        y += 4.0;
    }
    let Some((value, name)) = &panel.mark else { return end + 22.0 };
    line(body, at(*value), (top, end), "stroke-dasharray=\"4 3\" stroke-width=\"1.5\"");
    let shown = format!("{}: {name}", number(*value));
    text(body, (at(*value), end + 26.0), "faint", "font-size=\"11\" text-anchor=\"middle\"", &shown);
    end + 36.0
}

fn draw_bar(body: &mut String, bar: &Bar, y: f64, end: f64) {
    let baseline = y + BAR - 2.5;
    text(body, (NAMES, baseline), "ink", "text-anchor=\"end\"", &bar.name);
    let _ = writeln!(
        body,
        "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{}\"/>",
        (end - LEFT).max(1.0),
        bar.tone.color()
    );
    text(body, (end + 5.0, baseline), "ink", "", &bar.text);
}

fn text(body: &mut String, (x, y): (f64, f64), class: &str, attributes: &str, text: &str) {
    let space = if attributes.is_empty() { "" } else { " " };
    let text = escape(text);
    let _ =
        writeln!(body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{space}{attributes}>{text}</text>");
}

fn line(body: &mut String, x: f64, (top, end): (f64, f64), attributes: &str) {
    let _ = writeln!(
        body,
        "<line class=\"line\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{end:.1}\" {attributes}/>"
    );
}

/// Returns the number of letters of this size that fit into a line.
fn letters(size: f64) -> usize {
    ((WIDTH - 2.0 * MARGIN) / (LETTER * size)) as usize
}
