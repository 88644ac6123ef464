//! Transport of a host.

use clack_host::{
    events::{
        EventFlags, EventHeader,
        event_types::{TransportEvent, TransportFlags},
    },
    utils::{BeatTime, SecondsTime},
};

/// Returns a transport with random values; `noise` must be in -1..1.
pub fn random_transport(noise: &mut dyn FnMut() -> f64) -> TransportEvent {
    let mut any = |scale: f64| scale * noise();
    TransportEvent {
        header: EventHeader::new_core(0, EventFlags::empty()),
        flags: TransportFlags::from_bits_truncate(any(1e9).abs() as u32),
        song_pos_beats: BeatTime::from_float(any(1e6)),
        song_pos_seconds: SecondsTime::from_float(any(1e6)),
        tempo: any(1e6),
        tempo_inc: any(1.0),
        loop_start_beats: BeatTime::from_float(any(1e6)),
        loop_end_beats: BeatTime::from_float(any(1e6)),
        loop_start_seconds: SecondsTime::from_float(any(1e6)),
        loop_end_seconds: SecondsTime::from_float(any(1e6)),
        bar_start: BeatTime::from_float(any(1e6)),
        bar_number: any(2e9) as i32,
        time_signature_numerator: any(65_535.0) as u16,
        time_signature_denominator: any(65_535.0) as u16,
    }
}

/// Returns a transport at the start of a song at 120 beats per minute, playing or stopped.
pub fn transport_that(plays: bool) -> TransportEvent {
    let flags = if plays { TransportFlags::IS_PLAYING } else { TransportFlags::empty() };
    let at_rest = transport_at(120.0);
    TransportEvent { flags: at_rest.flags | flags, ..at_rest }
}

/// Returns a stopped transport at the start of a song, at `tempo` beats per minute.
pub fn transport_at(tempo: f64) -> TransportEvent {
    TransportEvent { flags: TransportFlags::HAS_TEMPO, tempo, ..random_transport(&mut || 0.0) }
}

/// Returns `transport` as an event at `frame` of a buffer.
pub fn at_frame(transport: TransportEvent, frame: u32) -> TransportEvent {
    TransportEvent { header: EventHeader::new_core(frame, EventFlags::empty()), ..transport }
}
