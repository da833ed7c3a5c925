//! Packed neighbor lists: each neighbor is written as the gap to the neighbor before it. A gap takes as many
//! bits as the largest gap of its mini-block. The layout is drawn in `docs/format/packed.md`.
//!
//! The bytes of a list do not contain its length: the writer stores the lengths separately. [`encode_list`]
//! appends a list, [`decode_list`] reads one, [`skip_list`] skips one. A writer chooses between the two forms
//! of the first neighbor by the sums of [`first_len`] over its lists, because no other byte depends on that
//! choice.
//!
//! ```
//! use hedgerow_core::VertexId;
//! use hedgerow_tier::packed::{Bytes, Form, decode_list, encode_list};
//!
//! let (list, source) = ([3, 4, 9].map(VertexId), VertexId(5));
//! let form = Form { relative: true, repeats: false };
//! let mut encoded = Vec::new();
//! encode_list(&list, source, form, &mut encoded);
//! // The first is two below its source; the width of the gaps is 3 bits; the gaps, less one, are 0 and 4.
//! assert_eq!(encoded, [3, 3, 4 << 3]);
//!
//! let mut decoded = Vec::new();
//! decode_list(&mut Bytes::new(&encoded), 3, source, form, &mut decoded)?;
//! assert_eq!(decoded, list);
//! # Ok::<(), hedgerow_tier::packed::Fault>(())
//! ```

mod decode;
mod encode;
mod form;
mod unpack;
mod varint;

#[cfg(test)]
mod tests;

pub use crate::bytes::{Bytes, Fault};
pub use decode::{decode_list, skip_list};
pub use encode::{encode_list, encoded_len, first_len};
pub use form::{Form, MINI_BLOCK};

/// The most ids for which [`decode_list`] reserves additional memory behind a list.
pub const DECODED_BESIDE: usize = unpack::GROUP;
