//! Delta records (sorted words as bytes), and their reader, which is a source of words. Delta runs will have
//! such records in blocks with checksums.
//!
//! The numbers in parentheses are sizes in bytes. A file has the number of chains (4), then the chains,
//! ascending. A chain has label (2), subgraph (4), direction (1), the inserted and the removed vertices (8
//! each), the number of words (4), then the words, ascending. A word has vertex (1), kind (1), other vertex
//! (4), rank (8); a put also has weight (8), the length of its row (4), and the row.

use std::convert::Infallible;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, Timestamp, VertexId};
use hedgerow_io::codec::{OutOfBytes, PutLe, Reader};
use hedgerow_io::{Corruption, CorruptionKind};
use hedgerow_log::{decode_row, encode_row};
use hedgerow_tier::{ImageId, TierError};

use super::operations::Operations;
use super::{Edge, ask_for_words, chains, image};
use crate::sources::{
    Answer, ChainId, Extent, HasMemory, Identity, MaskAnswer, Query, Source, Word, WordKind,
};

/// The least number of bytes that a chain takes.
const CHAIN_BYTES: usize = 27;
/// The least number of bytes that a word takes.
const WORD_BYTES: usize = 14;
/// A timestamp after all operations.
const ALL: Timestamp = Timestamp(u64::MAX);
/// The kinds, by their bytes.
const KINDS: [WordKind; 3] = [WordKind::Put, WordKind::PutIfAbsent, WordKind::Remove];

/// Decoded delta records.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeltaRecords {
    chains: Vec<ChainRecord>,
}

#[derive(Clone, Debug)]
struct ChainRecord {
    chain: ChainId,
    inserted: u64,
    removed: u64,
    words: Vec<(Identity, WordKind, Edge)>,
}

/// A cursor, with the name of the file for errors.
struct Decoder<'a> {
    file: &'a str,
    bytes: Reader<'a>,
}

/// Encodes operations as delta records: one record for each chain, with one word for each changed edge.
pub(crate) fn encode(operations: &Operations) -> Result<Vec<u8>, TierError> {
    let images = operations.images();
    let (source, mut out) = (operations.upto(ALL), Vec::new());
    out.put_u32(2 * images.len() as u32);
    for chain in images.into_iter().flat_map(chains) {
        let query = Query { chain, extent: Extent::Chain, rows: true };
        let words = match source.answer(&query, &mut |_| true)? {
            Answer::Words(words) => words,
            Answer::Nothing | Answer::Whole(_) => Vec::new(),
        };
        let (inserted, removed) = match source.mask(chain.image, &mut |_| true)? {
            MaskAnswer::Words { inserted, removed } if !chain.is_incoming => (inserted, removed),
            _ => (0, 0),
        };
        out.put_u16(chain.image.label.0);
        out.put_u32(chain.image.subgraph.0);
        out.put_u8(u8::from(chain.is_incoming));
        out.put_u64(inserted);
        out.put_u64(removed);
        out.put_u32(words.len() as u32);
        words.iter().for_each(|word| encode_word(word, &mut out));
    }
    Ok(out)
}

fn encode_word(word: &Word<'_>, out: &mut Vec<u8>) {
    out.put_u8(word.local.0);
    out.put_u8(word.kind as u8);
    out.put_u32(word.item.dst.0);
    out.put_u64(word.item.rank);
    if word.kind != WordKind::Remove {
        let mut row = Vec::new();
        encode_row(word.item.row, &mut row);
        out.put_f64(word.item.weight);
        out.put_u32(row.len() as u32);
        out.put_bytes(&row);
    }
}

impl DeltaRecords {
    /// Reads records. Takes memory in proportion to the bytes, whatever their content.
    ///
    /// # Errors
    /// Damage: the bytes break a rule of the format.
    pub(crate) fn decode(file: &str, bytes: &[u8]) -> Result<DeltaRecords, TierError> {
        let mut decoder = Decoder { file, bytes: Reader::new(bytes) };
        let count = decoder.count(CHAIN_BYTES)?;
        let mut chains: Vec<ChainRecord> = Vec::with_capacity(count);
        for _ in 0..count {
            let found = decoder.chain()?;
            let ascends = chains.last().is_none_or(|last| last.chain < found.chain);
            decoder.require(ascends, "chains out of order")?;
            chains.push(found);
        }
        decoder.require(decoder.bytes.is_empty(), "bytes after the last chain")?;
        Ok(DeltaRecords { chains })
    }

    fn find(&self, chain: ChainId) -> Option<&ChainRecord> {
        let at = self.chains.binary_search_by_key(&chain, |record| record.chain).ok()?;
        self.chains.get(at)
    }
}

impl<'a> Decoder<'a> {
    fn error(&self, what: &'static str) -> TierError {
        let at = self.bytes.position() as u64;
        Corruption::new(self.file, at, CorruptionKind::Invalid(what)).into()
    }

    fn require(&self, is_so: bool, what: &'static str) -> Result<(), TierError> {
        if is_so { Ok(()) } else { Err(self.error(what)) }
    }

    fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, OutOfBytes>,
    ) -> Result<T, TierError> {
        read(&mut self.bytes).map_err(|_| self.error("records cut short"))
    }

    /// Reads a number of parts. Checks that so many parts, of `least` bytes each, fit the remaining bytes.
    fn count(&mut self, least: usize) -> Result<usize, TierError> {
        let count = self.next(Reader::u32)? as usize;
        self.require(count <= self.bytes.remaining() / least, "more parts than bytes")?;
        Ok(count)
    }

    fn chain(&mut self) -> Result<ChainRecord, TierError> {
        let image = image(self.next(Reader::u16)?, self.next(Reader::u32)?);
        self.require(image.subgraph <= VertexId::MAX.subgraph(), "subgraph id out of range")?;
        let direction = self.next(Reader::u8)?;
        self.require(direction <= 1, "an unknown direction")?;
        let (inserted, removed) = (self.next(Reader::u64)?, self.next(Reader::u64)?);
        self.require(inserted & removed == 0, "a vertex that exists and does not")?;
        let count = self.count(WORD_BYTES)?;
        let mut words: Vec<(Identity, WordKind, Edge)> = Vec::with_capacity(count);
        for _ in 0..count {
            let word = self.word()?;
            self.require(words.last().is_none_or(|last| last.0 < word.0), "words out of order")?;
            words.push(word);
        }
        Ok(ChainRecord { chain: ChainId { image, is_incoming: direction == 1 }, inserted, removed, words })
    }

    fn word(&mut self) -> Result<(Identity, WordKind, Edge), TierError> {
        let (local, kind) = (LocalVertex(self.next(Reader::u8)?), self.next(Reader::u8)?);
        self.require(local.0 < SUBGRAPH_VERTICES as u8, "a vertex beyond its subgraph")?;
        let kind = KINDS.into_iter().find(|of| *of as u8 == kind);
        let kind = kind.ok_or_else(|| self.error("an unknown kind of word"))?;
        let at = Identity { local, other: VertexId(self.next(Reader::u32)?), rank: self.next(Reader::u64)? };
        self.require(at.other <= VertexId::MAX, "neighbor id out of range")?;
        if kind == WordKind::Remove {
            return Ok((at, kind, Edge { weight: 1.0, row: None }));
        }
        let weight = self.next(Reader::f64)?;
        self.require(!weight.is_nan(), "weight is NaN")?;
        let len = self.next(Reader::u32)? as usize;
        let row = decode_row(self.bytes.bytes(len).map_err(|_| self.error("records cut short"))?);
        Ok((at, kind, Edge { weight, row: row.map_err(|what| self.error(what))? }))
    }
}

impl<'s> Source<'s> for &'s DeltaRecords {
    type Whole = Infallible;

    fn answer(&self, query: &Query, has_memory: HasMemory<'_>) -> Result<Answer<'s, Infallible>, TierError> {
        let records: &'s DeltaRecords = self;
        let Some(record) = records.find(query.chain) else { return Ok(Answer::Nothing) };
        let within = || record.words.iter().filter(|(at, ..)| query.extent.has(*at));
        ask_for_words(within().count(), has_memory)?;
        Ok(Answer::Words(within().map(|(at, kind, edge)| edge.word(*at, *kind)).collect()))
    }

    fn mask(&self, image: ImageId, _: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        let record = self.find(ChainId { image, is_incoming: false });
        Ok(record.map_or(MaskAnswer::Nothing, |record| MaskAnswer::Words {
            inserted: record.inserted,
            removed: record.removed,
        }))
    }
}
