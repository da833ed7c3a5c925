use std::io::Write;

use super::{Ack, AckFollower, AckWriter, Acks};

#[test]
fn a_file_is_followed_while_it_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("acks");
    let mut follower = AckFollower::new(&path);
    follower.poll().unwrap();
    let writer = AckWriter::open(&path).unwrap();
    let ack = Ack { timestamp: 9, events: 50, wrote: true, at: 7000, microseconds: 4000 };
    writer.begin(0, 3).unwrap();
    writer.begin(1, 4).unwrap();
    follower.poll().unwrap();
    assert_eq!(follower.acks.in_flight(), [3, 4]);
    writer.acknowledge(1, 4, &ack).unwrap();
    (&writer.file).write_all(b"b 1 ").unwrap();
    follower.poll().unwrap();
    assert_eq!(follower.acks.in_flight(), [3]);
    (&writer.file).write_all(b"7\n").unwrap();
    follower.poll().unwrap();
    assert_eq!(follower.acks.in_flight(), [3, 7]);
    writer.found(3, 20).unwrap();
    let acks = Acks::read(&path).unwrap();
    assert_eq!(acks.in_flight(), [7]);
    assert_eq!(acks.acknowledged[&4], ack);
    assert_eq!(acks.events, 70);
    assert!(acks.holds(3) && acks.holds(4) && !acks.holds(7));
}

#[test]
fn lines_that_say_nothing_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    for (i, line) in ["x 1 2", "a 1", "b 0 -1", "a 0 1 2 3 1 5", "a 0 1 2 3 1 4 5\na 1 1 2 3 1 4 5"]
        .into_iter()
        .enumerate()
    {
        let path = dir.path().join(i.to_string());
        std::fs::write(&path, format!("{line}\n")).unwrap();
        let error = Acks::read(&path).unwrap_err().to_string();
        assert!(error.contains("unexpected line"), "{error}");
    }
}
