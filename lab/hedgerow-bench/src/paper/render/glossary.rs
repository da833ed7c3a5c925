//! The meaning of the report's words, for a reader without the papers.

/// The engines.
pub(super) const ENGINES: [(&str, &str); 10] = [
    (
        "hedgerow",
        "The store of this project: transactions, snapshots, lists in main parts and deltas. All other engines are containers that follow a published system, written anew behind one interface, so that all run the same kernels on the same edges.",
    ),
    (
        "csr",
        "Compressed sparse rows: all lists one after another in one array. It cannot change, and reads faster than what can: the unit of reads.",
    ),
    (
        "adjlst",
        "A sorted array for each vertex, with a version of each neighbour and a lock of each vertex: the baseline of the study by Su et al.",
    ),
    (
        "rapidstore",
        "RapidStore: groups of 64 vertices that are copied when they change, so that readers take no locks. Long lists are radix trees, short ones lie together.",
    ),
    (
        "livegraph",
        "LiveGraph: a log of edges for each vertex, in the order of insertion, with two times for each edge.",
    ),
    (
        "sortledton",
        "Sortledton: short lists are sorted arrays, long ones skip lists of sorted blocks. A version of each neighbour, a latch of each vertex.",
    ),
    (
        "teseo",
        "Teseo: all edges in one sorted array with gaps, cut into the leaves of a tree, and spread anew in the background.",
    ),
    (
        "aspen",
        "Aspen: trees of compressed chunks that are never changed, only copied along a path. One writer at a time.",
    ),
    (
        "llama",
        "LLAMA: a buffer of changes, and behind it levels of compressed rows, one for each snapshot. One writer at a time.",
    ),
    (
        "lsmgraph",
        "LSMGraph: a buffer of changes in memory, and behind it levels of compressed rows in files, with an index by vertex.",
    ),
];

/// The kernels. A paper may name a kernel that this program does not run.
pub(super) const KERNELS: [(&str, &str); 8] = [
    (
        "bfs",
        "Breadth-first search: how many edges away from a source each vertex is. The time of one search, a mean over several sources.",
    ),
    ("pr", "PageRank, ten iterations."),
    (
        "sssp",
        "Shortest paths from a source to all vertices by the weights of edges, which are 1 here. The time of one search, a mean over several sources.",
    ),
    ("wcc", "Connected components: which vertices paths join, whatever the direction of their edges."),
    ("tc", "The number of triangles."),
    (
        "lcc",
        "Local clustering: of each vertex, what part of the pairs of its neighbours are neighbours of each other.",
    ),
    (
        "cdlp",
        "Communities by label propagation: each vertex takes the most frequent label of its neighbours, ten times.",
    ),
    ("bc", "Betweenness: how many shortest paths lead through each vertex."),
];

/// The units, and the words in the rows of tables.
pub(super) const WORDS: [(&str, &str); 23] = [
    (
        "edges/s",
        "Directed edges in a second; more is better. An undirected edge that is inserted or removed counts as two, since it stands in the lists of both its ends. A search is one edge; a scan is as many as the lists have neighbours.",
    ),
    (
        "bytes/edge",
        "Memory by each engine's own count, by the number of directed edges; less is better. Files do not count.",
    ),
    ("s, ms, us, ns", "Seconds, and thousandths, millionths, billionths of one; less is better."),
    ("ours", "The median of several rounds, in which the engines take turns."),
    (
        "x csr, x NAME",
        "A ratio: the figure divided by that of the csr in the same row, or where that has none by that of the best engine, which is named. 2 x csr is twice the rate, which is good, or twice the time or the bytes, which is bad.",
    ),
    (
        "published",
        "What the paper states for the same engine, form and metric, on a graph that was made in the same way. Its machine, its graphs and its programs are others: compare ratios, not values. What the paper states of other graphs, engines and settings is in a table below.",
    ),
    (
        "insert, search, scan",
        "An edge is inserted; an edge is looked for, which is there; all neighbours of vertices are read one after another. The time until a snapshot shows all that was inserted counts as a part of inserting, but not for forms, points of curves, and times of a hundred operations.",
    ),
    (
        "p50, p95, p99, p999, max",
        "Of many times the one that a half, 95 %, 99 %, 99.9 %, or all do not exceed. Times of insertions, searches and scans are of a hundred operations each.",
    ),
    (
        "plain, or structure alone",
        "The form of a container without versions and locks, for one user: what its structure costs. The study calls that time T_p.",
    ),
    (
        "versions",
        "The form with versions that are kept and compared, but without locks, for one user. The study calls how many times more that takes alpha.",
    ),
    (
        "whole",
        "The container as it is; its name has no addition. What it takes above the form with versions is T_CC, the cost of concurrency control: locks, timestamps, publication.",
    ),
    (
        "NAME, ADDITION",
        "A whole container with a part switched off or another parameter, as `rapidstore, c-art`.",
    ),
    ("|N|=", "The number of neighbours in each list; all lists have the same."),
    ("|B|=", "The size of blocks: ids in a block, leaf or chunk, words in a segment of teseo."),
    ("|P|", "The number of vertices in a subgraph of rapidstore: 64."),
    ("batch=", "The edges that one transaction inserts; without it each edge is a transaction."),
    (
        "edges=half",
        "The first half of the edges is inserted, into an empty graph, where `insert` alone is of all edges or of the last fifth.",
    ),
    (
        "temporary edges, progress=",
        "Edges that are inserted and removed a while later, while the number of edges stays about the same; the percentage of that stream, or of an ingestion, that is done.",
    ),
    (
        "degrees=low, degrees=high",
        "Edges of vertices with at most as many neighbours as the mean, or with more than eight times as many.",
    ),
    ("versions=", "The percentage of neighbours that have three older versions, which snapshots keep."),
    (
        "readers=, writers=",
        "Threads that rank new snapshots by PageRank, and threads that remove edges and insert them again, at the same time.",
    ),
    ("scale=, order=", "The number of vertices as a power of two; the order in which lists are scanned."),
    (
        "mix=, durable=",
        "Requests of LinkBench: tao is 99.8 % reads, dflt has 31 % writes; whether a request is on stable media when it is answered.",
    ),
];

/// The explanation of the rows that count.
pub(super) const COUNTING: &str = "Counted is all that was measured of six kinds (insert, scan, search, kernels, memory, mixed load), on whole engines that change, each row once, \
     however many tables show it. Of a curve its total counts and not its points; of times of many operations the mean and the 99th percentile; of mixed loads those with readers and writers. Forms, sizes of blocks, \
     indexes of vertices and LinkBench do not count. A row is met if the store is first in it, or at most 5 % behind the first.";
