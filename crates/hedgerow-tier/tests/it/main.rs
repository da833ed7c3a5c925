//! Tests of segments and manifests on a file system that crashes, and on the real one.

mod crash;
mod cycle;
mod real;
