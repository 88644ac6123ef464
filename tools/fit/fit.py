"""Fits listener.py's network to rendered MIDI songs; writes weights_LOOK.json, judges them, exports them as Rust.

usage: fit.py render                       sounds and truths into the work directory (needs the Debian packages in README.md)
       fit.py train LOOK [--init FILE]     weights_LOOK.json; LOOK = frames of lookahead (0 or 4); FILE: another fit to go on from
       fit.py judge FILE.json USE..        precision, recall, F1 per frame, F1 per note, latency; USE = test, check, valid, test-timgm, ..
       fit.py cases FILE.json              tones, noise, silence: what lights
options: --work DIR (default: listener-fit in the system's temporary directory) --steps N --static N --workers N
"""
import argparse, glob, json, math, os, tempfile
from multiprocessing import Pool
import numpy as np
from numba import njit
import songs
from listener import BANDS, CLIP, DETECTORS, FIRST, FLOOR, HEARD, LAG, LOWEST, LOWEST_TEMPLATE, QUIETEST, Detectors, Network

PERIOD = songs.PERIOD
TEMPLATES, MEMORIES, DIRECT, HYSTERESIS = 8, 2, 4, 1.2
OFFSETS = {"u": [-12, -7, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 12, 16, 19, 24, 28, 31, 34, 36], "rise": [-12, -1, 0, 1, 12, 19], "fall": [0, 12]}
COMBINE, OUT = [-24, -19, -12, -1, 0, 1, 12], [-12, -1, 0, 1, 12]
SCALE = {"u": 1 / 4, "rise": 1 / 2, "fall": 1 / 2}        # brings the features to about one; goes into the weights in the end
ROWS, LENGTH, CHUNKS, WARM = 2048, 512, 8, 80             # frames of a static step; frames and chunks of a step in time; frames before the loss counts
F1_WEIGHT = 0.2                                           # of 1 - F1 per chunk, beside the cross-entropy


@njit(fastmath=True)
def contrast(logp, gain):
    """Log powers + gain per detector (the logarithm of an equaliser) -> u, frames x DETECTORS. As in listener.Network, for whole files."""
    up, down = 1 - math.exp(-PERIOD / 0.05), 1 - math.exp(-PERIOD / 3.0)
    u, p, reference = np.zeros(logp.shape, np.float32), np.zeros(logp.shape[1]), QUIETEST
    for i in range(len(logp)):
        for j in range(len(p)): p[j] = math.exp(logp[i, j] + gain[j])
        total = max(p.sum(), QUIETEST)
        reference += (up if total > reference else down) * (total - reference)
        for j in range(len(p)): u[i, j] = math.log(p[j] / reference + FLOOR) - math.log(FLOOR)
    return u


def load(path):
    """Log powers, frames x DETECTORS, and truth, (frames + 1) x DETECTORS."""
    with np.load(path) as k: return k["logp"].astype(np.float32), np.unpackbits(k["held"], axis=0, count=int(k["frames"]) + 1).astype(bool)


def equaliser(rng):
    """A random tilt and two random bells, as natural logarithm of power."""
    octave = np.arange(DETECTORS) / 12
    gain = rng.normal(0, 0.5) * (octave - 3.6)
    for _ in range(2): gain = gain + rng.normal(0, 0.7) * np.exp(-0.5 * ((octave - rng.uniform(0, 7.2)) / rng.uniform(0.3, 1.5)) ** 2)
    return gain.astype(np.float32)


class Data:
    """All training files, every second one through an equaliser of its own."""
    def __init__(self, paths, rng):
        self.files = []
        for path in paths:
            logp, held = load(path)
            u = contrast(logp, equaliser(rng) if rng.random() < 0.5 else np.zeros(DETECTORS, np.float32))
            self.files.append((np.concatenate([np.zeros((LAG, DETECTORS)), u]).astype(np.float16), held))

    def chunks(self, rng, count, length, look):
        """u: count x (length + LAG) x DETECTORS; truth: count x length x BANDS. A decision at a frame's end is about the frame that begins then, less `look`."""
        u, y = np.zeros((count, length + LAG, DETECTORS), np.float32), np.zeros((count, length, BANDS), np.float32)
        for k in range(count):
            source, held = self.files[rng.integers(len(self.files))]
            frames = len(source) - LAG
            at = 0 if length > 1 and rng.random() < 0.1 else int(rng.integers(max(1, frames - length)))
            n = min(length, frames - at)
            u[k, :n + LAG] = source[at:at + n + LAG]
            about = at + np.arange(n) + 1 - look
            y[k, :n][about >= 0] = held[about[about >= 0], HEARD]
        return u, y

    def whitening(self, rng, count=30000):
        """Matrix and mean that make what one template sees uncorrelated: Adam gets there many times faster."""
        u, _ = self.chunks(rng, count, 1, 0)
        seen, at = features(np, u), rng.integers(20, DETECTORS, count)
        x = np.stack([np.pad(seen[f][0], ((0, 0), (60, 60)))[np.arange(count), 60 + at + k] for f in OFFSETS for k in OFFSETS[f]], 1)
        mean, c = x.mean(0), np.cov(x.T)
        e, v = np.linalg.eigh(c + 0.03 * np.trace(c) / len(c) * np.eye(len(c)))
        return (v * e ** -0.5 @ v.T).astype(np.float32), mean.astype(np.float32)


def features(np, u):
    """count x (length + LAG) x DETECTORS -> u, rise, fall, each length x count x DETECTORS, scaled."""
    u = u.transpose(1, 0, 2)
    change = u[LAG:] - u[:-LAG]
    return {"u": u[LAG:] * SCALE["u"], "rise": np.maximum(change, 0) * SCALE["rise"], "fall": np.minimum(change, 0) * SCALE["fall"]}


def train(paths, look, static_steps, steps, init=None, seed=0):
    """Adam on single frames first (the memories pass their candidates through), then on chunks of 6 s. Returns the model and its inputs' whitening."""
    import jax, jax.numpy as jnp, optax
    rng = np.random.default_rng(seed)
    data = Data(paths, rng)
    inputs, outputs, seen_rows = sum(map(len, OFFSETS.values())), 2 * MEMORIES + DIRECT, MEMORIES + DIRECT
    whole = 3 * TEMPLATES + 2
    if init:
        with np.load(init) as k: p = {name: k[name] for name in k.files}
        white, mean = p.pop("white"), p.pop("mean")
    else:
        white, mean = data.whitening(rng)
        keep = np.exp(-PERIOD / np.array([0.3, 3.0]))
        p = {"templates": rng.normal(0, 0.8 / math.sqrt(inputs), (inputs, TEMPLATES)), "template_bias": np.zeros(TEMPLATES),
             "combine": rng.normal(0, 1 / math.sqrt(len(COMBINE) * TEMPLATES), (len(COMBINE), TEMPLATES, outputs)),
             "combine_bias": np.array([-1.0, -3.0] + [0.0] * (outputs - MEMORIES)), "whole": rng.normal(0, 0.1 / math.sqrt(whole), (whole, outputs + 1)),
             "keep": np.repeat(np.log(keep / (1 - keep))[:, None], TEMPLATES, 1), "band_bias": np.full(BANDS, -2.0),
             "out": rng.normal(0, 0.3 / math.sqrt(seen_rows * len(OUT)), (len(OUT), seen_rows))}
    p = {k: jnp.asarray(v, jnp.float32) for k, v in p.items()}

    def shifted(x, offsets, first, count):
        margin = max(map(abs, offsets))
        x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(margin, margin + count)])
        return jnp.stack([x[..., margin + first + k:margin + first + k + count] for k in offsets])

    def leaky(keep, x):
        """s = keep s + x over the first axis"""
        def step(s, kx):
            s = kx[0] * s + kx[1]
            return s, s
        return jax.lax.scan(step, jnp.zeros(x.shape[1:]), (jnp.broadcast_to(keep, x.shape), x), unroll=8)[1]

    def logits(p, u, static):
        seen = features(jnp, u)
        w = white @ p["templates"]
        b = p["template_bias"] - mean @ w
        x = jnp.concatenate([shifted(seen[f], OFFSETS[f], LOWEST_TEMPLATE, DETECTORS - LOWEST_TEMPLATE) for f in OFFSETS])
        h = jax.nn.relu(jnp.einsum("klbn,kc->lbcn", x, w) + b[:, None])
        now, keep = h.mean(-1), jax.nn.sigmoid(p["keep"])
        means = [now, now] if static else [leaky(k, (1 - k) * now) for k in keep]
        q = jnp.concatenate([now, *means, seen["u"].mean(-1, keepdims=True), seen["u"].max(-1, keepdims=True)], -1) @ p["whole"]
        y = jnp.einsum("klbcn,kcm->lbmn", shifted(h, COMBINE, HEARD.start - LOWEST_TEMPLATE, BANDS), p["combine"]) + (p["combine_bias"] + q[..., :-1])[..., None]
        gate, candidate = jax.nn.sigmoid(y[:, :, :MEMORIES]), jnp.clip(y[:, :, MEMORIES:2 * MEMORIES], -CLIP, CLIP)
        memory = candidate if static else leaky(1 - gate, gate * candidate)
        rows = jnp.concatenate([memory, jax.nn.relu(y[:, :, 2 * MEMORIES:])], 2)
        return jnp.einsum("klbmn,km->lbn", shifted(rows, OUT, 0, BANDS), p["out"]) + p["band_bias"] + q[..., -1:]

    for static, count, length, n, rate in ((True, ROWS, 1, static_steps, 6e-3), (False, CHUNKS, LENGTH, steps, 3e-3 if init else 4e-3)):
        if not n: continue
        warm = 0 if static else WARM
        def loss(p, u, y):
            z, y = logits(p, u, static)[warm:], y.transpose(1, 0, 2)[warm:]
            entropy, q = (jnp.logaddexp(0, z) - z * y).mean(), jax.nn.sigmoid(z)
            f1 = (2 * (q * y).sum((0, 2)) + 20) / ((q + y).sum((0, 2)) + 20)      # 20: a chunk without notes shall be dark, not undefined
            return entropy + (0 if static else F1_WEIGHT) * (1 - f1.mean())
        adam = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.warmup_cosine_decay_schedule(0, rate, min(50, n // 10), n, rate * (0.2 if static else 0.02)), b2=0.99))
        @jax.jit
        def step(p, state, u, y):
            value, g = jax.value_and_grad(loss)(p, u, y)
            change, state = adam.update(g, state, p)
            return optax.apply_updates(p, change), state, value
        state, total = adam.init(p), 0.0
        for k in range(1, n + 1):
            p, state, value = step(p, state, *data.chunks(rng, count, length, look))
            total += float(value)
            if k % 100 == 0: print("static" if static else "in time", k, f"loss {total / 100:.4f}", flush=True); total = 0.0
    return {**{k: np.asarray(v, float) for k, v in p.items()}, "white": white, "mean": mean}


def packed(p, look, threshold):
    """The fit -> listener.py's numbers; whitening and scales go into the templates."""
    def short(a): return [short(x) for x in a] if np.ndim(a) else float(f"{float(a):.5g}")
    w = p["white"] @ p["templates"]
    out = {"look": look, "threshold": short(threshold), "hysteresis": HYSTERESIS, "memories": MEMORIES, "template_bias": short(p["template_bias"] - p["mean"] @ w)}
    at = 0
    for f, offsets in OFFSETS.items():
        out[f + "_offsets"], out["template_" + f] = offsets, short(w[at:at + len(offsets)] * SCALE[f])
        at += len(offsets)
    whole = p["whole"].copy(); whole[-2:] *= SCALE["u"]
    return {**out, "mean_seconds": short(PERIOD * -1 / np.log(1 / (1 + np.exp(-p["keep"])))), "whole": short(whole), "combine_offsets": COMBINE,
            "combine": short(p["combine"]), "combine_bias": short(p["combine_bias"]), "out_offsets": OUT, "out": short(p["out"]), "band_bias": short(p["band_bias"])}


def logits_of(job):
    """A rendered file's logits, frames x BANDS, and the truth at the same decisions."""
    path, model = job
    logp, held = load(path)
    network, about = Network(model, PERIOD), np.arange(len(logp)) + 1 - model["look"]
    truth = np.where((about >= 0)[:, None], held[np.maximum(about, 0), HEARD], False)
    return np.array([network(np.exp(row.astype(float))) for row in logp]), truth


def decided(logits, threshold, hysteresis):
    held = np.zeros(logits.shape, bool)
    now = held[0]
    for k, row in enumerate(logits): held[k] = now = row > np.where(now, threshold - hysteresis, threshold)
    return held


def scores(held, truth):
    hit = (held & truth).sum()
    return hit / max(held.sum(), 1), hit / max(truth.sum(), 1), 2 * hit / max(held.sum() + truth.sum(), 1)


def note_score(held, notes, look):
    """F1 of notes: an onset within 100 ms of one of the same pitch, lookahead taken off."""
    hit = said = 0
    for b in range(BANDS):
        ours = (np.flatnonzero(np.diff(held[:, b].astype(int), prepend=0) == 1) + 1 - look) * PERIOD
        said, k = said + len(ours), 0
        for t in sorted(on for on, _, note, *_ in notes if note == FIRST + b):
            while k < len(ours) and ours[k] < t - 0.1: k += 1
            if k < len(ours) and ours[k] <= t + 0.1: hit, k = hit + 1, k + 1
    return 2 * hit / max(said + sum(FIRST <= n[2] < FIRST + BANDS for n in notes), 1)


def latencies(held, notes):
    """s from onset to light, lookahead counted, of notes from 100 ms that light up anew; how many were lit already; how many stay dark."""
    out, lit, dark = [], 0, 0
    for on, off, note, *_ in notes:
        first = int(on / PERIOD)
        if not FIRST <= note < FIRST + BANDS or off - on < 0.1 or first >= len(held): continue
        if held[max(first - 1, 0), note - FIRST]: lit += 1; continue
        lights = np.flatnonzero(held[first:int(off / PERIOD) + 5, note - FIRST])
        if len(lights): out.append((first + lights[0] + 1) * PERIOD - on)
        else: dark += 1
    return out, lit, dark


def judge(jobs, model, pool):
    """Prints the means over one set of songs."""
    jobs = [j for j in jobs if os.path.exists(j["out"])]
    frame, note, late, lit, dark = [], [], [], 0, 0
    for job, (logits, truth) in zip(jobs, pool.map(logits_of, [(j["out"], model) for j in jobs], chunksize=1)):
        held, notes = decided(logits, model["threshold"], model["hysteresis"]), songs.notes_of(songs.excerpt(songs.read(job["song"]), 0, job["seconds"]))
        frame.append(scores(held, truth)); note.append(note_score(held, notes, model["look"]))
        a, b, c = latencies(held, notes); late += a; lit += b; dark += c
    p, r, f = np.mean(frame, axis=0)
    median, most = np.quantile(late, [0.5, 0.9]) * 1000
    total = len(late) + lit + dark
    print(f"{len(jobs)} songs: P {p:.3f} R {r:.3f} F1 {f:.4f} ({' '.join(f'{x[2]:.2f}' for x in frame)}), notes F1 {np.mean(note):.3f}, "
          f"latency median {median:.0f} ms, 90 % {most:.0f} ms, lit already {lit / total:.2f}, dark {dark / total:.2f}", flush=True)


def chosen(paths, model, pool):
    """The threshold with the best mean frame F1."""
    files = pool.map(logits_of, [(path, model) for path in paths], chunksize=1)
    tried = np.arange(-2, 1.5, 0.1)
    return tried[np.argmax([np.mean([scores(decided(z, t, HYSTERESIS), y)[2] for z, y in files]) for t in tried])]


def tones():
    """Steady sounds with a name, 6 s each."""
    t, rng = np.arange(6 * songs.RATE) / songs.RATE, np.random.default_rng(0)
    def harmonics(phase, f, power=1.0, step=1): return 0.2 * sum(np.sin(k * phase) / k ** power for k in range(1, int(16000 / f) + 1, step))
    def at(f): return 2 * np.pi * f * t
    out = {f"sine A4 {c:+d} cents": 0.3 * np.sin(at(440 * 2 ** (c / 1200))) for c in (0, 20, -20, 35, 50)}
    out |= {f"saw {f} Hz": harmonics(at(f), f) for f in (55, 110, 220, 440, 880)} | {f"square {f} Hz": harmonics(at(f), f, step=2) for f in (110, 220, 440)}
    swinging = 2 * np.pi * np.cumsum(440 * 2 ** (40 / 1200 * np.sin(2 * np.pi * 5.5 * t))) / songs.RATE
    out |= {"sine A4, vibrato of 40 cents": 0.3 * np.sin(swinging), "saw A4, vibrato of 40 cents": harmonics(swinging, 440)}
    out |= {"white noise": 0.1 * rng.standard_normal(len(t)), "pink noise": 0.1 * songs.noise(rng, len(t), 1), "silence": 0 * t}
    out["A3 C#4 E4 A4 C#5 E5, saws"] = sum(harmonics(at(f), f) for f in 220 * 2 ** (np.array([0, 4, 7, 12, 16, 19]) / 12)) / 4
    return out


def share(job):
    """How much of the time each band is lit, after 0.7 s; with lookahead nothing changes for a steady tone."""
    sound, model = job
    bank = Detectors(songs.RATE)
    network = Network(model, bank.period)
    z = np.array([network(p) for p in bank(sound[:len(sound) // bank.block * bank.block])])
    return decided(z, model["threshold"], model["hysteresis"])[60:].mean(0)


def cases(model, pool):
    names = "C C# D D# E F F# G G# A A# B".split()
    sounds = tones()
    drums = [songs.events_sound(songs.random_drums(np.random.default_rng(k), 20), "fluid") for k in range(3)]
    sounds |= {f"drums alone {k}": d for k, d in enumerate(drums)}
    for name, lit in zip(sounds, pool.map(share, [(s, model) for s in sounds.values()], chunksize=1)):
        print(f"{name:30s} {lit.sum():.2f}: " + " ".join(f"{names[(FIRST + b) % 12]}{(FIRST + b) // 12 - 1} {v:.2f}" for b, v in enumerate(lit) if v >= 0.02), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("render", "train", "judge", "cases")); parser.add_argument("args", nargs="*")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "listener-fit")); parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--init"); parser.add_argument("--static", type=int, default=800); parser.add_argument("--steps", type=int, default=1200)
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    with Pool(args.workers) as pool:
        if args.what == "cases":
            with open(args.args[0]) as f: cases(json.load(f), pool)
        else:
            jobs = songs.jobs(args.work)
            if args.what == "render": pool.map(songs.make, [j for use in jobs.values() for j in use], chunksize=1)
            elif args.what == "judge":
                with open(args.args[0]) as f: model = json.load(f)
                for use in args.args[1:]: print(use, end=": "); judge(jobs[use], model, pool)
            else:
                look = int(args.args[0])
                p = train([j["out"] for j in jobs["train"] if os.path.exists(j["out"])], look, args.static, args.steps, args.init)
                np.savez(os.path.join(args.work, f"fit_{look}.npz"), **p)
                # the songs of the package that the test is of choose the threshold: others need a lower one
                valid = [j["out"] for j in jobs["valid"] if os.path.exists(j["out"]) and "/openmsx/" in j["song"]]
                model = packed(p, look, chosen(valid, packed(p, look, 0.0), pool))
                with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"weights_{look}.json"), "w") as f: json.dump(model, f)
