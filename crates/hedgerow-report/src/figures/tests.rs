use super::{geomean, grouped, mebibytes, median, percentile, range, rounded, seconds};

#[test]
fn middles_and_ranks() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    assert!(median(&[]).is_nan());
    let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
    assert_eq!(percentile(&sorted, 0.5), 50.0);
    assert_eq!(percentile(&sorted, 0.99), 99.0);
    assert_eq!(percentile(&sorted, 1.0), 100.0);
    assert_eq!(percentile(&sorted, 0.0), 1.0);
    assert!(percentile::<f64>(&[], 0.5).is_nan());
    assert!((geomean(&[1.0, 4.0]) - 2.0).abs() < 1e-12);
    assert_eq!(range(&[2.0, 1.0, 3.0]), (1.0, 3.0));
}

#[test]
fn numbers_as_text() {
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(1_000), "1,000");
    assert_eq!(grouped(12_345_678), "12,345,678");
    assert_eq!(seconds(0.0035), "3.50 ms");
    assert_eq!(seconds(75.0), "75.0 s");
    assert_eq!(seconds(4.2e-7), "420 ns");
    assert_eq!(seconds(0.0), "0 ns");
    assert_eq!(seconds(1234.5), "1,235 s");
    assert_eq!(seconds(f64::NAN), "-");
    assert_eq!(mebibytes(1_300 << 20), "1,300 MiB");
    let values = [0.126, 9.994, 9.996, 99.94, 99.96, 1_234_567.4, f64::INFINITY];
    assert_eq!(values.map(rounded), ["0.13", "9.99", "10.0", "99.9", "100", "1,234,567", "-"]);
}
