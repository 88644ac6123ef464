//! Score on the audio thread, which follows the host's song.

use crate::params::ScoreOutput;
use tone_filter_dsp::ToneFilter;

/// Sets the score of `filter`. `seconds` is the host's position in the song, `None` while the host has stopped. Without a score
/// or a position, the listener decides. Neither allocates nor frees, as the main thread also holds each score.
pub fn follow(score: &mut ScoreOutput, filter: &mut ToneFilter, seconds: Option<f64>) {
    let changed = score.update();
    match (score.output_buffer_mut(), seconds) {
        (Some(score), Some(seconds)) => {
            if changed || filter.score().is_none() {
                filter.set_score(Some(score.clone()));
            }
            filter.seek(seconds);
        }
        _ if filter.score().is_some() => drop(filter.set_score(None)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ToneFilterParams;
    use std::sync::Arc;
    use tone_filter_dsp::{Score, Settings};

    const TEXT: &str = "tone-filter-score 1\n0.0 0.5 69\n0.4 2.0 76\n";

    /// Returns half a second of a chord.
    fn chord() -> Vec<f32> {
        let tone =
            |t: usize, hertz: f32| (std::f32::consts::TAU * hertz * t as f32 / 48_000.0).sin();
        (0..24_000).map(|t| 0.2 * (tone(t, 440.0) + tone(t, 659.255))).collect()
    }

    #[test]
    fn it_decides_while_the_host_plays() {
        let params = ToneFilterParams::default();
        let mut output = params.score.take_output().unwrap();
        assert!(params.score.take_output().is_none(), "once");
        let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
        let mut expected = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
        let score: Score = TEXT.parse().unwrap();
        for step in 0..6 {
            match step {
                1 => params.score.set(Some(("Song".to_owned(), score.clone()))),
                5 => params.score.set(None),
                _ => {}
            }
            // The transport stops once, and jumps.
            let seconds = [None, Some(0.0), None, Some(1.0), Some(1.5), Some(2.0)][step];
            let decides = seconds.filter(|_| (1..5).contains(&step));
            follow(&mut output, &mut filter, seconds);
            match decides {
                Some(seconds) => {
                    if expected.score().is_none() {
                        expected.set_score(Some(Arc::new(score.clone())));
                    }
                    expected.seek(seconds);
                }
                None => _ = expected.set_score(None),
            }
            let (mut own, mut other) = (chord(), chord());
            filter.process(&mut [&mut own]);
            expected.process(&mut [&mut other]);
            assert_eq!(own, other, "{step}");
            assert_eq!(filter.score().is_some(), decides.is_some(), "{step}");
        }
    }

    #[test]
    fn it_is_saved_with_the_state() {
        let params = ToneFilterParams::default();
        let fields =
            |params: &ToneFilterParams| nice_plug::prelude::Params::serialize_fields(params);
        let load = |params: &ToneFilterParams, fields: &_| {
            nice_plug::prelude::Params::deserialize_fields(params, fields);
        };
        let none = fields(&params);
        params.score.set(Some(("Song".to_owned(), TEXT.parse().unwrap())));
        let mut saved = fields(&params);
        let loaded = ToneFilterParams::default();
        load(&loaded, &saved);
        assert_eq!(loaded.score.name().as_deref(), Some("Song"));
        assert_eq!(fields(&loaded), saved);
        let mut output = loaded.score.take_output().unwrap();
        assert!(output.update());
        let score: Score = TEXT.parse().unwrap();
        assert_eq!(output.output_buffer_mut().as_deref(), Some(&score));
        load(&loaded, &none);
        assert_eq!(loaded.score.name(), None, "a state without one");
        saved.insert("score".to_owned(), r#"{"name":"x","text":"no score"}"#.to_owned());
        load(&loaded, &saved);
        assert_eq!(loaded.score.name(), None);
        assert!(loaded.score.take_unread().starts_with("The score x cannot be read: line 1: "));
    }
}
