//! A reader of Arrow's IPC format for files that checks each size before it takes memory. The reader of the
//! library aborts the process if a damaged size is too large.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, CompressionType, Endianness, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use crate::Error;

/// The bytes at the end of a file: the length of the footer, and the name of the format.
const TRAILER: u64 = 10;
/// The most bytes of a decompressed buffer, as the format advises.
const MOST_DECOMPRESSED: i64 = i32::MAX as i64;
/// The mark before the length of a message; older files have none.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// A file that is read batch by batch.
pub(super) struct IpcReader {
    file: File,
    len: u64,
    pub(super) schema: SchemaRef,
    decoder: FileDecoder,
    batches: std::vec::IntoIter<Block>,
}

impl IpcReader {
    /// Reads the footer and the dictionaries.
    pub(super) fn open(mut file: File) -> Result<IpcReader, Error> {
        let len = file.metadata().map_err(failed)?.len();
        let footer_at = |length: u64| len.checked_sub(TRAILER + length);
        let trailer = footer_at(0).ok_or_else(|| failed("shorter than its footer"))?;
        let mut end = [0; TRAILER as usize];
        file.seek(SeekFrom::Start(trailer)).and_then(|_| file.read_exact(&mut end)).map_err(failed)?;
        let length = read_footer_length(end)?;
        let from = footer_at(length as u64).ok_or_else(|| failed("the footer is longer than the file"))?;
        let footer = read_at(&mut file, from, length)?;
        let footer = root_as_footer(&footer).map_err(failed)?;
        let schema = footer.schema().ok_or_else(|| failed("no schema"))?;
        if schema.endianness() != Endianness::Little {
            return Err(failed("written by a machine of the other byte order"));
        }
        let schema = Arc::new(fb_to_schema(schema));
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        for block in footer.dictionaries().iter().flatten() {
            let bytes = read_block(&mut file, len, block)?;
            decoder.read_dictionary(block, &bytes)?;
        }
        let batches: Vec<Block> = footer.recordBatches().iter().flatten().copied().collect();
        Ok(IpcReader { file, len, schema, decoder, batches: batches.into_iter() })
    }

    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let Some(block) = self.batches.next() else { return Ok(None) };
        let bytes = read_block(&mut self.file, self.len, &block)?;
        let batch = self.decoder.read_record_batch(&block, &bytes)?;
        batch.map(Some).ok_or_else(|| failed("a block of the footer has no batch"))
    }
}

fn failed(why: impl std::fmt::Display) -> Error {
    Error::Table(why.to_string())
}

fn read_at(file: &mut File, from: u64, bytes: usize) -> Result<Vec<u8>, Error> {
    let mut read = vec![0; bytes];
    file.seek(SeekFrom::Start(from)).and_then(|_| file.read_exact(&mut read)).map_err(failed)?;
    Ok(read)
}

/// Reads a message and its body, if both are inside of the file and all buffers inside of the body.
fn read_block(file: &mut File, len: u64, block: &Block) -> Result<Buffer, Error> {
    let sizes = u64::try_from(block.offset()).ok().zip(u64::try_from(block.metaDataLength()).ok());
    let sizes = sizes.zip(u64::try_from(block.bodyLength()).ok());
    let ((from, head), body) = sizes.ok_or_else(|| failed("a negative size"))?;
    let bytes = head.checked_add(body).filter(|bytes| from.checked_add(*bytes).is_some_and(|end| end <= len));
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let read = read_at(file, from, bytes.ok_or_else(|| failed("a batch is outside of the file"))?)?;
    let (head, body) = read.split_at_checked(head as usize).ok_or_else(|| failed("a batch is cut"))?;
    check_message(head, body)?;
    Ok(Buffer::from_vec(read))
}

/// Checks that the buffers of a message are inside of its body, and how large they are when decompressed.
fn check_message(head: &[u8], body: &[u8]) -> Result<(), Error> {
    let head = head.strip_prefix(&CONTINUATION).unwrap_or(head);
    let message = root_as_message(head.get(4..).unwrap_or_default()).map_err(failed)?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|it| it.data()),
        _ => None,
    };
    let Some(batch) = batch else { return Ok(()) };
    let is_compressed = batch
        .compression()
        .is_some_and(|it| [CompressionType::LZ4_FRAME, CompressionType::ZSTD].contains(&it.codec()));
    for buffer in batch.buffers().iter().flatten() {
        let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range.and_then(|(from, length)| body.get(from..from.checked_add(length)?));
        let bytes = bytes.ok_or_else(|| failed("a buffer is outside of its batch"))?;
        if let Some(stated) = bytes.first_chunk().filter(|_| is_compressed) {
            // -1 marks a buffer that is not compressed.
            if !(-1..=MOST_DECOMPRESSED).contains(&i64::from_le_bytes(*stated)) {
                return Err(failed("a buffer is too large when it is decompressed"));
            }
        }
    }
    Ok(())
}
