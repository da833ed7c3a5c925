//! Matrix Market files. Their first line identifies them and states the direction and type of the edges.

use hedgerow_workload::read::{
    Column, EdgeFormat, MatrixError, MatrixMarket, MatrixSizes, MatrixValues, Symmetry,
};

use crate::Error;
use crate::input::{Content, Input, edges, extension};
use crate::kinds::{Ends, Kinds};
use crate::options::{FileFormat, LINES, LoadOptions};

/// Marks files of edges as matrices, if their first line or `--format` identifies them.
pub(crate) fn recognize(inputs: Vec<Input>, options: &LoadOptions) -> Result<Vec<Input>, Error> {
    let recognized = |input: Input| if input.is_open() { recognize_one(input, options) } else { Ok(input) };
    inputs.into_iter().map(recognized).collect()
}

fn recognize_one(mut input: Input, options: &LoadOptions) -> Result<Input, Error> {
    let Some((banner, sizes)) = MatrixMarket::look(&mut input.lines()?, options.skip)? else {
        let named = options.format == FileFormat::Auto && extension(&input.path).as_deref() == Some("mtx");
        // If its first lines are skipped, the file is an edge list.
        if options.format == FileFormat::Mtx || named && options.skip == 0 {
            let why = "no Matrix Market file: it does not begin with %%MatrixMarket; if its rows are edges, say --format snap";
            return Err(Error::file(&input.path, why));
        }
        return Ok(input);
    };
    if !matches!(options.format, FileFormat::Auto | FileFormat::Mtx) {
        let why =
            "begins as a Matrix Market file does; say --format mtx, or leave out its first lines by --skip";
        return Err(Error::file(&input.path, why));
    }
    check_options(options, banner)?;
    input.content = edges(&input.path, EdgeFormat::matrix_market(), options)?.content;
    input.weighted = banner.values != MatrixValues::Pattern;
    input.matrix = Some((banner, sizes));
    Ok(input)
}

/// Refuses options for facts that a Matrix Market file states.
fn check_options(options: &LoadOptions, banner: MatrixMarket) -> Result<(), Error> {
    let others = ["--src-col", "--dst-col", "--time-col", "--from-column", "--label-column"];
    let lines = LINES.into_iter().filter(|option| *option != "--skip");
    if let Some(option) = options.given(&others.into_iter().chain(lines).collect::<Vec<_>>()) {
        let why = "a Matrix Market file has rows, columns and values in this order, between blanks";
        return Err(Error::Options(format!("{option}: {why}")));
    }
    let pattern = banner.values == MatrixValues::Pattern;
    if pattern && (options.weighted || options.weight_col.is_some()) {
        let option = if options.weighted { "--weighted" } else { "--weight-col" };
        return Err(Error::Options(format!("{option}: a pattern matrix has no values")));
    }
    if options.weight_col.as_ref().is_some_and(|column| *column != Column::Index(2)) {
        return Err(Error::Options("--weight-col: the values of a matrix are in column 3".to_owned()));
    }
    if banner.symmetry == Symmetry::SkewSymmetric && !options.property.is_empty() {
        let why = "--property: the sign of a skew-symmetric matrix differs by direction; load its values as weights";
        return Err(Error::Options(why.to_owned()));
    }
    Ok(())
}

/// Applies the direction of the store's edges: if it is directed, each entry of a symmetric matrix is two
/// edges.
pub(crate) fn settle(input: &mut Input, directed: bool, weighted: bool, kinds: &Kinds) -> Result<(), Error> {
    let (Some((banner, sizes)), Content::Edges(table)) = (input.matrix, &mut input.content) else {
        return Ok(());
    };
    let ends = match (table.ends, &table.label) {
        (Ends::Stated(ends), _) => ends,
        (Ends::OfLabel, Some(label)) => kinds.ends_of(label),
        _ => Default::default(),
    };
    table.format.two_sets = ends[0] != ends[1];
    let MatrixSizes { rows, columns, .. } = sizes;
    if rows != columns && !table.format.two_sets {
        let why = MatrixError::Rectangular { rows, columns };
        let hint = "give them two kinds by --label NAME --from KIND --to KIND";
        return Err(Error::file(&input.path, format!("{why}; {hint}")));
    }
    if banner.symmetry == Symmetry::SkewSymmetric && !directed && weighted {
        let why = "a skew-symmetric matrix has the opposite weight in the other direction, and edges of this store have none; \
                   load it into a directed one";
        return Err(Error::file(&input.path, why));
    }
    let pairs = banner.symmetry != Symmetry::General;
    table.format.both_ways = pairs && directed;
    let symmetry = if banner.symmetry == Symmetry::Symmetric { "symmetric" } else { "skew-symmetric" };
    if pairs && directed {
        let what = "each entry off the diagonal is loaded in both directions";
        input.notes.push(format!("a {symmetry} matrix: {what}"));
    } else if pairs {
        input.notes.push(format!("a {symmetry} matrix: each entry is an edge without a direction"));
    }
    Ok(())
}
