"""The mean of the weights of nets that go on from the same weights: one net that is often better than each (M. Wortsman et al., "Robust fine-tuning of
zero-shot models", CVPR 2022). Sizes and thresholds are those of the first net.

usage: mix.py OUT.npz NET.npz=SHARE ..                                needs numpy; the shares add up to 1
"""
import sys
import numpy as np

if __name__ == "__main__":
    out, nets = sys.argv[1], [a.rsplit("=", 1) for a in sys.argv[2:]]
    assert abs(sum(float(share) for _, share in nets) - 1) < 1e-6, "the shares add up to 1"
    loaded = [(np.load(path), float(share)) for path, share in nets]
    first = loaded[0][0]
    mean = {k: sum(share * net[k].astype(float) for net, share in loaded).astype(np.float32) for k in first.files if k != "config"}
    np.savez_compressed(out, config=first["config"], **mean)
