//! The most frequent of some labels.

/// Returns the most frequent label; if several are, the least of them; `None` if there are none. Changes the
/// order of the labels.
#[inline]
pub(super) fn most_frequent(labels: &mut [u32]) -> Option<u32> {
    match *labels {
        [] => None,
        [one] => Some(one),
        [a, b] => Some(a.min(b)),
        _ => Some(majority(labels).unwrap_or_else(|| most_frequent_sorted(labels))),
    }
}

/// Returns the label that makes up more than half of `labels`, if there is one.
#[inline]
fn majority(labels: &[u32]) -> Option<u32> {
    let (mut candidate, mut lead) = (0, 0usize);
    for &label in labels {
        if lead == 0 {
            candidate = label;
        }
        if label == candidate { lead += 1 } else { lead -= 1 }
    }
    let count = labels.iter().filter(|&&label| label == candidate).count();
    (lead > 0 && count * 2 > labels.len()).then_some(candidate)
}

fn most_frequent_sorted(labels: &mut [u32]) -> u32 {
    // In the first iteration labels are ids. A list with changes that were not merged yet has a long run and
    // a short one, which a stable sort merges.
    match labels.windows(2).position(|pair| pair[0] > pair[1]) {
        None => {}
        Some(run) if run * 2 > labels.len() => labels.sort(),
        Some(_) => labels.sort_unstable(),
    }
    let (mut best, mut most) = (0, 0);
    for same in labels.chunk_by(|a, b| a == b) {
        if same.len() > most {
            (best, most) = (same[0], same.len());
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::most_frequent;

    #[test]
    fn of_several_the_least() {
        assert_eq!(most_frequent(&mut []), None);
        assert_eq!(most_frequent(&mut [7]), Some(7));
        assert_eq!(most_frequent(&mut [9, 2]), Some(2));
        assert_eq!(most_frequent(&mut [9, 2, 9]), Some(9));
        assert_eq!(most_frequent(&mut [5, 9, 9, 5]), Some(5), "a half is no majority");
        assert_eq!(most_frequent(&mut [3, 1, 2]), Some(1));
        assert_eq!(most_frequent(&mut [4, 8, 8, 1, 8, 8, 2]), Some(8));
        assert_eq!(most_frequent(&mut [6, 6, 1, 1, 0, 3]), Some(1));
        assert_eq!(most_frequent(&mut [2, 4, 7, 9, 4, 8]), Some(4), "a long run and a short one");
        assert_eq!(most_frequent(&mut [2, 4, 7, 9]), Some(2), "in order");
    }
}
