"""Weights as Rust: export.py WEIGHTS.json OUT.rs"""
import json, sys

ROWS = {"U": "Level", "rise": "Rise", "fall": "Fall", "p1": "Probability", "l1": "Logit", "pk.3": "ShortPeak", "pk1": "LongPeak",
        "mean.1": "ShortMean", "mean4": "LongMean"}
OVERALL = ["maxU_now", "maxU_3s", "sumP1_3s", "ln(.05+sumP1)", "mean_rise", "max_l1_3s"]

def lines(numbers, indent):
    """Rows of numbers of at most 100 columns."""
    rows, row = [], " " * indent
    for number in numbers:
        text = f"{number!r}, "
        if len(row + text) > 100:
            rows, row = rows + [row.rstrip()], " " * indent
        row += text
    return "\n".join(rows + [row.rstrip()])

def stage(model):
    rows, overall = "", {}
    for group in model["groups"]:
        if group["feature"] in OVERALL:
            overall[group["feature"]] = group["weights"][0]
        else:
            rows += f"""            Group {{
                feature: Feature::{ROWS[group["feature"]]},
                offsets: &[
{lines(group["offsets"], 20)}
                ],
                weights: &[
{lines(map(float, group["weights"]), 20)}
                ],
            }},
"""
    weights = ", ".join(repr(float(overall.get(name, 0.0))) for name in OVERALL)
    return f"""Stage {{
        bias: {float(model["bias"])!r},
        groups: &[
{rows}        ],
        overall: [{weights}],
    }}"""

def export(model, title):
    return f"""//! {title}. Written by `tools/fit/export.py`.

use crate::dsp::listener::templates::{{Feature, Group, Model, Stage}};

/// {title}.
#[rustfmt::skip]
pub static MODEL: Model = Model {{
    threshold: {model["threshold"]!r},
    hysteresis: {model["hysteresis"]!r},
    lookahead: {model["look_frames"]},
    first: {stage(model["stage1"])},
    second: {stage(model["stage2"])},
}};
"""

if __name__ == "__main__":
    with open(sys.argv[1]) as f: model = json.load(f)
    title = f"Weights for {model['look_frames']} frames of lookahead" if model["look_frames"] else "Weights for decisions at once"
    with open(sys.argv[2], "w") as f: f.write(export(model, title))
