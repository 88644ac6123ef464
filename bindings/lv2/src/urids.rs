//! The host's numbers of URIs.

use crate::abi::{Feature, Urid, UridMap, uri};
use std::ffi::{CStr, CString};
use tone_filter_dsp::{TEXTS, Text};

/// Returns the URI of a text's key in the state.
pub fn key(text: &Text) -> CString {
    let id = text.id;
    CString::new(format!("urn:tone-filter:{id}")).expect("an id has no zero")
}

/// The host's numbers of the types that the plugin uses.
#[derive(Debug)]
pub struct Urids {
    /// Number of [`uri::SEQUENCE`].
    pub sequence: Urid,
    /// Number of [`uri::OBJECT`].
    pub object: Urid,
    /// Number of [`uri::FLOAT`].
    pub float: Urid,
    /// Number of [`uri::MIDI`].
    pub midi: Urid,
    /// Number of [`uri::POSITION`].
    pub position: Urid,
    /// Number of [`uri::TEMPO`].
    pub tempo: Urid,
    /// Number of [`uri::SPEED`].
    pub speed: Urid,
    /// Number of [`uri::STRING`].
    pub string: Urid,
    /// Keys of the texts in the state, in the order of [`TEXTS`].
    pub keys: [Urid; TEXTS.len()],
}

impl Urids {
    /// Asks the host for its numbers; `None` if it lacks [`uri::MAP`], which the description in Turtle requires.
    ///
    /// # Safety
    /// `features` is NULL or an array of valid pointers that ends with NULL; the data of [`uri::MAP`] is a [`UridMap`].
    pub unsafe fn new(features: *const *const Feature) -> Option<Self> {
        if features.is_null() {
            return None;
        }
        // SAFETY: by the caller, the array goes on until a NULL.
        let mut all = (0..).map_while(|index| unsafe { (*features.add(index)).as_ref() });
        // SAFETY: a URI is a C string.
        let map = all.find(|feature| unsafe { CStr::from_ptr(feature.uri) } == uri::MAP)?;
        // SAFETY: by the caller.
        let map = unsafe { map.data.cast::<UridMap>().as_ref() }?;
        // SAFETY: the host's function is called with the host's handle and a C string.
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
