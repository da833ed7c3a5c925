//! Published figures as the papers print them, line by line, and as a list.

/// One figure that a paper states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    /// The table, figure or section that states it: "table 10".
    pub(crate) place: &'static str,
    /// The engine's name in this program where it has one, else the paper's name of it, in lower case. `all` and `others` stand for
    /// the engines of the place, `fine-grained` for those that keep versions of each edge.
    pub(crate) system: &'static str,
    /// What is measured: "insert", "pr".
    pub(crate) row: &'static str,
    /// The graph, the threads, the parameters; of a ratio what it is against, and of a bound that it is one.
    pub(crate) setting: &'static str,
    pub(crate) value: f64,
    /// `x` is a ratio, which is explained by the setting.
    pub(crate) unit: &'static str,
}

/// An engine and a setting: the head of a column.
pub(super) type Column = (&'static str, &'static str);

/// A cell that holds no figure: the engine cannot run this, ran out of time or of memory.
pub(super) const ABSENT: f64 = f64::NAN;

/// A table or a part of it, figures of one unit.
pub(super) struct Block {
    pub(super) place: &'static str,
    pub(super) unit: &'static str,
    /// Each line is what was measured, the columns, and a value for each column.
    pub(super) lines: &'static [(&'static str, &'static [Column], &'static [f64])],
}

/// All figures of these blocks, in their order.
pub(super) fn list(blocks: &[&[Block]]) -> Vec<Published> {
    blocks.iter().copied().flatten().flat_map(figures).collect()
}

fn figures(block: &Block) -> impl Iterator<Item = Published> {
    let &Block { place, unit, lines } = block;
    lines.iter().flat_map(move |&(row, columns, values)| {
        assert_eq!(columns.len(), values.len(), "{place}, {row}: columns and values");
        let cells = columns.iter().zip(values).filter(|(_, value)| !value.is_nan());
        cells.map(move |(&(system, setting), &value)| Published { place, system, row, setting, value, unit })
    })
}
