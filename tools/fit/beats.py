"""Fits the listener's weights/beats.bin and weights/bars.bin: counts onsets by their place in a beat, and evidence at each beat of a bar.

usage: beats.py fit TONE_FILTER WORK SONG.mid ..       writes WORK/beats.bin and WORK/bars.bin
       beats.py judge TONE_FILTER WORK SONG.mid ..     F1 at 70 ms of `bands --json`: at the score's level, best of half, same, double
       beats.py track EXAMPLE WORK SONG.mid ..         the same, after 10 s, of the beats that crates/listener/examples/beats.rs prints
                                         needs numpy, mido, soundfile, mir_eval; Debian: fluidsynth, fluid-soundfont-gm

The first 60 s of songs are rendered with FluidR3 into WORK. The truth is the quarter notes of their tempo maps, from the first note to the last. In a
song without a time signature, the strong beats are the even or the odd quarters, whichever are likelier. docs/time.md has the formulas. Strengths
are as in crates/listener/src/beats/onsets.rs, from the detectors of listen.py and the notes of `bands --midi --live`. This leaves out
some doubtful notes that the program counts.
"""
import json, os, subprocess, sys
import mido, numpy as np, soundfile
from listen import Detectors, stereo

SECONDS, RATE, FONT = 60, 44100, "/usr/share/sounds/sf2/FluidR3_GM.sf2"
PATTERNS, PLACES, CLASSES = 2, 24, 5
SOFT, NORMAL = 40, 1e4                     # counts added to each place, distributed as the mean of all places; sum to which the counts of a song are scaled
ALPHA, UNIT = 0.5, 32                      # factor on log likelihoods, because onsets at one time are not independent; value of 1 in the file, in its steps
STRENGTHS, SHIFTS = [0.25, 1, 2.5, 5], (3, 2, 1, -1, -1)
MEAN = 5.0                                 # time constant in s of the mean strengths
BAR_STRENGTHS, BAR_ALPHA, BAR_SOFT = [0.3, 0.8, 1.3, 2.0], 0.6, 20
TYPES = {2: [0, 2], 3: [0, 2, 2], 4: [0, 2, 1, 2], 6: [0, 2, 2, 1, 2, 2]}


def truth(path):
    """Returns a MIDI file's times of quarter notes in s, its first time signature (or None), and times of downbeats in s."""
    file = mido.MidiFile(path, clip=True)
    tempi, signature, notes, end, t = [(0, 500000)], None, [], 0, 0
    for message in mido.merge_tracks(file.tracks):
        t += message.time
        if message.type == "set_tempo": tempi.append((t, message.tempo))
        elif message.type == "time_signature" and signature is None: signature = (message.numerator, message.denominator)
        elif message.type == "note_on" and message.velocity: notes.append(t)
        end = t
    starts = [0.0]
    for (a, tempo), (b, _) in zip(tempi, tempi[1:]): starts.append(starts[-1] + (b - a) * tempo / 1e6 / file.ticks_per_beat)
    def seconds(ticks):
        at = np.searchsorted([t for t, _ in tempi], ticks, "right") - 1
        return np.array(starts)[at] + (ticks - np.array([t for t, _ in tempi])[at]) * np.array([q for _, q in tempi])[at] / 1e6 / file.ticks_per_beat
    on = seconds(np.array(sorted(notes)))
    on = on[on < SECONDS]
    quarters = seconds(np.arange(0, end + file.ticks_per_beat, file.ticks_per_beat))
    quarters = quarters[(quarters >= on[0] - 0.03) & (quarters <= min(SECONDS - 0.05, on[-1] + 0.03))]
    bar = file.ticks_per_beat * 4 * signature[0] // signature[1] if signature else file.ticks_per_beat * 4
    return quarters, signature, seconds(np.arange(0, end, bar))


def render(path, work):
    wav = os.path.join(work, os.path.basename(path)[:-4] + ".wav")
    if not os.path.exists(wav):
        command = ["fluidsynth", "-ni", "-q", "-g", "0.5", "-r", str(RATE), "-T", "raw", "-E", "little", "-F", "-", FONT, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as player:
            raw = player.stdout.read(SECONDS * RATE * 4)
            player.kill()
        sound = np.frombuffer(raw[:len(raw) // 4 * 4], "<i2").reshape(-1, 2) / 32768
        soundfile.write(wav, 0.251 * sound / max(np.abs(sound).max(), 1e-9), RATE)
    return wav


def onsets(program, wav):
    """Returns strengths of onsets, kinds x frames; number of held notes by pitch class, 12 x frames; length of a frame in s."""
    sound, rate = soundfile.read(wav, always_2d=True)
    sound, detectors = stereo(sound), Detectors(rate, 1)
    states = [detectors(sound[at:at + detectors.block])[1] for at in range(0, len(sound) - detectors.block + 1, detectors.block)]
    power = 2 * (np.abs(np.array(states)) ** 2).mean(1)[:, 4:84]
    frames, period = len(power), detectors.period
    up, down, reference, level = 1 - np.exp(-period / 0.05), 1 - np.exp(-period / 3), 1e-15, np.zeros(frames)
    for k, total in enumerate(power.sum(1)):
        reference += (up if total > reference else down) * (total - reference)
        level[k] = reference
    log = np.log(power / level[:, None] + 1e-4)
    wide = np.pad(log, ((0, 0), (1, 1)), constant_values=-np.inf)
    most = np.maximum(np.maximum(wide[:, :-2], wide[:, 1:-1]), wide[:, 2:])
    rise = np.zeros_like(log)
    rise[2:] = np.maximum(log[2:] - most[:-2], 0)
    strengths = np.zeros((5, frames))
    for band, (a, b) in enumerate(((0, 20), (20, 56), (56, 80))): strengths[band] = rise[:, a:b].mean(1)
    held, t, open_notes = np.zeros((12, frames)), 0.0, {}
    midi = wav[:-4] + ".live.mid"
    subprocess.run([program, "bands", wav, "--midi", midi, "--live", "--tempo", "120", "--force", "-q"], check=True)
    for message in mido.MidiFile(midi):
        t += message.time
        k = min(max(round(t / period) - 1, 0), frames - 1)
        if message.type == "note_on" and message.velocity:
            strengths[3, k] += message.velocity / 127
            if message.note < 52: strengths[4, k] += message.velocity / 127
            open_notes[message.note] = k
        elif message.type in ("note_on", "note_off") and message.note in open_notes:
            held[message.note % 12, open_notes.pop(message.note) + 1:k + 1] += 1
    for kind, shift in enumerate(SHIFTS): strengths[kind] = np.roll(strengths[kind], -shift)
    for kind in (3, 4): strengths[kind] = np.maximum(np.maximum(np.roll(strengths[kind], 1), strengths[kind]), np.roll(strengths[kind], -1))
    return strengths, held, period


def classes(strengths, period):
    share, mean, weight, out = 1 - np.exp(-period / MEAN), np.zeros(len(strengths)), 0.0, []
    for x in strengths.T:
        mean, weight = mean + share * (x - mean), weight + share * (1 - weight)
        out.append([np.searchsorted(STRENGTHS, own / max(of, 1e-6)) for own, of in zip(x, mean / weight)])
    return np.array(out).T


def strong(quarters, signature, downbeats):
    """Returns 0 for each strong beat and 1 for each weak beat; None if the meter has neither."""
    if signature and signature[1] != 4: return None
    bar = signature[0] if signature else 4
    firsts = [n for n, quarter in enumerate(quarters) if np.abs(downbeats - quarter).min() < 0.03]
    if bar not in TYPES or not firsts: return None
    return np.array([min(TYPES[bar][(n - firsts[0]) % bar] & 2, 2) // 2 for n in range(len(quarters))])


def counts(song):
    """Returns counts of each class at each place, types x kinds x places x classes; their sum is NORMAL."""
    types, out = strong(*song["truth"]), np.zeros((2, 5, PLACES, CLASSES))
    if types is None: return out
    quarters, moments = song["truth"][0], np.arange(song["classes"].shape[1]) * song["period"]
    beat = np.searchsorted(quarters, moments, "right") - 1
    known = (beat >= 0) & (beat < len(quarters) - 1)
    beat, moments = beat[known], moments[known]
    place = np.floor((moments - quarters[beat]) / np.diff(quarters)[beat] * PLACES + 0.5).astype(int)
    kind = types[np.where(place >= PLACES, beat + 1, beat)]
    for n in range(5): np.add.at(out, (kind, n, place % PLACES, song["classes"][n][known]), 1)
    return out / out.sum() * NORMAL


def likelihoods(sums):
    anywhere = sums.sum((0, 2), keepdims=True) + 1
    anywhere /= anywhere.sum(3, keepdims=True)
    here = sums + SOFT * anywhere
    return np.log(here / here.sum(3, keepdims=True) / anywhere)


def patterns(songs):
    """Fits two patterns by hard expectation maximisation. At the start, one pattern gets the songs whose onsets divide beats by three, the other gets the rest."""
    own = [counts(song) for song in songs]
    notes = [x[:, 3].sum(0)[:, 2:].sum(1) for x in own]
    of = [int(x[15:18].sum() + x[7:10].sum() > x[11:14].sum() + x[5:7].sum() + x[18:19].sum()) for x in notes]
    for _ in range(10):
        tables = [likelihoods(sum((x for x, k in zip(own, of) if k == pattern), np.zeros_like(own[0]))) for pattern in range(PATTERNS)]
        scores = [[[(table * x).sum(), (table * x[::-1]).sum()] for table in tables] for x in own]
        new = [int(np.argmax([max(pair) for pair in score])) for score in scores]
        own = [x[::-1] if pair[k][1] > pair[k][0] and not song["truth"][1] else x for x, song, pair, k in zip(own, songs, scores, new)]
        if new == of: break
        of = new
    return np.array(tables)


def evidence(song):
    """Returns the class of each kind of evidence at each quarter note, kinds x beats."""
    strengths, held = song["strengths"], song["held"]
    at = np.clip(np.round(song["truth"][0] / song["period"]).astype(int), 0, strengths.shape[1] - 1)
    near = [np.array([strengths[kind, max(k - 2, 0):k + 3].max() for k in at]) for kind in (0, 2, 3, 4)]
    ends = np.append(at, [held.shape[1]] * 2)
    def change(beats):
        out = []
        for n in range(len(at)):
            before, after = held[:, at[max(n - beats, 0)]:at[n]].sum(1), held[:, at[n]:ends[n + beats]].sum(1)
            norm = np.sqrt((before @ before) * (after @ after))
            out.append(1 - before @ after / norm if norm > 0 else 1.0)
        return np.array(out)
    near += [change(1), change(2)]
    return np.array([np.searchsorted(BAR_STRENGTHS, x / max(x.mean(), 1e-9)) for x in near])


def bars(songs):
    sums = np.zeros((3, 6, 5))
    for song in songs:
        quarters, signature, downbeats = song["truth"]
        if not signature or signature[1] != 4 or signature[0] not in TYPES: continue
        firsts = [n for n, quarter in enumerate(quarters) if np.abs(downbeats - quarter).min() < 0.03]
        if not firsts: continue
        kinds = np.array([TYPES[signature[0]][(n - firsts[0]) % signature[0]] for n in range(len(quarters))])
        own = np.zeros_like(sums)
        for n, row in enumerate(evidence(song)): np.add.at(own, (kinds, n, row), 1)
        sums += own / len(quarters) * 100
    anywhere = sums.sum(0, keepdims=True) + 1
    anywhere /= anywhere.sum(2, keepdims=True)
    here = sums + BAR_SOFT * anywhere
    return np.log(here / here.sum(2, keepdims=True) / anywhere)


def write(table, path):
    np.clip(np.round(table * UNIT), -127, 127).astype(np.int8).tofile(path)


def levels(quarters, beats, trim=lambda times: times):
    """Returns the F1 of beats at the score's tempo, and the best F1 at half of it (with either beat first), at it and at its double."""
    from mir_eval.beat import f_measure
    doubled = np.sort(np.concatenate([quarters, (quarters[1:] + quarters[:-1]) / 2]))
    scores = [f_measure(trim(q), trim(beats)) if len(beats) else 0.0 for q in (quarters, quarters[::2], quarters[1::2], doubled)]
    return scores[0], max(scores)


def judge(program, work, path):
    import mir_eval
    wav, out = render(path, work), os.path.join(work, "beats.json")
    subprocess.run([program, "bands", wav, "--json", out, "--hop", "1000", "--force", "-q"], check=True)
    with open(out) as file: found = json.load(file)
    quarters, signature, downbeats = truth(path)
    beats = np.array(found["beats"])
    own, best = levels(quarters, beats)
    in_reach = downbeats[(downbeats > quarters[0] - 0.03) & (downbeats < quarters[-1] + 0.03)]
    bars = mir_eval.beat.f_measure(in_reach, np.array(found["downbeats"])) if len(beats) else 0.0
    tempo = found["tempo"] or {"bpm": 0, "meter": 0, "certainty": 0}
    print(f"{os.path.basename(path):40} {60 / np.median(np.diff(quarters)):6.1f} {tempo['bpm']:6.1f}  {signature} {tempo['meter']}"
          f"  certainty {tempo['certainty']:.2f}  F1 {own:.2f} / {best:.2f}  bars {bars:.2f}", flush=True)
    return own, best, bars


def track(program, work, path, *live):
    import mir_eval
    lines = subprocess.run([program, render(path, work), *live], check=True, capture_output=True, text=True).stdout
    beats, quarters = np.array([float(line) for line in lines.split()]), truth(path)[0]
    own, best = levels(quarters, beats, lambda times: mir_eval.beat.trim_beats(times, 10))
    print(f"{os.path.basename(path):40} F1 {own:.2f} / {best:.2f}", flush=True)
    return own, best


if __name__ == "__main__":
    verb, program, work, *paths = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    if verb == "judge":
        print("mean", np.round(np.mean([judge(program, work, path) for path in paths], 0), 3))
    elif verb == "track":
        for live in [(), ("live",)]: print("mean", *live, np.round(np.mean([track(program, work, path, *live) for path in paths], 0), 3))
    else:
        songs = []
        for path in paths:
            strengths, held, period = onsets(program, render(path, work))
            songs.append(dict(strengths=strengths, held=held, period=period, classes=classes(strengths, period), truth=truth(path)))
            print(path, flush=True)
        write(ALPHA * patterns(songs), os.path.join(work, "beats.bin"))
        write(BAR_ALPHA * bars(songs), os.path.join(work, "bars.bin"))
