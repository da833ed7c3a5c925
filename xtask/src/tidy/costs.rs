//! Costs: the documentation of each public method of a handle states its cost, or names the method that
//! states it.

use syn::{ImplItem, ImplItemFn, Item, ItemImpl, Type, Visibility};

use super::report::{File, Place, Report};

/// The types of handles that users hold.
const HANDLES: &[&str] = &["Graph", "Snapshot", "WriteTxn", "Pipeline", "Ticket"];
/// The texts that show a cost, or a reference to a method that states it.
const STATED: &[&str] = &["O(", "As [`", "as [`", "Like [`", "like [`", "See [`", "see [`"];

/// Checks a Rust file of `hedgerow-engine`: the inherent `impl` blocks of handles.
pub(super) fn check(file: &File, place: &Place<'_>, report: &mut Report) {
    if place.krate != "hedgerow-engine" || place.is_test() {
        return;
    }
    let code = match syn::parse2::<syn::File>(file.stream.clone()) {
        Ok(code) => code,
        Err(error) => return report.error(file, error.span().start().line, error.to_string()),
    };
    for item in &code.items {
        let Item::Impl(ItemImpl { trait_: None, self_ty, items, .. }) = item else { continue };
        for item in items.iter().filter(|_| is_handle(self_ty)) {
            if let ImplItem::Fn(ImplItemFn { vis: Visibility::Public(_), sig, .. }) = item {
                check_method(file, sig.fn_token.span.start().line, report);
            }
        }
    }
}

fn is_handle(ty: &Type) -> bool {
    let Type::Path(ty) = ty else { return false };
    ty.path.segments.last().is_some_and(|last| HANDLES.iter().any(|handle| last.ident == handle))
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
