//! The host's numbers for URIs. Each field of [`Urids`] belongs to the URI of its name in [`uri`].

use crate::abi::{Feature, Urid, UridMap, uri};
use std::ffi::{CStr, CString};
use tone_filter_dsp::{TEXTS, Text};

/// Returns the key of a text setting in a saved state, a URI.
pub fn key(text: &Text) -> CString {
    let id = text.id;
    CString::new(format!("urn:tone-filter:{id}")).expect("an id has no zero")
}

/// Host's numbers for the URIs that the plugin uses.
#[derive(Debug)]
pub struct Urids {
    pub sequence: Urid,
    pub object: Urid,
    pub float: Urid,
    pub midi: Urid,
    pub position: Urid,
    pub tempo: Urid,
    pub speed: Urid,
    pub string: Urid,
    /// Numbers of the state's keys, one for each text setting in the order of [`TEXTS`].
    pub keys: [Urid; TEXTS.len()],
}

impl Urids {
    /// Asks the host for its numbers; `None` if it lacks [`uri::MAP`], which the plugin's description requires.
    ///
    /// # Safety
    /// `features` must be NULL or a NULL-terminated array of valid pointers. The data of [`uri::MAP`] must be a [`UridMap`].
    pub unsafe fn new(features: *const *const Feature) -> Option<Self> {
        if features.is_null() {
            return None;
        }
        // SAFETY: the caller guarantees an array that ends with NULL.
        let mut all = (0..).map_while(|index| unsafe { (*features.add(index)).as_ref() });
        // SAFETY: LV2 requires a C string.
        let map = all.find(|feature| unsafe { CStr::from_ptr(feature.uri) } == uri::MAP)?;
        // SAFETY: the caller guarantees it.
        let map = unsafe { map.data.cast::<UridMap>().as_ref() }?;
        // SAFETY: the host's function gets the host's handle and a C string.
        let number = |uri: &CStr| unsafe { (map.map)(map.handle, uri.as_ptr()) };
        Some(Self {
            sequence: number(uri::SEQUENCE),
            object: number(uri::OBJECT),
            float: number(uri::FLOAT),
            midi: number(uri::MIDI),
            position: number(uri::POSITION),
            tempo: number(uri::TEMPO),
            speed: number(uri::SPEED),
            string: number(uri::STRING),
            keys: TEXTS.each_ref().map(|text| number(&key(text))),
        })
    }
}
