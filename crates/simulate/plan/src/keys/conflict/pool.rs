//! Contradictions between the shared buffer of switches and other settings.

use crate::keys::Keys;
use crate::keys::pool::share;

/// Keys whose values contradict each other, the error, and the remedy.
pub(super) type Finding = (&'static [&'static str], String, String);

/// All conflicts of the shared buffer.
pub(super) fn conflicts(keys: &Keys) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let switch = &keys.switch;
    let packet = keys.packet_bytes();
    let Some(pool) = switch.pool.bytes(packet) else {
        return found;
    };
    if switch.emulated_load.0 > 0.0 {
        found.push((
            &["switch.emulated_load", "switch.pool"],
            "the emulated load takes a share of the buffer of each port, but with switch.pool ports have no buffer of \
             their own".to_owned(),
            "leave switch.emulated_load out, or set switch.pool = \"off\"".to_owned(),
        ));
    }
    let alphas = switch.pool_alpha.of(switch.pool);
    let reserve = switch.pool_reserve.in_bytes(packet);
    let least = alphas.iter().copied().fold(f64::INFINITY, f64::min);
    let room = share(pool, least) + reserve;
    if room < packet {
        found.push((
            &["switch.pool", "switch.pool_alpha"],
            format!(
                "no full packet fits into the share of switch.pool that a queue gets alone: {room} bytes, alpha / (1 + alpha) of \
                 it with alpha = {least}"
            ),
            format!("a full packet has {packet} bytes: raise switch.pool or switch.pool_alpha"),
        ));
        return found;
    }
    let most = alphas.iter().copied().fold(0.0, f64::max);
    let room = share(pool, most) + reserve;
    if let Some(threshold) = switch.ecn_threshold.0.map(|size| size.in_bytes(packet))
        && threshold > room
        && !switch.pfc.is_all()
    {
        found.push((
            &["switch.ecn_threshold", "switch.pool", "switch.pool_alpha"],
            format!(
                "the marking threshold lies above what the shared buffer allows a queue that is alone: {threshold} > {room} \
                 bytes, alpha / (1 + alpha) of switch.pool with alpha = {most}"
            ),
            "such a queue drops before it marks: lower switch.ecn_threshold, raise switch.pool or switch.pool_alpha, or set \
             switch.ecn_threshold = \"off\"".to_owned(),
        ));
    }
    found
}
