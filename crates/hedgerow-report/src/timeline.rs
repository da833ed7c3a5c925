//! Charts in a column over one time axis, with marks through all of them. The curves are SVG and stretch with
//! the page. All text is HTML, so that its size is the same on a narrow screen.

use std::fmt::Write;

use super::html::escape;
use super::scale::Scale;
use crate::figures::rounded;

#[cfg(test)]
mod tests;

/// The width and the height of a drawing, in its own units. The page stretches them.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;
/// The maximal number of points in a stretch that also get dots. For more points only the line is drawn.
const MOST_DOTS: usize = 40;
/// The maximal number of steps between the numbers of the time axis.
const MOST_STEPS: f64 = 8.0;
/// The classes of the style for the curves of a panel. Each class has a color.
const CLASSES: [&str; 2] = ["first", "second"];

/// A chart of panels over the seconds from 0 to `end`.
pub struct Timeline {
    /// The last second.
    pub end: f64,
    /// The marks, ascending.
    pub marks: Vec<Mark>,
    /// The charts, from top to bottom.
    pub panels: Vec<Panel>,
}

/// A moment that is marked by a line through all panels.
pub struct Mark {
    /// The second.
    pub at: f64,
    /// The end of the interval that begins with the mark and is shaded.
    pub until: f64,
    /// The label.
    pub what: String,
    /// The class of the style.
    pub class: &'static str,
}

/// A chart.
pub struct Panel {
    /// The heading.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// The content of the chart in words, for readers who do not see the curves.
    pub note: String,
    /// The curves, two at most.
    pub curves: Vec<Curve>,
    /// True if the axis of values becomes logarithmic when the values differ much.
    pub is_log_where_wide: bool,
}

/// A curve in several stretches. No line joins the end of one stretch to the start of the next.
pub struct Curve {
    /// The name in the legend; empty if it has none.
    pub name: String,
    /// The points of each stretch, by ascending seconds. Points that are not numbers are left out.
    pub stretches: Vec<Vec<(f64, f64)>>,
}

impl Timeline {
    /// Returns the timeline as HTML.
    pub fn to_html(&self) -> String {
        let mut html = String::from("<div class=\"timeline\">\n<div class=\"marks\">");
        for Mark { at, until, what, class } in self.marks.iter().filter(|mark| mark.at.is_finite()) {
            let width = self.share(until - at);
            let _ = write!(
                html,
                "<div class=\"mark {class}\" style=\"left:{:.2}%;width:{width:.2}%\"><span>{}</span></div>",
                self.share(*at),
                escape(what)
            );
        }
        html += "</div>\n";
        self.panels.iter().for_each(|panel| self.panel(&mut html, panel));
        html += "<div class=\"axis\">";
        let step = step(self.end / MOST_STEPS);
        for i in 0..=(self.end / step) as u32 {
            let at = step * f64::from(i);
            let _ = write!(html, "<span style=\"left:{:.2}%\">{} s</span>", self.share(at), tick(at));
        }
        html + "</div></div>\n"
    }

    fn panel(&self, html: &mut String, panel: &Panel) {
        let Panel { title, unit, note, curves, is_log_where_wide } = panel;
        let points = || curves.iter().flat_map(|curve| curve.stretches.iter().flatten());
        let values: Vec<f64> = points().map(|point| point.1).filter(|value| value.is_finite()).collect();
        let scale = Scale::of(&values, *is_log_where_wide);
        let suffix = if scale.is_log() { ", log scale" } else { "" };
        let _ = write!(
            html,
            "<figure><figcaption><b>{}</b> <span>{}{suffix}</span>",
            escape(title),
            escape(unit)
        );
        for (curve, class) in curves.iter().zip(CLASSES).filter(|(curve, _)| !curve.name.is_empty()) {
            let _ = write!(html, " <span class=\"key {class}\">{}</span>", escape(&curve.name));
        }
        let _ = write!(
            html,
            "<br><span class=\"note\">{}</span></figcaption>\n<div class=\"plot\">",
            escape(note)
        );
        let mut drawing = String::new();
        for value in scale.ticks() {
            let share = 100.0 * scale.share(value);
            let _ = write!(html, "<span style=\"bottom:{share:.1}%\">{}</span>", tick(value));
            let _ = write!(drawing, "<path d=\"M0 {:.1}H{WIDTH}\"/>", HEIGHT * (1.0 - scale.share(value)));
        }
        for (curve, class) in curves.iter().zip(CLASSES) {
            let is_dotted = curve.stretches.iter().all(|stretch| stretch.len() <= MOST_DOTS);
            for stretch in &curve.stretches {
                let place = |(at, value): &(f64, f64)| {
                    (WIDTH / 100.0 * self.share(*at), HEIGHT * (1.0 - scale.share(*value)))
                };
                let points: Vec<(f64, f64)> =
                    stretch.iter().map(place).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
                draw(&mut drawing, &points, class, is_dotted);
            }
        }
        let _ = writeln!(
            html,
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}, {}: {}\">\
             {drawing}</svg></div></figure>",
            escape(title),
            escape(unit),
            escape(note)
        );
    }

    /// Returns the position of a moment on the axis, in percent.
    fn share(&self, seconds: f64) -> f64 {
        100.0 * seconds / self.end
    }
}

/// Draws a line through points. It adds dots if `is_dotted`, or if a single point makes no line.
fn draw(drawing: &mut String, points: &[(f64, f64)], class: &str, is_dotted: bool) {
    if points.is_empty() {
        return;
    }
    let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = write!(drawing, "<path class=\"curve {class}\" d=\"M{}\"/>", places.join("L"));
    if is_dotted || points.len() == 1 {
        let dots: String = places.iter().map(|place| format!("M{place}h0")).collect();
        let _ = write!(drawing, "<path class=\"dots {class}\" d=\"{dots}\"/>");
    }
}

/// Returns the least number that is 1, 2 or 5 times a power of ten and at least `least`.
fn step(least: f64) -> f64 {
    let unit = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * unit).find(|&step| step >= least).unwrap_or(10.0 * unit)
}

/// Returns the number that labels a line or a position of an axis, without trailing zeros.
fn tick(value: f64) -> String {
    let text = rounded(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
