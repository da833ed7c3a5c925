//! External ids of many vertices, as columns.

use crate::key::{VertexKey, VertexKeyRef};

/// Texts one after another, with offsets: the layout of a column of long strings in Arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextColumn {
    /// The offsets, one more than texts: the first is 0, and each text ends at the offset where the next one
    /// begins.
    offsets: Vec<i64>,
    text: String,
}

/// Keys of many vertices, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyColumn {
    /// Numbers.
    U64(Vec<u64>),
    /// Texts.
    Str(TextColumn),
    /// Keys of several kinds.
    Kinds(Vec<VertexKey>),
}

impl Default for TextColumn {
    fn default() -> TextColumn {
        TextColumn { offsets: vec![0], text: String::new() }
    }
}

impl TextColumn {
    /// Returns the number of texts. O(1).
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True if there is no text. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of all texts together. O(1).
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Reserves memory for `texts` more texts of `bytes` bytes together.
    pub fn reserve(&mut self, texts: usize, bytes: usize) {
        self.offsets.reserve(texts);
        self.text.reserve(bytes);
    }

    /// Adds a text. O(length).
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.offsets.push(self.text.len() as i64);
    }

    /// Adds all texts of another column. O(texts and bytes).
    pub fn append(&mut self, other: &TextColumn) {
        let before = self.text.len() as i64;
        self.text.push_str(&other.text);
        self.offsets.extend(other.offsets[1..].iter().map(|end| before + end));
    }

    /// Returns the text at `row`, if there is one. O(1).
    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        let (from, to) = (*self.offsets.get(row)?, *self.offsets.get(row + 1)?);
        self.text.get(from as usize..to as usize)
    }

    /// Returns the texts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.offsets.windows(2).map(|ends| &self.text[ends[0] as usize..ends[1] as usize])
    }

    /// Returns the offsets, one more than texts, and all bytes. O(1).
    pub fn into_parts(self) -> (Vec<i64>, String) {
        (self.offsets, self.text)
    }
}

impl KeyColumn {
    /// Returns a column without keys, for texts if `is_text`, else for numbers.
    pub fn new(is_text: bool) -> KeyColumn {
        if is_text { KeyColumn::Str(TextColumn::default()) } else { KeyColumn::U64(Vec::new()) }
    }

    /// Returns the number of keys. O(1).
    pub fn len(&self) -> usize {
        match self {
            KeyColumn::U64(numbers) => numbers.len(),
            KeyColumn::Str(texts) => texts.len(),
            KeyColumn::Kinds(keys) => keys.len(),
        }
    }

    /// True if the keys ascend. O(keys, and bytes of texts).
    pub fn is_sorted(&self) -> bool {
        match self {
            KeyColumn::U64(numbers) => numbers.is_sorted(),
            KeyColumn::Str(texts) => texts.iter().is_sorted(),
            KeyColumn::Kinds(keys) => keys.is_sorted(),
        }
    }

    /// Adds all keys of another column of the same form; ignores a column of another form. O(keys, and bytes
    /// of texts).
    pub fn append(&mut self, other: KeyColumn) {
        match (self, other) {
            (KeyColumn::U64(all), KeyColumn::U64(part)) => all.extend_from_slice(&part),
            (KeyColumn::Str(all), KeyColumn::Str(part)) => all.append(&part),
            (KeyColumn::Kinds(all), KeyColumn::Kinds(part)) => all.extend(part),
            (all, part) => debug_assert!(part.is_empty(), "{all:?} and {part:?}"),
        }
    }

    /// Adds a key of the form of the column; ignores a key of another form. O(1), and bytes of the text.
    pub fn push(&mut self, key: VertexKeyRef<'_>) {
        match (self, key) {
            (KeyColumn::U64(numbers), VertexKeyRef::U64(n)) => numbers.push(n),
            (KeyColumn::Str(texts), VertexKeyRef::Str(text)) => texts.push(text),
            (KeyColumn::Kinds(keys), key) => keys.push(key.to_owned()),
            (all, key) => debug_assert!(false, "{key:?} in {all:?}"),
        }
    }

    /// True if there is no key. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the key at `row`, if there is one. O(1).
    #[inline]
    pub fn get(&self, row: usize) -> Option<VertexKeyRef<'_>> {
        match self {
            KeyColumn::U64(numbers) => numbers.get(row).copied().map(VertexKeyRef::U64),
            KeyColumn::Str(texts) => texts.get(row).map(VertexKeyRef::Str),
            KeyColumn::Kinds(keys) => keys.get(row).map(VertexKey::as_ref),
        }
    }

    /// Returns the keys, in order.
    pub fn iter(&self) -> impl Iterator<Item = VertexKeyRef<'_>> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// Returns the keys at these rows, in the order of `rows`; ignores rows beyond the end. O(rows, and bytes
    /// of texts).
    pub fn take(&self, rows: impl Iterator<Item = usize>) -> KeyColumn {
        match self {
            KeyColumn::U64(numbers) => {
                KeyColumn::U64(rows.filter_map(|row| numbers.get(row).copied()).collect())
            }
            KeyColumn::Str(texts) => {
                let mut taken = TextColumn::default();
                rows.filter_map(|row| texts.get(row)).for_each(|text| taken.push(text));
                KeyColumn::Str(taken)
            }
            KeyColumn::Kinds(keys) => {
                KeyColumn::Kinds(rows.filter_map(|row| keys.get(row).cloned()).collect())
            }
        }
    }

    /// Returns all keys as owned ids. O(keys), and an allocation for each text.
    pub fn to_vec(&self) -> Vec<VertexKey> {
        self.iter().map(VertexKeyRef::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_one_behind_the_other() {
        let mut first = TextColumn::default();
        for text in ["", "a", "äöü"] {
            first.push(text);
        }
        let mut all = first.clone();
        all.append(&first);
        assert_eq!(all.iter().collect::<Vec<_>>(), ["", "a", "äöü", "", "a", "äöü"]);
        assert_eq!((all.len(), all.get(2), all.get(5), all.get(6)), (6, Some("äöü"), Some("äöü"), None));
        assert_eq!(all.into_parts(), (vec![0, 0, 1, 7, 7, 8, 14], "aäöüaäöü".to_owned()));
    }

    #[test]
    fn rows_are_taken_in_their_order() {
        let mut texts = TextColumn::default();
        ["x", "", "yz"].iter().for_each(|text| texts.push(text));
        let taken = KeyColumn::Str(texts).take([2, 0, 7, 2].into_iter());
        assert_eq!(taken.to_vec(), ["yz", "x", "yz"].map(VertexKey::from));
        let numbers = KeyColumn::U64(vec![5, 6]).take([1, 1, 0].into_iter());
        assert_eq!((numbers.len(), numbers), (3, KeyColumn::U64(vec![6, 6, 5])));
        assert!(KeyColumn::new(true).is_empty() && KeyColumn::new(false).is_empty());
    }
}
