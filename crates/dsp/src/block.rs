//! The signal chain of [`ToneFilter`], in blocks of 64 samples: what is updated once per block, and the processing of
//! samples.

use super::{
    ToneFilter,
    analysis::finite,
    lanes::Lanes,
    output::{Levels, mix},
    voice::Voices,
};

impl ToneFilter {
    /// The gain that brings the input to the nominal level, in proportion to the smoothed `auto`.
    pub(crate) fn gain(&self) -> f32 {
        if self.now.auto == 0.0 { 1.0 } else { libm::powf(self.level.gain() as f32, self.now.auto) }
    }

    /// The bands' weights in the sum: those of mask, scale and focus, or of the keys, times those of polyphony.
    pub(crate) fn shares(&self) -> Lanes {
        let (focus, polyphony) = (&self.focus.shares().0, &self.polyphony.shares().0);
        let keys = self.keys.act(self.settings.keys).then_some(&self.keys);
        Lanes(std::array::from_fn(|tone| {
            let weight = self.now.weights[tone] * focus[tone];
            keys.map_or(weight, |keys| keys.weight(tone, weight)) * polyphony[tone]
        }))
    }

    /// The most notes that may sound at a time.
    pub(crate) fn most_notes(&self) -> usize {
        self.settings.voices.round() as usize
    }

    /// Updates which notes are the strongest, for the limit of notes.
    fn limit_notes(&mut self) {
        let focus = &self.focus.shares().0;
        let powers = self.banks.each_ref().map(|bank| bank.powers(&self.voicing));
        let power = |tone: usize| {
            let own = powers[0].0[tone].max(powers[1].0[tone]);
            let weight = self.now.weights[tone] * focus[tone];
            own * self.keys.weight(tone, weight).powi(2)
        };
        self.polyphony.follow(self.most_notes(), &Lanes(std::array::from_fn(power)));
    }

    /// Updates everything that is constant or interpolated linearly within a block of 64 samples.
    pub(crate) fn begin_block(&mut self) {
        self.levels[0] = self.levels[1];
        let was_auto = self.now.auto > 0.0;
        let moved = self.smoother.step();
        let frozen = self.settings.freeze;
        let reporting = self.settings.midi_out;
        if moved || frozen != self.voicing.frozen() || reporting != self.focus.reporting() {
            self.now = self.smoother.now();
            self.voicing.update(&self.now, frozen);
            self.focus.tune(&self.now, &self.settings);
        }
        self.timbres.step();
        let limits = self.polyphony.limits(self.most_notes());
        let focuses = self.now.settings.focus > 0.0;
        let keys = self.keys.act(self.settings.keys);
        // Weights and gains move only with the settings, focus, auto, a limit of notes or keys.
        if moved || self.moving || focuses || self.now.auto > 0.0 || limits || keys {
            self.focus.follow(self.now.settings.focus);
            if keys {
                self.keys.follow(self.settings.keys, self.settings.transpose);
            }
            if limits {
                self.limit_notes();
            }
            self.weights = [self.weights[1], self.shares()];
            self.gains = [self.gains[1], self.gain()];
            self.voicing.begin_block(self.weights, self.gains);
            self.moving = self.weights[0] != self.weights[1] || self.gains[0] != self.gains[1];
        }
        if moved || self.now.auto > 0.0 {
            self.mix_gains = mix::gains(&self.now, &self.voicing.constants, &self.level);
            self.levels[1] = Levels::new(&self.now, self.mix_gains);
        }
        // With the soft clip alone, no limiter is needed. A gain below 1 is released first: to drop it would click.
        let unclipped = self.timbres.oscillates() || was_auto || self.now.auto > 0.0;
        let limiting = unclipped || !self.limiter.rests();
        if limiting && !self.limiting {
            // It has not tracked the input while it was off.
            self.limiter.reset();
        }
        self.limiting = limiting;
        let [from, to] = self.levels;
        self.voicing.set_driven(self.timbres.soft() != [0.0; 2]);
        if self.timbres.oscillates() {
            let banks = 1 + usize::from(self.separate);
            let (voices, banks) = (&mut self.voices[..banks], &self.banks[..banks]);
            let levels = self.focus.levels(self.now.settings.focus);
            Voices::begin_block(
                voices,
                banks,
                self.kernel,
                &self.voicing,
                &self.timbres,
                &self.weights[1],
                levels,
            );
        }
        // A second bank that is switched on starts from the state of the first one.
        if from.stereo == 0.0 && to.stereo > 0.0 {
            self.banks[1] = self.banks[0].clone();
        }
        if from.lookahead == 0.0 && to.lookahead > 0.0 {
            self.delay.clear();
        }
        if from.sidechain == 0.0 && to.sidechain > 0.0 {
            self.sidechain.clear();
        }
    }

    /// Runs the listener and the level measurement on a complete block, in a call with `channels`.
    pub(crate) fn end_block(&mut self, channels: usize) {
        let frozen = self.voicing.frozen();
        self.focus.decide(self.kernel, frozen);
        if self.now.auto > 0.0 && !frozen {
            let banks = 1 + usize::from(self.two_banks(channels));
            let wets = (0..channels).map(|channel| &self.wet[channel.min(banks - 1)]);
            // The result is as loud as what the bands hear, which may play where the main input is silent.
            let heard = if self.sidechained { self.sidechain.rows() } else { &self.dry[..] };
            // The gains without output gain and bypass, so that the measurement does not depend on either.
            let output = self.voicing.constants.output;
            let gains = (self.mix_gains.0 / output, self.mix_gains.1 / output);
            self.level.measure(&self.bank_inputs[..banks], heard.iter().zip(wets), gains);
        }
    }

    /// Whether each of `channels` has its own bank in this block.
    fn two_banks(&self, channels: usize) -> bool {
        channels == 2 && self.levels.iter().any(|level| level.stereo > 0.0)
    }

    /// Processes the samples `start..end`, which lie in one block of 64.
    pub(crate) fn process_part(
        &mut self,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        start: usize,
        end: usize,
    ) {
        let (frames, position) = (end - start, self.position);
        let part = position..position + frames;
        let [from, to] = self.levels;
        let level = |frame: usize| from.towards(to, position + frame);
        let two_banks = self.two_banks(channels.len());
        self.separate = two_banks;

        let kernel = self.kernel;
        for channel in channels.iter_mut() {
            let samples = &mut channel[start..end];
            kernel.vectorize(
                #[inline(always)]
                || samples.iter_mut().for_each(|sample| *sample = finite(*sample)),
            );
        }
        let sidechained = !sidechain.is_empty() && (from.sidechain > 0.0 || to.sidechain > 0.0);
        self.sidechained = sidechained;
        if sidechained {
            let share = |frame| level(frame).sidechain;
            self.sidechain.hear(channels, sidechain, start..end, position, share);
            self.focus.push(self.sidechain.rows(), part.clone(), position);
        } else {
            self.focus.push(channels, start..end, position);
        }
        if from.lookahead > 0.0 || to.lookahead > 0.0 {
            let delayed = |frame| level(frame).lookahead;
            self.delay.process(channels, start..end, delayed);
            if sidechained {
                self.sidechain.delay(part.clone(), delayed);
            }
        }
        if self.limiting {
            for (dry, channel) in self.dry.iter_mut().zip(channels.iter()) {
                dry[part.clone()].copy_from_slice(&channel[start..end]);
            }
        }

        // A short cut for fully separate channels: the same as the crossfades with a stereo of 1.
        let apart = two_banks && from.stereo == 1.0 && to.stereo == 1.0;
        let own = self.bank_inputs.each_mut().map(|input| &mut input[part.clone()]);
        let stereo = if apart { None } else { Some(|frame| level(frame).stereo) };
        if sidechained {
            mix::bank_inputs(self.sidechain.rows(), part.clone(), own, two_banks, stereo);
        } else {
            mix::bank_inputs(channels, start..end, own, two_banks, stereo);
        }

        let inputs = self.bank_inputs.each_ref().map(|input| &input[part.clone()]);
        let [left, right] = self.wet.each_mut().map(|wet| &mut wet[part.clone()]);
        let wets = [&mut *left, &mut *right];
        let banks = self.banks.iter_mut().take(1 + usize::from(two_banks));
        for ((bank, input), wet) in banks.zip(inputs).zip(wets) {
            bank.process(self.kernel, &self.voicing, position, input, wet);
        }
        if self.timbres.oscillates() {
            let wets = [&mut *left, &mut *right];
            let banks = self.voices.iter_mut().zip(&self.banks).take(1 + usize::from(two_banks));
            for (((voices, bank), input), wet) in banks.zip(inputs).zip(wets) {
                let source = (bank, &self.voicing);
                voices.process(self.kernel, &self.timbres, source, position, input, wet);
            }
        }
        if two_banks && !apart {
            for (frame, (left, right)) in left.iter().zip(right).enumerate() {
                let stereo = level(frame).stereo;
                *right = (1.0 - stereo) * left + stereo * *right;
            }
        }

        for (index, channel) in channels.iter_mut().enumerate() {
            let wet = &self.wet[if two_banks { index } else { 0 }][part.clone()];
            let samples = channel[start..end].iter_mut().zip(wet);
            kernel.vectorize(
                #[inline(always)]
                || {
                    for (frame, (sample, wet)) in samples.enumerate() {
                        let level = from.towards(to, position + frame);
                        *sample = level.dry * *sample + level.wet * wet;
                    }
                },
            );
        }
        if self.limiting {
            let (output, bypass) = (self.voicing.constants.output as f32, self.now.bypass);
            let scale = (1.0 - bypass) * output + bypass;
            let dry = &self.dry[..self.dry.len().min(channels.len())];
            self.limiter.process(dry, channels, position, start..end, scale);
        }
    }
}
