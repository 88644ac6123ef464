//! Processing: calls of any length, divided into blocks of 64 samples.
//!
//! The number of channels may differ in each call; two channels can be stereo. Only `lookahead` and the loudness measurement of
//! `auto` need memory for each channel. They have it for two channels, unless `with_channels` sets another number.

use crate::{
    KeyEvent, ToneFilter,
    downmix::finite,
    lanes::BLOCK,
    plan::{MixGains, Span},
    ramp::Ramp,
    settings::smoother::Fade,
};
use std::ops::Range;
use tone_filter_simd::denormals::with_flush_to_zero;

impl ToneFilter {
    /// Replaces the samples of every channel (full scale is 1) by the filter's output.
    ///
    /// Takes any number of channels of any length; if the lengths differ, the shortest counts. NaN and infinite samples count as
    /// 0. `lookahead` delays only the first two channels, or the number that [`ToneFilter::with_channels`] sets; one of these that
    /// is missing counts as silence.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, ToneFilter};
    ///
    /// let mut filter = ToneFilter::new(44_100.0, &Settings::default())?;
    /// let mut mono = [0.0; 441];
    /// filter.process(&mut [&mut mono]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn process(&mut self, channels: &mut [&mut [f32]]) {
        self.process_with(channels, |_, _| ());
    }

    /// Processes as [`ToneFilter::process`] does, with a callback. At the end of every block of 64 samples, `each` gets two
    /// arguments: the number of samples of this call so far, and the filter.
    pub fn process_with(&mut self, channels: &mut [&mut [f32]], each: impl FnMut(usize, &Self)) {
        self.process_events(channels, &[], [], each);
    }

    /// Processes as [`ToneFilter::process_with`] does, with a second input of any number of channels and with events of the player's
    /// keys.
    ///
    /// With [`Listen::Sidechain`](super::Listen), the bands process the `sidechain`, and their sound is mixed with `channels`. An
    /// empty `sidechain` has no effect. If both inputs are stereo, left belongs to left and right to right.
    ///
    /// Each event has the sample offset in this call at which it happens; offsets must not decrease. An event takes effect from the
    /// next multiple of 64 samples on, counted from the last reset, or at the end of the call, whichever is first.
    ///
    /// ```
    /// use tone_filter_dsp::{KeyEvent, Keys, Listen, Routing, Settings, ToneFilter};
    ///
    /// let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// filter.set_routing(Routing { listen: Listen::Sidechain, ..Routing::default() });
    /// let (mut drums, melody) = ([0.0; 512], [0.0; 512]);
    /// let events = [(100, KeyEvent::Key(69, 1.0)), (400, KeyEvent::Key(69, 0.0))];
    /// filter.process_events(&mut [&mut drums], &[&melody], events, |_, _| ());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn process_events(
        &mut self,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        events: impl IntoIterator<Item = (usize, KeyEvent)>,
        each: impl FnMut(usize, &Self),
    ) {
        self.process_frames(frames(channels, sidechain), channels, sidechain, events, each);
    }

    /// Processes the first `frames` samples as [`ToneFilter::process_events`] does.
    fn process_frames(
        &mut self,
        frames: usize,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        events: impl IntoIterator<Item = (usize, KeyEvent)>,
        mut each: impl FnMut(usize, &Self),
    ) {
        let mut events = events.into_iter().peekable();
        with_flush_to_zero(&mut || {
            let mut start = 0;
            while start < frames {
                if self.position == 0 {
                    while let Some((_, event)) = events.next_if(|(at, _)| *at <= start) {
                        self.play(event);
                    }
                    self.begin_block(channels.len(), !sidechain.is_empty());
                }
                let end = frames.min(start + BLOCK - self.position);
                self.process_span(channels, sidechain, start..end);
                self.position += end - start;
                start = end;
                if self.position == BLOCK {
                    self.position = 0;
                    self.end_block(channels.len());
                    each(end, self);
                }
            }
            events.by_ref().for_each(|(_, event)| self.play(event));
        });
    }

    /// Plans a block of 64 samples for this number of `channels`; `connected` says whether there is a sidechain.
    fn begin_block(&mut self, channels: usize, connected: bool) {
        if self.timeline.begin_block() {
            self.aim();
        }
        let Self { controls, timeline, smoother, heard, analysis, synthesis, output, plan, .. } =
            self;
        let (set, mut fades) = (controls.fades(), timeline.now.fades());
        let (was_delaying, now) = (output.delaying, plan.smoothed.fades);
        // Stereo has pan positions of its own, so it excludes `place`: each is faded out before the other is faded in.
        fades[Fade::Stereo] &= now[Fade::Place] == 0.0;
        fades[Fade::Place] &= now[Fade::Stereo] == 0.0;
        fades[Fade::Lookahead] = output.prepare_delay(set[Fade::Lookahead], now[Fade::Lookahead]);
        fades[Fade::Sidechain] &= connected;
        smoother.fade(fades);
        plan.delaying = output.delaying;
        if plan.delaying {
            if !was_delaying {
                heard.clone_from(smoother);
            }
            let mut fades = fades;
            fades[Fade::Sidechain] = set[Fade::Sidechain] && connected;
            heard.fade(fades);
        }
        if analysis.connect(connected) {
            // Before the first block there is nothing to crossfade from.
            smoother.arrive_at_sidechain();
            heard.arrive_at_sidechain();
            let sidechain = f32::from(u8::from(fades[Fade::Sidechain]));
            plan.mix_gains = Ramp::rest(MixGains { sidechain, ..plan.mix_gains.to });
            plan.heard_sidechain = Ramp::rest(sidechain);
        }
        let was_auto = now[Fade::Auto] > 0.0;
        plan.moved = smoother.step();
        if plan.moved {
            plan.smoothed = smoother.now();
        }
        if plan.delaying {
            plan.heard_moved = heard.step();
            if plan.heard_moved {
                plan.heard = heard.now();
            }
        } else {
            plan.heard_moved = plan.moved || was_delaying;
            plan.heard = plan.smoothed;
        }
        plan.heard_sidechain.next(plan.heard.fades[Fade::Sidechain]);
        synthesis.update(plan);
        analysis.found.begin_block(&controls.settings);
        analysis.plan(&timeline.now, || synthesis.powers(), plan);
        synthesis.begin_block(self.kernel, plan, channels);
        let auto = was_auto || plan.smoothed.fades[Fade::Auto] > 0.0;
        output.begin_block(plan, synthesis.oscillating || auto);
    }

    /// Processes the samples `range` of a call, which must lie in one block.
    fn process_span(
        &mut self,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        range: Range<usize>,
    ) {
        let Self { kernel, analysis, synthesis, output, plan, .. } = self;
        for channel in channels.iter_mut() {
            let samples = &mut channel[range.clone()];
            kernel.vectorize(
                #[inline(always)]
                || samples.iter_mut().for_each(|sample| *sample = finite(*sample)),
            );
        }
        let span = Span { range, position: self.position };
        let rows = analysis.push(plan, channels, sidechain, &span);
        synthesis.process_early(*kernel, plan, channels, rows, &span);
        output.delay(plan, channels, &span);
        let rows = analysis.bank_input(plan, channels, !sidechain.is_empty(), &span);
        synthesis.process(*kernel, plan, channels, rows, &span);
        output.mix(*kernel, plan, channels, |channel| synthesis.wet(channel), &span);
    }

    /// Ends a block of this number of `channels`: runs the listener, measures the level, and applies changed estimates.
    fn end_block(&mut self, channels: usize) {
        let Self { analysis, synthesis, output, plan, .. } = self;
        let wet = (0..channels).map(|channel| synthesis.wet(channel));
        let plan = (&self.controls.settings, &*plan);
        let found = analysis.end_block(self.kernel, plan, synthesis.inputs(), &output.dry, wet);
        self.timeline.blocks += 1;
        if found {
            *self.timeline.last() = self.resolved_controls();
            self.aim();
        }
    }

    /// Processes the channels of `input` and writes the result to the channels of `output`.
    ///
    /// If the numbers or the lengths of the channels differ, the smaller counts.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, ToneFilter};
    ///
    /// let untouched = Settings { mix: 0.0, ..Settings::REFERENCE };
    /// let mut filter = ToneFilter::new(48_000.0, &untouched)?;
    /// let (input, mut output) = ([0.25; 512], [0.0; 512]);
    /// filter.process_into(&[&input], &mut [&mut output]);
    /// assert_eq!(output, input);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn process_into(&mut self, input: &[&[f32]], output: &mut [&mut [f32]]) {
        let count = input.len().min(output.len());
        let (input, output) = (&input[..count], &mut output[..count]);
        let frames = frames(output, input);
        for (from, to) in input.iter().zip(output.iter_mut()) {
            to[..frames].copy_from_slice(&from[..frames]);
        }
        self.process_frames(frames, output, &[], [], |_, _| ());
    }
}

/// Number of samples in the shortest channel of both inputs; 0 without channels.
pub fn frames(channels: &[&mut [f32]], sidechain: &[&[f32]]) -> usize {
    let shortest = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
    sidechain.iter().map(|channel| channel.len()).fold(shortest, usize::min)
}
