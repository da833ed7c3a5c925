use super::*;

fn span(first: usize, pages: usize) -> Span {
    Span { first, pages }
}

#[test]
fn the_smallest_span_that_suffices_is_used_from_its_beginning() {
    let spans = Spans::new(100);
    assert_eq!(
        (spans.put(span(10, 8)), spans.put(span(30, 4)), spans.put(span(50, 6))),
        (Ok(()), Ok(()), Ok(()))
    );
    assert_eq!(spans.take(5), Some(50));
    assert_eq!(spans.take(1), Some(55));
    assert_eq!(spans.take(4), Some(30));
    assert_eq!(spans.take(9), None);
    assert_eq!(spans.take(0), None);
    assert_eq!(spans.take(8), Some(10));
    assert_eq!(spans.take(1), None);
}

#[test]
fn neighbors_are_joined() {
    let spans = Spans::new(100);
    for (first, pages) in [(10, 2), (14, 2), (12, 2), (40, 1), (8, 2)] {
        assert_eq!(spans.put(span(first, pages)), Ok(()));
    }
    assert_eq!(spans.take(8), Some(8));
    assert_eq!(spans.drain().collect::<Vec<_>>(), [span(40, 1)]);
    assert_eq!(spans.drain().count(), 0);
}

#[test]
fn what_has_no_room_stays_with_its_owner() {
    let spans = Spans::new(5);
    assert_eq!(spans.put(span(1, 3)), Ok(()));
    assert_eq!(spans.put(span(20, 3)), Err(span(20, 3)));
    assert_eq!(spans.put(span(20, 2)), Ok(()));
    assert_eq!(spans.put(span(usize::MAX, 0)), Err(span(usize::MAX, 0)));
    assert_eq!(spans.drain().map(|span| span.pages).sum::<usize>(), 5);
    assert_eq!(spans.put(span(1 << 36, 1)), Err(span(1 << 36, 1)));
    // There are more spans than slots, because each second page is a span of its own.
    let spans = Spans::new(usize::MAX);
    let kept = (0..1000).filter(|&at| spans.put(span(at * 2, 1)).is_ok()).count();
    assert_eq!((kept, spans.drain().count(), spans.take(1)), (SLOTS, SLOTS, None));
}

/// Threads take and return pages: no page goes to two threads, and all pages are free in the end.
#[test]
fn threads_never_share_a_page() {
    const PAGES: usize = 512;
    let spans = Spans::new(PAGES);
    spans.put(span(0, PAGES)).expect("room for all");
    let taken: Vec<AtomicUsize> = (0..PAGES).map(|_| AtomicUsize::new(0)).collect();
    let (spans, taken) = (&spans, &taken);
    let lost: usize = std::thread::scope(|scope| {
        let work = |seed: usize| {
            let (mut state, mut lost) = (seed, 0);
            for _ in 0..20_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let pages = (state >> 33) % 9 + 1;
                let Some(first) = spans.take(pages) else { continue };
                let ours = &taken[first..first + pages];
                assert!(ours.iter().all(|page| page.fetch_add(1, Ordering::Relaxed) == 0));
                ours.iter().for_each(|page| page.store(0, Ordering::Relaxed));
                lost += spans.put(span(first, pages)).err().map_or(0, |span| span.pages);
            }
            lost
        };
        let threads: Vec<_> = (1..5).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no page was taken twice")).sum()
    });
    assert_eq!(spans.drain().map(|span| span.pages).sum::<usize>() + lost, PAGES);
}
