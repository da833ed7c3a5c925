//! Views that are made from earlier ones, concurrent with writers, merges, settling and reclamation.

use std::sync::Arc;

use hedgerow_core::{Direction, Resident, Timestamp, VertexId};
use hedgerow_mem::view::{Page, Shape};
use hedgerow_mem::{EdgeOp, View};
use loom::thread;

use crate::versions::{Store, V, inserted, store};

impl Store {
    /// Makes a view at `t`, from `previous` if there is one.
    fn view(&self, previous: Option<View>, t: Timestamp) -> View {
        let (mut out, into) = previous.map_or_else(Default::default, |view| View::into_sides(Arc::new(view)));
        let lists = Some(&self.page);
        out.refresh(64, |_| Page { lists, existence: lists }, Direction::Out, t, false).unwrap();
        View::new(Shape { vertex_bound: 64, ..Shape::default() }, out, into)
    }
}

fn neighbors(view: &View) -> Vec<u32> {
    view.neighbors(VertexId(u32::from(V.0)), Direction::Out).iter().map(|v| v.0).collect()
}

#[test]
fn a_refresh_beside_appends_and_a_merge_is_exact() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let writer = store.clone();
        let commits = thread::spawn(move || {
            writer.commit(2, EdgeOp::Insert);
            // Under the checker the delta has room for two entries, so this commit merges.
            writer.commit(3, EdgeOp::Insert);
        });
        let mut view = None;
        for _ in 0..2 {
            let registration = store.register();
            let next = store.view(view.take(), registration.ts());
            assert_eq!(neighbors(&next), inserted(registration.ts()));
            store.readers.close(registration);
            view = Some(next);
        }
        commits.join().unwrap();
        let last = store.view(view, Timestamp(3));
        assert_eq!(neighbors(&last), [1, 2, 3]);
    });
}

#[test]
fn a_view_of_an_older_snapshot_can_be_made_of_a_newer_one() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let old = store.register();
        let writer = store.clone();
        let commits = thread::spawn(move || {
            writer.commit(2, EdgeOp::Insert);
            writer.commit(3, EdgeOp::Insert);
            writer.reclaim();
        });
        let registration = store.register();
        let newer = store.view(None, registration.ts());
        assert_eq!(neighbors(&newer), inserted(registration.ts()));
        store.readers.close(registration);
        assert_eq!(neighbors(&store.view(Some(newer), old.ts())), [1]);
        commits.join().unwrap();
        store.readers.close(old);
    });
}

#[test]
fn a_refresh_beside_settling_ends_up_settled() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let settler = store.clone();
        let settles = thread::spawn(move || {
            let horizon = settler.horizon();
            let _ = settler.subgraph().latch().settle(Direction::Out, false, &horizon);
        });
        let registration = store.register();
        let view = store.view(None, registration.ts());
        assert_eq!(neighbors(&view), [1]);
        settles.join().unwrap();
        let view = store.view(Some(view), registration.ts());
        let list = view.neighbors(VertexId(u32::from(V.0)), Direction::Out);
        assert_eq!(list.as_slice(), Some([VertexId(1)].as_slice()), "nothing is left to correct");
        store.readers.close(registration);
    });
}
