//! Audio devices for output (speakers) and input (microphones).

use super::controls::Controls;
use crate::Usage;
use anyhow::{Context, bail};
use cpal::{
    Device, ErrorKind, FromSample, Sample, SampleFormat, SizedSample, Stream, StreamConfig,
    SupportedStreamConfig, SupportedStreamConfigRange,
    traits::{DeviceTrait, HostTrait, StreamTrait},
};
use rtrb::{Consumer, Producer, RingBuffer};
use std::{
    io::{self, Write},
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// Supported sample formats, best first.
const FORMATS: [SampleFormat; 5] =
    [SampleFormat::F32, SampleFormat::I32, SampleFormat::I24, SampleFormat::I16, SampleFormat::U8];

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    In,
    Out,
}

impl Direction {
    fn devices(self) -> anyhow::Result<Vec<Device>> {
        let host = cpal::default_host();
        let devices: Vec<Device> = match self {
            Self::In => host.input_devices()?.collect(),
            Self::Out => host.output_devices()?.collect(),
        };
        Ok(devices)
    }

    /// Returns the device called `name`; without a name or for `default`, the system's default device.
    fn find(self, name: Option<&str>) -> anyhow::Result<Device> {
        let host = cpal::default_host();
        let Some(name) = name.filter(|name| *name != "default") else {
            let (device, what) = match self {
                Self::In => (host.default_input_device(), "microphone"),
                Self::Out => (host.default_output_device(), "speakers"),
            };
            return device
                .with_context(|| format!("no {what} found; --list-devices lists all devices"));
        };
        let found =
            self.devices()?.into_iter().find(|device| names(device).iter().any(|n| n == name));
        found.ok_or_else(|| {
            Usage(format!("unknown device {name:?}; --list-devices lists all")).into()
        })
    }
}

/// Returns the names of `device`: the system's id, and a readable description.
fn names(device: &Device) -> Vec<String> {
    let id = device.id().map(|id| id.id().to_owned());
    let description = device.description().map(|description| description.name().to_owned());
    id.into_iter().chain(description).collect()
}

/// Prints the names of all input and output devices.
///
/// # Errors
/// If the system gives no list, or standard output is closed.
pub fn list() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for (direction, title) in
        [(Direction::In, "For --device:"), (Direction::Out, "For --output-device:")]
    {
        writeln!(out, "{title}")?;
        for device in direction.devices()? {
            let names = names(&device).join("  ");
            writeln!(out, "  {}", crate::messages::escaped(&names))?;
        }
    }
    Ok(())
}

/// Output device and its stream configuration.
pub struct Speakers {
    pub device: Device,
    config: SupportedStreamConfig,
    /// Number of channels of the sound. The device may have more.
    channels: u16,
}

impl Speakers {
    /// Finds the device called `name`, or the system's default. Chooses a configuration with at least `channels` channels, and
    /// with `rate` Hz if possible.
    ///
    /// # Errors
    /// If the device is missing, or has fewer channels.
    pub fn find(name: Option<&str>, rate: u32, channels: u16) -> anyhow::Result<Self> {
        let device = Direction::Out.find(name)?;
        let ranges: Vec<_> = device.supported_output_configs()?.collect();
        let default = device.default_output_config()?;
        let config = [rate, default.sample_rate()].iter().find_map(|rate| {
            let fitting = ranges.iter().filter(|range| range.channels() >= channels);
            let fitting = fitting.filter(|range| FORMATS.contains(&range.sample_format()));
            let fitting = fitting.filter_map(|range| range.try_with_sample_rate(*rate));
            // Two channels for mono sound: a single one may reach one ear only.
            let wanted = channels.max(2);
            fitting.min_by_key(|config| {
                let format = FORMATS.iter().position(|format| *format == config.sample_format());
                (config.channels().abs_diff(wanted), format)
            })
        });
        let widest = ranges.iter().map(SupportedStreamConfigRange::channels).max().unwrap_or(0);
        let config = config.with_context(|| {
            format!("{device} has {widest} channels, and the sound has {channels}; render it to a file instead")
        })?;
        Ok(Self { device, config, channels })
    }

    /// Returns the sample rate in Hz.
    pub fn rate(&self) -> u32 {
        self.config.sample_rate()
    }

    /// Starts playback. Returns three things: the stream; an estimate of the time in which the device plays the samples that it
    /// has taken from the ring; and the producer of the ring, which has room for `seconds`. Dropping the stream stops the
    /// playback.
    ///
    /// # Errors
    /// If the device does not start.
    pub fn start(
        &self,
        seconds: f64,
        controls: &Arc<Controls>,
    ) -> anyhow::Result<(Stream, Duration, Producer<f32>)> {
        let frames = (seconds * f64::from(self.rate())) as usize;
        let (producer, ring) = RingBuffer::new(frames * usize::from(self.channels));
        let (channels, controls) = (self.channels.into(), Arc::clone(controls));
        let player = Player { ring, channels, rate: self.rate(), controls };
        let stream = match self.config.sample_format() {
            SampleFormat::F32 => self.stream::<f32>(player),
            SampleFormat::I32 => self.stream::<i32>(player),
            SampleFormat::I24 => self.stream::<cpal::I24>(player),
            SampleFormat::I16 => self.stream::<i16>(player),
            _ => self.stream::<u8>(player),
        }?;
        stream.play()?;
        let buffer = f64::from(stream.buffer_size().unwrap_or(0)) / f64::from(self.rate());
        Ok((stream, Duration::from_secs_f64(2.0 * buffer), producer))
    }

    fn stream<T: SizedSample + FromSample<f32>>(
        &self,
        mut player: Player,
    ) -> Result<Stream, cpal::Error> {
        let config = self.config.config();
        let width = usize::from(config.channels);
        let controls = Arc::clone(&player.controls);
        self.device.build_output_stream(
            config,
            move |samples: &mut [T], _| player.fill(samples, width),
            move |error| fail(&controls, &error),
            None,
        )
    }
}

/// State of the callback that fills the buffers of the output device.
struct Player {
    ring: Consumer<f32>,
    /// Number of channels of the sound, interleaved in the ring.
    channels: usize,
    /// Sample rate in Hz.
    rate: u32,
    controls: Arc<Controls>,
}

impl Player {
    /// Fills `samples`, a buffer of the device with `width` channels, from the ring. If the ring is empty, the rest becomes
    /// silence.
    fn fill<T: SizedSample + FromSample<f32>>(&mut self, samples: &mut [T], width: usize) {
        let frames = samples.len() / width;
        // Waits if the engine is late, at most half of the buffer. This is inaudible, because the device still plays earlier
        // samples.
        let patience = Duration::from_secs_f64(0.5 * frames as f64 / f64::from(self.rate));
        let start = Instant::now();
        while self.ring.slots() < frames * self.channels
            && !self.controls.idle.load(Relaxed)
            && start.elapsed() < patience
        {
            thread::sleep(Duration::from_micros(100));
        }
        samples.fill(T::EQUILIBRIUM);
        for frame in samples.chunks_exact_mut(width) {
            let Ok(chunk) = self.ring.read_chunk(self.channels) else {
                return self.controls.count_gap();
            };
            for (sample, value) in frame.iter_mut().zip(chunk) {
                *sample = T::from_sample(value);
            }
            // Mono sound plays on both sides.
            if let ([left, right, ..], 1) = (frame, self.channels) {
                *right = *left;
            }
        }
    }
}

/// Input device with a running stream.
pub struct Microphone {
    pub device: Device,
    /// Sample rate in Hz.
    pub rate: u32,
    /// Number of recorded channels, 1 or 2.
    pub channels: u16,
    ring: Consumer<f32>,
    _stream: Stream,
}

impl Microphone {
    /// Starts recording from the device called `name`, or from the system's default device.
    ///
    /// # Errors
    /// If the device is missing, or does not start.
    pub fn find(name: Option<&str>, controls: &Arc<Controls>) -> anyhow::Result<Self> {
        let device = Direction::In.find(name)?;
        let default = device.default_input_config()?;
        let config = default.config();
        let channels = config.channels.min(2);
        let (producer, ring) =
            RingBuffer::new(config.sample_rate as usize / 2 * usize::from(channels));
        let controls = Arc::clone(controls);
        let stream = match default.sample_format() {
            SampleFormat::F32 => listen::<f32>(&device, config, producer, controls),
            SampleFormat::I32 => listen::<i32>(&device, config, producer, controls),
            SampleFormat::I24 => listen::<cpal::I24>(&device, config, producer, controls),
            SampleFormat::I16 => listen::<i16>(&device, config, producer, controls),
            SampleFormat::U8 => listen::<u8>(&device, config, producer, controls),
            other => bail!("{device}: unsupported sample format {other}"),
        }?;
        stream.play()?;
        Ok(Self { device, rate: config.sample_rate, channels, ring, _stream: stream })
    }

    /// Drops the samples that were recorded so far.
    pub fn clear(&mut self) {
        if let Ok(chunk) = self.ring.read_chunk(self.ring.slots()) {
            chunk.commit_all();
        }
    }

    /// Replaces the content of `block` by the next recorded samples, at most `frames` per channel.
    pub fn read(&mut self, block: &mut [Vec<f32>], frames: usize) {
        block.iter_mut().for_each(Vec::clear);
        let available = self.ring.slots() / block.len();
        let Ok(chunk) = self.ring.read_chunk(available.min(frames) * block.len()) else { return };
        for (index, sample) in chunk.into_iter().enumerate() {
            block[index % self.channels as usize].push(sample);
        }
    }
}

/// Starts a stream that writes the samples of `device` to `ring`. While the ring is full, it drops samples.
fn listen<T: SizedSample>(
    device: &Device,
    config: StreamConfig,
    mut ring: Producer<f32>,
    controls: Arc<Controls>,
) -> Result<Stream, cpal::Error>
where
    f32: FromSample<T>,
{
    let width = usize::from(config.channels);
    let channels = width.min(2);
    device.build_input_stream(
        config,
        move |samples: &[T], _| {
            for frame in samples.chunks_exact(width) {
                if ring.slots() < channels {
                    break;
                }
                for sample in &frame[..channels] {
                    // Cannot fail: the ring has room.
                    let _ = ring.push(f32::from_sample(*sample));
                }
            }
        },
        move |error| fail(&controls, &error),
        None,
    )
}

/// Ends the playback because of `error`, unless the device recovers by itself. An xrun counts as a gap.
fn fail(controls: &Controls, error: &cpal::Error) {
    match error.kind() {
        ErrorKind::Xrun => controls.count_gap(),
        ErrorKind::DeviceChanged | ErrorKind::RealtimeDenied => {}
        _ => controls.fail(error.to_string()),
    }
}
