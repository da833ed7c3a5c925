//! The functions of an entry, which the list calls.

/// Makes the functions `run_with` and `verify_with` of an entry from four things: the kind of the outcome,
/// the conversion of the arguments, and a call of the kernel and of its verifier with the result of the
/// conversion. `resident` comes first if the kernel needs a [`Resident`](hedgerow_core::Resident) graph.
macro_rules! functions {
    (resident $($rest:tt)+) => {
        functions!([hedgerow_core::WeightedTopology + hedgerow_core::Resident] $($rest)+);
    };
    (
        [$($bound:tt)+]
        $outcome:expr,
        $read:expr,
        |$g:ident, $arguments:pat_param, $cancel:ident| $run:expr,
        $verify:expr $(,)?
    ) => {
        pub(crate) fn run_with<G: $($bound)+>(
            $g: &G,
            arguments: &$crate::registry::Arguments,
            $cancel: &$crate::Cancel,
        ) -> Result<$crate::registry::Outcome, $crate::KernelError<G::Error>> {
            let $arguments = arguments.read::<_, G::Error>($read)?;
            $run.map($outcome)
        }

        pub(crate) fn verify_with<G: hedgerow_core::WeightedTopology + hedgerow_core::Resident>(
            $g: &G,
            arguments: &$crate::registry::Arguments,
        ) -> Result<$crate::registry::Outcome, $crate::KernelError> {
            let $arguments = arguments.read($read)?;
            Ok($outcome($verify))
        }
    };
    ($($rest:tt)+) => {
        functions!([hedgerow_core::WeightedTopology] $($rest)+);
    };
}

pub(crate) use functions;
