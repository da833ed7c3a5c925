//! The properties of a graph that are fixed when its store is created.

use hedgerow_core::KeyKind;

/// How a graph was created; every segment and the manifest carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphConfig {
    /// Whether edges have a direction.
    pub directed: bool,
    /// The type of external ids.
    pub key_kind: KeyKind,
    /// Whether edges carry an `f64` weight.
    pub weighted: bool,
    /// Whether incoming neighbors are kept beside outgoing ones.
    pub reverse: bool,
}

const DIRECTED: u8 = 1;
const WEIGHTED: u8 = 2;
const REVERSE: u8 = 4;

impl GraphConfig {
    /// The configuration as files hold it: key kind, flags, two reserved bytes.
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        let flags =
            flag(self.directed, DIRECTED) | flag(self.weighted, WEIGHTED) | flag(self.reverse, REVERSE);
        [self.key_kind as u8, flags, 0, 0]
    }

    /// The configuration in `bytes`; none if a value is unknown.
    pub(crate) fn from_bytes([kind, flags, reserved_a, reserved_b]: [u8; 4]) -> Option<GraphConfig> {
        let unknown = flags & !(DIRECTED | WEIGHTED | REVERSE) != 0 || reserved_a != 0 || reserved_b != 0;
        let key_kind = KeyKind::from_byte(kind).filter(|_| !unknown)?;
        Some(GraphConfig {
            directed: flags & DIRECTED != 0,
            key_kind,
            weighted: flags & WEIGHTED != 0,
            reverse: flags & REVERSE != 0,
        })
    }
}
