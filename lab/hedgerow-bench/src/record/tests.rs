use super::{Origin, Record};

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
    let origin = Origin::of_this_run();
    assert_eq!(Record::parse(&record.to_line(&origin)), Some(record.clone()));
    assert_eq!(Origin::parse(&record.to_line(&origin)), Some(origin.clone()));
    let without = Record { ratio: None, ..record };
    let nowhere = Origin { commit: None, ..origin };
    assert!(without.to_line(&nowhere).contains("\"ratio\":null"));
    assert_eq!(Origin::parse(&without.to_line(&nowhere)), Some(nowhere.clone()));
    assert_eq!(Record::parse(&without.to_line(&nowhere)), Some(without));
    assert_eq!((Record::parse("{}"), Origin::parse("{}")), (None, None));
}
