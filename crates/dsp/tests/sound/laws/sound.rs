//! Laws of the settings that decide how notes sound: with which timbre, how loud and how long.

use super::{
    Outcome,
    hearing::{Heard, LEAD, RATE, Stage, audible, cadence, note, octaves},
    with,
};
use std::f64::consts::{PI, TAU};
use tone_filter_dsp::{
    Controls, Duty, NoteValue, Routing, Settings, Stereo, ToneFilter, Voice, notes::A4,
};
use tone_filter_testkit::{Note, Signal};

/// Returns a run with a note near A4 for 0.8 s, and the pitch of the note.
fn one_note(controls: &Controls) -> (Stage, f64) {
    let [pitch] = audible(controls, [69]);
    (Stage::new(controls, [note(pitch, LEAD, 0.8)]), pitch)
}

/// Returns the maximum difference between two signals.
fn difference(one: &Signal, other: &Signal) -> f32 {
    let pairs = one.iter().flatten().zip(other.iter().flatten());
    pairs.fold(0.0, |most, (one, other)| most.max((one - other).abs()))
}

/// Checks that the output is the input, times `gain`.
fn is_untouched(heard: &Heard, gain: f32) -> Outcome {
    let input: Signal =
        heard.input.iter().map(|all| all.iter().map(|x| gain * x).collect()).collect();
    let difference = difference(&input, &heard.output);
    ensure!(difference < 1e-5, "{difference} from the untouched sound");
    Ok(())
}

pub fn mix(controls: &Controls) -> Outcome {
    let untouched = one_note(&with(controls, |own| own.mix = 0.0)).0.run();
    let gain = 10f32.powf(controls.settings.morph / 100.0 * controls.settings.output / 20.0);
    is_untouched(&untouched, if controls.routing.bypass { 1.0 } else { gain })?;
    is_changed(controls)
}

/// Plays a note, and checks that the output is not the input.
fn is_changed(controls: &Controls) -> Outcome {
    let heard = one_note(controls).0.run();
    let differs = difference(&heard.input, &heard.output);
    ensure!(differs > 1e-3, "only {differs} from the untouched sound at 100 %");
    Ok(())
}

pub fn output(controls: &Controls) -> Outcome {
    let [low, high] = [-12.0, 0.0].map(|output| {
        let heard = one_note(&with(controls, |own| own.output = output)).0.run();
        Heard::rms(&heard.output, LEAD + 0.2, LEAD + 0.7)
    });
    ensure!((high - low - 12.0).abs() < 0.1, "{:.2} dB, not 12", high - low);
    Ok(())
}

/// Returns the gain in dB at `hertz` of the low-pass of the setting `tone`.
fn low_pass(controls: &Controls, hertz: f64) -> f64 {
    let c = (-TAU * f64::from(controls.settings.tone) / RATE).exp();
    let (sin, cos) = (TAU * hertz / RATE).sin_cos();
    20.0 * ((1.0 - c) / (1.0 - c * cos).hypot(c * sin)).log10()
}

/// Returns the levels in dB of the second and third harmonic of a note near `pitch`, relative to its fundamental, without the
/// low-pass of `tone`.
fn harmonics(controls: &Controls, pitch: i32) -> [f64; 2] {
    let [pitch] = audible(controls, [pitch]);
    let heard = Stage::new(controls, [note(pitch, LEAD, 0.8)]).run();
    let level = |n: f64| {
        let at = pitch + 12.0 * n.log2();
        let [level] = heard.note_levels([at]);
        level
            - low_pass(controls, 440.0 * ((at + octaves(&controls.settings) - 69.0) / 12.0).exp2())
    };
    [2.0, 3.0].map(|n| level(n) - level(1.0))
}

/// Expects a weak third harmonic at the lowest drive, and the third harmonic of a square, -9.5 dB, at the highest.
pub fn drive(controls: &Controls) -> Outcome {
    let [sine, square] =
        [1.0, 400.0].map(|drive| harmonics(&with(controls, |own| own.drive = drive), 69)[1]);
    ensure!(
        sine < -15.0 && (square + 9.5).abs() < 2.0,
        "the third harmonic from {sine:.1} to {square:.1} dB"
    );
    Ok(())
}

/// Returns the level in dB, relative to the fundamental, of harmonic `n` of a pulse that is high for the fraction `share` of
/// its period.
fn pulse(share: f64, n: f64) -> f64 {
    20.0 * ((PI * n * share).sin() / n / (PI * share).sin()).abs().log10()
}

/// Checks the second and third harmonics of the waveforms. Where less than -40 dB is expected, less than -26 dB is enough.
pub fn voice(controls: &Controls) -> Outcome {
    for (voice, second, third) in [
        (Voice::Sine, -99.0, -99.0),
        (Voice::Square, -99.0, pulse(0.5, 3.0)),
        (Voice::Pulse25, pulse(0.25, 2.0), pulse(0.25, 3.0)),
        (Voice::Pulse12, pulse(0.125, 2.0), pulse(0.125, 3.0)),
        (Voice::Triangle, -99.0, -19.1),
        (Voice::Saw, -6.0, -9.5),
    ] {
        let levels = harmonics(&with(controls, |own| own.voice = voice), 69);
        for (n, level, expected) in [(2, levels[0], second), (3, levels[1], third)] {
            let holds =
                if expected < -40.0 { level < -26.0 } else { (level - expected).abs() < 2.5 };
            ensure!(holds, "{voice:?}: harmonic {n} at {level:.1} dB, not {expected:.1}");
        }
    }
    Ok(())
}

/// Checks the second harmonic of the chip's lead, which is above C5, after mixer and filters.
pub fn duty(controls: &Controls) -> Outcome {
    for duty in Duty::ALL {
        let [level, _] = harmonics(&with(controls, |own| own.duty = duty), 78);
        let expected = pulse(duty.share(), 2.0);
        let holds = if expected < -40.0 { level < -20.0 } else { (level - expected).abs() < 3.0 };
        ensure!(holds, "{duty:?}: the second harmonic at {level:.1} dB, not {expected:.1}");
    }
    Ok(())
}

/// Plays two notes, the second one `down` dB weaker. Returns the difference of their levels in the output, in dB.
fn weaker(controls: &Controls, down: f64) -> f64 {
    let pitches = audible(controls, [76, 62]);
    let soft = Note { amplitude: 0.1 * 10f64.powf(-down / 20.0), ..note(pitches[1], LEAD, 0.8) };
    let heard = Stage::new(controls, [note(pitches[0], LEAD, 0.8), soft]).run();
    let [loud, soft] = heard.note_levels(pitches);
    loud - soft
}

/// Plays a note, and one that is `down` dB weaker. With the second of `values`, the weaker note must be at least 4 dB farther
/// below the other than with the first.
fn weakens(
    controls: &Controls,
    down: f64,
    values: [f32; 2],
    set: fn(&mut Settings, f32),
) -> Outcome {
    let [low, high] = values.map(|value| weaker(&with(controls, |own| set(own, value)), down));
    ensure!(high > low + 4.0, "a weak note is {low:.1} and {high:.1} dB down at {values:?} dB");
    Ok(())
}

pub fn threshold(controls: &Controls) -> Outcome {
    weakens(controls, 16.0, [-60.0, -10.0], |own, threshold| own.threshold = threshold)
}

pub fn floor(controls: &Controls) -> Outcome {
    weakens(controls, 16.0, [-90.0, -20.0], |own, floor| own.floor = floor)
}

pub fn ceiling(controls: &Controls) -> Outcome {
    weakens(controls, 10.0, [-30.0, 0.0], |own, ceiling| own.ceiling = ceiling)
}

/// Returns the decay rates of the band A4 after its note, in dB per second: of its oscillation, and of its tracked power.
fn fall(controls: &Controls) -> [f64; 2] {
    let shift = f64::from(controls.settings.transpose);
    let mut levels = Vec::new();
    let stage =
        Stage { seconds: LEAD + 0.9, ..Stage::new(controls, [note(69.0 + shift, LEAD, 0.5)]) };
    stage.watch(|time, filter| {
        let time = time
            - ToneFilter::lookahead(RATE) as f64 / RATE
                * f64::from(u8::from(controls.settings.lookahead));
        if [0.6, 0.8].get(levels.len()).is_some_and(|at| time >= LEAD + at) {
            let band = filter.bands().bands[A4];
            let oscillation = band.phasor[0].hypot(band.phasor[1]);
            levels.push([
                20.0 * f64::from(oscillation).log10(),
                10.0 * f64::from(band.power).log10(),
            ]);
        }
    });
    [0, 1].map(|index| (levels[0][index] - levels[1][index]) / 0.2)
}

/// Checks a decay rate in dB per second, to 10 %.
fn falls_by(rate: f64, expected: f64) -> Outcome {
    ensure!((rate / expected - 1.0).abs() < 0.1, "{rate:.1} dB/s, not {expected:.1}");
    Ok(())
}

pub fn ring(controls: &Controls) -> Outcome {
    [0.3, 1.0, 4.0].into_iter().try_for_each(|ring| {
        falls_by(fall(&with(controls, |own| own.ring = ring))[0], 60.0 / f64::from(ring))
    })
}

/// Expects a power to fall by 10 log10(e) dB in a time constant.
pub fn release(controls: &Controls) -> Outcome {
    [60.0, 300.0].into_iter().try_for_each(|release| {
        let own = with(controls, |own| own.release = release);
        falls_by(fall(&own)[1], 4343.0 / f64::from(release))
    })
}

pub fn sync(controls: &Controls) -> Outcome {
    [(8, 0.5), (2, 2.0)].into_iter().try_for_each(|(value, seconds)| {
        falls_by(fall(&with(controls, |own| own.sync = NoteValue::new(value)))[0], 60.0 / seconds)
    })
}

/// Plays chords at 85.7 beats per minute. Half and twice the tempo are right, too.
pub fn sync_to(controls: &Controls) -> Outcome {
    let controls = with(controls, |own| own.sync = NoteValue::new(8));
    let heard = Stage::new(&controls, cadence()).run();
    let found = heard.filter.resolved().ring;
    let quarters = [0.35, 0.7, 1.4];
    let near = quarters.iter().any(|quarter| (found / quarter - 1.0).abs() < 0.04);
    ensure!(near, "Ring at {found} s, not at one of {quarters:?}");
    Ok(())
}

/// Compares the ninth harmonic of a square near A4.
pub fn tone(controls: &Controls) -> Outcome {
    let [dark, bright] = [500.0, 20_000.0].map(|tone| {
        let (stage, pitch) = one_note(&with(controls, |own| own.tone = tone));
        let [first, ninth] = stage.run().note_levels([pitch, pitch + 12.0 * 9f64.log2()]);
        ninth - first
    });
    ensure!(bright > -45.0 && dark < bright - 6.0, "harmonic 9 at {dark:.1} to {bright:.1} dB");
    Ok(())
}

/// Returns the levels in dB of a note of the chip's lead, early and late, for `attack` and `decay` in ticks.
fn envelope(controls: &Controls, attack: f32, decay: f32) -> [f64; 2] {
    let controls = with(controls, |own| (own.attack, own.decay) = (attack, decay));
    let [pitch] = audible(&controls, [78]);
    let heard = Stage::new(&controls, [note(pitch, LEAD, 1.6)]).run();
    let at = pitch + octaves(&controls.settings);
    [0.1, 1.3].map(|time| heard.level(at, LEAD + time, LEAD + time + 0.1))
}

/// Compares an attack of half a second (30 ticks) with none.
pub fn attack(controls: &Controls) -> Outcome {
    let [held, rises] = [0.0, 30.0].map(|attack| envelope(controls, attack, 0.0));
    let [early, late] = [0, 1].map(|at| held[at] - rises[at]);
    ensure!(early > 6.0 && late.abs() < 1.0, "{early:.1} dB down in the attack, then {late:.1}");
    Ok(())
}

pub fn decay(controls: &Controls) -> Outcome {
    let [held, falls] = [0.0, 30.0].map(|decay| envelope(controls, 0.0, decay));
    let late = held[1] - falls[1];
    ensure!((late - 12.0).abs() < 2.5, "{late:.1} dB down after the decay, not 12");
    Ok(())
}

pub fn morph(controls: &Controls) -> Outcome {
    is_untouched(&one_note(&with(controls, |own| own.morph = 0.0)).0.run(), 1.0)?;
    is_changed(controls)
}

pub fn bypass(controls: &Controls) -> Outcome {
    let mut bypassed = *controls;
    bypassed.routing = Routing { bypass: true, ..bypassed.routing };
    let heard = one_note(&bypassed).0.run();
    ensure!(heard.output == heard.input, "another output than the input");
    Ok(())
}

pub fn lookahead(controls: &Controls) -> Outcome {
    let [now, later] = [false, true].map(|lookahead| {
        let controls = with(controls, |own| (own.lookahead, own.mix) = (lookahead, 0.0));
        one_note(&controls).0.run()
    });
    let latencies = [now.filter.latency(), later.filter.latency()];
    ensure!(latencies == [0, 2048], "latencies of {latencies:?} samples");
    // Without their latencies, both outputs are the untouched sound.
    let difference = difference(&now.output, &later.output);
    ensure!(difference < 1e-5, "{difference} between the untouched sounds");
    Ok(())
}

/// Plays two notes: one is 6 dB louder on the left, the other 6 dB louder on the right.
pub fn stereo(controls: &Controls) -> Outcome {
    for stereo in Stereo::ALL {
        let controls = with(controls, |own| own.stereo = stereo);
        let pitches = audible(&controls, [62, 76]);
        let note = |index: usize, pan: f64| Note { pan, ..note(pitches[index], LEAD, 0.8) };
        let heard = Stage::new(&controls, [note(0, 0.5), note(1, -0.5)]).run();
        for (pitch, sign) in pitches.into_iter().zip([1.0, -1.0]) {
            let at = pitch + octaves(&controls.settings);
            let [left, right] = [0, 1].map(|side| heard.side(side, at, LEAD + 0.4, LEAD + 0.75));
            let apart = sign * (left - right);
            match stereo {
                Stereo::Mono => ensure!(apart.abs() < 0.01, "mono: {apart:.2} dB apart"),
                Stereo::Place => {
                    ensure!((apart - 6.0).abs() < 2.0, "place: {apart:.1} dB apart, not 6")
                }
                // Each channel has its own gate.
                Stereo::Stereo => ensure!(apart > 3.0, "stereo: {apart:.1} dB apart"),
            }
        }
    }
    Ok(())
}

/// Plays repeated notes at two levels, and measures after the gains have settled.
pub fn auto(controls: &Controls) -> Outcome {
    let pitches = audible(controls, [62, 76, 69, 57]);
    for amplitude in [0.015, 0.25] {
        let notes = (0..20).map(|turn| {
            let (pitch, start) = (pitches[turn % 4], LEAD + 0.3 * turn as f64);
            Note { amplitude, ..note(pitch, start, 0.3) }
        });
        let heard = Stage::new(controls, notes).run();
        let [before, after] =
            [&heard.input, &heard.output].map(|sound| Heard::rms(sound, 3.0, 6.0));
        let output = f64::from(controls.settings.morph / 100.0 * controls.settings.output);
        ensure!((after - before - output).abs() < 2.5, "{before:.1} dB in, {after:.1} dB out");
    }
    Ok(())
}

/// Freezes the bands while a note sounds, and plays another note later.
pub fn freeze(controls: &Controls) -> Outcome {
    let [frozen, played] = [true, false].map(|freeze| with(controls, |own| own.freeze = freeze));
    let [pitch, new] = audible(&played, [69, 76]);
    let notes = [note(pitch, LEAD, 0.7), note(new, 1.6, 0.5)];
    let then = Some((LEAD + 0.5, frozen));
    let heard = Stage { then, seconds: 2.5, ..Stage::new(&played, notes) }.run();
    let shift = octaves(&controls.settings);
    let [early, late] = [0.7, 1.8].map(|at| heard.level(pitch + shift, LEAD + at, LEAD + at + 0.3));
    ensure!(
        early > -75.0 && (early - late).abs() < 1.0,
        "{early:.1} dB, a second later {late:.1} dB"
    );
    let [before, after] = [1.2, 1.7].map(|at| heard.level(new + shift, at, at + 0.35));
    ensure!(
        after < (before + 3.0).max(early - 25.0),
        "a new note: {before:.1}, then {after:.1} dB"
    );
    Ok(())
}
