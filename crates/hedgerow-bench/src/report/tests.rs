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
    let html = page.finish();
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
