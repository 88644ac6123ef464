"""A mixing desk for stereo sound at CHIP Hz: distortion, compression, rooms, chorus, echo, width, coding; and the listener's decimation."""
import io, math
import numpy as np
import soundfile as sf
from numba import njit
from scipy.signal import butter, fftconvolve, sosfilt, upfirdn
from chip import CHIP


def fir(rate, decimation, cut=4700):
    taps = 12 * decimation
    h = np.sinc(2 * cut / rate * (np.arange(taps) - (taps - 1) / 2)) * np.hamming(taps)
    return h / h.sum()


def decimate(x, rate):
    """The listener's own decimation of each channel, to about 11 kHz."""
    d = round(rate / 11500)
    return upfirdn(fir(rate, d), x, 1, d, axis=-1)[..., :-(-x.shape[-1] // d)]


def halved(x):
    """Halves the sample rate, from 44.1 kHz to CHIP."""
    return upfirdn(fir(2 * CHIP, 2, 9500), x, 1, 2, axis=-1)[..., :-(-x.shape[-1] // 2)]


@njit(fastmath=True)
def compress(x, threshold, ratio, attack, release):
    """Compresses both channels by the envelope of the louder one; attack and release are factors per sample."""
    level = 0.0
    for k in range(x.shape[1]):
        now = max(abs(x[0, k]), abs(x[1, k]))
        level += (attack if now > level else release) * (now - level)
        if level > threshold:
            gain = (threshold / level) ** (1 - 1 / ratio)
            x[0, k] *= gain; x[1, k] *= gain


def distorted(x, rng):
    """Simulates an overdriven amplifier: band-pass, gain and tanh, loudspeaker."""
    x = sosfilt(butter(1, rng.uniform(80, 300), "high", fs=CHIP, output="sos"), x)
    x = np.tanh(x * 10 ** rng.uniform(0.2, 1.6) / (np.std(x) + 1e-9) + rng.choice([0, 0, 0.3]))
    return sosfilt(butter(2, rng.uniform(2500, 6000), fs=CHIP, output="sos"), x - x.mean(axis=-1, keepdims=True))


def room(x, rng):
    k = np.arange(int(CHIP * 1.2))
    tail = rng.standard_normal((2, len(k))) * np.exp(-k / CHIP / rng.uniform(0.05, 0.6)); tail[:, :int(rng.uniform(0.002, 0.03) * CHIP)] = 0
    return x + fftconvolve(x, tail, axes=-1)[:, :x.shape[1]] * rng.uniform(0.05, 0.6) / np.sqrt(np.sum(tail[:1] ** 2))


def echo(x, rng):
    d, g, out = int(rng.uniform(0.1, 0.45) * CHIP), rng.uniform(0.1, 0.4), x.copy()
    for k in range(1, 4): out[:, k * d:] += g ** k * (x if rng.random() < 0.5 else x[::-1])[:, :-k * d]
    return out


def delayed(x, seconds):
    """Delays each channel by `seconds` (2 x samples, >= 0) with linear interpolation."""
    at = np.arange(x.shape[1])
    return np.stack([np.interp(at - seconds[c] * CHIP, at, x[c], left=0.0) for c in range(2)])


def chorus(x, rng):
    t = np.arange(x.shape[1]) / CHIP
    swing = np.stack([0.015 + rng.uniform(0.0005, 0.004) * (1 + np.sin(2 * np.pi * rng.uniform(0.2, 1.5) * t + phase)) for phase in rng.uniform(0, 6, 2)])
    return x + rng.uniform(0.3, 1) * delayed(x, swing)


def flutter(x, rng):
    """Simulates a tape's unsteady speed, at most about 12 cents."""
    t, f = np.arange(x.shape[1]) / CHIP, rng.uniform(0.4, 5)
    depth = rng.uniform(0.001, 0.007) / (2 * np.pi * f)
    return delayed(x, np.tile(depth * (1 + np.sin(2 * np.pi * f * t)), (2, 1)))


def width(x, rng):
    """Changes the stereo image: narrower, wider, rotated, or with one channel delayed."""
    kind = rng.integers(3)
    if kind == 0: return x * np.array([[1.0], [rng.choice([-1.0, 0.3])]])
    if kind == 1: return delayed(x, np.array([0.0, rng.uniform(0.001, 0.02)]))
    middle, side = x.mean(0), (x[0] - x[1]) / 2 * rng.uniform(0, 3)
    return np.stack([middle + side, middle - side])


def coded(x, rng):
    """Encodes as Ogg Vorbis at a low quality, and decodes."""
    f = io.BytesIO()
    y = (x / (np.abs(x).max() + 1e-9) * 0.9).T
    with sf.SoundFile(f, "w", CHIP, 2, format="OGG", subtype="VORBIS", compression_level=rng.uniform(0.6, 1.0)) as w:
        for k in range(0, len(y), 8192): w.write(y[k:k + 8192])
    f.seek(0)
    out = sf.read(f)[0].T
    return np.pad(out, ((0, 0), (0, max(0, x.shape[1] - out.shape[1]))))[:, :x.shape[1]]


def mixed(x, rng):
    """Applies a random selection of the effects above."""
    on = lambda p: rng.random() < p
    if on(0.05): x = distorted(x, rng) * np.std(x)
    if on(0.08): x = chorus(x, rng)
    if on(0.35): x = room(x, rng)
    elif on(0.15): x = echo(x, rng)
    if on(0.06): x = flutter(x, rng)
    if on(0.2): x = width(x, rng)
    if on(0.45):
        x = x / (np.abs(x).max() + 1e-9)
        per = lambda seconds: 1 - math.exp(-1 / seconds / CHIP)
        compress(x, 10 ** rng.uniform(-1.6, -0.4), rng.choice([2.0, 4.0, 8.0, 100.0]), per(rng.uniform(0.0005, 0.03)), per(rng.uniform(0.03, 0.4)))
    if on(0.1): x = np.clip(x, -1, 1) if on(0.3) else np.tanh(x * rng.uniform(1, 4) / (np.std(x) * 4 + 1e-9))
    if on(0.1): x = coded(x, rng)
    return x
