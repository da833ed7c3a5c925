//! The segments of a damaged store: their images and deltas, and what is lost of them.

use hedgerow_catalog::schema::Schema;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{GraphConfig, LabelId, Timestamp};
use hedgerow_io::FileId;
use hedgerow_tier::segment::{SegmentInfo, SegmentLoss, read_damaged, segment_name};
use hedgerow_tier::{ImageId, SubgraphRecord};

use super::known_images::KnownImages;
use super::salvage::Source;
use super::salvage_report::SalvageReport;
use super::salvaged::SalvagedGraph;

impl Source {
    /// Adds the content of segments to `salvaged`, newest first. Returns the timestamp that they reach.
    pub(super) fn read_segments(&mut self, schema: &Schema, salvaged: &mut SalvagedGraph) -> Timestamp {
        let mut config = self.manifest.as_ref().map(|manifest| manifest.config);
        let mut checkpoint = self.manifest.as_ref().map_or(Timestamp::ZERO, |m| m.checkpoint);
        let (mut newest, mut added_stale) = (KnownImages::default(), false);
        let (mut seen, mut missed) = (KnownImages::default(), KnownImages::default());
        // Once a segment is lost as a whole, every image in an older one may be outdated.
        let mut outdated = false;
        // The segments so far, each with its subgraphs whose deltas are newer than the image.
        let mut with_deltas = Vec::new();
        for (id, info) in &self.segments {
            let (mut losses, mut count, mut deltas) = (Vec::new(), 0, ValidDeltas::default());
            let mut take = |record: SubgraphRecord| {
                checkpoint = checkpoint.max(record.as_of());
                count += 1;
                let id = record.id();
                let SubgraphRecord::Image(image) = record else {
                    // The operations of a delta are added when all images are known.
                    if !seen.contains(id) {
                        let is_stale = outdated || missed.contains(id);
                        added_stale |= is_stale;
                        (if is_stale { &mut deltas.stale } else { &mut deltas.sound }).insert(id);
                    }
                    return;
                };
                if !seen.contains(id) {
                    let stale = outdated || missed.contains(id);
                    if !stale {
                        newest.insert(id);
                    }
                    added_stale |= stale;
                    salvaged.add_image(&image, stale);
                }
                seen.insert(id);
            };
            let read =
                read_damaged(&self.fs, (*id, self.store), info.as_ref(), config, &mut take, &mut |loss| {
                    losses.push(loss)
                });
            let whole = info.is_some_and(|info| info.subgraphs == count);
            let lost = tell_losses(&mut self.report, (&segment_name(*id), schema), losses, &seen, whole);
            lost.images.into_iter().for_each(|id| missed.insert(id));
            outdated |= lost.unknown;
            with_deltas.push((*id, *info, deltas));
            match read {
                Ok(stated) => config = config.or(stated),
                Err(error) => {
                    self.report.lose(format_args!("{}: {error}", segment_name(*id)));
                    outdated = true;
                }
            }
        }
        for (id, info, deltas) in with_deltas.into_iter().rev() {
            self.add_deltas((id, info), config, &deltas, salvaged);
        }
        for id in missed.ids().filter(|&id| seen.contains(id)) {
            self.report.lose(format_args!("{}: restored from an older image", image_shown(schema, id)));
        }
        self.report.lost_subgraphs = missed.subgraphs();
        salvaged.without_properties = missed.take(LabelId::VERTICES);
        self.report.subgraphs = seen.subgraphs();
        salvaged.know_newest(newest, added_stale);
        checkpoint
    }

    /// Adds the operations of those deltas of a segment that are newer than the image of their subgraph. The
    /// caller has added all images, and the deltas of older segments.
    fn add_deltas(
        &self,
        (id, info): (FileId, Option<SegmentInfo>),
        config: Option<GraphConfig>,
        deltas: &ValidDeltas,
        salvaged: &mut SalvagedGraph,
    ) {
        if deltas.sound.is_empty() && deltas.stale.is_empty() {
            return;
        }
        let mut take = |record: SubgraphRecord| {
            if let SubgraphRecord::Delta(delta) = record {
                let is_stale = deltas.stale.contains(delta.id);
                if is_stale || deltas.sound.contains(delta.id) {
                    salvaged.add_delta(&delta, is_stale);
                }
            }
        };
        // The first read has reported all losses.
        let _ = read_damaged(&self.fs, (id, self.store), info.as_ref(), config, &mut take, &mut |_| {});
    }
}

/// The subgraphs of a segment that have a delta which is newer than their image.
#[derive(Default)]
struct ValidDeltas {
    sound: KnownImages,
    /// Those of which a newer record is lost, or may be.
    stale: KnownImages,
}

/// The images that a segment has lost.
struct LostImages {
    images: Vec<ImageId>,
    /// True if there may be more lost images, of which nothing is known.
    unknown: bool,
}

/// Reports the losses of a segment. If it is `whole`, all else in it was read. An image that was `seen` in it
/// or in a newer segment is no loss.
fn tell_losses(
    report: &mut SalvageReport,
    (name, schema): (&str, &Schema),
    losses: Vec<SegmentLoss>,
    seen: &KnownImages,
    whole: bool,
) -> LostImages {
    let mut lost = LostImages { images: Vec::new(), unknown: false };
    for SegmentLoss { image, error } in losses {
        match image {
            Some(_) if faults::is_on(PlantedFault::SalvageSilent) => {}
            Some(image) if !seen.contains(image) => {
                lost.images.push(image);
                report.lose(format_args!("{name}, {}: {error}", image_shown(schema, image)));
            }
            Some(_) => {}
            None => {
                lost.unknown |= !whole;
                report.damage(format_args!("{name}: {error}"));
            }
        }
    }
    if lost.unknown {
        report.lose(format_args!(
            "{name}: its other content is unknown; images in older segments may be outdated"
        ));
    }
    lost
}

/// Describes an image: its subgraph, and its label by name.
fn image_shown(schema: &Schema, ImageId { label, subgraph }: ImageId) -> String {
    let number = subgraph.0;
    match schema.label_by_id(label) {
        _ if label == LabelId::DEFAULT => format!("subgraph {number}"),
        Some(label) => format!("subgraph {number} of {}", label.shown()),
        None => format!("subgraph {number} of label number {}, whose name is lost", label.0),
    }
}
