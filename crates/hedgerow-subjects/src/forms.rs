//! The containers in all their forms behind the trait object.

use hedgerow_core::DynamicGraph;
use hedgerow_lab::GraphForm;
use hedgerow_lab::forms::{EachForm, FormKind, for_each};

use crate::subject::{Subject, subject};

/// A form of a container: its structure alone, with versions, whole, or with other parameters.
pub struct Form {
    /// The name of the container.
    pub container: &'static str,
    /// The name of the form.
    pub name: &'static str,
    /// What it is of its container.
    pub kind: FormKind,
    /// Makes an empty graph.
    pub new: Box<dyn Fn(GraphForm) -> Box<dyn Subject>>,
}

impl Form {
    /// The size of blocks, where that is what the form differs in; else 0.
    pub fn block(&self) -> usize {
        if let FormKind::Block(block) = self.kind { block } else { 0 }
    }
}

struct Forms(Vec<Form>);

impl EachForm for Forms {
    fn form<G: DynamicGraph + 'static>(
        &mut self,
        container: &'static str,
        name: &'static str,
        kind: FormKind,
        new: fn(GraphForm) -> G,
    ) {
        let new = Box::new(move |form: GraphForm| subject(new(form)));
        self.0.push(Form { container, name, kind, new });
    }
}

/// All forms of all containers that change.
pub fn forms() -> Vec<Form> {
    let mut forms = Forms(Vec::new());
    for_each(&mut forms);
    forms.0
}
