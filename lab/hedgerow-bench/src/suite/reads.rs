//! The suite `reads`: the read rates of the disk through the file-system trait. It reads blocks of 4 KiB at
//! random, one by one and with a pool of threads, and pieces of 1 MiB in order. It writes the file for this
//! purpose, and removes it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_io::{BlockBuffer, Dir, FilledBuffer, NamedFile, ReadPool, ReadRequest, RealFs};

use super::recovery::stores::Place;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

const BLOCK: usize = 4 << 10;
const PIECE: usize = 1 << 20;
/// The number of requests in one call of the pool.
const CALL: u64 = 64;
/// The number of threads in the pool of a store.
const POOL_THREADS: usize = 16;

/// The options of the suite.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReadsOptions {
    /// Size of the file in MiB; more than the memory of a disk's controller
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    mebibytes: u64,
    /// Random reads of one measurement
    #[arg(long, default_value_t = 8192, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    reads: u64,
    /// Measurements of each figure
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Write one JSON object per figure to this file, or to the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// The folder of the file, which is removed at the end
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    dir: PathBuf,
}

/// Runs the suite.
pub(crate) fn run(options: &ReadsOptions) -> Result<()> {
    let place = Place::new(&options.dir, "reads")?;
    let dir = Dir::new(Arc::new(RealFs::create_dir(&place.0)?));
    let file = dir.create("reads.tmp")?;
    write(&file, options.mebibytes)?;
    let way = if file.reads_past_cache() { "past the cache" } else { "through the cache" };
    let name = format!("a file of {} MiB, {way}", options.mebibytes);
    let mut recorder = Recorder::new("reads", name, options.json.as_deref())?;
    let pool = ReadPool::with_threads(POOL_THREADS);
    let (mut alone, mut pooled, mut in_order) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..u64::from(options.repeat) {
        // The kinds of reads take turns, so that other work of the disk affects all alike. No block is read
        // twice soon.
        alone.push(rate(options.reads, || read_alone(&file, options, 2 * round))?);
        pooled.push(rate(options.reads, || read_by_pool(&pool, &file, options, 2 * round + 1))?);
        in_order.push(rate(options.mebibytes << 20, || read_in_order(&file, options))?);
    }
    let metric = |name, unit, threads| Metric { name, unit, threads };
    recorder.add("hedgerow", metric("random_4k.per_s", "reads/s", 1), &alone, None)?;
    let many = metric("random_4k_pool.per_s", "reads/s", POOL_THREADS);
    recorder.add_beside("hedgerow", many, &pooled, Some(("random_4k", &alone)))?;
    recorder.add("hedgerow", metric("in_order_1m.bytes_per_s", "B/s", 1), &in_order, None)
}

/// Fills the file, piece by piece, with bytes that no disk can compress.
fn write(file: &NamedFile, mebibytes: u64) -> Result<()> {
    let mut piece = vec![0u8; PIECE];
    for at in 0..mebibytes {
        for (i, word) in (0..).zip(piece.chunks_exact_mut(8)) {
            word.copy_from_slice(&scrambled(at * PIECE as u64 + i).to_le_bytes());
        }
        file.write_all_at(&piece, at * PIECE as u64)?;
    }
    file.sync_all()?;
    Ok(())
}

/// Returns a number that seems random.
fn scrambled(n: u64) -> u64 {
    let mixed = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Returns `count` divided by the seconds that `work` takes.
fn rate(count: u64, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

/// Returns the positions of the random reads of a round.
fn positions(options: &ReadsOptions, round: u64) -> impl Iterator<Item = u64> {
    let blocks = options.mebibytes * (PIECE / BLOCK) as u64;
    let first = round * options.reads;
    (first..first + options.reads).map(move |i| (scrambled(i) >> 16) % blocks * BLOCK as u64)
}

fn read_alone(file: &NamedFile, options: &ReadsOptions, round: u64) -> Result<()> {
    let mut buffer = BlockBuffer::default();
    for at in positions(options, round) {
        buffer = file.read_blocks_at(buffer, at, BLOCK)?.into_buffer();
    }
    Ok(())
}

fn read_by_pool(pool: &ReadPool, file: &NamedFile, options: &ReadsOptions, round: u64) -> Result<()> {
    let mut positions = positions(options, round).peekable();
    let mut buffers: Vec<BlockBuffer> = Vec::new();
    while positions.peek().is_some() {
        let request = |at| ReadRequest::new(file, at, BLOCK, buffers.pop().unwrap_or_default());
        let requests = positions.by_ref().take(CALL as usize).map(request).collect();
        for outcome in pool.read_many(requests) {
            buffers.push(outcome.map(FilledBuffer::into_buffer)?);
        }
    }
    Ok(())
}

fn read_in_order(file: &NamedFile, options: &ReadsOptions) -> Result<()> {
    let mut buffer = BlockBuffer::default();
    for at in 0..options.mebibytes {
        buffer = file.read_blocks_at(buffer, at * PIECE as u64, PIECE)?.into_buffer();
    }
    Ok(())
}
