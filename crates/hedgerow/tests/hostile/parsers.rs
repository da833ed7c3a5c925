//! Fast tests of single parsers of files: operations and properties of the log, log segments, checkpoint
//! segments and manifests. The inputs are mutations of sound inputs, from a seed. Mutated files have correct
//! checksums.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hedgerow::Value;
use hedgerow::io::{Access, FileId, Lsn, StoreId, Vfs, VfsFile, VfsLock};
use hedgerow_log::{Ops, Witness, decode_row, encode_row, recover};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, Forge, explored};
use hedgerow_tier::{Manifest, SegmentReader, TierError};
use hedgerow_workload::read::{EdgeFormat, EdgeReader, Lines};

use crate::stores::{self, Files};

/// The number of inputs in one round of a fuzz test. It is large, so that the distribution of seeds costs
/// nothing.
const PER_ROUND: u64 = 1000;

/// Read-only files in memory. Calls copy no bytes and record nothing.
#[derive(Debug)]
struct Bytes(BTreeMap<String, Arc<[u8]>>);

#[derive(Debug)]
struct File(Arc<[u8]>);

impl Bytes {
    fn of(files: Files) -> Arc<dyn Vfs> {
        Arc::new(Bytes(files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect()))
    }
}

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Vfs for Bytes {
    fn path(&self) -> &Path {
        Path::new("bytes")
    }

    fn open(&self, name: &str, _: Access) -> io::Result<Arc<dyn VfsFile>> {
        let bytes = self.0.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(File(bytes.clone())))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }

    fn create(&self, _: &str) -> io::Result<Arc<dyn VfsFile>> {
        refused()
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        refused()
    }

    fn unlink(&self, _: &str) -> io::Result<()> {
        refused()
    }

    fn sync_dir(&self) -> io::Result<()> {
        refused()
    }

    fn lock(&self, _: &str) -> io::Result<Box<dyn VfsLock>> {
        refused()
    }

    fn lock_existing(&self, _: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        Ok(None)
    }
}

impl VfsFile for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.0.get(at..)).unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        refused()
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        refused()
    }

    fn allocate(&self, _: u64) -> io::Result<()> {
        refused()
    }

    fn sync_data(&self) -> io::Result<()> {
        refused()
    }

    fn sync_all(&self) -> io::Result<()> {
        refused()
    }
}

/// Runs `input` with seeds on two threads. `input` returns whether the parser accepted it. Prints the number
/// of accepted inputs and the speed.
fn fuzz(what: &str, rounds: u64, input: impl Fn(&mut SplitMix64) -> bool + Sync) {
    let _alone = crate::alone();
    let effort = Effort::rounds(rounds);
    let started = std::time::Instant::now();
    let totals = Mutex::new((0u64, 0u64));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut tried, mut taken) = (0, 0);
                while let Some(seed) = effort.next_seed() {
                    let mut rng = SplitMix64::new(seed);
                    for _ in 0..PER_ROUND {
                        tried += 1;
                        taken += u64::from(input(&mut rng));
                    }
                }
                let mut totals = totals.lock().unwrap();
                *totals = (totals.0 + tried, totals.1 + taken);
            });
        }
    });
    let (tried, taken) = totals.into_inner().unwrap();
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    println!("{what}: {tried} inputs, {taken} taken, {:.1} million a minute", tried as f64 / minutes / 1e6);
    explored(&format!("fuzz executions, {what}"), tried, rounds * PER_ROUND);
    explored(&format!("of these accepted, {what}"), taken, tried / 1000);
}

/// Changes a few bytes, or moves some of them.
fn mutate(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    const TELLING: [u8; 8] = [0, 1, 2, 4, 7, 127, 128, 255];
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(8) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.next_u64() as u8,
            2 | 3 => bytes[at] = TELLING[rng.below(8) as usize],
            4 => bytes.truncate(at),
            5 => _ = bytes.remove(at),
            6 => bytes.insert(at, TELLING[rng.below(8) as usize]),
            _ => {
                let from = rng.below(bytes.len() as u64) as usize;
                let n = (1 + rng.below(12) as usize).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + n, at);
            }
        }
    }
}

/// Returns the payloads of all commits in the logs of some stores.
fn payloads() -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    for store in stores::all(9) {
        for bytes in store.files.iter().filter(|(name, _)| name.ends_with(".wal")).map(|(_, bytes)| bytes) {
            let mut at = 128;
            while let Some(frame) = bytes.get(at..at + 56) {
                let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
                if length == 0 {
                    break;
                }
                if frame[4] == 1 {
                    payloads.push(bytes[at + 56..at + 56 + length].to_vec());
                }
                at += 56 + length.next_multiple_of(8);
            }
        }
    }
    payloads
}

#[test]
fn fuzz_operations() {
    let payloads = payloads();
    assert!(payloads.len() > 20);
    fuzz("operations of the log", 300, |rng| {
        let mut payload = payloads[rng.below(payloads.len() as u64) as usize].clone();
        mutate(&mut payload, rng);
        let Ok(ops) = Ops::new(&payload) else { return false };
        // Every operation takes at least one byte, so the payload length bounds the count.
        assert!(ops.count() <= payload.len());
        true
    });
}

#[test]
fn fuzz_properties() {
    let cells = [
        Value::Bool(true),
        Value::I64(-5),
        Value::F64(0.5),
        Value::Timestamp(1),
        Value::from("text, é"),
        Value::Bytes(vec![0, 255, 3].into()),
    ];
    let cells = cells.into_iter().enumerate();
    let cells = cells.map(|(i, value)| (hedgerow_core::PropertyId(i as u16 * 3), value)).collect::<Vec<_>>();
    let row = hedgerow_core::Row::new(cells).unwrap();
    let mut bytes = Vec::new();
    encode_row(hedgerow_core::RowRef::Row(&row), &mut bytes);
    fuzz("properties of the log", 300, |rng| {
        let mut bytes = bytes.clone();
        mutate(&mut bytes, rng);
        match decode_row(&bytes) {
            Ok(Some(row)) => {
                let mut again = Vec::new();
                encode_row(hedgerow_core::RowRef::Row(&row), &mut again);
                assert_eq!(again, bytes, "one row has one form");
                true
            }
            other => other.is_ok(),
        }
    });
}

/// Makes some stores, and a forge for the files of each.
fn forges() -> Vec<(Files, Forge)> {
    let stores = stores::all(10).into_iter();
    stores.map(|store| (store.files.clone(), Forge::new(&store.files))).collect()
}

fn forged(forges: &[(Files, Forge)], rng: &mut SplitMix64) -> (Arc<dyn Vfs>, Manifest) {
    let (sound, forge) = &forges[rng.below(forges.len() as u64) as usize];
    let changes = 1 + rng.below(3) as usize;
    let files = forge.damage(rng, changes).files;
    let manifest = Manifest::look(&Bytes::of(sound.clone())).unwrap().unwrap().manifest;
    (Bytes::of(files), manifest)
}

#[test]
fn fuzz_manifests() {
    let forges: Vec<(Files, Forge)> = forges()
        .into_iter()
        .map(|(mut files, _)| {
            files.retain(|name, _| name.ends_with(".man"));
            let forge = Forge::new(&files);
            (files, forge)
        })
        .collect();
    fuzz("manifests", 60, |rng| {
        let (_, forge) = &forges[rng.below(forges.len() as u64) as usize];
        let changes = 1 + rng.below(3) as usize;
        matches!(Manifest::look(&Bytes::of(forge.damage(rng, changes).files)), Ok(Some(_)))
    });
}

#[test]
fn fuzz_checkpoint_segments() {
    let forges = forges();
    fuzz("checkpoint segments", 30, |rng| {
        let (fs, manifest) = forged(&forges, rng);
        // If the forged manifest is readable, the test uses it. It then agrees with the segment in more
        // numbers.
        let manifest = Manifest::look(&fs).ok().flatten().map_or(manifest, |found| found.manifest);
        let mut images = 0;
        for segment in &manifest.segments {
            let Ok(reader) = SegmentReader::open(fs.clone(), &segment.info, manifest.store) else {
                return false;
            };
            let read = reader.read_all(|_| {
                images += 1;
                Ok::<(), TierError>(())
            });
            if read.is_err() {
                return false;
            }
        }
        images > 0
    });
}

#[test]
fn fuzz_logs() {
    let forges = forges();
    fuzz("logs", 30, |rng| {
        let (fs, manifest) = forged(&forges, rng);
        let live: Vec<FileId> = manifest.logs.iter().map(|log| log.id).collect();
        let witness = Witness { store: manifest.store, live: &live, durable: manifest.durable_lsn };
        let mut operations = 0;
        let read = recover(fs, witness, |_, ops| {
            operations += ops.count();
            Ok::<(), ()>(())
        });
        read.is_ok() && operations > 0
    });
}

/// The log parser refuses random bytes under a correct file name.
#[test]
fn fuzz_noise() {
    fuzz("noise as a log", 20, |rng| {
        let length = rng.below(600) as usize;
        let noise: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
        let files = Files::from([("log-0000000000000001.wal".to_owned(), noise)]);
        let witness = Witness { store: StoreId::default(), live: &[FileId(1)], durable: Lsn::ZERO };
        assert!(recover(Bytes::of(files), witness, |_, _| Ok::<(), ()>(())).is_err());
        true
    });
}

/// The readers of edge files accept or refuse any text. The texts have rows of all formats, quotes, headers,
/// comments and invalid numbers.
#[test]
fn fuzz_edge_files() {
    const TEXTS: [&str; 7] = [
        "src,dst,weight,time\n1,2,0.5,1700000000\n\"a \"\"b\"\",\",c\",-1e300,3.7\n",
        "# comment\n1\t2\t0.25\n3\t4\t1\n\n5 6 7\n",
        "p sp 3 2\nc nothing\na 1 2 5\na 2 3 7\n",
        "u;v;name;flag\n1;2;\"x\";\n3;4;;true\n",
        "\u{feff}from,to\r\né,ü\r\n,\r\n1,2,3,4,5,6\r\n",
        "1 2\n18446744073709551615 0\n-1 1e999\nnan inf\n",
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 0.5\n3 1 1e3\n",
    ];
    let formats = [
        EdgeFormat::csv(),
        EdgeFormat::tsv(),
        EdgeFormat::snap(),
        EdgeFormat::temporal(),
        EdgeFormat::edge_list(),
        EdgeFormat::weighted_edge_list(),
        EdgeFormat::dimacs(),
        EdgeFormat { both_ways: true, ..EdgeFormat::matrix_market() },
    ];
    fuzz("edge files", 60, |rng| {
        let mut text = TEXTS[rng.below(TEXTS.len() as u64) as usize].as_bytes().to_vec();
        mutate(&mut text, rng);
        let lines = Lines::of(Path::new("fuzz"), io::Cursor::new(text));
        let mut rows = EdgeReader::of(lines, &formats[rng.below(formats.len() as u64) as usize]);
        let mut read = false;
        while let Some(row) = rows.next_row() {
            match row {
                Ok(row) => {
                    assert!(!row.src.is_empty() && !row.dst.is_empty());
                    assert!(row.weight.is_none_or(|weight| !weight.is_nan()));
                    read = true;
                }
                Err(error) if error.is_row() => {}
                Err(_) => break,
            }
        }
        read
    });
}
