//! Whatever is in a file: no panic, and an output only if all went well.

use crate::{Folder, Wav, formats::CORPUS};
use proptest::prelude::*;
use tone_filter::offline::{
    plot::Plot,
    render::{Options, render},
};

/// Headers near those of real files, so that many get past the first checks.
fn wav() -> impl Strategy<Value = Wav> {
    let channels = prop_oneof![3 => Just(1u16), 3 => Just(2), 3 => Just(6), 1 => any::<u16>()];
    let rate = prop_oneof![8 => Just(44_100u32), 1 => Just(0), 1 => any::<u32>()];
    let tag = prop_oneof![6 => Just(1u16), 2 => Just(3), 2 => Just(0xFFFE), 1 => any::<u16>()];
    let bits = prop_oneof![2 => Just(8u16), 2 => Just(16), 2 => Just(24), 4 => Just(32), 1 => any::<u16>()];
    let extension = prop_oneof![
        4 => Just(vec![]),
        1 => Just(vec![0, 0]),
        2 => Just(vec![
            22, 0, 16, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113
        ]),
        1 => prop::collection::vec(any::<u8>(), 0..30),
    ];
    let chunk = prop::collection::vec(any::<u8>(), 0..20);
    let data = prop::collection::vec(any::<u8>(), 0..12).prop_map(|head| head.repeat(48));
    (tag, channels, rate, bits, extension, chunk, data).prop_map(
        |(tag, channels, rate, bits, extension, between, data)| Wav {
            tag,
            channels,
            rate,
            bits,
            extension,
            between,
            data,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn mutated_files_render_whole_or_not_at_all(
        mut wav in wav(),
        with_chunk in prop::bool::weighted(0.2),
        flips in prop_oneof![
            Just(vec![]),
            prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ],
        kept in prop_oneof![6 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
    ) {
        if !with_chunk {
            wav.between.clear();
        }
        let mut bytes = wav.bytes();
        for (place, value) in flips {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(kept.map_or(bytes.len(), |kept| kept.index(bytes.len())));

        let folder = Folder::with(&bytes);
        let (input, output) = (folder.path("in.wav"), folder.path("out.wav"));
        let options = Options::default();
        match render(&input, &output, &options, |_| ()) {
            Ok(report) => {
                prop_assert!(Plot::of_file(&input, &options.settings).is_ok());
                let out = hound::WavReader::open(output).unwrap();
                prop_assert_eq!(u64::from(out.duration()), report.frames);
                prop_assert_eq!(folder.files().len(), 2);
            }
            Err(error) => {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
                prop_assert_eq!(folder.files().len(), 1, "left behind after: {}", error);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_flac_aiff_mp3_and_ogg_render_whole_or_not_at_all(
        which in 0..CORPUS.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        in_header in any::<bool>(),
        kept in prop_oneof![4 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
    ) {
        let (name, bytes) = CORPUS[which];
        let mut bytes = bytes.to_vec();
        for (place, value) in flips {
            // Most faults that matter are where the structure is.
            let place = place.index(if in_header { bytes.len().min(120) } else { bytes.len() });
            bytes[place] = value;
        }
        bytes.truncate(kept.map_or(bytes.len(), |kept| kept.index(bytes.len())));
        let folder = Folder::new();
        folder.put(name, &bytes);
        let (input, output) = (folder.path(name), folder.path("out.wav"));
        match render(&input, &output, &Options::default(), |_| ()) {
            Ok(report) => {
                let out = hound::WavReader::open(output).unwrap();
                prop_assert_eq!(u64::from(out.duration()), report.frames);
            }
            Err(error) => {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
                prop_assert_eq!(folder.files().len(), 1, "left behind after: {}", error);
            }
        }
    }
}
