"""Converts weights of the listener, an .npz of train.py, to the binary file that crates/listener includes.

usage: export.py WEIGHTS.npz OUT.bin                                  needs numpy

The file, little-endian:
    8 bytes     "TFLISTEN"
    u32         version: 3
    u32         Adler-32 of all that follows
    u32 * 5     sizes: banks of detectors, features of a detector, channels c1 and c, lags L
    u32 * L     lags in frames
    4 times     u32 count, i32 * count: offsets in semitones of near, harmonic, mix, head
    f32 * 6     threshold, hysteresis, threshold of a beginning: without lookahead, then with it
    u32, u16 *  the number of weights, and the weights in the order of use, each the upper half of an f32 (bfloat16): the lower byte
                of each, then the upper byte of each, so that archives of the file are smaller
Matrices are stored row by row, one row per input, one column per output; biases precede them, and the matrices of a layer's
zones follow each other. The gates of a GRU follow each other: reset and update as bias, input, hidden; the candidate as
bias, input, bias of hidden, hidden.
"""

import json
import struct
import sys
import zlib

import numpy as np

MAGIC, VERSION, ZONES = b"TFLISTEN", 3, ([20, 45], [20, 50])


def cell(m, name):
    """Yields the arrays of a GRU, zone by zone and gate by gate."""
    for bias, bn, into, hidden in zip(*(m[f"{name}_{part}"] for part in ("bias", "bn", "input", "hidden"))):
        reset, update, candidate = (slice(k * len(bn), (k + 1) * len(bn)) for k in range(3))
        for gate in (reset, update):
            yield from (bias[gate], into[:, gate], hidden[:, gate])
        yield from (bias[candidate], into[:, candidate], bn, hidden[:, candidate])


def weights(m):
    """Yields all arrays in the order of use."""
    yield from (m["near_bias"], m["near_weight"], m["harmonic_bias"], m["harmonic_weight"])
    yield from (m["whole_in_bias"], m["whole_in"], *cell(m, "whole"), m["whole_mix"], m["whole_out"])
    yield from cell(m, "first")
    yield from (m["mix_bias"], m["mix_weight"], m["skip"])
    yield from cell(m, "second")
    yield from (m["head_bias"], m["head_weight"], m["direct"])


def pack(m, config):
    assert config["g"] == config["c"], "the global GRU has as many units as the others"
    assert (config["zones"], config["near_zones"]) == ZONES, "the zones are those of the program"
    banks, lags = 1 + config["sharp"], config["lags"]
    out = struct.pack("<5I", banks, 3, config["c1"], config["c"], len(lags)) + struct.pack(f"<{len(lags)}I", *lags)
    for name in ("near", "harmonic", "mix", "head"):
        out += struct.pack(f"<I{len(config[name])}i", len(config[name]), *config[name])
    out += struct.pack("<6f", *config["decide"]["0"], *config["decide"]["4"])
    values = np.concatenate([np.asarray(a, "<f4").ravel() for a in weights(m)])
    assert len(values) == sum(a.size for a in m.values()), "every array is used once"
    planes = values.view("u1").reshape(-1, 4).T
    assert not planes[:2].any(), "the weights are rounded"
    out += struct.pack("<I", len(values)) + planes[2:].tobytes()
    return MAGIC + struct.pack("<2I", VERSION, zlib.adler32(out)) + out


if __name__ == "__main__":
    with np.load(sys.argv[1]) as z:
        arrays = {name: z[name] for name in z.files if name != "config"}
        packed = pack(arrays, json.loads(str(z["config"])))
    with open(sys.argv[2], "wb") as f:
        f.write(packed)
    print(f"{sys.argv[2]}: {len(packed)} bytes")
