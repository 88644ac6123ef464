//! Corrects the host's events for nice-plug.

use clap_sys::events::{
    CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_MIDI_SYSEX, CLAP_EVENT_TRANSPORT,
    CLAP_TRANSPORT_HAS_TEMPO, clap_event_header, clap_event_midi_sysex, clap_event_transport,
    clap_input_events,
};
use std::{
    cell::{Cell, UnsafeCell},
    ptr,
};

/// The host's events, each with its time clamped between the previous event's time and the buffer's last sample. An event that
/// nice-plug could not read is replaced by one that nice-plug skips.
pub struct ClampedEvents<'a> {
    events: &'a clap_input_events,
    /// Time of the buffer's last sample.
    last: u32,
    /// Clamped time of the last event read.
    now: Cell<u32>,
    /// Replacement of the last event that needed one: a copy at another time, or an event that nice-plug skips.
    moved: UnsafeCell<EventBuffer>,
    /// Song tempo in beats per minute after the last event read; `None` if the host reports none.
    pub tempo: Cell<Option<f64>>,
}

impl<'a> ClampedEvents<'a> {
    /// Wraps the `events` of a buffer of `frames` samples. `transport` is the host's transport at the start of the buffer.
    pub fn new(
        events: &'a clap_input_events,
        frames: u32,
        transport: Option<&clap_event_transport>,
    ) -> Self {
        Self {
            events,
            last: frames.saturating_sub(1),
            now: Cell::new(0),
            moved: UnsafeCell::new([0; _]),
            tempo: Cell::new(tempo(transport)),
        }
    }

    /// Returns a CLAP event list of the clamped events. The list must not outlive `self`.
    pub fn list(&self) -> clap_input_events {
        let ctx = (&raw const *self).cast_mut().cast();
        clap_input_events { ctx, size: Some(size), get: Some(get) }
    }
}

pub fn tempo(transport: Option<&clap_event_transport>) -> Option<f64> {
    let timed = transport.filter(|transport| transport.flags & CLAP_TRANSPORT_HAS_TEMPO != 0);
    timed.map(|transport| transport.tempo)
}

/// Buffer for any event that CLAP defines; the largest, the transport, has 104 bytes.
type EventBuffer = [u64; 16];

unsafe extern "C" fn size(list: *const clap_input_events) -> u32 {
    // SAFETY: `ClampedEvents::list` made the list, and its context is a `ClampedEvents` that outlives it.
    let events = unsafe { &*(*list).ctx.cast::<ClampedEvents>() }.events;
    // SAFETY: the host's own function is called on the host's own list.
    events.size.map_or(0, |size| unsafe { size(events) })
}

unsafe extern "C" fn get(list: *const clap_input_events, index: u32) -> *const clap_event_header {
    // SAFETY: as in `size`.
    let clamped = unsafe { &*(*list).ctx.cast::<ClampedEvents>() };
    let Some(get) = clamped.events.get else { return ptr::null() };
    // SAFETY: the host's own function is called on the host's own list.
    let event = unsafe { get(clamped.events, index) };
    let moved = clamped.moved.get().cast::<clap_event_header>();
    let skipped = |time| {
        // nice-plug skips events of an unknown space.
        let header = clap_event_header { size: 0, time, space_id: u16::MAX, type_: 0, flags: 0 };
        // SAFETY: the buffer has room for a header and is aligned for it, and there are no references into it.
        unsafe { moved.write(header) };
        moved.cast_const()
    };
    // SAFETY: CLAP promises an event or null.
    let Some(header) = (unsafe { event.as_ref() }) else { return skipped(clamped.now.get()) };
    if (header.space_id, header.type_) == (CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_TRANSPORT)
        && header.size as usize >= size_of::<clap_event_transport>()
    {
        // SAFETY: an event of this type and size is a transport.
        clamped.tempo.set(tempo(unsafe { event.cast::<clap_event_transport>().as_ref() }));
    }
    let time = header.time.clamp(clamped.now.get(), clamped.last);
    clamped.now.set(time);
    let bytes = header.size as usize;
    let is_sysex = (header.space_id, header.type_)
        == (CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_MIDI_SYSEX)
        && bytes >= size_of::<clap_event_midi_sysex>();
    // SAFETY: an event of this type and size is a SysEx message.
    if is_sysex && unsafe { (*event.cast::<clap_event_midi_sysex>()).buffer.is_null() } {
        // nice-plug panics without bytes.
        return skipped(time);
    }
    if header.time == time {
        return event;
    }
    if !(size_of::<clap_event_header>()..=size_of::<EventBuffer>()).contains(&bytes) {
        // CLAP defines no event of this size.
        return skipped(time);
    }
    // SAFETY: the buffer has room for the `bytes` bytes of the event and is aligned for a header, and there are no references
    // into it.
    unsafe {
        ptr::copy_nonoverlapping(event.cast(), moved.cast::<u8>(), bytes);
        (*moved).time = time;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn one(_: *const clap_input_events) -> u32 {
        1
    }

    unsafe extern "C" fn event(list: *const clap_input_events, _: u32) -> *const clap_event_header {
        // SAFETY: `read` made the list.
        unsafe { (*list).ctx.cast() }
    }

    /// Reads one event at time 600 in a buffer of 64 samples: a transport of 90 beats per minute whose type is `type_`. `flags` and
    /// `size` are the fields of the event. Returns the clamped time (`None`: nice-plug skips the event) and the tempo.
    fn read(type_: u16, flags: u32, size: usize) -> (Option<u32>, Option<f64>) {
        // SAFETY: zeros are valid for all fields.
        let zeros: clap_event_transport = unsafe { std::mem::zeroed() };
        let header = clap_event_header {
            size: size as u32,
            time: 600,
            space_id: CLAP_CORE_EVENT_SPACE_ID,
            type_,
            flags: 0,
        };
        // As long as the largest `size`.
        let mut transport = [clap_event_transport { header, flags, tempo: 90.0, ..zeros }; 2];
        let ctx = transport.as_mut_ptr().cast();
        let events = clap_input_events { ctx, size: Some(one), get: Some(event) };
        let clamped = ClampedEvents::new(&events, 64, None);
        // SAFETY: the list, its event and their functions are valid.
        let header = unsafe { &*get(&clamped.list(), 0) };
        assert_eq!(header.time, 63);
        let known = header.space_id == CLAP_CORE_EVENT_SPACE_ID;
        (known.then_some(header.time), clamped.tempo.get())
    }

    #[test]
    fn an_event_without_bytes_or_of_impossible_size_is_skipped() {
        let (kind, flags) = (CLAP_EVENT_TRANSPORT, CLAP_TRANSPORT_HAS_TEMPO);
        let whole = size_of::<clap_event_transport>();
        assert_eq!(read(kind, flags, whole), (Some(63), Some(90.0)));
        assert_eq!(read(kind, 0, whole), (Some(63), None), "without a tempo");
        assert_eq!(read(kind, flags, size_of::<EventBuffer>() + 1), (None, Some(90.0)));
        assert_eq!(read(kind, flags, size_of::<clap_event_header>() - 1), (None, None));
        assert_eq!(read(kind, flags, size_of::<clap_event_header>()), (Some(63), None));
        // The transport's position of 0 is where SysEx has the pointer to its bytes.
        let sysex = size_of::<clap_event_midi_sysex>();
        assert_eq!(read(CLAP_EVENT_MIDI_SYSEX, flags, sysex), (None, None));
    }
}
