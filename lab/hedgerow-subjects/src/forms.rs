//! The containers in all their forms behind the trait object.

use hedgerow_lab::GraphForm;
use hedgerow_lab::forms::FormKind;

use crate::Result;
use crate::subject::Subject;

/// A form of a container: its structure alone, with versions, whole, or with other parameters.
pub struct Form {
    /// The name of the container.
    pub container: &'static str,
    /// The name of the form.
    pub name: &'static str,
    /// The kind of the form.
    pub kind: FormKind,
    /// The function that makes an empty graph.
    pub new: Box<dyn Fn(GraphForm) -> Box<dyn Subject>>,
}

impl Form {
    /// Returns the size of blocks if the form differs in it, otherwise 0.
    pub fn block(&self) -> usize {
        if let FormKind::Block(block) = self.kind { block } else { 0 }
    }
}

/// Returns all forms of all containers that change.
///
/// # Errors
/// Fails without the feature `forms`: the operations and kernels of forms are then not compiled.
#[cfg(not(feature = "forms"))]
pub fn forms() -> Result<Vec<Form>> {
    Err("forms of containers are not in this build: add `--features forms`".into())
}

/// Returns all forms of all containers that change.
///
/// # Errors
/// Never fails with the feature `forms`.
#[cfg(feature = "forms")]
pub fn forms() -> Result<Vec<Form>> {
    let mut forms = Forms(Vec::new());
    hedgerow_lab::forms::for_each(&mut forms);
    Ok(forms.0)
}

#[cfg(feature = "forms")]
struct Forms(Vec<Form>);

#[cfg(feature = "forms")]
impl hedgerow_lab::forms::EachForm for Forms {
    fn form<G: hedgerow_core::DynamicGraph + 'static>(
        &mut self,
        container: &'static str,
        name: &'static str,
        kind: FormKind,
        new: fn(GraphForm) -> G,
    ) {
        let new = Box::new(move |form: GraphForm| crate::subject::subject(new(form)));
        self.0.push(Form { container, name, kind, new });
    }
}
