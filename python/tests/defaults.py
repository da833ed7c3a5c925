"""The text of docs/guide/defaults.md: what the defaults of the package's calls do.

An entry names a parameter, its default as `repr` gives it, the calls with that parameter (a class and its methods, or `hedgerow`
and its functions), and what the default does. `test_defaults_page.py` compares the entries with the signatures.
"""

from typing import NamedTuple


class Default(NamedTuple):
    """One meaning of one default."""

    parameter: str
    default: str
    calls: tuple[str, ...]
    text: str


BULK_EDGES = ("Database add_edges update_edges remove_edges", "Transaction add_edges update_edges remove_edges")
BULK_VERTICES = (
    "Database add_vertices set_vertex_properties remove_vertices",
    "Transaction add_vertices set_vertex_properties remove_vertices",
)
LISTS = "neighbors degree degrees neighbors_of k_hop"
KERNELS = "bfs pagerank sssp triangle_count wcc run"

SECTIONS: dict[str, list[Default]] = {
    "Opening a store": [
        Default("path", "None", ("hedgerow open from_networkx",), "The store has no files, and its content goes with it."),
        Default("read_only", "False", ("hedgerow open",), "The store is opened for writing, and is locked for all other openings."),
        Default("create", "True", ("hedgerow open",), "A store is created where there is none; a mistyped path makes an empty store."),
        Default("directed", "None", ("hedgerow open",), "A new store is directed; an existing store is as it was created."),
        Default("keys", "None", ("hedgerow open",), 'The ids of a new store are ints (`"u64"`); those of an existing store are as it was created.'),
        Default("weighted", "None", ("hedgerow open",), "Edges of a new store carry no weights; those of an existing store are as it was created."),
        Default("reverse", "None", ("hedgerow open",), "A new directed store keeps the incoming edges of each vertex too; an existing store is as it was created."),
        Default("durability", "'sync'", ("hedgerow open",), "A commit returns once it is on stable media."),
        Default("isolation", "'serializable'", ("hedgerow open",), "A commit whose reads have changed meanwhile is a `ConflictError`."),
        Default("mode", "None", ("hedgerow open",), "Files of a new store are their owner's alone (0600); those of an existing store are as its file `LOCK`."),
        Default(
            "memory_limit",
            "None",
            ("hedgerow open salvage",),
            "Half of the memory of the machine, or of the control group. `open` then refuses nothing beyond it; `salvage` works within it.",
        ),
    ],
    "Defining": [
        Default("keys", "'u64'", ("Database define_kind",), "The ids of the kind are ints, also in a store whose own ids are `str`."),
        Default("multi", "False", ("Database define_label",), "Two vertices have at most one edge of the label: a second one replaces the first."),
        Default("src", "None", ("Database define_label",), "The label does not state the kind of its sources: they may be of any kind."),
        Default("dst", "None", ("Database define_label",), "The label does not state the kind of its destinations: they may be of any kind."),
        Default("properties", "None", ("Database define_label",), "The label has no properties yet; the first value of each defines it."),
        Default("label", "None", ("Database define_property",), "The property is one of vertices."),
        Default("kind", "None", ("Database define_property",), "The property is one of vertices of the default kind, unless `label` is given."),
    ],
    "Writing one edge or vertex": [
        Default("create_endpoints", "True", ("Database write",), "An edge creates those of its ends that do not exist, without properties."),
        Default("retries", "16", ("Database transact",), "After a conflict the function runs again, 16 times at most; then `ConflictError`."),
        Default(
            "label",
            "None",
            ("Database put_edge insert_edge remove_edge", "Transaction put_edge add_edge insert_edge update_edge remove_edge"),
            "The default label, `\"\"`. Edges of other labels are left alone.",
        ),
        Default(
            "rank",
            "None",
            ("Database put_edge insert_edge remove_edge", "Transaction put_edge add_edge insert_edge update_edge remove_edge"),
            "The one edge of the label between the two vertices; for a `multi` label a `DataError`.",
        ),
        Default(
            "weight",
            "None",
            ("Database put_edge insert_edge", "Transaction put_edge add_edge insert_edge", "Pipeline put_edge"),
            "1.0 for the default label of a weighted store; an edge of another label has no value of its property `weight`.",
        ),
        Default(
            "properties",
            "None",
            ("Database put_edge insert_edge", "Transaction put_edge add_edge insert_edge update_edge add_vertex update_vertex"),
            "No values besides those that are given by name. `put_edge` and `add_edge` leave an edge that exists without its other "
            "properties; `update_edge` and `update_vertex` keep them.",
        ),
    ],
    "Writing many": [
        Default("label", "None", BULK_EDGES, "The default label, `\"\"`."),
        Default(
            "ranks",
            "None",
            ("Database add_edges", "Transaction add_edges"),
            "Each row is an edge of its own in a `multi` label: the call gives out ranks. In other labels a row replaces the edge that "
            "an earlier row names; `repeated` of the result counts such rows.",
        ),
        Default(
            "ranks",
            "None",
            ("Database update_edges remove_edges", "Transaction update_edges remove_edges"),
            "Rank 0; for a `multi` label a `DataError`.",
        ),
        Default(
            "src",
            "None",
            ("Database add_edges", "Transaction add_edges"),
            "The column `src` of a table. Required if no table is given.",
        ),
        Default(
            "dst",
            "None",
            ("Database add_edges", "Transaction add_edges"),
            "The column `dst` of a table. Required if no table is given.",
        ),
        Default(
            "weight",
            "None",
            ("Database add_edges", "Transaction add_edges"),
            "The column `weight` of a table, if the graph has weights and the edges have the default label. If the table has no such "
            "column, edges weigh 1.",
        ),
        Default(
            "rank",
            "None",
            ("Database add_edges", "Transaction add_edges"),
            "The column `rank` of a table, if the label is `multi`. If the table has no such column, the call gives out ranks.",
        ),
        Default("key", "None", ("Database add_vertices", "Transaction add_vertices"), "The column `id` of a table."),
        Default("weights", "None", ("Database add_edges", "Transaction add_edges", "Pipeline put_edges"), "The default of `weight` for one edge."),
        Default(
            "properties",
            "None",
            ("Database add_edges", "Transaction add_edges"),
            'No values: with `on_conflict="replace"` an edge that exists has none of its properties afterwards. With a table: all columns '
            "that no other argument names.",
        ),
        Default(
            "properties",
            "None",
            ("Database add_vertices", "Transaction add_vertices"),
            "No values: a vertex that exists keeps its properties, unless `on_conflict` says otherwise. With a table: all columns but "
            "that of the ids.",
        ),
        Default("kind", "None", BULK_VERTICES, "The kind of pairs of kind and id where ids are such pairs, else the default kind."),
        Default("duplicates", "'raise'", ("Database add_vertices", "Transaction add_vertices"), "An id that comes twice in the call is a `DataError`."),
        Default(
            "on_conflict",
            "'merge'",
            ("Database add_vertices", "Transaction add_vertices"),
            "The values of a row are laid over those of a vertex that exists. It keeps its other properties.",
        ),
        Default(
            "on_conflict",
            "'replace'",
            ("Database add_edges", "Transaction add_edges"),
            "An edge that exists has the weight and the properties of its row alone; `new` and `existing` of the result are None.",
        ),
        Default(
            "batch",
            "65536",
            (
                "Database add_edges add_vertices set_vertex_properties remove_vertices update_edges remove_edges",
            ),
            "Each 65,536 rows are a transaction. If a later one fails, or Ctrl-C comes, those before it stay.",
        ),
        Default(
            "batch",
            "65536",
            ("Database remove_edges_where",),
            "Each 65,536 edges are a transaction. If a later one fails, or Ctrl-C comes, those before it are gone.",
        ),
    ],
    "Choosing edges": [
        Default(
            "label",
            "None",
            (f"Snapshot has_edge contains_edges edges {LISTS} {KERNELS}", "Transaction has_edge neighbors degree"),
            "All labels. A key without a kind is then of the default kind.",
        ),
        Default(
            "label",
            "None",
            ("Snapshot edge_table edge_stream expand scan_edges edge_dataset csr to_scipy",),
            "The label that all edges have; if they have several, a `ProgrammingError` that lists them.",
        ),
        Default("label", "None", ("Snapshot edge_properties", "Transaction edge_properties"), "The default label, `\"\"`."),
        Default("label", "None", ("Database maintain",), "The default label, `\"\"`, and all vertices."),
        Default("rank", "None", ("Snapshot has_edge", "Transaction has_edge"), "An edge of any rank."),
        Default("rank", "None", ("Snapshot edge_properties", "Transaction edge_properties"), "The one edge of the label between the two vertices; for a `multi` label a `DataError`."),
        Default("rank_range", "None", ("Database remove_edges_where",), "Edges of all ranks that `where` chooses; without either the call is refused."),
        Default("where", "None", ("Database remove_edges_where",), "All edges in `rank_range`; without either the call is refused."),
        Default("format", "'parquet'", ("Snapshot export",), "Files of Parquet, compressed with zstd."),
        Default("partitions", "1", ("Snapshot export",), "One file for each kind and each label."),
        Default("parameters", "None", ("Snapshot sql",), "The query has no parameters."),
        Default("tables", "None", ("Snapshot sql",), "The tables of the graph alone."),
        Default("columns", "None", ("Snapshot edge_stream vertex_stream expand",), "All columns of the table."),
        Default("part", "None", ("Snapshot edge_stream vertex_stream edge_dataset vertex_dataset",), "All rows of the table."),
        Default("rank_range", "None", (f"Snapshot expand edges edge_table edge_stream scan_edges edge_dataset to_networkx to_igraph {LISTS} {KERNELS}",), "All ranks."),
        Default("where", "None", (f"Snapshot expand edges edge_table edge_stream scan_edges edge_dataset to_networkx to_igraph {LISTS} {KERNELS}",), "All edges, whatever their properties."),
        Default(
            "direction",
            "'out'",
            (f"Snapshot {LISTS} expand newest_neighbors csr to_scipy bfs pagerank sssp", "Transaction neighbors degree"),
            "Along the edges; in an undirected store both ways.",
        ),
        Default("direction", "None", ("Snapshot run",), "The default of the kernel: `out`, if it has a direction."),
    ],
    "Loading files": [
        Default("vertices", "None", ("Database load",), "No file of vertices."),
        Default("kind", "None", ("Database load",), "Files of vertices have vertices of the default kind."),
        Default("kind_keys", "None", ("Database load",), "A new kind has `u64` keys."),
        Default("from_", "None", ("Database load",), "The kinds that the label states for its sources; else the default kind."),
        Default("to", "None", ("Database load",), "The kinds that the label states for its destinations; else the default kind."),
        Default("from_column", "None", ("Database load",), "No column names the kinds of sources."),
        Default("to_column", "None", ("Database load",), "No column names the kinds of destinations."),
        Default("label", "None", ("Database load",), "The default label, unless the file has a column of labels that Neo4j's importer knows."),
        Default("label_column", "None", ("Database load",), "All edges have one label."),
        Default("multi", "False", ("Database load",), "A label is as it was defined; a new one has at most one edge between two vertices."),
        Default("rank", "None", ("Database load",), "Edges of a `multi` label get ranks by counting."),
        Default("property", "None", ("Database load",), "Lines have no properties unless their layout names some; all other columns of a table are properties."),
        Default("format", "'auto'", ("Database load",), "The layout is that of the file's name and of its first lines."),
        Default("header", "None", ("Database load",), "The first row names the columns if its fields differ in kind from those below."),
        Default("skip", "0", ("Database load",), "No line is skipped."),
        Default("delimiter", "None", ("Database load",), "The separator with which all first rows have as many fields."),
        Default("null", "None", ("Database load",), "Only an empty field is null."),
        Default("comment", "None", ("Database load",), "Lines that begin with `#` or `%` are comments."),
        Default("weighted", "False", ("Database load",), "Weights are read if the store is weighted, or if the layout has them."),
        Default("src_col", "None", ("Database load",), "The column with a usual name, else the first one."),
        Default("dst_col", "None", ("Database load",), "The column with a usual name, else the second one."),
        Default("weight_col", "None", ("Database load",), "The column with a usual name, or that of the layout."),
        Default("time_col", "None", ("Database load",), "No time is checked."),
        Default("on_error", "'raise'", ("Database load",), "The first malformed row is a `DataError`, and nothing is loaded."),
        Default("repeat", "'last'", ("Database load",), "An edge that occurs again has the weight and the properties of its last row."),
        Default("batch", "65536", ("Database load",), "Each 65,536 rows are a transaction."),
    ],
    "Graphs of other packages": [
        Default("label", "None", ("Snapshot to_networkx to_igraph",), "All labels that have edges."),
        Default("properties", "True", ("Snapshot to_networkx to_igraph",), "All properties are attributes."),
        Default("simplify", "None", ("Snapshot to_networkx",), "Each edge is an edge of the graph, which is a `Multi` graph if there may be parallel ones."),
        Default("label", "None", ("hedgerow from_networkx",), "The default label. A `Multi` graph is refused, unless the keys of its edges name labels."),
        Default(
            "weight",
            "'weight'",
            ("hedgerow from_networkx",),
            "If all edges of the default label have a number as `weight`, the store is weighted. Otherwise `weight` is a property.",
        ),
        Default("node_properties", "None", ("hedgerow from_networkx",), "All attributes of nodes become properties."),
        Default("edge_properties", "None", ("hedgerow from_networkx",), "All attributes of edges become properties."),
    ],
    "Choosing vertices": [
        Default(
            "kind",
            "None",
            ("Snapshot degrees neighbors_of k_hop expand",),
            "The kind that all labels of the call state for this end of their edges, else the default kind. Pairs of kind and id say their own.",
        ),
        Default("kind", "None", ("Snapshot vertex_table vertex_stream scan_vertices vertex_dataset",), "The default kind alone."),
        Default(
            "kinds",
            "None",
            (f"Snapshot {KERNELS}",),
            "The kinds that the labels of the call state for the ends of their edges. If a label states none, or the call names none, all vertices.",
        ),
        Default("missing", "'raise'", ("Snapshot degrees neighbors_of k_hop expand",), "An id that names no vertex is an `IntegrityError`."),
        Default("kind", "None", ("Snapshot find",), "Vertices of the default kind alone."),
        Default("properties", "None", ("Snapshot find",), "The properties that are given by name; without any the call is refused."),
        Default("limit", "None", ("Snapshot find",), "All vertices with these values."),
        Default("limit", "None", ("Snapshot neighbors",), "All neighbors."),
        Default("limit", "None", ("Snapshot k_hop",), "All vertices within the hops."),
        Default("partial", "False", ("Snapshot k_hop",), "More vertices than `limit` are a `DataError`."),
    ],
    "Kernels": [
        Default(
            "weight",
            "None",
            ("Snapshot sssp run",),
            "The weights that the labels have: those of the default label of a weighted store, the property `weight` of others, 1 if none has weights. "
            "If some have weights and others none, a `DataError` that says so.",
        ),
        Default("weight", "None", ("Snapshot csr to_scipy",), "The weights that the label has: those of the default label of a weighted store, the property `weight` of another; none if it has none."),
        Default("damping", "0.85", ("Snapshot pagerank",), "A surfer follows an edge in 85 of 100 steps."),
        Default("iterations", "20", ("Snapshot pagerank",), "20 iterations, whether scores have settled or not."),
        Default("tolerance", "None", ("Snapshot pagerank",), "`iterations` counts. With a tolerance the kernel runs until scores settle."),
    ],
}

# Defaults that change neither what is stored nor what an answer says, with the reason.
HARMLESS: list[Default] = [
    Default("checkpoint_log_bytes", "268435456", ("hedgerow open",), "When checkpoints are written changes how long an opening takes, and no content."),
    Default("log_segment_bytes", "67108864", ("hedgerow open",), "The sizes of the files of the log change no content."),
    Default("views_by_reads", "True", ("hedgerow open",), "Answers are the same with it and without; they are faster with it."),
    Default("delta", "None", ("Snapshot sssp",), "The width of buckets changes how long the search takes, and no distance."),
    Default("progress", "None", ("Snapshot run export", "Database load"), "Without a function no progress is reported; the answer is the same."),
    Default("labels", "False", ("Snapshot neighbors", "Transaction neighbors"), "Whether each entry names its label; the entries are the same."),
    Default("ranks", "False", ("Snapshot neighbors newest_neighbors", "Transaction neighbors"), "Whether each entry names its rank; the entries are the same."),
    Default("properties", "False", ("Snapshot neighbors newest_neighbors",), "Whether each entry has its properties; the entries are the same."),
    Default("properties", "None", ("Snapshot vertex_table edge_table",), "All properties: nothing is left out."),
    Default("order", "'id'", ("Snapshot csr to_scipy",), "The order of the rows, each with its key."),
]
