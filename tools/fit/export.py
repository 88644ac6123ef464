"""Weights as Rust, for src/dsp/listener/weights: export.py WEIGHTS.json OUT.rs"""
import json, sys

def number(x):
    return repr(float(x))

def row(numbers, indent=4):
    """An array of numbers, in lines of at most 100 columns."""
    text = "[" + ", ".join(map(number, numbers)) + "]"
    if len(text) + indent < 96: return text
    lines, line = [], " " * (indent + 4)
    for x in map(number, numbers):
        if len(line + x) > 98: lines, line = lines + [line.rstrip()], " " * (indent + 4)
        line += x + ", "
    return "[\n" + "\n".join(lines + [line.rstrip()]) + "\n" + " " * indent + "]"

def rows(matrix):
    return "[\n" + "".join(f"        {row(r, 8)},\n" for r in matrix) + "    ]"

def taps(row, offsets, weights):
    """One tap per offset, with the weights of all outputs."""
    return "".join(f"        Tap {{ row: {row}, offset: {o}, weights: [{', '.join(map(number, w))}] }},\n" for o, w in zip(offsets, weights))

def export(m):
    about = f"{m['look']} frames of lookahead" if m["look"] else "no lookahead"
    templates = "".join(taps(r, m[f + "_offsets"], m["template_" + f]) for r, f in enumerate(("u", "rise", "fall")))
    combine = "".join(taps(c, m["combine_offsets"], [w[c] for w in m["combine"]]) for c in range(len(m["template_bias"])))
    out = "".join(taps(r, m["out_offsets"], [[w[r]] for w in m["out"]]) for r in range(len(m["out"][0])))
    return f"""//! Weights for {about}. Written by `tools/fit/export.py`.

use crate::dsp::listener::model::{{Model, Tap}};

/// Weights for {about}.
#[rustfmt::skip]
pub static MODEL: Model = Model {{
    lookahead: {m["look"]},
    threshold: {number(m["threshold"])},
    hysteresis: {number(m["hysteresis"])},
    templates: &[
{templates}    ],
    template_bias: {row(m["template_bias"])},
    mean_seconds: {rows(m["mean_seconds"])},
    whole: {rows(m["whole"])},
    combine: &[
{combine}    ],
    combine_bias: {row(m["combine_bias"])},
    out: &[
{out}    ],
    band_bias: {row(m["band_bias"])},
}};
"""

if __name__ == "__main__":
    with open(sys.argv[1]) as f: model = json.load(f)
    with open(sys.argv[2], "w") as f: f.write(export(model))
