use super::scale::Scale;
use super::sheet::{Bar, Group, Panel, Sheet, Tone};
use super::{Bars, Chart, Page, Series, escape};

#[test]
fn a_page_holds_its_parts_escaped() {
    let mut page = Page::new("a < b");
    page.paragraph("x & y");
    page.chart(&Chart::new(
        "curve",
        "s",
        "MiB",
        vec![Series::new("one", vec![(0.0, 1.0), (2.0, f64::NAN), (4.0, 3.0)])],
    ));
    page.bars(&Bars::new("bars", "s", vec!["k".into()], vec![("g".into(), vec![2.0])]));
    page.table(&["n", "v"], [vec!["a".to_owned(), "\"1\"".to_owned()]].into_iter());
    page.stacked_table(&["<n>"], [vec!["c".to_owned(), "d".to_owned()]].into_iter());
    page.table(&[], [vec!["e".to_owned()]].into_iter());
    page.steps(&[("killed", "5 s".to_owned(), "Killed", "x > y".to_owned())]);
    page.command("make demo DATA='a b'");
    let html = page.finish();
    assert!(html.contains("<td data-head=\"&lt;n&gt;\">c</td><td data-head=\"\">d</td>"));
    assert!(html.contains("<table><tr><td>e</td></tr>"), "no line of names without names");
    assert!(html.contains("<li class=\"killed\"><span class=\"at\">5 s</span>") && html.contains("x &gt; y"));
    assert!(html.contains("<code>make demo DATA='a b'</code>"));
    assert!(
        html.contains("<title>a &lt; b</title>")
            && html.contains("x &amp; y")
            && html.contains("&quot;1&quot;")
    );
    assert_eq!(html.matches("<svg").count(), 2);
    assert_eq!(html.matches("</svg>").count(), 2);
    let points = html.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(points.split(' ').count(), 2, "a point that is no number is left out: {points}");
    assert!(!html.contains("NaN") && !html.contains("inf"));
}

#[test]
fn a_chart_of_nothing_is_still_a_chart() {
    let svg = Chart::new("t", "x", "y", Vec::new()).to_svg();
    assert!(svg.starts_with("<svg") && !svg.contains("inf") && !svg.contains("NaN"), "{svg}");
    let svg = Bars::new("t", "s", Vec::new(), Vec::new()).to_svg();
    assert!(svg.starts_with("<svg") && !svg.contains("inf"), "{svg}");
    assert_eq!(escape("<&>"), "&lt;&amp;&gt;");
}

#[test]
fn an_axis_is_logarithmic_only_where_values_differ_much() {
    let scale = Scale::of(&[3.0, 4000.0], true);
    assert!(scale.is_log());
    assert_eq!(scale.ticks(), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
    assert!((scale.share(100.0) - 0.5).abs() < 1e-12);
    for (values, may_be_log) in
        [(&[3.0, 40.0][..], true), (&[3.0, 4000.0], false), (&[0.0, 4000.0], true), (&[], true)]
    {
        let scale = Scale::of(values, may_be_log);
        assert!(!scale.is_log(), "{values:?}");
        assert_eq!(scale.share(0.0), 0.0);
    }
    let wide = Scale::of(&[1e-9, 1e9], true).ticks();
    assert!(wide.len() <= 9, "{wide:?}");
    assert!(Scale::of(&[1.0, 100.0], true).share(1.0) > 0.0, "a bar of the least value is seen");
}

#[test]
fn a_logarithmic_axis_says_so() {
    let bars = |values| Bars::new("t", "edges/s", vec!["k".into(), "l".into()], vec![("g".into(), values)]);
    assert!(
        bars(vec![1.0, 1e6])
            .along("threads")
            .log_where_wide()
            .to_svg()
            .contains(">edges/s, log scale</text>")
    );
    let linear = bars(vec![1.0, 2.0]).along("threads").log_where_wide().to_svg();
    assert!(linear.contains(">edges/s</text>") && linear.contains(">threads</text>"), "{linear}");
    let chart = Chart::new("t", "x", "s", vec![Series::new("a", vec![(1.0, 1.0), (2.0, 1e6)])]);
    assert!(chart.log_where_wide().to_svg().contains(">s, log scale</text>"));
}

#[test]
fn long_labels_have_several_lines_and_colors_are_chosen() {
    let groups = vec![("mean durable=yes x2".to_owned(), vec![1.0]); 12];
    let svg = Bars::new("t", "s", vec!["k".into()], groups).colored(vec![1]).to_svg();
    assert!(svg.contains(">mean</text>") && svg.contains(">durable=yes</text>"), "{svg}");
    assert!(svg.contains("#bc4b51") && !svg.contains("#2a6f97"), "the second color, not the first");
    let one = vec![("mean durable=yes x2".to_owned(), vec![1.0])];
    assert!(Bars::new("t", "s", vec!["k".into()], one).to_svg().contains(">mean durable=yes x2</text>"));
}

fn panel(values: &[f64], mark: Option<(f64, String)>) -> Panel {
    let bar = |value: &f64| Bar {
        name: format!("a <{value}>"),
        value: *value,
        text: format!("{value} s"),
        tone: Tone::Main,
    };
    let group = Group { label: "group".into(), bars: values.iter().map(bar).collect() };
    Panel { heading: "time".into(), mark, groups: vec![group] }
}

/// The widths of the bars of a chart.
fn widths(svg: &str) -> Vec<f64> {
    let bars = svg.lines().filter(|line| line.starts_with("<rect x="));
    bars.map(|bar| bar.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn a_sheet_stands_by_itself_and_its_bars_are_as_long_as_their_values() {
    let foot = vec!["a day, a machine, ".repeat(20)];
    let svg = Sheet::new("t & u", vec![panel(&[1.0, 2.0, 4.0], Some((1.0, "csr".into())))], foot).to_svg();
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 560 "), "{svg}");
    assert!(svg.contains("prefers-color-scheme:dark") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">t &amp; u<") && svg.contains(">a &lt;4&gt;<") && svg.contains(">4 s<"), "{svg}");
    assert!(svg.contains(">time<") && svg.contains(">group<") && svg.contains(">1: csr<"), "{svg}");
    assert_eq!(widths(&svg), [85.0, 170.0, 340.0]);
    let of_foot: Vec<usize> =
        svg.lines().map(|line| line.matches("machine,").count()).filter(|&n| n > 0).collect();
    assert!(of_foot.len() > 3 && of_foot.iter().sum::<usize>() == 20, "{of_foot:?}");
}

#[test]
fn a_sheet_has_a_logarithmic_axis_where_values_differ_much() {
    let svg = Sheet::new("t", vec![panel(&[1.0, 100.0], None)], Vec::new()).to_svg();
    assert!(svg.contains(">time; log scale<"), "{svg}");
    let widths = widths(&svg);
    assert!(widths[0] > 50.0 && widths[1] == 340.0, "{widths:?}");
    assert!(!Sheet::new("t", Vec::new(), Vec::new()).to_svg().contains("NaN"));
}
