//! Tests of times: the values that a column may have, the numbers that are refused, and the output of times.

use serde_json::json;

use crate::{Bench, field, hedgerow};

#[test]
fn numbers_need_a_unit_unless_they_are_likely_microseconds() {
    let bench = Bench::new();
    for (column, numbers) in [
        ("timestamp_s", ["1448928000", "1451606400.5"]),
        ("timestamp_ms", ["1448928000000", "1451606400500"]),
        ("timestamp_us", ["1448928000000000", "1451606400500000"]),
        ("timestamp_ns", ["1448928000000000000", "1451606400500000000"]),
        ("timestamp", ["1448928000000000", "1451606400500000"]),
        ("timestamp", ["2015-12-01", "2016-01-01T01:00:00.5+01:00"]),
        // A column with a unit may contain dates too.
        ("timestamp_s", ["2015-12-01", "1451606400.5"]),
    ] {
        let [first, second] = numbers;
        let file = bench.file("a.csv", format!("src,dst,at\n1,2,{first}\n1,3,{second}\n"));
        let (store, options) = (bench.path("times"), format!("--label e --property at:{column}"));
        let loaded = hedgerow(&format!("load @ @ {options} --json"), &[&store, &file]).ok();
        assert_eq!(field(&loaded, "notes"), json!([]), "{column}");
        let exported = hedgerow("export @ --properties", &[&store]).ok();
        let expected = "src,dst,at:timestamp\n1,2,2015-12-01T00:00:00Z\n1,3,2016-01-01T00:00:00.5Z\n";
        assert_eq!(exported, expected, "{column} {numbers:?}");
        assert_eq!(hedgerow("neighbors @ 1 --where at>2015-12-15", &[&store]).ok(), "3\n");
        let shown = hedgerow("neighbors @ 1 --properties --json", &[&store]).ok();
        assert_eq!(field(&shown, "neighbors")[0]["properties"], json!({"at": "2015-12-01T00:00:00Z"}));
        std::fs::remove_dir_all(&store).expect("removed");
    }
}

#[test]
fn unlikely_numbers_are_refused_with_the_units() {
    let bench = Bench::new();
    for (number, why) in [
        ("1448928000", "is within a year of 1970 if it counts microseconds"),
        ("1616976024321", "is within a year of 1970 if it counts microseconds"),
        ("-86400", "is within a year of 1970"),
        ("1616976024321000000", "is outside the years 0 to 9999 if it counts microseconds"),
    ] {
        let file = bench.file("a.csv", format!("src,dst,at\n1,2,0\n1,2,{number}\n"));
        let error = hedgerow("load @ @ --property at:timestamp", &[&bench.store(), &file]).fails(1);
        let units = "say its unit: at:timestamp_s, timestamp_ms, timestamp_us or timestamp_ns in column 3";
        assert!(error.contains(&format!("a.csv:3: property at: {number} {why}")), "{error}");
        assert!(error.ends_with(units), "{error}");
        assert!(!bench.store().exists());
        // The same holds for a table of vertices.
        let people = bench.file("p.csv", format!("id,at:timestamp\n1,{number}\n"));
        let error = hedgerow("load @ --vertices @", &[&bench.store(), &people]).fails(1);
        assert!(error.contains("p.csv:2: property at: "), "{error}");
    }
    let file = bench.file("a.csv", "src,dst,at\n1,2,2015-12-01\n");
    hedgerow("load @ @ --property at:timestamp", &[&bench.store(), &file]).ok();
    let error = hedgerow("neighbors @ 1 --where at>1448928000", &[&bench.store()]).fails(2);
    assert!(
        error.contains("1448928000 is within a year of 1970 if it counts microseconds; write a date"),
        "{error}"
    );
    let error = hedgerow("load @ @ --property at:timestamp_h", &[&bench.store(), &file]).fails(2);
    assert!(error.contains("timestamp or timestamp_s, _ms, _us, _ns is needed"), "{error}");
}

#[test]
fn times_that_are_cut_are_counted() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "src,dst,at\n1,2,1448928000000000001\n1,3,1448928000000001000\n");
    let loaded = hedgerow("load @ @ --property at:timestamp_ns --json", &[&bench.store(), &file]).ok();
    assert_eq!(field(&loaded, "notes")[0]["note"], "1 time is cut to microseconds");
    // A time without a date remains a number, and a load accepts the export of it.
    let (store, again, out) = (bench.path("far"), bench.path("again"), bench.path("out"));
    let far = bench.file("far.csv", "src,dst,at\n1,2,9223372036854775807\n1,3,-9223372036854775808\n");
    hedgerow("load @ @ --property at:timestamp_us", &[&store, &far]).ok();
    hedgerow("export @ @", &[&store, &out]).ok();
    hedgerow("load @ @", &[&again, &out]).ok();
    let exported = hedgerow("export @ --properties", &[&again]).ok();
    assert_eq!(exported, "src,dst,at:timestamp\n1,2,9223372036854775807\n1,3,-9223372036854775808\n");
}

#[test]
fn a_time_that_becomes_a_property_is_not_reported_as_left_out() {
    let bench = Bench::new();
    let file = bench.file("mails.txt", "1 2 1448928000\n1 3 1451606400\n");
    let (left, kept) = (bench.path("left"), bench.path("kept"));
    let loaded = hedgerow("load @ @ --format temporal --label mail --json", &[&left, &file]).ok();
    assert!(field(&loaded, "notes")[0]["note"].to_string().contains("times in column 3 are left out"));
    let options = "--format temporal --label mail --property at:timestamp_s=3 --json";
    let loaded = hedgerow(&format!("load @ @ {options}"), &[&kept, &file]).ok();
    assert_eq!(field(&loaded, "notes"), json!([]));
    let exported = hedgerow("export @ --label mail --properties", &[&kept]).ok();
    assert_eq!(exported, "src,dst,at:timestamp\n1,2,2015-12-01T00:00:00Z\n1,3,2016-01-01T00:00:00Z\n");
}
