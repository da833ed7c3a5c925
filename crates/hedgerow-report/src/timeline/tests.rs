use super::{Curve, Mark, Panel, Timeline, step, tick};

fn timeline(end: f64, stretches: Vec<Vec<(f64, f64)>>) -> Timeline {
    let mark = |at, what: &str| Mark { at, until: at + 1.0, what: what.into(), class: "killed" };
    let panel = Panel {
        title: "rate <".into(),
        unit: "events".into(),
        note: "none & more".into(),
        curves: vec![Curve { name: String::new(), stretches }],
        is_log_where_wide: true,
    };
    Timeline { end, marks: vec![mark(4.0, "killed"), mark(f64::NAN, "never")], panels: vec![panel] }
}

#[test]
fn a_curve_has_a_gap_and_leaves_out_points_that_are_no_numbers() {
    let stretches = vec![vec![(0.0, 5.0), (2.0, f64::NAN), (4.0, 10.0)], vec![(5.0, 10.0)], vec![]];
    let html = timeline(8.0, stretches).to_html();
    assert!(html.contains("d=\"M0.0 50.0L500.0 0.0\""), "{html}");
    assert!(html.contains("d=\"M625.0 0.0h0\""), "a stretch of one point is a dot: {html}");
    assert_eq!(html.matches("class=\"curve").count(), 2);
    assert!(html.contains("left:50.00%;width:12.50%\"><span>killed</span>") && !html.contains("never"));
    assert!(html.contains("aria-label=\"rate &lt;, events: none &amp; more\""));
    assert!(!html.contains("NaN") && !html.contains("inf"));
}

#[test]
fn dots_are_those_of_a_whole_curve() {
    let many: Vec<(f64, f64)> = (0..50).map(|i| (f64::from(i) / 10.0, 1.0)).collect();
    let dots = |stretches| timeline(8.0, stretches).to_html().matches("class=\"dots").count();
    assert_eq!(dots(vec![many[..10].to_vec(), many[20..].to_vec()]), 2);
    assert_eq!(dots(vec![many[..10].to_vec(), many.clone()]), 0, "one long stretch has none");
    assert_eq!(dots(vec![many, vec![(7.0, 1.0)]]), 1, "a single point has one");
}

#[test]
fn an_axis_without_points_is_still_an_axis() {
    for stretches in [vec![], vec![vec![(1.0, f64::NAN)]]] {
        let html = timeline(8.0, stretches).to_html();
        assert!(html.contains("<span style=\"left:100.00%\">8 s</span>"), "{html}");
        assert!(!html.contains("curve") && !html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}

#[test]
fn steps_of_the_axis_are_round() {
    for (least, round) in [(0.011, 0.02), (0.3, 0.5), (1.0, 1.0), (2.5, 5.0), (60.0, 100.0)] {
        assert!((step(least) - round).abs() < 1e-9, "{least}");
    }
    assert_eq!([0.0, 0.5, 12.0, 1_000.0, 250_000.0].map(tick), ["0", "0.5", "12", "1,000", "250,000"]);
}
