"""Converts weights of the torch model to the arrays of an .npz, which listen.py and export.py read, and back."""
import json
import numpy as np, torch

BANDS, CELLS, EACH, LINEAR = ("near", "harmonic", "mix", "head"), ("whole", "first", "second"), ("skip", "direct"), ("whole_in", "whole_mix", "whole_out")


def arrays(state):
    """Returns a state of model.Network as named float32 arrays, rounded."""
    w, out = {k: v.double().cpu().numpy() for k, v in state.items()}, {}
    for n in BANDS: out[n + "_weight"], out[n + "_bias"] = w[n + ".weight"], w[n + ".place"] + w[n + ".bias"]
    for n in CELLS:
        for part in ("input", "hidden", "bias", "bn"): out[f"{n}_{part}"] = w[f"{n}.{part}"]
    for n in EACH: out[n] = w[n + ".weight"]
    for n in LINEAR: out[n] = w[n + ".weight"].T
    out["whole_in_bias"] = w["whole_in.bias"]
    return {k: rounded(v) for k, v in out.items()}


def rounded(values):
    """Rounds to the nearest bfloat16, which the files of crates/listener store: a float32 whose lower 16 bits are 0."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


def state(path):
    """Returns the .npz of save() as a state for model.Network."""
    out = {}
    with np.load(path) as z: m = {k: z[k] for k in z.files if k != "config"}
    for n in BANDS:
        mean = m[n + "_bias"].mean(0)
        out[n + ".weight"], out[n + ".bias"], out[n + ".place"] = m[n + "_weight"], mean, m[n + "_bias"] - mean
    for n in CELLS:
        for part in ("input", "hidden", "bias", "bn"): out[f"{n}.{part}"] = m[f"{n}_{part}"]
    for n in EACH: out[n + ".weight"] = m[n]
    for n in LINEAR: out[n + ".weight"] = m[n].T
    out["whole_in.bias"] = m["whole_in_bias"]
    return {k: torch.tensor(v.copy()) for k, v in out.items()}


def save(path, config, weights, decide):
    """Writes the .npz. `decide`: threshold, hysteresis and threshold of a beginning, for look 0, then for look 4."""
    config = {k: list(v) if isinstance(v, tuple) else v for k, v in config.items()} | {"decide": {"0": decide[:3], "4": decide[3:]}}
    np.savez_compressed(path, config=json.dumps(config), **arrays(weights))
