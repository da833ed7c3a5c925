//! All forms of every container, for measurements. The cost model of Su et al. (section 3.2) and the
//! ablations of the papers compare these forms.

use hedgerow_core::DynamicGraph;

use crate::GraphForm;
use crate::adjlst::{Adjlst, PlainAdjlst, VersionedAdjlst};
use crate::aspen::{Aspen, AspenOptions, CopyingAspen, PlainAspen};
use crate::livegraph::{LiveGraph, LiveGraphOptions, PlainLiveGraph, VersionedLiveGraph};
use crate::llama::{Llama, LlamaOptions, PlainLlama, VersionedLlama};
use crate::lsmgraph::{LevelIndex, LsmGraph, LsmGraphOptions, MemoryCache, PlainLsmGraph, VersionedLsmGraph};
use crate::rapidstore::{CopyingRapidStore, PlainRapidStore, RapidStore, RapidStoreOptions, ShortLists};
use crate::sortledton::{
    PlainSortledton, Sortledton, SortledtonOptions, UnversionedSortledton, VersionedSortledton,
};
use crate::teseo::{PlainTeseo, Teseo, TeseoOptions, VersionedTeseo};

/// The kind of a form: the part of its container that the form includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// The structure alone, for one user at a time. It gives the time T_p.
    Plain,
    /// The structure with versions, for one user at a time. It gives the amplification alpha.
    Versions,
    /// The whole container. It gives the cost of its concurrency control, T_CC.
    Whole,
    /// The whole container with parameters that differ from the paper's, or with one part disabled.
    Variant,
    /// The whole container with another block size. The paper's size is the default.
    Block(usize),
}

/// An action on each form, whatever the type of the form.
pub trait EachForm {
    /// Takes a form: the name of its container, its own name, its kind, and a function that makes an empty
    /// graph.
    fn form<G: DynamicGraph + 'static>(
        &mut self,
        container: &'static str,
        name: &'static str,
        kind: FormKind,
        new: fn(GraphForm) -> G,
    );
}

/// Calls `each` with all forms of all containers that take updates.
pub fn for_each(each: &mut impl EachForm) {
    use FormKind::{Plain, Variant, Versions, Whole};
    each.form("adjlst", "adjlst plain", Plain, PlainAdjlst::new);
    each.form("adjlst", "adjlst versions", Versions, VersionedAdjlst::new);
    each.form("adjlst", "adjlst", Whole, Adjlst::new);
    each.form("aspen", "aspen plain", Plain, PlainAspen::new);
    each.form("aspen", "aspen versions", Versions, CopyingAspen::new);
    each.form("aspen", "aspen", Whole, Aspen::new);
    each.form("rapidstore", "rapidstore plain", Plain, PlainRapidStore::new);
    each.form("rapidstore", "rapidstore versions", Versions, CopyingRapidStore::new);
    each.form("rapidstore", "rapidstore", Whole, RapidStore::new);
    each.form("livegraph", "livegraph plain", Plain, PlainLiveGraph::new);
    each.form("livegraph", "livegraph versions", Versions, VersionedLiveGraph::new);
    each.form("livegraph", "livegraph", Whole, LiveGraph::new);
    each.form("livegraph", "livegraph, no filters", Variant, |form| {
        LiveGraph::with_options(
            form,
            LiveGraphOptions { bloom_filters: false, ..LiveGraphOptions::default() },
        )
    });
    each.form("llama", "llama plain", Plain, PlainLlama::new);
    each.form("llama", "llama versions", Versions, VersionedLlama::new);
    each.form("llama", "llama", Whole, Llama::new);
    each.form("llama", "llama, unsorted", Variant, |form| {
        Llama::with_options(form, LlamaOptions { sorted: false, ..LlamaOptions::default() })
    });
    each.form("teseo", "teseo plain", Plain, PlainTeseo::new);
    each.form("teseo", "teseo versions", Versions, VersionedTeseo::new);
    each.form("teseo", "teseo", Whole, Teseo::new);
    each.form("sortledton", "sortledton plain", Plain, PlainSortledton::new);
    each.form("sortledton", "sortledton versions", Versions, VersionedSortledton::new);
    each.form("sortledton", "sortledton", Whole, Sortledton::new);
    each.form("sortledton", "sortledton, no versions", Variant, UnversionedSortledton::new);
    ablations(each);
    lsmgraph(each);
    blocks(each);
}

/// Calls `each` with the forms of LSMGraph. They have the switches of figures 15 to 17 of its paper, and a
/// buffer of 2 MiB, so that small graphs have levels too.
fn lsmgraph(each: &mut impl EachForm) {
    use FormKind::{Plain, Variant, Versions, Whole};
    fn whole() -> LsmGraphOptions {
        LsmGraphOptions::default()
    }
    fn levels() -> LsmGraphOptions {
        LsmGraphOptions { memory_bytes: 2 << 20, ..whole() }
    }
    each.form("lsmgraph", "lsmgraph plain", Plain, PlainLsmGraph::new);
    each.form("lsmgraph", "lsmgraph versions", Versions, VersionedLsmGraph::new);
    each.form("lsmgraph", "lsmgraph", Whole, LsmGraph::new);
    each.form("lsmgraph", "lsmgraph, array", Variant, |form| {
        let options = LsmGraphOptions { memory_cache: MemoryCache::ArrayOnly, ..whole() };
        LsmGraph::with_options(form, options)
    });
    each.form("lsmgraph", "lsmgraph, skip list", Variant, |form| {
        let options = LsmGraphOptions { memory_cache: MemoryCache::SkipListOnly, ..whole() };
        LsmGraph::with_options(form, options)
    });
    each.form("lsmgraph", "lsmgraph, 2 MiB", Variant, |form| LsmGraph::with_options(form, levels()));
    each.form("lsmgraph", "lsmgraph, 2 MiB, no index", Variant, |form| {
        let options = LsmGraphOptions { level_index: LevelIndex::Ranges, ..levels() };
        LsmGraph::with_options(form, options)
    });
    each.form("lsmgraph", "lsmgraph, 2 MiB, Bloom filters", Variant, |form| {
        let options = LsmGraphOptions { level_index: LevelIndex::BloomFilters, ..levels() };
        LsmGraph::with_options(form, options)
    });
    each.form("lsmgraph", "lsmgraph, 2 MiB, no edge filters", Variant, |form| {
        LsmGraph::with_options(form, LsmGraphOptions { edge_filters: false, ..levels() })
    });
    each.form("lsmgraph", "lsmgraph, 2 MiB, no cache", Variant, |form| {
        LsmGraph::with_options(form, LsmGraphOptions { cache_bytes: 0, ..levels() })
    });
}

/// Calls `each` with the switches of the ablations of RapidStore and Aspen.
fn ablations(each: &mut impl EachForm) {
    use FormKind::Variant;
    each.form("rapidstore", "rapidstore, radix tree", Variant, |form| {
        let options =
            RapidStoreOptions { longest_short: 0, leaf_per_key: true, ..RapidStoreOptions::default() };
        RapidStore::with_options(form, options)
    });
    each.form("rapidstore", "rapidstore, c-art", Variant, |form| {
        RapidStore::with_options(form, RapidStoreOptions { longest_short: 0, ..RapidStoreOptions::default() })
    });
    each.form("rapidstore", "rapidstore, c-art, vectors", Variant, |form| {
        let options = RapidStoreOptions { short_lists: ShortLists::Vectors, ..RapidStoreOptions::default() };
        RapidStore::with_options(form, options)
    });
    each.form("aspen", "aspen, whole ids", Variant, |form| {
        Aspen::with_options(form, AspenOptions { difference: false, ..AspenOptions::default() })
    });
    each.form("aspen", "aspen, tree alone", Variant, |form| {
        Aspen::with_options(form, AspenOptions { flat: false, ..AspenOptions::default() })
    });
}

/// Calls `each` with other block sizes. A size counts ids in a block of Sortledton, in a leaf of RapidStore,
/// or between two heads of Aspen. In Teseo, it counts the words in a segment.
fn blocks(each: &mut impl EachForm) {
    use FormKind::Block;
    each.form("sortledton", "sortledton, |B| = 64", Block(64), |form| {
        Sortledton::with_options(form, SortledtonOptions { block: 64 })
    });
    each.form("sortledton", "sortledton, |B| = 256", Block(256), |form| {
        Sortledton::with_options(form, SortledtonOptions { block: 256 })
    });
    each.form("sortledton", "sortledton, |B| = 1024", Block(1024), |form| {
        Sortledton::with_options(form, SortledtonOptions { block: 1024 })
    });
    each.form("rapidstore", "rapidstore, |B| = 64", Block(64), |form| {
        RapidStore::with_options(form, RapidStoreOptions { segment: 64, ..RapidStoreOptions::default() })
    });
    each.form("rapidstore", "rapidstore, |B| = 256", Block(256), |form| {
        RapidStore::with_options(form, RapidStoreOptions { segment: 256, ..RapidStoreOptions::default() })
    });
    each.form("rapidstore", "rapidstore, |B| = 1024", Block(1024), |form| {
        RapidStore::with_options(form, RapidStoreOptions { segment: 1024, ..RapidStoreOptions::default() })
    });
    each.form("aspen", "aspen, |B| = 64", Block(64), |form| {
        Aspen::with_options(form, AspenOptions { chunk: 64, ..AspenOptions::default() })
    });
    each.form("aspen", "aspen, |B| = 256", Block(256), |form| {
        Aspen::with_options(form, AspenOptions { chunk: 256, ..AspenOptions::default() })
    });
    each.form("aspen", "aspen, |B| = 1024", Block(1024), |form| {
        Aspen::with_options(form, AspenOptions { chunk: 1024, ..AspenOptions::default() })
    });
    each.form("teseo", "teseo, |B| = 4096", Block(4096), |form| {
        Teseo::with_options(form, TeseoOptions { segment: 4096, ..TeseoOptions::default() })
    });
    each.form("teseo", "teseo, |B| = 256", Block(256), |form| {
        Teseo::with_options(form, TeseoOptions { segment: 256, ..TeseoOptions::default() })
    });
    each.form("teseo", "teseo, |B| = 1024", Block(1024), |form| {
        Teseo::with_options(form, TeseoOptions { segment: 1024, ..TeseoOptions::default() })
    });
}
