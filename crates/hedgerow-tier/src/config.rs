//! The four bytes in which the manifest and every segment state the configuration of their graph.

use hedgerow_core::{GraphConfig, KeyKind};

const DIRECTED: u8 = 1;
const WEIGHTED: u8 = 2;
/// The flag for stored incoming edges. Clear in files of undirected graphs, although their [`GraphConfig`]
/// has `reverse` set.
const REVERSE: u8 = 4;

/// Encodes the configuration: key kind, flags, two reserved bytes.
pub(crate) fn encode(config: GraphConfig) -> [u8; 4] {
    let flag = |on: bool, bit: u8| if on { bit } else { 0 };
    let flags = flag(config.directed, DIRECTED)
        | flag(config.weighted, WEIGHTED)
        | flag(config.directed && config.reverse, REVERSE);
    [config.keys as u8, flags, 0, 0]
}

/// Decodes the configuration in `bytes`, normalized; `None` if a value is unknown.
pub(crate) fn decode([kind, flags, reserved_a, reserved_b]: [u8; 4]) -> Option<GraphConfig> {
    let unknown = flags & !(DIRECTED | WEIGHTED | REVERSE) != 0 || reserved_a != 0 || reserved_b != 0;
    let keys = KeyKind::from_byte(kind).filter(|_| !unknown)?;
    let config = GraphConfig {
        directed: flags & DIRECTED != 0,
        keys,
        weighted: flags & WEIGHTED != 0,
        reverse: flags & REVERSE != 0,
    };
    Some(config.normalized())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of existing stores have these bytes, so they must not change.
    #[test]
    fn each_configuration_has_the_bytes_that_files_have_always_had() {
        for (kind, keys) in [KeyKind::Dense, KeyKind::U64, KeyKind::Str].into_iter().enumerate() {
            for (flags, (directed, weighted, reverse)) in [
                (0, (false, false, false)),
                (0, (false, false, true)),
                (1, (true, false, false)),
                (2, (false, true, false)),
                (2, (false, true, true)),
                (3, (true, true, false)),
                (5, (true, false, true)),
                (7, (true, true, true)),
            ] {
                let config = GraphConfig { directed, keys, weighted, reverse };
                let bytes = [kind as u8, flags, 0, 0];
                assert_eq!(encode(config), bytes, "{config:?}");
                assert_eq!(decode(bytes), Some(config.normalized()), "{config:?}");
            }
        }
    }

    #[test]
    fn unknown_values_are_refused() {
        for bytes in [[3, 1, 0, 0], [1, 8, 0, 0], [1, 0x85, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
