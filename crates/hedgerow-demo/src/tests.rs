use super::message::{Analysis, Message, Sample};

#[test]
fn messages_survive_the_pipe() {
    let (resident_bytes, store_bytes) = (1 << 30, 1 << 29);
    let sample = Sample { at: 1.5, commits: 10, syncs: 7, conflicts: 1, resident_bytes, store_bytes };
    let analysis = Analysis {
        at: 2.25,
        taken: 0.5,
        opened: 1e-7,
        behind: 3,
        vertices: 10,
        edges: 20,
        components: 2,
        top: vec![("a:1".into(), 0.25)],
    };
    let all = [
        Message::Sample(sample),
        Message::Analysis(analysis),
        Message::Checkpoint { taken: 0.25, timestamp: 99, bytes: 1 << 20 },
        Message::Final(vec![("bfs.seconds".into(), 0.125, "s".into())]),
    ];
    for message in all {
        assert_eq!(Message::parse(&message.to_line()).unwrap(), message);
    }
    assert!(Message::parse("{").is_err());
    assert!(Message::parse("{\"kind\":\"other\"}").is_err());
}
