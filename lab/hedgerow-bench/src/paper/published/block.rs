//! Published figures as the papers print them, line by line, and as a list.

/// One figure that a paper states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Published {
    /// The table, figure or section that states it: "table 10".
    pub(crate) place: &'static str,
    /// The name of the engine, or of its form ("adjlst plain"), in this program where it has one, else the paper's name of it, in lower case.
    /// `all` and `others` stand for the engines of the place, `fine-grained` for those that keep versions of each edge.
    pub(crate) system: &'static str,
    /// What is measured: "insert", "pr". With those parameters that tell it from other rows of the place: "search degrees=low".
    pub(crate) row: &'static str,
    /// The graph, by its short name in the paper; empty where the figure is not that of one graph.
    pub(crate) graph: &'static str,
    /// The threads, the parameters; of a ratio what it is against, and of a bound that it is one. May be empty.
    pub(crate) setting: &'static str,
    pub(crate) value: f64,
    /// `x` is a ratio, which is explained by the setting.
    pub(crate) unit: &'static str,
}

/// The setting of a ratio to the time of the CSR on the same graph.
pub(crate) const AGAINST_CSR: &str = "time against csr's";

/// A graph of a paper: its short name, what it is, and how the names of graphs of the same generator begin in this program.
pub(crate) type PaperGraph = (&'static str, &'static str, Option<&'static str>);

/// An engine and a setting: the head of a column.
pub(super) type Column = (&'static str, &'static str);

/// A cell that holds no figure: the engine cannot run this, ran out of time or of memory.
pub(super) const ABSENT: f64 = f64::NAN;

/// A table or a part of it, figures of one unit.
pub(super) struct Block {
    pub(super) place: &'static str,
    pub(super) unit: &'static str,
    /// Each line is what was measured, the graph, the columns, and a value for each column.
    pub(super) lines: &'static [(&'static str, &'static str, &'static [Column], &'static [f64])],
}

/// A part of a table that has the graphs as columns, figures of one system and unit.
pub(super) struct ByGraph {
    pub(super) place: &'static str,
    pub(super) unit: &'static str,
    pub(super) system: &'static str,
    pub(super) graphs: &'static [&'static str],
    /// Each line is what was measured, and a value for each graph.
    pub(super) lines: &'static [(&'static str, &'static [f64])],
}

/// All figures of these blocks, in their order.
pub(super) fn list(by_graph: &[ByGraph], blocks: &[&[Block]]) -> Vec<Published> {
    let of_graphs = by_graph.iter().flat_map(figures_by_graph);
    of_graphs.chain(blocks.iter().copied().flatten().flat_map(figures)).collect()
}

fn figures(block: &Block) -> impl Iterator<Item = Published> {
    let &Block { place, unit, lines } = block;
    lines.iter().flat_map(move |&(row, graph, columns, values)| {
        assert_eq!(columns.len(), values.len(), "{place}, {row}: columns and values");
        let cells = columns.iter().zip(values).filter(|(_, value)| !value.is_nan());
        cells.map(move |(&(system, setting), &value)| Published {
            place,
            system,
            row,
            graph,
            setting,
            value,
            unit,
        })
    })
}

fn figures_by_graph(block: &ByGraph) -> impl Iterator<Item = Published> {
    let &ByGraph { place, unit, system, graphs, lines } = block;
    lines.iter().flat_map(move |&(row, values)| {
        assert_eq!(graphs.len(), values.len(), "{place}, {row}: graphs and values");
        let cells = graphs.iter().zip(values).filter(|(_, value)| !value.is_nan());
        cells.map(move |(&graph, &value)| Published { place, system, row, graph, setting: "", value, unit })
    })
}
