//! The two functions of a kernel: one that runs to its end, and one that a flag ends.

/// Defines both functions. The documentation belongs to the first one. The body belongs to the second one,
/// which the first one calls with a flag that is never raised. The caller imports `Cancel` and `KernelError`.
macro_rules! kernel {
    (
        $(#[$doc:meta])*
        pub fn $name:ident, $until:ident<$g:ident: $bound:ident>(
            $graph:ident $(, $argument:ident: $type:ty)*; $cancel:ident
        ) -> $result:ty $body:block
    ) => {
        $(#[$doc])*
        pub fn $name<$g: $bound>(
            $graph: &$g
            $(, $argument: $type)*
        ) -> Result<$result, KernelError<$g::Error>> {
            $until($graph, $($argument,)* &Cancel::new())
        }

        #[doc = concat!("Runs [`", stringify!($name), "`] until `cancel` ends it.")]
        ///
        /// # Errors
        #[doc = concat!("Errors of [`", stringify!($name), "`], and [`Cancelled`](crate::KernelError::Cancelled).")]
        pub fn $until<$g: $bound>(
            $graph: &$g
            $(, $argument: $type)*,
            $cancel: &Cancel,
        ) -> Result<$result, KernelError<$g::Error>> $body
    };
}

pub(crate) use kernel;
