//! The content of a file in shared chunks. A clone is O(1); a write copies the chunks that it touches.

use std::sync::Arc;

const CHUNK_BYTES: usize = 4096;

type Chunk = Arc<[u8; CHUNK_BYTES]>;

/// The bytes of a file; absent chunks are zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    len: u64,
    chunks: Arc<Vec<Option<Chunk>>>,
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads the bytes at `offset`, at most `buf.len()`. Returns the number of bytes read.
    pub(super) fn read(&self, offset: u64, buf: &mut [u8]) -> usize {
        let n = self.len.saturating_sub(offset).min(buf.len() as u64) as usize;
        let mut done = 0;
        while done < n {
            let at = offset as usize + done;
            let (index, within) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
            let part = (CHUNK_BYTES - within).min(n - done);
            let out = &mut buf[done..done + part];
            match self.chunks.get(index).and_then(Option::as_ref) {
                Some(chunk) => out.copy_from_slice(&chunk[within..within + part]),
                None => out.fill(0),
            }
            done += part;
        }
        n
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        self.extend(offset + data.len() as u64);
        let chunks = Arc::make_mut(&mut self.chunks);
        let mut done = 0;
        while done < data.len() {
            let at = offset as usize + done;
            let (index, within) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
            let part = (CHUNK_BYTES - within).min(data.len() - done);
            let chunk = chunks[index].get_or_insert_with(|| Arc::new([0; CHUNK_BYTES]));
            Arc::make_mut(chunk)[within..within + part].copy_from_slice(&data[done..done + part]);
            done += part;
        }
    }

    /// Makes the file at least `len` bytes long.
    pub(super) fn extend(&mut self, len: u64) {
        if len > self.len {
            self.len = len;
            let chunks = len.div_ceil(CHUNK_BYTES as u64) as usize;
            if chunks > self.chunks.len() {
                Arc::make_mut(&mut self.chunks).resize(chunks, None);
            }
        }
    }

    pub(super) fn set_len(&mut self, len: u64) {
        if len >= self.len {
            return self.extend(len);
        }
        self.len = len;
        let chunks = Arc::make_mut(&mut self.chunks);
        chunks.truncate(len.div_ceil(CHUNK_BYTES as u64) as usize);
        let within = (len % CHUNK_BYTES as u64) as usize;
        if within > 0
            && let Some(Some(last)) = chunks.last_mut()
        {
            Arc::make_mut(last)[within..].fill(0);
        }
    }

    /// True if neither was written to since one was cloned from the other.
    #[cfg(test)]
    pub(super) fn is_shared_with(&self, other: &Content) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len as usize];
        self.read(0, &mut bytes);
        bytes
    }
}
