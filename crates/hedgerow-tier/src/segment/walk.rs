//! Reads of blocks one after another without a directory, for salvage if the directory is damaged.

use hedgerow_core::GraphConfig;

use super::assemble::{decode_columns, finish};
use super::block::{self, BlockKind, HEAD_BYTES};
use super::delta::SubgraphRecord;
use super::keys::decode_key_record;
use super::loss::SegmentLoss;
use super::source::Source;
use super::topology::{self, Topology};
use crate::TierError;
use crate::bytes::{Bytes, Fault};
use crate::id::ImageId;

/// The receiver of records and losses while blocks are read.
pub(super) struct Handover<'a> {
    pub(super) config: &'a GraphConfig,
    pub(super) found: &'a mut dyn FnMut(SubgraphRecord),
    pub(super) lost: &'a mut dyn FnMut(SegmentLoss),
}

/// The records of a page so far.
#[derive(Default)]
struct Gathered {
    topologies: Vec<Topology>,
    keys: Vec<u8>,
    columns: Vec<u8>,
    /// The position of the first block of the page.
    begin: u64,
}

/// Reads the blocks from `begin` to `end` up to the first damaged one, and hands over the images that are
/// complete in them.
pub(super) fn walk(source: &Source, begin: u64, end: u64, handover: &mut Handover<'_>) {
    let mut gathered = Gathered { begin, ..Gathered::default() };
    let mut position = begin;
    while position < end {
        let step = read_block(source, position, end).and_then(|(kind, payload, len)| {
            gathered.take(source, position, kind, &payload, handover).map(|()| len)
        });
        match step {
            Ok(len) => position += len,
            Err(error) => {
                (handover.lost)(SegmentLoss { image: None, error });
                break;
            }
        }
    }
    gathered.hand_over(source, handover);
}

/// Reads the block at `position`. Returns its kind, its payload, and its length in the file.
fn read_block(source: &Source, position: u64, end: u64) -> Result<(BlockKind, Vec<u8>, u64), TierError> {
    let mut head = [0; HEAD_BYTES];
    source.read(&mut head, position)?;
    let fits = block::stated(head).filter(|(len, _)| *len as u64 <= end - position);
    let Some((len, _)) = fits else {
        return Err(source.invalid(position, "head of a block that does not fit it"));
    };
    let mut raw = vec![0; len];
    source.read(&mut raw, position)?;
    let (kind, payload) = block::verify(source, position, &raw)?;
    Ok((kind, payload.to_vec(), len as u64))
}

impl Gathered {
    fn take(
        &mut self,
        source: &Source,
        position: u64,
        kind: BlockKind,
        payload: &[u8],
        handover: &mut Handover<'_>,
    ) -> Result<(), TierError> {
        let at = |fault: Fault| source.invalid(position + (HEAD_BYTES + fault.position) as u64, fault.what);
        match kind {
            BlockKind::Topology => {
                let mut bytes = Bytes::new(payload);
                while !bytes.is_empty() {
                    let topology = topology::decode(&mut bytes).map_err(at)?;
                    if !self.continues(topology.id) {
                        std::mem::take(self).hand_over(source, handover);
                        self.begin = position;
                    }
                    self.topologies.push(topology);
                }
                Ok(())
            }
            BlockKind::Piece => match self.topologies.last_mut() {
                Some(topology) => topology.add_piece(payload).map_err(at),
                None => Err(source.invalid(position, "a piece of nothing")),
            },
            BlockKind::Keys => {
                self.keys.extend_from_slice(payload);
                Ok(())
            }
            BlockKind::Columns => {
                self.columns.extend_from_slice(payload);
                Ok(())
            }
        }
    }

    /// True if an image may follow the gathered ones on the same page.
    fn continues(&self, id: ImageId) -> bool {
        let same = self.topologies.last().is_none_or(|last| last.id.page() == id.page() && last.id < id);
        same && self.keys.is_empty() && self.columns.is_empty()
    }

    /// Hands over the complete images. No record can be found behind a damaged record of keys or properties.
    fn hand_over(self, source: &Source, handover: &mut Handover<'_>) {
        let Gathered { topologies, keys, columns, begin } = self;
        let (mut keys, mut columns) = (Bytes::new(&keys), Bytes::new(&columns));
        let mut broken = None;
        for mut topology in topologies {
            let id = topology.id;
            let image = broken.map_or(Ok(()), Err).and_then(|()| {
                let needs_keys = topology.needs_keys(handover.config);
                let record = needs_keys.then(|| decode_key_record(&mut keys, id.subgraph, topology.present));
                let keys = record.transpose();
                let keys = keys.map_err(|fault| fault.what).inspect_err(|what| broken = Some(*what))?;
                if topology.needs_columns() {
                    let read = decode_columns(&mut columns, &mut topology);
                    read.map_err(|fault| fault.what).inspect_err(|what| broken = Some(*what))?;
                }
                finish(topology, keys, handover.config)
            });
            match image {
                Ok(image) => (handover.found)(image),
                Err(what) => {
                    let error = source.invalid(begin, what);
                    (handover.lost)(SegmentLoss { image: Some(id), error });
                }
            }
        }
    }
}
