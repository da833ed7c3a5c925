//! Costs: each public method of a handle says what it costs, itself or through the method that it names.

use super::lexer::{body_end, code_only, line_of, word_positions};
use super::report::{File, Report};
use super::source::Place;

/// What users hold of a store.
const HANDLES: &[&str] = &["Graph", "Snapshot", "WriteTxn", "Pipeline", "Ticket"];
/// How a cost looks, or the reference to a method that states it.
const STATED: &[&str] = &["O(", "As [`", "as [`", "See [`", "see [`"];

/// Checks the blocks `impl` of handles in `hedgerow-engine`.
pub(super) fn check(files: &[File], report: &mut Report) {
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        let Some(place) = Place::of(&file.path) else { continue };
        if place.krate != "hedgerow-engine" || place.is_test() {
            continue;
        }
        let code = code_only(&file.text);
        for at in word_positions(&code, "impl").filter(|&at| is_of_handle(&code[at..])) {
            let Some(end) = body_end(&code, at) else { continue };
            for method in word_positions(&code[..end], "fn").filter(|&method| method > at) {
                if code[..method].ends_with("pub ") {
                    check_method(file, line_of(&code, method), report);
                }
            }
        }
    }
}

/// Whether `code`, which begins with `impl`, is of a handle itself and not of a trait for it.
fn is_of_handle(code: &str) -> bool {
    let head = code.split('{').next().unwrap_or_default();
    let name = head.split_whitespace().last().and_then(|name| name.split('<').next());
    !head.contains(" for ") && name.is_some_and(|name| HANDLES.contains(&name))
}

fn check_method(file: &File, line: usize, report: &mut Report) {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let is_docs = |l: &&&str| l.starts_with("///") || l.starts_with("#[");
    let first = line - 1 - lines[..line - 1].iter().rev().take_while(is_docs).count();
    let docs: String = lines[first..line - 1].iter().map(|l| l.trim_start_matches('/')).collect();
    if !docs.contains("doc(hidden)") && !STATED.iter().any(|stated| docs.contains(stated)) {
        let message = "this method of a handle does not say what it costs; state it in degree, edges or bytes, as `O(degree)`, \
                       or name the method that it costs as";
        report.error(file, line, message);
    }
}
