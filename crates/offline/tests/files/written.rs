//! Written files: depths, dither, clipping, chunks, rates, tails and loops.

use crate::{Folder, Wav, chunk, chunks, extensible, float_wav, patched, silence, unmixed};
use hound::{SampleFormat, WavSpec, WavWriter};
use std::f64::consts::TAU;
use tone_filter_dsp::{Kernel, Settings, Voice};
use tone_filter_offline::{
    Input,
    analyse::analyse,
    options::{Looped, Options, Tail},
    render::render,
    wav::Depth,
};
use tone_filter_testkit::signals;

/// Returns a folder with a file of 1000 frames of integers, and its samples. They have both extremes, zero, 1 LSB up and down,
/// and noise.
fn integer_file(channels: u16, bits: u16) -> (Folder, Vec<i32>) {
    let folder = Folder::new();
    let sample_format = SampleFormat::Int;
    let spec = WavSpec { channels, sample_rate: 48_000, bits_per_sample: bits, sample_format };
    let (min, max) = (i32::MIN >> (32 - bits), i32::MAX >> (32 - bits));
    let mut noise = signals::noise(3);
    let mut samples = vec![min, max, 0, 1, -1, min + 1];
    samples.resize_with(1000 * usize::from(channels), || (noise() * f64::from(max)) as i32);
    let mut wav = WavWriter::create(folder.path("in.wav"), spec).unwrap();
    samples.iter().for_each(|sample| wav.write_sample(*sample).unwrap());
    wav.finalize().unwrap();
    (folder, samples)
}

#[test]
fn integers_come_back_exactly_and_of_32_bits_24() {
    for channels in [1, 2, 6] {
        for bits in [8, 16, 24, 32] {
            let (folder, samples) = integer_file(channels, bits);
            let report = folder.render("in.wav", "out.wav", &unmixed());
            assert_eq!(folder.spec("out.wav"), folder.spec("in.wav"));
            assert_eq!(report.clipped, 0);
            let out = folder.integers("out.wav");
            assert_eq!(out.len(), samples.len());
            for (out, sample) in out.into_iter().zip(samples) {
                let error = (f64::from(out) - f64::from(sample)).abs();
                // The tolerance is half of the last bit of a float's mantissa.
                let tolerance = f64::from(sample).abs() * 2f64.powi(-24);
                assert!(error <= if bits == 32 { tolerance } else { 0.0 }, "{sample} became {out}");
            }
        }
    }
}

#[test]
fn floats_come_back_exactly_beyond_full_scale_and_of_64_bits_32() {
    for channels in [1, 2, 6] {
        let mut noise = signals::noise(4);
        let mut channel = || (0..1000).map(|_| (3.0 * noise()) as f32).collect::<Vec<_>>();
        let channels: Vec<_> = (0..channels).map(|_| channel()).collect();
        let folder = Folder::with(&float_wav(96_000, &channels));
        assert_eq!(folder.render("in.wav", "out.wav", &unmixed()).clipped, 0);
        assert_eq!(folder.spec("out.wav"), folder.spec("in.wav"));
        assert!(folder.read("out.wav") == folder.read("in.wav"));
        let fact = (*b"fact", 1000u32.to_le_bytes().to_vec());
        assert_eq!(chunks(&folder.bytes("out.wav"))[1], fact, "number of frames");
    }
    let values = [0.1f64, -0.7, 1e-9, 1.5, 1e300, -0.0, 0.5, 2f64.powi(-140)];
    let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let folder = Folder::with(&Wav { tag: 3, bits: 64, data, ..silence() }.bytes());
    folder.render("in.wav", "out.wav", &unmixed());
    assert_eq!(folder.spec("out.wav").bits_per_sample, 32);
    for (out, value) in folder.read("out.wav").iter().zip(values) {
        // The filter replaces values beyond f32 by silence, and may set denormals to 0.
        let kept = if value > 1e38 { 0.0 } else { value as f32 };
        assert!((out - kept).abs() < 1e-38, "{value}");
    }
}

#[test]
fn bypass_and_a_mix_of_0_give_the_input_back_in_time() {
    let noise = signals::white(1.0, 44_100.0);
    let bypass = Options { bypass: true, ..Options::default() };
    let mut ahead = unmixed();
    ahead.settings.lookahead = true;
    for count in [1, 2, 6] {
        // Lengths below and above the filter's latency and a block of the renderer.
        for frames in [1, 2047, 40_000] {
            let channels: Vec<_> = (0..count).map(|c| noise[c..c + frames].to_vec()).collect();
            let folder = Folder::with(&float_wav(44_100, &channels));
            let expected = folder.read("in.wav");
            for options in [&bypass, &unmixed(), &ahead] {
                folder.render("in.wav", "out.wav", options);
                assert!(folder.read("out.wav") == expected, "{options:?}, {count} x {frames}");
                let tail = Options { tail: Tail::Seconds(0.1), ..options.clone() };
                folder.render("in.wav", "out.wav", &tail);
                let out = folder.read("out.wav");
                assert_eq!(out.len(), expected.len() + 4410 * count);
                assert!(out[..expected.len()] == expected, "{options:?}, {count} x {frames}");
            }
        }
    }
}

#[test]
fn growing_depths_are_exact_and_shrinking_ones_dithered_or_rounded() {
    let (folder, samples) = integer_file(2, 16);
    let deep = |depth| Options { depth: Some(depth), ..unmixed() };
    folder.render("in.wav", "out.wav", &deep(Depth::Int24));
    let grown: Vec<i32> = samples.iter().map(|sample| sample << 8).collect();
    assert_eq!(folder.integers("out.wav"), grown);
    folder.render("in.wav", "float.wav", &deep(Depth::Float32));
    assert_eq!(folder.read("float.wav")[..2], [-1.0, 32_767.0 / 32_768.0], "full scale is 1");

    // Each channel is a constant: 1/4 and 3/4 of an LSB.
    let steps = [0.25, 0.75];
    let channels = steps.map(|step| vec![step / 32_768.0; 40_000]);
    let folder = Folder::with(&float_wav(44_100, &channels));
    for name in ["a.wav", "b.wav"] {
        folder.render("in.wav", name, &deep(Depth::Int16));
    }
    let samples = folder.integers("a.wav");
    assert_eq!(samples, folder.integers("b.wav"), "the same every time");
    for (channel, step) in steps.into_iter().enumerate() {
        let of_channel = || samples[channel..].iter().step_by(2);
        assert!(of_channel().all(|sample| (-1..=2).contains(sample)), "two steps wide");
        // Dither and rounding have a variance of 1/4 LSB^2, so the standard deviation of the mean is 0.0025 LSB.
        let mean = of_channel().sum::<i32>() as f32 / 40_000.0;
        assert!((mean - step).abs() < 0.01, "{mean}");
    }
    folder.render("in.wav", "c.wav", &Options { no_dither: true, ..deep(Depth::Int16) });
    assert_eq!(folder.integers("c.wav"), [0, 1].repeat(40_000));
}

#[test]
fn processed_samples_are_dithered_at_16_bits() {
    let sine = signals::sine(1000.0, 0.5, 0.1, 48_000.0);
    let quiet = [vec![0.0; 400], sine].concat();
    let folder = Folder::with(&float_wav(48_000, &[quiet.clone(), quiet]));
    for (name, depth) in [("16.wav", Depth::Int16), ("24.wav", Depth::Int24)] {
        folder.render("in.wav", name, &Options { depth: Some(depth), ..unmixed() });
    }
    let mixed = |mix| Options { settings: Settings { mix, ..Settings::default() }, ..unmixed() };
    let (wet, dry, default) = (mixed(100.0), mixed(0.0), Settings::default());
    let bypass = Options { bypass: true, ..Options::default() };
    let quieter = Settings { output: -1.0, ..dry.settings };
    let unmorphed = Options { settings: Settings { morph: 0.0, ..default }, ..unmixed() };
    for (input, options, is_dithered) in [
        ("16.wav", wet.clone(), true),
        ("16.wav", Options { settings: quieter, ..dry.clone() }, true),
        ("16.wav", Options { normalize: Some(-1.0), ..bypass.clone() }, true),
        ("16.wav", Options { rate: Some(44_100), ..bypass.clone() }, true),
        ("16.wav", bypass, false),
        ("16.wav", dry, false),
        ("16.wav", unmorphed, false),
        ("24.wav", wet.clone(), false),
        ("16.wav", Options { depth: Some(Depth::Int24), ..wet }, false),
    ] {
        let rendered = |options: &Options| {
            folder.render(input, "out.wav", options);
            folder.integers("out.wav")
        };
        let out = rendered(&options);
        assert_eq!(out, rendered(&options), "{input}, {options:?}: the same every time");
        assert!(out[..200].iter().all(|sample| *sample == 0), "silence stays silent");
        let plain = rendered(&Options { no_dither: true, ..options.clone() });
        assert_eq!(out != plain, is_dithered, "{input}, {options:?}");
        let error = out.iter().zip(&plain).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(error <= Some(1), "{input}, {options:?}: {error:?} steps");
    }
}

#[test]
fn samples_beyond_full_scale_are_cut_and_counted() {
    let folder = Folder::with(&float_wav(44_100, &[vec![0.5, 2.0, -2.0, 1.0, -1.0, 0.0]]));
    let options = Options { depth: Some(Depth::Int16), ..unmixed() };
    assert_eq!(folder.render("in.wav", "out.wav", &options).clipped, 2);
    assert_eq!(folder.integers("out.wav")[1..3], [32_767, -32_768]);
}

#[test]
fn samples_that_are_not_finite_become_silence_and_are_counted_once() {
    let sine = signals::sine(440.0, 0.25, 0.5, 44_100.0);
    let (mut broken, mut clean) = (vec![sine.clone(), sine.clone()], vec![sine.clone(), sine]);
    for (channel, frame, value) in
        [(0, 0, f32::NAN), (0, 20_000, f32::INFINITY), (1, 22_049, f32::NEG_INFINITY)]
    {
        (broken[channel][frame], clean[channel][frame]) = (value, 0.0);
    }
    let folder = Folder::with(&float_wav(44_100, &broken));
    folder.put("clean.wav", &float_wav(44_100, &clean));
    // With normalising, the file is read twice.
    for normalize in [None, Some(-1.0)] {
        let options = Options { normalize, loudness: true, ..Options::default() };
        let report = folder.render("in.wav", "out.wav", &options);
        let expected = folder.render("clean.wav", "expected.wav", &options);
        assert_eq!((report.not_finite, expected.not_finite), (3, 0));
        assert_eq!(report.loudness, expected.loudness);
        assert!(report.loudness.iter().all(Option::is_some), "{report:?}");
        assert!(folder.bytes("out.wav") == folder.bytes("expected.wav"));
    }
}

#[test]
fn headers_of_every_kind_are_read() {
    // 20 valid bits in the upper bits of three bytes.
    let values = [0x7FFFF0, -0x800000, 0x10, -0x10];
    let data: Vec<u8> = values.iter().flat_map(|v: &i32| v.to_le_bytes()[..3].to_vec()).collect();
    let twenty = Wav { bits: 24, data, ..silence() };
    let extension = extensible(20, 0x33, 1);
    let quad = Wav { tag: 0xFFFE, channels: 4, extension, ..twenty.clone() };
    // 24 bits in the lower three of four bytes.
    let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let four = patched(Wav { bits: 32, data, ..silence() }.bytes(), 34, &[24]);
    for bytes in [quad.bytes(), patched(twenty.bytes(), 34, &[20]), four] {
        let folder = Folder::with(&bytes);
        folder.render("in.wav", "out.wav", &unmixed());
        assert_eq!(folder.integers("out.wav"), values);
        assert_eq!(folder.spec("out.wav").bits_per_sample, 24);
    }
    for extension in [vec![0; 2], vec![9; 4], vec![0; 24]] {
        let wav = Wav { bits: 32, extension, data: [0, 1, 2, 3].repeat(4), ..silence() };
        let folder = Folder::with(&wav.bytes());
        folder.render("in.wav", "out.wav", &unmixed());
        assert_eq!(folder.integers("out.wav"), [0x0302_0100; 4]);
    }
    for rate in [1000, 11_025, 44_056, 768_000, 4_000_000] {
        let folder = Folder::with(&Wav { rate, ..silence() }.bytes());
        folder.render("in.wav", "out.wav", &Options::default());
        assert_eq!(folder.spec("out.wav").sample_rate, rate);
    }
}

#[test]
fn chunks_with_metadata_are_carried_over_unchanged() {
    // Version 1 of the broadcast extension, which has no loudness.
    let mut bext = [7; 603];
    bext[346..348].copy_from_slice(&[1, 0]);
    let own = [chunk(b"fact", &[1, 0, 0, 0]), chunk(b"PEAK", &[0; 16])].concat();
    let before =
        [chunk(b"bext", &bext), chunk(b"JUNK", &[0; 28]), chunk(b"iXML", b"<x/>"), own].concat();
    let mut wav =
        Wav { between: before, channels: 1, bits: 8, data: vec![128; 1001], ..silence() }.bytes();
    wav.push(0);
    for (id, content) in
        [(b"smpl", &[1; 60][..]), (b"cue ", &[2; 28]), (b"LIST", b"INFOINAM\x03\0\0\0abc")]
    {
        wav.extend(chunk(id, content));
    }
    wav.extend(chunk(b"plst", &[2; 16]));
    wav.extend(b"garbage at the end");
    let folder = Folder::with(&wav);
    let written = |options: &Options| {
        folder.render("in.wav", "out.wav", options);
        let out = chunks(&folder.bytes("out.wav"));
        let ids: Vec<&[u8; 4]> = out.iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [b"fmt ", b"bext", b"iXML", b"data", b"smpl", b"cue ", b"LIST", b"plst"]);
        out
    };
    let out = written(&Options::default());
    assert_eq!(out[1].1, bext);
    assert_eq!(out[2].1, b"<x/>");
    assert_eq!(out[4].1, [1; 60]);
    assert_eq!(out[6].1, b"INFOINAM\x03\0\0\0abc");
    let out = written(&Options { rate: Some(48_000), ..Options::default() });
    assert_eq!(out[0].1[4..8], 48_000u32.to_le_bytes(), "the rate");
    assert_eq!(out[3].1.len(), 1090, "as long as before");
    let scaled = (0x0202_0202 * 48_000 + 22_050) / 44_100;
    for (index, expected) in [(4, 1_000_000_000 / 48_000), (5, scaled), (7, scaled)] {
        let number = u32::from_le_bytes(out[index].1[8..12].try_into().unwrap());
        assert_eq!(u64::from(number), expected, "periods, positions and lengths follow the rate");
    }

    let many = b"tiny\0\0\0\0".repeat(200_000);
    let wav = Wav { between: many.clone(), ..silence() }.bytes();
    let folder = Folder::with(&[wav, many].concat());
    folder.render("in.wav", "out.wav", &Options::default());
    assert_eq!(chunks(&folder.bytes("out.wav")).len(), 400_002);
}

#[test]
fn a_requested_peak_is_reached() {
    let channels = [signals::noisy_chord(0.5, 44_100.0), vec![0.0; 22_050]];
    let folder = Folder::with(&float_wav(44_100, &channels));
    for (peak_db, mix, peak) in [(-1.0, 80.0, 0.891_25f32), (-12.0, 100.0, 0.251_19)] {
        let mut options = Options { normalize: Some(peak_db), ..unmixed() };
        options.settings.mix = mix;
        folder.render("in.wav", "out.wav", &options);
        let out = folder.read("out.wav");
        let reached = out.iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
        assert!((reached - peak).abs() < 1e-4, "{peak_db} dB: {reached}");
    }
}

fn rms(samples: &[f32]) -> f32 {
    (samples.iter().map(|x| x * x).sum::<f32>() / samples.len() as f32).sqrt()
}

#[test]
fn a_tail_rings_on_and_changes_nothing_before_it() {
    let folder = Folder::with(&float_wav(44_100, &[signals::sine(440.0, 0.5, 1.0, 44_100.0)]));
    let out = |tail, bypass| {
        let settings = Settings::REFERENCE;
        let options = Options { settings, tail, bypass, ..Options::default() };
        folder.render("in.wav", "out.wav", &options);
        folder.read("out.wav")
    };
    let none = out(Tail::None, false);
    assert_eq!(none.len(), 44_100, "an output is as long as its input");
    let two = out(Tail::Seconds(2.0), false);
    assert_eq!(two.len(), 3 * 44_100);
    let auto = out(Tail::Auto, false);
    assert!((46_000..44_100 * 10).contains(&auto.len()), "{}", auto.len());
    assert!(two[..44_100] == none && auto[..44_100] == none);
    assert!(rms(&two[44_100..50_000]) > 0.01, "it rings on");
    let last = auto[auto.len() - 2048..].iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
    assert!((1e-5..1e-3).contains(&last), "it ends where it is inaudible: {last}");
    assert_eq!(out(Tail::Auto, true).len(), 44_100, "the dry sound has no tail");
}

fn largest_step(samples: &[f32]) -> f32 {
    samples.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max)
}

/// Returns a WAV file at `rate` Hz whose chunk `smpl` has a loop of this kind, first, and last frame.
fn looped_wav(rate: u32, wave: Vec<f32>, looped: [u32; 3]) -> Vec<u8> {
    let [kind, first, last] = looped;
    let words = [0, 0, 22_675, 60, 0, 0, 0, 1, 0, 0, kind, first, last, 0, 0];
    let smpl = chunk(b"smpl", words.map(u32::to_le_bytes).as_flattened());
    let wav = [float_wav(rate, &[wave]), smpl].concat();
    let len = wav.len() as u32 - 8;
    patched(wav, 4, &len.to_le_bytes())
}

#[test]
fn a_loop_has_no_seam_and_no_attack() {
    // 100 periods of 441 Hz are 10,000 frames.
    let tone = signals::sine(441.0, 0.4, 1.0, 44_100.0);
    let folder = Folder::new();
    let put = |frames: usize, looped: Option<[u32; 3]>| {
        let wave = tone[..frames].to_vec();
        let wav = match looped {
            Some(looped) => looped_wav(44_100, wave, looped),
            None => float_wav(44_100, &[wave]),
        };
        folder.put("in.wav", &wav);
    };
    let wet = Settings { mix: 100.0, lookahead: true, ..Settings::default() };
    let rendered = |settings: Settings, options: Options| {
        folder.render("in.wav", "out.wav", &Options { settings, ..options });
        folder.read("out.wav")
    };
    let check = |out: &[f32], start: usize, end: usize| {
        let lap = &out[start..end];
        let wrap = (lap[0] - lap[lap.len() - 1]).abs();
        assert!(wrap <= largest_step(lap), "{wrap} at the wrap");
        let [first, last] = [&lap[..2205], &lap[lap.len() - 2205..]].map(rms);
        let change = 20.0 * (first / last).log10();
        assert!(change.abs() < 0.5, "{change} dB");
        assert!(last > 0.05, "it sounds");
    };
    put(10_000, Some([0, 0, 9999]));
    let square = Settings { voice: Voice::Square, ..wet };
    let glide = Settings { glide: 100.0, ..wet };
    for settings in [
        wet,
        square,
        Settings { focus: 0.0, lookahead: false, ..wet },
        Settings { voice: Voice::Chip, ..wet },
        glide,
    ] {
        let out = rendered(settings, Options::default());
        assert_eq!(out.len(), 10_000);
        check(&out, 0, 10_000);
    }
    put(10_000, None);
    let looped = Options { looped: Looped::Whole, ..Options::default() };
    check(&rendered(wet, looped), 0, 10_000);
    // Returns whether the note begins in `out`: its first 2 ms are 12 dB below the sounding note.
    let begins = |out: &[f32]| 4.0 * rms(&out[..100]) < rms(&out[5000..10_000]);
    assert!(begins(&rendered(wet, Options::default())), "without a loop, the note begins");
    // A loop in turns forward and backward, and one that exceeds the file.
    for ignored in [[1, 0, 9999], [0, 0, 10_000]] {
        put(10_000, Some(ignored));
        assert!(begins(&rendered(wet, Options::default())), "{ignored:?}");
    }
    // A loop that is shorter than the latency.
    put(1000, Some([0, 0, 999]));
    let out = rendered(wet, Options::default());
    let halves = [&out[..500], &out[500..]].map(rms);
    assert!(out.len() == 1000 && halves.iter().all(|half| *half > 0.05), "{halves:?}");
    assert!((20.0 * (halves[0] / halves[1]).log10()).abs() < 0.1, "{halves:?}");
    put(30_000, Some([0, 10_000, 19_999]));
    let out = rendered(square, Options::default());
    assert_eq!(out.len(), 30_000);
    check(&out, 10_000, 20_000);
    assert!(begins(&out), "the attack is not part of the loop");
    let seams = [10_000, 20_000].map(|at| (out[at] - out[at - 1]).abs());
    let inside = largest_step(&out[12_000..18_000]);
    assert!(seams.iter().all(|step| *step <= inside), "{seams:?}, {inside} inside");
}

#[test]
fn a_loop_has_no_seam_at_another_rate() {
    for (from, to, frames, first) in [
        (44_100, 48_000, 44_100, 0),
        (44_100, 22_050, 44_100, 14_700),
        (48_000, 96_000, 48_000, 0),
        // A loop that is shorter than the resampler's filter.
        (44_100, 22_050, 100, 0),
    ] {
        let angle = TAU * 441.0;
        let cosine = |t| (0.5 * (angle * f64::from(t) / f64::from(from)).cos()) as f32;
        let wave = (0..frames).map(cosine).collect();
        let folder = Folder::with(&looped_wav(from, wave, [0, first, frames - 1]));
        folder.render("in.wav", "out.wav", &Options { rate: Some(to), ..unmixed() });
        let out = folder.read("out.wav");
        let start = first * (to / 150) / (from / 150);
        let bounds = [start, out.len() as u32 - 1].map(u32::to_le_bytes);
        assert_eq!(chunks(&folder.bytes("out.wav"))[3].1[44..52], *bounds.as_flattened());
        // Each sample of a sinusoid follows from the two before it.
        let factor = 2.0 * (angle / f64::from(to)).cos() as f32;
        let error = |x: &[f32]| (x[0] - factor * x[1] + x[2]).abs();
        let twice = out[start as usize..].repeat(2);
        let largest = twice.windows(3).map(error).fold(0.0, f32::max);
        assert!(largest < 1e-5, "{from} to {to}, {frames} frames: {largest}");
    }
}

#[test]
fn progress_is_the_fraction_of_the_work() {
    // The length is four blocks of the renderer.
    let folder = crate::chord(4 * 16_384);
    let [from, to] = ["in.wav", "out.wav"].map(|name| folder.path(name));
    for (normalize, steps) in [(None, 4), (Some(-1.0), 8)] {
        let options = Options { bypass: true, force: true, normalize, ..Options::default() };
        let mut parts = Vec::new();
        render(&from, &to, &options, |part| parts.push(part)).unwrap();
        parts.dedup();
        let expected = (1..=steps).map(|step| f64::from(step) / f64::from(steps));
        assert!(expected.eq(parts.iter().copied()), "{parts:?}");
    }
    let parts = std::cell::RefCell::new(Vec::new());
    let (input, sound) = (Input::new(&from).unwrap(), (&Settings::REFERENCE, None));
    let (hop, each) = (16_384.0 / 44_100.0, |part| parts.borrow_mut().push(part));
    analyse(&input, sound, Kernel::best(), hop, |_| (), |_, _| Ok(()), each).unwrap();
    assert_eq!(parts.take()[..4], [0.25, 0.5, 0.75, 1.0]);
}
