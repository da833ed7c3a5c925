//! Charts as inline SVG.

use std::fmt::Write;

use super::html::escape;
use super::scale::{Scale, ceiling};
use crate::figures::range;

pub(super) const WIDTH: f64 = 860.0;
pub(super) const HEIGHT: f64 = 260.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 40.0;
/// The colors of curves and bars. A number selects one.
pub const COLORS: [&str; 12] = [
    "#2a6f97", "#bc4b51", "#5b8e7d", "#8a5a9e", "#d08c3c", "#808080", "#4fb0c6", "#c77dba", "#8aa83a",
    "#7a5230", "#d9a5a5", "#5566cc",
];
/// The height of a label's line; below, the approximate width of a letter.
const LABEL_LINE: f64 = 13.0;
const LETTER: f64 = 6.0;
/// The x position of a legend that is on the same line as the unit.
const LEGEND: f64 = LEFT + 120.0;
/// The number of names per row of the legend, if they do not fit next to the unit.
const LEGEND_ROW: usize = 5;

/// A curve.
pub struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Series {
    /// Returns a curve through points with ascending x. Points that are not numbers are left out.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Series {
        let points = points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        Series { name: name.to_owned(), points }
    }
}

/// A chart of curves over one x axis. The y axis begins at 0, unless it is logarithmic.
pub struct Chart {
    /// The heading, as plain text.
    pub title: String,
    x_label: String,
    y_label: String,
    series: Vec<Series>,
    /// True if the y axis becomes logarithmic when the values differ much.
    is_log_where_wide: bool,
    colors: Vec<usize>,
}

/// The maximal number of points of a curve that are drawn as dots. For more points only the line is drawn.
const MOST_DOTS: usize = 150;

impl Chart {
    /// Returns a chart.
    pub fn new(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Chart {
        let (title, x_label, y_label) = (title.to_owned(), x_label.to_owned(), y_label.to_owned());
        let colors = (0..series.len()).collect();
        Chart { title, x_label, y_label, series, is_log_where_wide: false, colors }
    }

    /// Returns the chart with permission to use a logarithmic y axis. It does so if a linear one would hide
    /// the small values.
    pub fn log_where_wide(self) -> Chart {
        Chart { is_log_where_wide: true, ..self }
    }

    /// Returns the chart with these color numbers for its curves, so that a name has the same color in all
    /// charts of a page.
    pub fn colored(self, colors: Vec<usize>) -> Chart {
        Chart { colors, ..self }
    }

    /// Returns the chart as an `svg` element.
    pub fn to_svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let xs: Vec<f64> = all().map(|p| p.0).collect();
        let ys: Vec<f64> = all().map(|p| p.1).collect();
        let x_max = ceiling(range(&xs).1);
        let scale = Scale::of(&ys, self.is_log_where_wide);
        let x = |v: f64| LEFT + v / x_max * (WIDTH - LEFT - RIGHT);
        let y = |v: f64| height(&scale, v);
        let mut svg = open(&self.title, self.series.len(), 0.0);
        rules(&mut svg, &scale);
        for i in 0..=4 {
            let share = f64::from(i) / 4.0;
            let at = x(x_max * share);
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">",
                HEIGHT - BOTTOM + 16.0
            );
            let _ = write!(svg, "{}</text>", number(x_max * share));
        }
        for (i, series) in self.series.iter().enumerate() {
            let color = color(&self.colors, i);
            let points: Vec<(f64, f64)> = series.points.iter().map(|&(px, py)| (x(px), y(py))).collect();
            curve(&mut svg, &points, color);
            legend(&mut svg, (i, self.series.len()), &series.name, color);
        }
        axis_titles(&mut svg, (&self.x_label, &self.y_label), &scale, 0.0);
        svg + "</svg>\n"
    }
}

/// A chart of bars in groups: each label has a bar of each kind.
pub struct Bars {
    /// The heading, as plain text.
    pub title: String,
    unit: String,
    /// The title of the groups; empty if their labels are enough.
    along: String,
    kinds: Vec<String>,
    is_log_where_wide: bool,
    colors: Vec<usize>,
    /// The label of each group, and a value per kind; NaN if it has none.
    groups: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// Returns a chart of bars.
    pub fn new(title: &str, unit: &str, kinds: Vec<String>, groups: Vec<(String, Vec<f64>)>) -> Bars {
        let (title, unit) = (title.to_owned(), unit.to_owned());
        let colors = (0..kinds.len()).collect();
        Bars { title, unit, along: String::new(), kinds, is_log_where_wide: false, colors, groups }
    }

    /// Returns the chart with a title for its x axis.
    pub fn along(self, what: &str) -> Bars {
        Bars { along: what.to_owned(), ..self }
    }

    /// Permits a logarithmic y axis, like [`Chart::log_where_wide`].
    pub fn log_where_wide(self) -> Bars {
        Bars { is_log_where_wide: true, ..self }
    }

    /// Sets the color numbers of the kinds, like [`Chart::colored`].
    pub fn colored(self, colors: Vec<usize>) -> Bars {
        Bars { colors, ..self }
    }

    /// Returns the chart as an `svg` element.
    pub fn to_svg(&self) -> String {
        let values: Vec<f64> =
            self.groups.iter().flat_map(|(_, v)| v).copied().filter(|v| v.is_finite()).collect();
        let scale = Scale::of(&values, self.is_log_where_wide);
        let group_width = (WIDTH - LEFT - RIGHT) / self.groups.len().max(1) as f64;
        let labels: Vec<Vec<String>> =
            self.groups.iter().map(|(label, _)| wrap(label, (group_width / LETTER) as usize)).collect();
        let below = LABEL_LINE * labels.iter().map(Vec::len).max().unwrap_or(1).saturating_sub(1) as f64;
        let mut svg = open(&self.title, self.kinds.len(), below);
        rules(&mut svg, &scale);
        let bar_width = (group_width * 0.8 / self.kinds.len().max(1) as f64).min(60.0);
        for (g, ((_, values), lines)) in self.groups.iter().zip(&labels).enumerate() {
            let from = LEFT + group_width * g as f64;
            let first = from + (group_width - bar_width * self.kinds.len() as f64) / 2.0;
            for (k, &value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                let (x, top) = (first + bar_width * k as f64, height(&scale, value));
                let (width, height) = (bar_width - 2.0, HEIGHT - BOTTOM - top);
                let color = color(&self.colors, k);
                let _ = write!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\">\
                     <title>{}: {}</title></rect>",
                    escape(self.kinds.get(k).map_or("", String::as_str)),
                    number(value)
                );
            }
            for (nth, line) in lines.iter().enumerate() {
                let _ = write!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    from + group_width / 2.0,
                    HEIGHT - BOTTOM + 16.0 + LABEL_LINE * nth as f64,
                    escape(line)
                );
            }
        }
        for (k, kind) in self.kinds.iter().enumerate() {
            legend(&mut svg, (k, self.kinds.len()), kind, color(&self.colors, k));
        }
        axis_titles(&mut svg, (&self.along, &self.unit), &scale, below);
        svg + "</svg>\n"
    }
}

/// Returns the color of the `i`-th curve or kind; `colors` has their color numbers, or is empty.
pub(super) fn color(colors: &[usize], i: usize) -> &'static str {
    COLORS[colors.get(i).copied().unwrap_or(i) % COLORS.len()]
}

/// Returns the words of a label in lines of at most `most` letters; a longer word has a line of its own.
pub(super) fn wrap(label: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in label.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= most => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Begins a chart whose legend has `names` names, with `below` more space at the bottom.
pub(super) fn open(title: &str, names: usize, below: f64) -> String {
    let above = above(names);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg viewBox=\"0 {} {WIDTH} {}\" font-size=\"11\" fill=\"currentColor\" role=\"img\" aria-label=\"{}\">",
        0.0 - above,
        HEIGHT + above + below,
        escape(title)
    );
    svg
}

/// Returns the space above a chart for the rows of its legend; 0 if the legend fits on the line of the unit.
fn above(names: usize) -> f64 {
    if names <= 4 { 0.0 } else { 14.0 * names.div_ceil(LEGEND_ROW) as f64 }
}

/// Draws a line through points, and the points as dots if they are few: a single point is only a dot.
fn curve(svg: &mut String, points: &[(f64, f64)], color: &str) {
    let texts: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = write!(
        svg,
        "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" points=\"{}\"/>",
        texts.join(" ")
    );
    for (x, y) in points.iter().filter(|_| points.len() <= MOST_DOTS) {
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" fill=\"{color}\"/>");
    }
}

/// Returns the y position of a value.
fn height(scale: &Scale, value: f64) -> f64 {
    HEIGHT - BOTTOM - scale.share(value) * (HEIGHT - TOP - BOTTOM)
}

/// Draws the lines of a grid, with their values.
fn rules(svg: &mut String, scale: &Scale) {
    for value in scale.ticks() {
        rule(svg, height(scale, value), &number(value));
    }
}

/// Draws the title of the x axis below it, and the title of the y axis above it.
fn axis_titles(svg: &mut String, (x_label, y_label): (&str, &str), scale: &Scale, below: f64) {
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    let y_suffix = if scale.is_log() { ", log scale" } else { "" };
    let _ = write!(
        svg,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text><text x=\"4\" y=\"14\">{}{y_suffix}</text>",
        HEIGHT + below - 6.0,
        escape(x_label),
        escape(y_label)
    );
}

fn rule(svg: &mut String, y: f64, label: &str) {
    let end = WIDTH - RIGHT;
    let _ =
        write!(svg, "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"var(--line)\"/>");
    let _ = write!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 6.0, y + 4.0);
}

/// Draws the `i`-th of `names` names of the legend: few names next to the unit, many in rows above the chart.
pub(super) fn legend(svg: &mut String, (i, names): (usize, usize), name: &str, color: &str) {
    let (x, y) = match names {
        0..=4 => (LEGEND + (WIDTH - LEGEND) / names.max(1) as f64 * i as f64, 5.0),
        _ => (4.0 + 170.0 * (i % LEGEND_ROW) as f64, 5.0 - above(names) + 14.0 * (i / LEGEND_ROW) as f64),
    };
    let _ = write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{color}\"/>");
    let _ = write!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", x + 14.0, y + 9.0, escape(name));
}

/// Returns a number with about three digits.
pub(super) fn number(v: f64) -> String {
    match v.abs() {
        a if a >= 1e6 => {
            format!("{:.4}", v / 1e6).trim_end_matches('0').trim_end_matches('.').to_owned() + " M"
        }
        a if a >= 1e4 => {
            format!("{:.2}", v / 1e3).trim_end_matches('0').trim_end_matches('.').to_owned() + " k"
        }
        a if a >= 100.0 || a == 0.0 => format!("{v:.0}"),
        a if a >= 1e-3 => format!("{v:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => format!("{v:.1e}"),
    }
}
