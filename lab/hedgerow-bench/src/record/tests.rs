use super::Record;

#[test]
fn a_record_survives_its_line() {
    let record = Record {
        suite: "analytics".into(),
        graph: "kron:10".into(),
        engine: "hedgerow".into(),
        metric: "bfs.settled".into(),
        value: 0.25,
        unit: "s".into(),
        threads: 2,
        repeat: 3,
        min: 0.125,
        max: 0.5,
        ratio: Some(("csr".into(), 1.25)),
    };
    assert_eq!(Record::parse(&record.to_line()), Some(record.clone()));
    let without = Record { ratio: None, ..record };
    assert!(without.to_line().contains("\"ratio\":null"));
    assert_eq!(Record::parse(&without.to_line()), Some(without));
    assert_eq!(Record::parse("{}"), None);
}
