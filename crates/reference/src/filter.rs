//! The whole chain, block by block.

use crate::{
    BLOCK, Decision, Event, Keys, Sound, TONES,
    bank::{Bank, Mix, Tones},
    between,
    early_bank::EarlyBank,
    focus::Focus,
    keys::{KeyWeights, Keyboard},
    level::Level,
    output::{AheadLimiter, Delay, Limiter, delay, latency},
    pitch::Moves,
    polyphony::Polyphony,
    smoothing::{AUTO, BYPASS, LOOKAHEAD, PLACE, SIDECHAIN, STEREO, Smoothed, Smoothing, switches},
    timbre::Timbres,
    voice::Voices,
    waveform::Waveforms,
};
use std::collections::VecDeque;

#[derive(Debug, Clone)]
struct BankVoices {
    bank: Bank,
    voices: Voices,
}

/// Gains and crossfade weights, interpolated sample by sample.
#[derive(Debug, Clone, Copy)]
struct MixGains {
    dry: f64,
    wet: f64,
    stereo: f64,
    lookahead: f64,
    sidechain: f64,
}

/// The tone filter for a number of channels.
///
/// Settings may change between two blocks. The caller supplies the decisions on notes. Where key and tuning follow the music, it
/// supplies these as well.
pub struct Filter {
    sample_rate: f64,
    /// Settings of the sound that has left the delay.
    sound: Sound,
    smoothing: Smoothing,
    /// Smoothed settings of the sound that has left the delay.
    now: Smoothed,
    /// Latest settings: those of the undelayed sound, for listener and early bank.
    undelayed: Sound,
    /// Smoothing of `undelayed`.
    undelayed_smoothing: Smoothing,
    /// Smoothed settings of the undelayed sound.
    undelayed_now: Smoothed,
    /// Weight of the sidechain in the undelayed sound at the start and at the end of the block.
    undelayed_sidechain: [f64; 2],
    /// Settings of the sound in the delay, each with the number of its first block.
    waiting: VecDeque<(usize, Sound)>,
    blocks: usize,
    keyboard: Keyboard,
    keys: KeyWeights,
    focus: Focus,
    polyphony: Polyphony,
    /// Level measurement, while auto level is on.
    level: Option<Level>,
    /// Weights of the notes at the end of the block.
    weights: Tones,
    /// Gain to the nominal level at the end of the block.
    gain: f64,
    /// Stereo positions of the notes at the end of the block.
    pans: Option<Tones>,
    /// Gains and crossfade weights at the end of the block.
    mix_gains: MixGains,
    timbres: Timbres,
    waveforms: Waveforms,
    banks: Vec<BankVoices>,
    /// Banks that process the undelayed input, while the delays record.
    early: Option<EarlyBank>,
    oscillating: bool,
    /// Whether the notes below A3 are computed: while their crossfade weight is above 0.
    low_computed: bool,
    /// Delays for lookahead: of the channels, and of the sidechain's channels.
    delays: [Vec<Delay>; 2],
    /// Whether the delays record.
    recording: bool,
    /// Number of samples that the delays have recorded.
    recorded: usize,
    /// Whether the sidechain was connected in the last block; `None` before the first block.
    connected: Option<bool>,
    /// Limiter with lookahead, whose delay also runs without limiting.
    ahead: AheadLimiter,
    limiter: Option<Limiter>,
    /// Whether the limiter without lookahead acts in the block.
    at_once: bool,
    /// Whether the last block could exceed full scale. The output of the soft clip alone cannot.
    unclipped: bool,
}

impl Filter {
    /// Creates a filter at rest with this sound.
    pub fn new(sound: &Sound, sample_rate: f64, channels: usize) -> Self {
        let aim = sound.morphed();
        let smoothing = Smoothing::new(&aim, sample_rate);
        let now = smoothing.now();
        let first =
            BankVoices { bank: Bank::new(&aim, sample_rate), voices: Voices::new(sample_rate) };
        let silence = MixGains { dry: 0.0, wet: 0.0, stereo: 0.0, lookahead: 0.0, sidechain: 0.0 };
        let mut filter = Self {
            sample_rate,
            keys: KeyWeights::new(sound, sample_rate),
            keyboard: Keyboard::new(),
            focus: Focus::new(&now, sound.follows, sample_rate),
            polyphony: Polyphony::new(sound.most_notes(), sample_rate),
            level: sound.auto.then(|| Level::new(sample_rate)),
            weights: [0.0; TONES],
            gain: 1.0,
            pans: None,
            mix_gains: silence,
            timbres: Timbres::new(&aim, sample_rate),
            waveforms: Waveforms::new(),
            early: sound.lookahead.then(|| {
                let banks = vec![first.bank.clone()];
                EarlyBank::new(banks, sound.low_range, delay(sample_rate), sample_rate)
            }),
            banks: vec![first],
            oscillating: false,
            low_computed: sound.low_range,
            delays: [channels, 2].map(|count| vec![Delay::new(delay(sample_rate)); count]),
            ahead: AheadLimiter::new(sample_rate, channels),
            recording: sound.lookahead,
            recorded: latency(sample_rate),
            connected: None,
            limiter: None,
            at_once: false,
            unclipped: false,
            sound: sound.clone(),
            undelayed: sound.clone(),
            undelayed_smoothing: smoothing.clone(),
            undelayed_now: now.clone(),
            undelayed_sidechain: [0.0; 2],
            waiting: VecDeque::new(),
            blocks: 0,
            smoothing,
            now,
        };
        (filter.weights, filter.gain) = (filter.weights(), filter.gain());
        filter.mix_gains = filter.mix_gains(filter.mix());
        filter
    }

    /// Sets the settings from the next block on. With lookahead, once the delays record, the stages after the delay get them only
    /// when that block leaves the delay.
    pub fn set(&mut self, sound: &Sound) {
        self.undelayed = sound.clone();
        if sound.lookahead && self.recording && self.blocks > 0 {
            let due = self.blocks + delay(self.sample_rate).div_ceil(BLOCK);
            self.waiting.push_back((due, sound.clone()));
        } else {
            self.waiting.clear();
            self.sound = sound.clone();
        }
        self.aim();
    }

    /// Replaces the last settings by `sound`, which differs only in detected key, tuning or tempo. `sound` applies at once, or with
    /// the last settings if they still wait in the delay.
    pub fn set_found(&mut self, sound: &Sound) {
        self.undelayed = sound.clone();
        *self.waiting.back_mut().map_or(&mut self.sound, |(_, last)| last) = sound.clone();
        self.aim();
    }

    /// Plays an event, from the next block on.
    pub fn play(&mut self, event: Event) {
        self.keyboard.play(event);
        self.aim();
    }

    fn aim(&mut self) {
        let aim = |sound: &Sound| {
            let bend = if sound.keys == Keys::Off { 0.0 } else { self.keyboard.bend };
            let aim = sound.morphed();
            Sound { transpose: aim.transpose + bend, ..aim }
        };
        let (now, undelayed) = (aim(&self.sound), aim(&self.undelayed));
        self.timbres.aim(&now);
        self.smoothing.aim(&now);
        self.undelayed_smoothing.aim(&undelayed);
    }

    /// Processes a block of 64 samples, or fewer at the end of the signal. `decision` is the listener's decision at the end of
    /// the block.
    pub fn block(
        &mut self,
        input: &[&[f32]],
        sidechain: &[&[f32]],
        decision: Option<&Decision>,
    ) -> Vec<Vec<f64>> {
        let channels = input.len();
        let (before, mix, placed) = self.begin_block(channels, !sidechain.is_empty());
        let at = |frame: usize| {
            let line = |field: fn(&MixGains) -> f64| {
                between([field(&before), field(&self.mix_gains)], frame + 1)
            };
            MixGains {
                dry: line(|gains| gains.dry),
                wet: line(|gains| gains.wet),
                stereo: line(|gains| gains.stereo),
                lookahead: line(|gains| gains.lookahead),
                sidechain: line(|gains| gains.sidechain),
            }
        };
        let frames = input[0].len();
        let mix_gains: Vec<MixGains> = (0..frames).map(at).collect();
        let sidechained = before.sidechain > 0.0 || self.mix_gains.sidechain > 0.0;
        let bypass = self.now.fades[BYPASS];
        let output_gain = (1.0 - bypass) * output(&self.now) + bypass;

        let mut inputs = vec![Vec::new(); self.banks.len()];
        let mut sources = vec![Vec::new(); channels];
        let mut wets = vec![Vec::new(); channels];
        let mut outputs = vec![Vec::new(); channels];
        for (frame, gains) in mix_gains.into_iter().enumerate() {
            let mut dry: Vec<f64> = input.iter().map(|channel| channel[frame].into()).collect();
            let second: Vec<f64> = sidechain.iter().map(|channel| channel[frame].into()).collect();
            let sidechain_share = between(self.undelayed_sidechain, frame + 1);
            self.process_early(&dry, &second, sidechain_share, gains.stereo);
            if self.recording {
                for (x, delay) in dry.iter_mut().zip(&mut self.delays[0]) {
                    *x = delay.next(*x, gains.lookahead);
                }
            }
            let source = self.source(&dry, &second, sidechained, gains);
            let wet = self.wet(frame, &source, gains.stereo, placed, &mut inputs);
            let mut mixed: Vec<f64> = (0..channels)
                .map(|channel| gains.dry * dry[channel] + gains.wet * wet[channel.min(1)])
                .collect();
            if self.recording {
                let limited = self.limiter.is_some().then_some(&dry[..]);
                let delayed = self.ahead.next(&mixed, limited, output_gain);
                let share = gains.lookahead;
                let pairs = mixed.iter_mut().zip(delayed);
                pairs.for_each(|(y, delayed)| *y = (1.0 - share) * *y + share * delayed);
            }
            if let Some(limiter) = self.limiter.as_mut().filter(|_| self.at_once) {
                let peak = |signal: &[f64]| signal.iter().fold(0f64, |peak, x| peak.max(x.abs()));
                let gain = limiter.next(output_gain * peak(&dry), peak(&mixed), output_gain);
                mixed.iter_mut().for_each(|y| *y *= gain);
            }
            for channel in 0..channels {
                outputs[channel].push(mixed[channel]);
                wets[channel].push(wet[channel.min(1)]);
            }
            sources.iter_mut().zip(source).for_each(|(all, x)| all.push(x));
        }
        self.blocks += 1;
        self.recorded += if self.recording { frames } else { 0 };
        if frames == BLOCK && !self.now.sound.freeze {
            if let Some(decision) = decision {
                self.focus.decide(decision);
            }
            if let Some(level) = &mut self.level {
                let signals: Vec<(&[f64], &[f64])> = sources
                    .iter()
                    .filter(|source| !source.is_empty())
                    .zip(&wets)
                    .map(|(source, wet)| (&source[..], &wet[..]))
                    .collect();
                level.measure(&inputs, &signals, mix);
            }
        }
        outputs
    }

    /// Plans a block. Returns the gains at its start, the mix of dry and wet, and whether the notes have stereo positions.
    fn begin_block(&mut self, channels: usize, connected: bool) -> (MixGains, [f64; 2], bool) {
        while let Some((_, sound)) = self.waiting.pop_front_if(|(due, _)| *due <= self.blocks) {
            self.sound = sound;
            self.aim();
        }
        let before = self.now.fades;
        let [mut wanted, set] = [&self.sound, &self.undelayed].map(switches);
        if set[LOOKAHEAD] && !self.recording {
            self.delays[0].fill(Delay::new(delay(self.sample_rate)));
            self.ahead = AheadLimiter::new(self.sample_rate, channels);
            self.recorded = 0;
        }
        self.recording = set[LOOKAHEAD] || before[LOOKAHEAD] > 0.0;
        // Stereo and place exclude each other: the previous one fades out first.
        wanted[STEREO] &= before[PLACE] == 0.0;
        wanted[PLACE] &= before[STEREO] == 0.0;
        // The delay must be full first.
        wanted[LOOKAHEAD] = set[LOOKAHEAD] && self.recorded >= latency(self.sample_rate);
        wanted[SIDECHAIN] &= connected;
        self.smoothing.fade(wanted);
        let mut undelayed = wanted;
        undelayed[SIDECHAIN] = set[SIDECHAIN] && connected;
        self.undelayed_smoothing.fade(undelayed);
        if self.connected.is_none() {
            // The first block has nothing to crossfade with.
            self.smoothing.arrive_at_sidechain();
            self.undelayed_smoothing.arrive_at_sidechain();
            self.mix_gains.sidechain = f64::from(u8::from(wanted[SIDECHAIN]));
            self.undelayed_sidechain[1] = self.mix_gains.sidechain;
        } else if connected && self.connected == Some(false) {
            self.delays[1].fill(Delay::new(delay(self.sample_rate)));
        }
        self.connected = Some(connected);
        let start = self.mix_gains;
        self.smoothing.step();
        self.undelayed_smoothing.step();
        if !self.recording {
            self.undelayed_smoothing = self.smoothing.clone();
        }
        let had_low = self.now.low_bands > 0.0;
        self.now = self.smoothing.now();
        self.undelayed_now = self.undelayed_smoothing.now();
        self.undelayed_sidechain =
            [self.undelayed_sidechain[1], self.undelayed_now.fades[SIDECHAIN]];
        let low = had_low || self.now.low_bands > 0.0;
        if low && !self.low_computed {
            for BankVoices { bank, voices } in &mut self.banks {
                bank.rest_low();
                voices.rest_low();
            }
        }
        self.low_computed = low;
        if !self.recording {
            self.early = None;
        } else {
            let latency = delay(self.sample_rate);
            let banks = || self.banks.iter().map(|sounding| sounding.bank.clone()).collect();
            let early = self
                .early
                .get_or_insert_with(|| EarlyBank::new(banks(), low, latency, self.sample_rate));
            early.begin_block(&self.now, low || self.undelayed_now.low_bands > 0.0);
        }

        if self.now.fades[AUTO] == 0.0 {
            self.level = None;
        } else if self.level.is_none() {
            self.level = Some(Level::activated(self.sample_rate));
        }
        self.focus.begin_block(&self.now, &self.undelayed_now, self.undelayed.follows);
        let offsets = self.sound.offsets(&self.keyboard);
        self.keys.follow(&self.sound, &self.keyboard, &offsets);
        let ahead = self.early.as_ref().map(|early| early.powers_ahead(&self.now.sound));
        let power = |tone: usize| {
            let powers = self.banks.iter().map(|sounding| sounding.bank.bands[tone].power);
            let weight = self.keys.weight(tone, self.now.bands[tone] * self.focus.weights[tone]);
            let bank_power = powers.fold(0.0, f64::max);
            weight.powi(2) * to_16_bits(ahead.map_or(bank_power, |ahead| ahead[tone]))
        };
        let powers = std::array::from_fn(power);
        self.polyphony.follow(self.sound.most_notes(), &powers);

        let weights = [self.weights, self.weights()];
        let gains = [self.gain, self.gain()];
        let pans = (self.now.fades[PLACE] > 0.0 && self.focus.listening).then(|| {
            self.focus.move_pans();
            let pans = self.focus.pans.map(|pan| self.now.fades[PLACE] * pan);
            [self.pans.unwrap_or([0.0; TONES]), pans]
        });
        let mix = self.mix();
        let mix_gains = self.mix_gains(mix);
        let two = channels == 2 && (self.mix_gains.stereo > 0.0 || mix_gains.stereo > 0.0);
        (self.weights, self.gain, self.mix_gains) = (weights[1], gains[1], mix_gains);
        self.pans = pans.map(|[_, end]| end);

        self.timbres.step();
        self.banks.truncate(if two { 2 } else { 1 });
        if two && self.banks.len() == 1 {
            self.banks.push(self.banks[0].clone());
        }
        let mut ahead_weights = weights;
        if let Some(early) = &mut self.early {
            early.banks.truncate(self.banks.len());
            if early.banks.len() < self.banks.len() {
                early.banks.push(early.banks[0].clone());
            }
            for end in 0..2 {
                ahead_weights[end] =
                    std::array::from_fn(|tone| weights[end][tone] * early.gains[end][tone]);
            }
            for bank in &mut early.banks {
                let mix = Mix { weights, pans: None, gains };
                bank.begin_block(&self.undelayed_now, mix, early.low, false);
            }
        }
        let pans = pans.filter(|_| channels == 2 && !two);
        let driven = self.timbres.soft() != [0.0; 2];
        for BankVoices { bank, .. } in &mut self.banks {
            bank.begin_block(&self.now, Mix { weights: ahead_weights, pans, gains }, low, driven);
        }
        let oscillates = self.timbres.soft() != [1.0; 2];
        if oscillates {
            self.begin_voices(offsets);
        }
        self.oscillating = oscillates;

        // The soft clip alone stays below full scale.
        let unclipped = oscillates || before[AUTO] > 0.0 || self.now.fades[AUTO] > 0.0;
        let rests = self.limiter.as_ref().is_none_or(Limiter::rests);
        let delayed = [start.lookahead, self.mix_gains.lookahead] == [1.0; 2];
        if !unclipped && !self.unclipped && rests && self.ahead.rests() {
            self.limiter = None;
        } else if self.limiter.is_none() {
            self.limiter = Some(Limiter::new(self.sample_rate));
            self.ahead.rest();
        }
        self.at_once = !delayed || !rests;
        self.unclipped = unclipped;
        (start, mix, pans.is_some())
    }

    fn begin_voices(&mut self, offsets: Tones) {
        let mut means = [0.0; TONES];
        let count = self.banks.len() as f64;
        for BankVoices { bank, voices } in &mut self.banks {
            if !self.oscillating {
                *voices = Voices::new(self.sample_rate);
            }
            voices.lock(&self.now, bank, &self.weights);
            let amplitudes = voices.amplitudes();
            means.iter_mut().zip(amplitudes).for_each(|(mean, value)| *mean += value / count);
        }
        let mut levels = self.focus.levels(&self.now);
        if let (Some(levels), Some(early)) = (&mut levels, &self.early) {
            let ahead = early.powers_ahead(&self.now.sound);
            for (level, ahead) in levels.iter_mut().zip(ahead) {
                *level += self.now.fades[LOOKAHEAD] * (ahead - *level).max(0.0);
            }
        }
        let sound = &self.now.sound;
        let moves = Moves { offsets, glide: sound.glide / 1000.0, vibrato: sound.vibrato / 100.0 };
        for (index, BankVoices { bank, voices }) in self.banks.iter_mut().enumerate() {
            let levels = levels.as_ref().map(|levels| (levels, &means));
            let share = self.now.fades[LOOKAHEAD];
            let ahead = self.early.as_ref().map(|early| (early.total(sound, index), share));
            let weights = &self.weights;
            voices.set_levels(
                &self.now,
                (bank, weights),
                &self.timbres,
                &mut self.waveforms,
                levels,
                moves,
                ahead,
            );
        }
    }

    /// Passes a frame of the undelayed inputs to the early bank; `share` is the weight of the sidechain.
    fn process_early(&mut self, dry: &[f64], second: &[f64], share: f64, stereo: f64) {
        let Some(early) = &mut self.early else { return };
        let mut source = dry.to_vec();
        if share > 0.0 {
            source = crossfaded(dry, &rows(second, dry.len()), share);
        }
        early.next(&bank_inputs(&source, early.banks.len(), stereo));
    }

    /// Returns a frame of the banks' input: `dry`, crossfaded with the sidechain `second`.
    fn source(
        &mut self,
        dry: &[f64],
        second: &[f64],
        sidechained: bool,
        gains: MixGains,
    ) -> Vec<f64> {
        let mut second_rows = rows(second, dry.len());
        if self.recording && (sidechained || !second.is_empty()) {
            for (x, delay) in second_rows.iter_mut().zip(&mut self.delays[1]) {
                *x = delay.next(*x, gains.lookahead);
            }
        }
        if sidechained { crossfaded(dry, &second_rows, gains.sidechain) } else { dry.to_vec() }
    }

    /// Returns the left and right wet samples. Appends the banks' inputs to `inputs`.
    fn wet(
        &mut self,
        frame: usize,
        source: &[f64],
        stereo: f64,
        placed: bool,
        inputs: &mut [Vec<f64>],
    ) -> [f64; 2] {
        let two = self.banks.len() == 2;
        let mut wets = [[0.0; 2]; 2];
        let frame_inputs = bank_inputs(source, self.banks.len(), stereo);
        for (index, BankVoices { bank, voices }) in self.banks.iter_mut().enumerate() {
            let x = frame_inputs[index];
            inputs[index].push(x);
            wets[index] = bank.next_placed(x);
            if self.oscillating {
                wets[index] = voices.next(frame, x, wets[index], bank, &mut self.waveforms);
            }
        }
        let [[left, placed_right], [right, _]] = wets;
        if two {
            [left, (1.0 - stereo) * left + stereo * right]
        } else {
            [left, if placed { placed_right } else { left }]
        }
    }

    fn weights(&self) -> Tones {
        std::array::from_fn(|tone| {
            let without = self.now.bands[tone] * self.focus.weights[tone];
            let low = if tone < 48 { 1.0 } else { self.now.low_bands };
            low * self.keys.weight(tone, without) * self.polyphony.weights[tone]
        })
    }

    /// Returns the gain that would bring the input to the nominal level; 1 without auto level.
    fn gain(&self) -> f64 {
        let gain = self.level.as_ref().map_or(1.0, Level::gain);
        gain.powf(self.now.fades[AUTO])
    }

    /// Returns the gains of dry and wet, before output gain and bypass.
    fn mix(&self) -> [f64; 2] {
        let mix = self.now.sound.mix / 100.0;
        let plain = [1.0 - mix, mix];
        let leveled = self.level.as_ref().map_or(plain, |level| level.mix(mix));
        let auto = self.now.fades[AUTO];
        [0, 1].map(|index| plain[index] + auto * (leveled[index] - plain[index]))
    }

    fn mix_gains(&self, mix: [f64; 2]) -> MixGains {
        let [stereo, _, bypass, _, lookahead, sidechain] = self.now.fades;
        let [dry, wet] = mix.map(|gain| (1.0 - bypass) * output(&self.now) * gain);
        MixGains { dry: dry + bypass, wet, stereo, lookahead, sidechain }
    }
}

fn output(now: &Smoothed) -> f64 {
    10f64.powf(now.sound.output / 20.0)
}

/// Returns `x`, which is not negative, without the binary digits after the first 16.
fn to_16_bits(x: f64) -> f64 {
    let last = if x > 0.0 { (x.log2().floor() - 15.0).exp2() } else { 1.0 };
    (x / last).floor() * last
}

/// Returns a frame of a signal as two rows for a main input of two `channels`, otherwise as one row. A signal with another
/// number of channels has its mean in each row.
fn rows(frame: &[f64], channels: usize) -> Vec<f64> {
    let count = if channels == 2 { 2 } else { 1 };
    if frame.len() == count { frame.to_vec() } else { vec![mean(frame); count] }
}

/// Returns the rows of `dry`, crossfaded with those of the sidechain, whose weight is `share`.
fn crossfaded(dry: &[f64], sidechain_rows: &[f64], share: f64) -> Vec<f64> {
    let pairs = rows(dry, dry.len()).into_iter().zip(sidechain_rows);
    pairs.map(|(dry, second)| (1.0 - share) * dry + share * second).collect()
}

/// Returns the input of each bank: of one bank the mean, of two a crossfade from the mean (0) to their own channels (1).
fn bank_inputs(source: &[f64], banks: usize, stereo: f64) -> Vec<f64> {
    let common = mean(source);
    match banks {
        2 => source.iter().map(|x| (1.0 - stereo) * common + stereo * x).collect(),
        _ => vec![common],
    }
}

/// Returns the mean; 0 without samples.
fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}
