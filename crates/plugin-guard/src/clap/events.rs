//! Events of the host with their times corrected for nice-plug.

use clap_sys::events::{
    CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_TRANSPORT, CLAP_TRANSPORT_HAS_TEMPO, clap_event_header,
    clap_event_transport, clap_input_events,
};
use std::{
    cell::{Cell, UnsafeCell},
    ptr,
};

/// Events of the host. Each time is clamped to between the previous event's time and the buffer's last sample.
pub struct ClampedEvents<'a> {
    events: &'a clap_input_events,
    /// Time of the buffer's last sample.
    last: u32,
    /// Time of the event that was read last, after clamping.
    now: Cell<u32>,
    /// Copy of the last event whose time was changed. Reading the next event may overwrite the copy.
    moved: UnsafeCell<EventBuffer>,
    /// Tempo of the song in beats per minute after the events read so far, if the host reports one.
    tempo: Cell<Option<f64>>,
}

impl<'a> ClampedEvents<'a> {
    /// Creates the clamped form of the `events` of a buffer of `frames` samples that starts with `transport`.
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

    /// Returns the tempo of the song in beats per minute after the events read so far, if the host reports one.
    pub fn tempo(&self) -> Option<f64> {
        self.tempo.get()
    }
}

/// Returns the tempo in `transport` in beats per minute, if there is one.
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
    // SAFETY: CLAP promises an event or null.
    let Some(header) = (unsafe { event.as_ref() }) else { return event };
    if (header.space_id, header.type_) == (CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_TRANSPORT)
        && header.size as usize >= size_of::<clap_event_transport>()
    {
        // SAFETY: an event of this type and size is a transport.
        clamped.tempo.set(tempo(unsafe { event.cast::<clap_event_transport>().as_ref() }));
    }
    let time = header.time.clamp(clamped.now.get(), clamped.last);
    clamped.now.set(time);
    if header.time == time {
        return event;
    }
    let bytes = header.size as usize;
    if !(size_of::<clap_event_header>()..=size_of::<EventBuffer>()).contains(&bytes) {
        // CLAP defines no event of this size; nice-plug ignores null.
        return ptr::null();
    }
    let moved = clamped.moved.get().cast::<u8>();
    // SAFETY: the buffer has room for the `bytes` bytes of the event and is aligned for a header, and there are no references
    // into it.
    unsafe {
        ptr::copy_nonoverlapping(event.cast(), moved, bytes);
        let moved = moved.cast::<clap_event_header>();
        (*moved).time = time;
        moved
    }
}
