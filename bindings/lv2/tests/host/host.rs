//! Test host for LV2: maps URIs, connects ports and calls the functions of the descriptor.

use std::{
    collections::BTreeMap,
    ffi::{CStr, c_char, c_void},
    ptr,
};
use tone_filter_dsp::{Controls, Settings, TEXTS};
use tone_filter_lv2::{
    abi::{Atom, Descriptor, Feature, Handle, StateInterface, Urid, UridMap, uri},
    lv2_descriptor,
    ports::{Port, VARIANTS},
    state::key,
};
use tone_filter_testkit::{Signal, heap::counted, root, wav};

pub const RATE: f64 = 44_100.0;
pub const STEREO: u32 = 0;
pub const MONO: u32 = 1;
pub const SIDECHAIN: u32 = 2;

/// Event: frame, type and content.
pub type Event = (usize, &'static CStr, Vec<u8>);

/// Values of a saved state, by their keys.
pub type State = BTreeMap<Urid, Vec<u8>>;

const ROOM: usize = 65_536;

/// Returns the host's number for a URI, a hash.
pub fn number(uri: &CStr) -> Urid {
    let bytes = uri.to_bytes().iter();
    bytes.fold(1, |hash: Urid, byte| hash.wrapping_mul(31).wrapping_add(Urid::from(*byte)))
}

unsafe extern "C" fn map(_: *mut c_void, uri: *const c_char) -> Urid {
    // SAFETY: the plugin passes a C string.
    number(unsafe { CStr::from_ptr(uri) })
}

/// Creates an instance; NULL on failure. Offers the feature [`uri::MAP`] only if `with_map`.
pub fn instantiate(descriptor: &Descriptor, rate: f64, with_map: bool) -> Handle {
    let mut data = UridMap { handle: ptr::null_mut(), map };
    let other = Feature { uri: c"urn:other".as_ptr(), data: ptr::null_mut() };
    let feature = Feature { uri: uri::MAP.as_ptr(), data: ptr::from_mut(&mut data).cast() };
    let features =
        [&raw const other, if with_map { &raw const feature } else { ptr::null() }, ptr::null()];
    // SAFETY: descriptor and features have the form that LV2 defines.
    unsafe { (descriptor.instantiate)(descriptor, rate, c"/".as_ptr(), features.as_ptr()) }
}

pub fn descriptor(index: u32) -> Option<&'static Descriptor> {
    // SAFETY: the pointer is NULL or leads to a constant.
    unsafe { lv2_descriptor(index).as_ref() }
}

/// Instance of the plugin, with buffers for all its ports.
pub struct Host {
    descriptor: &'static Descriptor,
    handle: Handle,
    pub ports: Vec<Port>,
    /// Value of each port by index. Only settings and the latency use theirs; other ports have buffers.
    pub values: Vec<f32>,
    /// Buffers of the two ports for events, in and out, aligned for atoms.
    events: [Vec<u64>; 2],
    /// Size in bytes of the space for the plugin's events.
    pub room: usize,
}

#[derive(Debug, PartialEq)]
pub struct Output {
    pub signal: Signal,
    /// Messages with their frames.
    pub messages: Vec<(usize, Vec<u8>)>,
}

impl Host {
    /// Creates an instance of variant `index` with these settings.
    pub fn new(index: u32, controls: &Controls) -> Self {
        let descriptor = descriptor(index).unwrap();
        let handle = instantiate(descriptor, RATE, true);
        assert!(!handle.is_null());
        let ports: Vec<_> = VARIANTS[index as usize].ports().collect();
        let events = [const { Vec::new() }; 2].map(|_: Vec<u64>| vec![0; ROOM / 8 + 1]);
        let values = vec![0.0; ports.len()];
        let mut host = Self { descriptor, handle, ports, values, events, room: ROOM };
        host.set(controls);
        host
    }

    /// Sets all settings: the ports, and by restoring a state those that have no port.
    pub fn set(&mut self, controls: &Controls) {
        self.set_ports(controls);
        let texts = TEXTS.each_ref().map(|text| text.get(&controls.settings));
        assert_eq!(self.restore(&state(texts)), 0);
    }

    pub fn set_ports(&mut self, controls: &Controls) {
        for (value, port) in self.values.iter_mut().zip(&self.ports) {
            *value = port.get(controls);
        }
    }

    pub fn value(&mut self, symbol: &str) -> &mut f32 {
        let index = self.ports.iter().position(|port| port.symbol() == symbol);
        &mut self.values[index.unwrap()]
    }

    pub fn activate(&mut self) {
        // SAFETY: the handle belongs to a live instance.
        unsafe { self.descriptor.activate.unwrap()(self.handle) }
    }

    /// Runs the plugin once; it must not allocate. `audio` has a buffer for each channel of input, output and sidechain, NULL for
    /// a channel that is not connected. Buffers may be shared.
    pub fn run(&mut self, frames: usize, audio: [[*mut f32; 2]; 3]) {
        for (index, port) in self.ports.iter().enumerate() {
            let data: *mut c_void = match *port {
                Port::Input(channel) => audio[0][channel].cast(),
                Port::Output(channel) => audio[1][channel].cast(),
                Port::Sidechain(channel) => audio[2][channel].cast(),
                Port::EventsIn => self.events[0].as_mut_ptr().cast(),
                Port::EventsOut => self.events[1].as_mut_ptr().cast(),
                _ => ptr::from_mut(&mut self.values[index]).cast(),
            };
            // SAFETY: the data is valid until `run` returns, below.
            unsafe { (self.descriptor.connect_port)(self.handle, index as u32, data) }
        }
        // SAFETY: all ports are connected to valid data; the caller guarantees it for `audio`.
        let run = || unsafe { (self.descriptor.run)(self.handle, frames as u32) };
        assert_eq!(counted(run).1, 0, "allocations");
    }

    /// Processes `input` in blocks of `size` frames. An empty `sidechain` is not connected.
    pub fn play(
        &mut self,
        input: &[Vec<f32>],
        sidechain: &[Vec<f32>],
        size: usize,
        events: &[Event],
    ) -> Output {
        let frames = input[0].len();
        let (mut signal, mut messages) = (vec![vec![0.0; frames]; input.len()], Vec::new());
        for start in (0..frames).step_by(size) {
            let block = start..frames.min(start + size);
            let due = events.iter().filter(|(at, ..)| block.contains(at));
            self.write(due.map(|(at, kind, content)| (at - start, *kind, &content[..])));
            let pointers = |signal: &[Vec<f32>]| {
                let pointer = |channel: &Vec<f32>| channel[start..].as_ptr();
                [0, 1].map(|c| signal.get(c).map_or(ptr::null(), pointer).cast_mut())
            };
            let pointer = |channel: &mut Vec<f32>| channel[start..].as_mut_ptr();
            let output = [0, 1].map(|c| signal.get_mut(c).map_or(ptr::null_mut(), pointer));
            self.run(block.len(), [pointers(input), output, pointers(sidechain)]);
            let sent = self.sent().into_iter();
            messages.extend(sent.map(|(at, message)| (start + at, message)));
        }
        Output { signal, messages }
    }

    /// Writes the input events, and sets the space for the output events.
    pub fn write<'a>(&mut self, events: impl Iterator<Item = (usize, &'static CStr, &'a [u8])>) {
        let mut bytes = vec![0; 8];
        for (frame, kind, content) in events {
            bytes.extend((frame as i64).to_ne_bytes());
            bytes.extend((content.len() as u32).to_ne_bytes());
            bytes.extend(number(kind).to_ne_bytes());
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        let words = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
        self.events[0].splice(1..=words.len(), words);
        let heads =
            [(bytes.len(), uri::SEQUENCE), (self.room, c"http://lv2plug.in/ns/ext/atom#Chunk")];
        for (sequence, (size, kind)) in self.events.iter_mut().zip(heads) {
            let head = Atom { size: size as u32, kind: number(kind) };
            // SAFETY: the buffer is aligned and large enough.
            unsafe { sequence.as_mut_ptr().cast::<Atom>().write(head) };
        }
    }

    /// Returns the MIDI messages that the plugin has written, with their frames.
    pub fn sent(&self) -> Vec<(usize, Vec<u8>)> {
        let bytes: Vec<u8> = self.events[1].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let at = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(at(4), number(uri::SEQUENCE));
        let end = 8 + at(0) as usize;
        assert!(end <= 8 + self.room);
        let (mut sent, mut place) = (Vec::new(), 16);
        while place < end {
            let (frame, size) = (at(place) as usize, at(place + 8) as usize);
            assert_eq!(at(place + 12), number(uri::MIDI));
            sent.push((frame, bytes[place + 16..place + 16 + size].to_vec()));
            place += 16 + size.next_multiple_of(8);
        }
        assert!(sent.is_sorted_by_key(|(frame, _)| *frame));
        sent
    }

    fn interface(&self) -> &'static StateInterface {
        // SAFETY: for this URI, the function returns a constant `StateInterface`.
        unsafe { &*(self.descriptor.extension_data)(uri::STATE.as_ptr()).cast() }
    }

    /// Returns the values that the plugin saves, by their keys.
    pub fn save(&self) -> State {
        unsafe extern "C" fn store(
            saved: *mut c_void,
            key: Urid,
            value: *const c_void,
            size: usize,
            kind: Urid,
            flags: u32,
        ) -> u32 {
            assert_eq!((kind, flags), (number(uri::STRING), 3));
            // SAFETY: the plugin passes the handle from below, and a value of `size` bytes.
            let (saved, value) = unsafe {
                (&mut *saved.cast::<State>(), std::slice::from_raw_parts(value.cast(), size))
            };
            saved.insert(key, value.to_vec());
            0
        }
        let mut saved = State::new();
        let handle = ptr::from_mut(&mut saved).cast();
        // SAFETY: the instance's handle is valid, and `handle` has the type that `store` expects.
        let status = unsafe { (self.interface().save)(self.handle, store, handle, 0, ptr::null()) };
        assert_eq!(status, 0);
        saved
    }

    /// Restores a state. Returns the plugin's status.
    pub fn restore(&mut self, state: &State) -> u32 {
        unsafe extern "C" fn retrieve(
            state: *mut c_void,
            key: Urid,
            size: *mut usize,
            kind: *mut Urid,
            flags: *mut u32,
        ) -> *const c_void {
            // SAFETY: the plugin passes the handle from below, and valid pointers.
            let Some(value) = unsafe { &*state.cast::<State>() }.get(&key) else {
                return ptr::null();
            };
            // SAFETY: the pointers are valid, as above.
            unsafe { (*size, *kind, *flags) = (value.len(), number(uri::STRING), 3) };
            value.as_ptr().cast()
        }
        let handle = ptr::from_ref(state).cast_mut().cast();
        // SAFETY: the instance's handle is valid, and `handle` has the type that `retrieve` expects.
        unsafe { (self.interface().restore)(self.handle, retrieve, handle, 0, ptr::null()) }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the handle belongs to a live instance and is not used again.
        unsafe { (self.descriptor.cleanup)(self.handle) }
    }
}

/// Returns a saved state with `texts` as the text settings, in the order of [`TEXTS`].
pub fn state(texts: [String; TEXTS.len()]) -> State {
    let values = texts.map(|text| (text + "\0").into_bytes());
    TEXTS.iter().map(|setting| number(&key(setting))).zip(values).collect()
}

/// Returns `frames` frames of the demo tune from 2 s on, in the second bar; the first bar has drums only.
pub fn tune(frames: usize) -> Signal {
    let (tune, _) = wav::read(&root().join("assets/demo.wav")).unwrap();
    tune.iter().map(|channel| channel[2 * RATE as usize..][..frames].to_vec()).collect()
}

/// Creates the library's stereo filter with these settings.
pub fn filter(controls: &Controls) -> tone_filter_dsp::ToneFilter {
    let mut filter = tone_filter_dsp::ToneFilter::new(RATE, &controls.settings).unwrap();
    filter.set_routing(controls.routing);
    filter.detect_notes(controls.routing.midi_out);
    filter.reset();
    filter
}

pub fn expected(controls: &Controls, input: &Signal) -> Signal {
    let mut signal = input.clone();
    filter(controls).with_channels(input.len()).process(&mut slices(&mut signal));
    signal
}

pub fn slices(signal: &mut Signal) -> Vec<&mut [f32]> {
    signal.iter_mut().map(|channel| &mut channel[..]).collect()
}

/// Returns settings with which a band sounds if and only if its key is held.
pub fn played() -> Settings {
    Settings { keys: tone_filter_dsp::Keys::Hold, focus: 0.0, ..Settings::default() }
}
