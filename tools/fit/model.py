"""The listener in torch, on a GPU: detectors, features, network. docs/listening.md has the formulas; listen.py computes the same frame by frame in NumPy."""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton, triton.language as tl
from listen import DETECTORS, FIRST, FLOOR, LOWEST, NOTES, QUIETEST, centres

RATE, BLOCK = 11025, 128                   # the detectors' rate in training, samples in a frame
PERIOD = BLOCK / RATE
OUTPUTS = ("held_0", "held_4", "onset_0", "onset_4")

SHAPE = dict(sharp=2, near=(-2, -1, 0, 1, 2),
             zones=(20, 45), near_zones=(20, 50),                                      # first rows of the zones after the lowest: notes, detectors
             harmonic=(-24, -19, -12, -7, -5, -2, -1, 0, 1, 2, 5, 7, 12, 16, 19, 24, 28, 31, 34, 36), mix=(-24, -19, -12, -7, -1, 0, 1, 7, 12, 19, 24), head=(-12, -1, 0, 1, 12))
SIZES = {"light": dict(c1=8, c=16, g=16, lags=(0, 1, 3)), "full": dict(c1=16, c=32, g=32, lags=(0, 1, 3, 7))}


# ---------------------------------------------------------------- kernels: recursions over time

@triton.jit
def scan_kernel(C, S, Q, T, D, BLOCK_D: tl.constexpr):
    b, d = tl.program_id(0), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    m = d < D
    qr, qi = tl.load(Q + d, m, 0.0), tl.load(Q + D + d, m, 0.0)
    wr, wi = tl.load(Q + 2 * D + d, m, 0.0), tl.load(Q + 3 * D + d, m, 0.0)
    ar = tl.zeros((BLOCK_D,), tl.float32); ai = ar; br = ar; bi = ar
    base = b.to(tl.int64) * T * 4 * D
    for t in range(T):
        at = base + t * 4 * D + d
        nbr = qr * br - qi * bi + wr * ar - wi * ai + tl.load(C + at + 2 * D, m, 0.0)
        nbi = qr * bi + qi * br + wr * ai + wi * ar + tl.load(C + at + 3 * D, m, 0.0)
        nar = qr * ar - qi * ai + tl.load(C + at, m, 0.0)
        ai = qr * ai + qi * ar + tl.load(C + at + D, m, 0.0)
        ar = nar; br = nbr; bi = nbi
        tl.store(S + at, ar, m); tl.store(S + at + D, ai, m); tl.store(S + at + 2 * D, br, m); tl.store(S + at + 3 * D, bi, m)


@triton.jit
def reference_kernel(X, R, B, T, up, down, lowest, BLOCK_B: tl.constexpr):
    b = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    m = b < B
    r = tl.zeros((BLOCK_B,), tl.float32) + lowest
    for t in range(T):
        x = tl.load(X + b * T + t, m, 0.0)
        r += tl.where(x > r, up, down) * (x - r)
        tl.store(R + b * T + t, r, m)


@triton.jit
def gru_forward(GI, W, BN, OUT, ROWS, B, T, P, H: tl.constexpr, BH: tl.constexpr, BLOCK_N: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    j = tl.arange(0, BH)
    zone = tl.program_id(1)
    first = tl.load(ROWS + zone)
    rows = tl.load(ROWS + zone + 1) - first
    W += zone * 3 * BH * BH; BN += zone * BH
    m = (n < B * rows)[:, None] & (j < H)[None, :]
    at = (n // rows).to(tl.int64) * T * P + first + n % rows
    gi = GI + at[:, None] * (3 * H) + j[None, :]
    out = OUT + at[:, None] * H + j[None, :]
    square = j[:, None] * BH + j[None, :]
    wr, wz, wn = tl.load(W + square), tl.load(W + BH * BH + square), tl.load(W + 2 * BH * BH + square)
    bn = tl.load(BN + j)[None, :]
    h = tl.zeros((BLOCK_N, BH), tl.float32)
    xr, xz, xn = tl.load(gi, m, 0.0).to(tl.float32), tl.load(gi + H, m, 0.0).to(tl.float32), tl.load(gi + 2 * H, m, 0.0).to(tl.float32)
    for t in range(T):
        ahead = m & (n[:, None] * 0 + t + 1 < T)
        gi += 3 * H * P
        yr, yz, yn = tl.load(gi, ahead, 0.0).to(tl.float32), tl.load(gi + H, ahead, 0.0).to(tl.float32), tl.load(gi + 2 * H, ahead, 0.0).to(tl.float32)
        r = tl.sigmoid(xr + tl.dot(h, wr, input_precision="tf32"))
        z = tl.sigmoid(xz + tl.dot(h, wz, input_precision="tf32"))
        c = 2 * tl.sigmoid(2 * (xn + r * (tl.dot(h, wn, input_precision="tf32") + bn))) - 1
        h = (1 - z) * c + z * h
        tl.store(out, h.to(OUT.dtype.element_ty), m)
        out += H * P
        xr = yr; xz = yz; xn = yn


@triton.jit
def gru_backward(GI, W, WT, BN, OUT, DOUT, DGI, Q, ROWS, B, T, P, H: tl.constexpr, BH: tl.constexpr, BLOCK_N: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    j = tl.arange(0, BH)
    zone = tl.program_id(1)
    first = tl.load(ROWS + zone)
    rows = tl.load(ROWS + zone + 1) - first
    W += zone * 3 * BH * BH; WT += zone * 3 * BH * BH; BN += zone * BH
    m = (n < B * rows)[:, None] & (j < H)[None, :]
    at = (n // rows).to(tl.int64) * T * P + first + n % rows + (T - 1) * P
    gi = GI + at[:, None] * (3 * H) + j[None, :]
    dgi = DGI + at[:, None] * (3 * H) + j[None, :]
    out = OUT + at[:, None] * H + j[None, :]
    dout = DOUT + at[:, None] * H + j[None, :]
    q = Q + at[:, None] * H + j[None, :]
    square = j[:, None] * BH + j[None, :]
    wr, wz, wn = tl.load(W + square), tl.load(W + BH * BH + square), tl.load(W + 2 * BH * BH + square)
    tr, tz, tn = tl.load(WT + square), tl.load(WT + BH * BH + square), tl.load(WT + 2 * BH * BH + square)
    bn = tl.load(BN + j)[None, :]
    dh = tl.zeros((BLOCK_N, BH), tl.float32)
    for k in range(T):
        before = m & (n[:, None] * 0 + k + 1 < T)
        xr, xz, xn = tl.load(gi, m, 0.0).to(tl.float32), tl.load(gi + H, m, 0.0).to(tl.float32), tl.load(gi + 2 * H, m, 0.0).to(tl.float32)
        g = tl.load(dout, m, 0.0).to(tl.float32)
        out -= H * P
        h = tl.load(out, before, 0.0).to(tl.float32)
        r = tl.sigmoid(xr + tl.dot(h, wr, input_precision="tf32"))
        z = tl.sigmoid(xz + tl.dot(h, wz, input_precision="tf32"))
        hn = tl.dot(h, wn, input_precision="tf32") + bn
        c = 2 * tl.sigmoid(2 * (xn + r * hn)) - 1
        dh += g
        dz = dh * (h - c) * z * (1 - z)
        dc = dh * (1 - z) * (1 - c * c)
        dr = dc * hn * r * (1 - r)
        dq = dc * r
        tl.store(dgi, dr.to(DGI.dtype.element_ty), m); tl.store(dgi + H, dz.to(DGI.dtype.element_ty), m); tl.store(dgi + 2 * H, dc.to(DGI.dtype.element_ty), m)
        tl.store(q, dq.to(Q.dtype.element_ty), m)
        dh = dh * z + tl.dot(dr, tr, input_precision="tf32") + tl.dot(dz, tz, input_precision="tf32") + tl.dot(dq, tn, input_precision="tf32")
        gi -= 3 * H * P; dgi -= 3 * H * P; dout -= H * P; q -= H * P


def padded(w, size):
    """Pads zones x H x 3H to zones x 3 x size x size."""
    h = w.shape[1]
    return F.pad(w.view(-1, h, 3, h).transpose(1, 2), (0, size - h, 0, size - h)).contiguous().float()


class Gru(torch.autograd.Function):
    """Runs GRUs from h = 0. Returns B x T x P x H. gi: B x T x P x 3H (from the input: reset, update, candidate), w: zones x H x 3H, bn: zones x H.
    `ends` has each zone's first row of P and its end, `rows` the same as a tensor."""
    @staticmethod
    def kernel(gi, w, bn, rows, ends):
        """Returns grid, weights and sizes: the arguments of both kernels."""
        (B, T, P), H = gi.shape[:3], w.shape[1]
        bh = max(16, triton.next_power_of_2(H))
        block = 32 if B * P > 2000 * len(w) else 16
        most = max(b - a for a, b in ends)
        return (triton.cdiv(B * most, block), len(w)), padded(w, bh), F.pad(bn.float(), (0, bh - H)).contiguous(), (rows, B, T, P, H, bh, block)

    @staticmethod
    def forward(ctx, gi, w, bn, rows, ends):
        gi = gi.contiguous()
        grid, wide, bias, sizes = Gru.kernel(gi, w, bn, rows, ends)
        out = torch.empty(*gi.shape[:3], w.shape[1], device=gi.device, dtype=gi.dtype)
        gru_forward[grid](gi, wide, bias, out, *sizes, num_warps=4)
        ctx.save_for_backward(gi, w, bn, out, rows)
        ctx.ends = ends
        return out

    @staticmethod
    def backward(ctx, dout):
        gi, w, bn, out, rows = ctx.saved_tensors
        H = w.shape[1]
        grid, wide, bias, sizes = Gru.kernel(gi, w, bn, rows, ctx.ends)
        dgi, q = torch.empty_like(gi), torch.empty_like(out)
        gru_backward[grid](gi, wide, wide.transpose(2, 3).contiguous(), bias, out, dout.contiguous().to(out.dtype), dgi, q, *sizes, num_warps=4)
        dw, dbn = [], []
        for a, b in ctx.ends:
            before, late, late_q = out[:, :-1, a:b].reshape(-1, H), dgi[:, 1:, a:b].reshape(-1, 3 * H), q[:, 1:, a:b].reshape(-1, H)
            dw.append(torch.cat([before.T @ late[:, :2 * H], before.T @ late_q], 1)); dbn.append(q[:, :, a:b].float().sum((0, 1, 2)))
        return dgi, torch.stack(dw).to(w.dtype), torch.stack(dbn).to(bn.dtype), None, None


def by_zone(x, matrices, ends):
    """Multiplies each row of x (.. x rows x I) by the matrix (I x J) of its zone."""
    return torch.cat([x[..., a:b, :] @ matrix for matrix, (a, b) in zip(matrices, ends)], -2)


# ---------------------------------------------------------------- sound -> features

class Features(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        at, hz, decay = centres(1 + config["sharp"])
        p = np.exp((-decay + 2j * np.pi * hz) / RATE)
        g, k = 1 - np.abs(p), np.arange(BLOCK)[:, None]
        c1 = g * p ** (BLOCK - 1 - k)
        c2 = (BLOCK - k) * g ** 2 * p ** (BLOCK - 1 - k)
        q, w = p ** BLOCK, BLOCK * g * p ** BLOCK
        tensor = lambda *x: torch.tensor(np.concatenate(x, -1), dtype=torch.float32)
        self.register_buffer("kernel", tensor(c1.real, c1.imag, c2.real, c2.imag), False)
        self.register_buffer("step", tensor(q.real, q.imag, w.real, w.imag), False)
        self.register_buffer("octave", torch.tensor((at - LOWEST) / 12, dtype=torch.float32), False)
        self.count = len(at)
        self.per = 3 * (1 + config["sharp"])

    def bank(self, sound):
        """Filters sound, B x (T BLOCK). Returns the states, B x T x 4 x D: s1, s2, real and imaginary parts."""
        B, D = sound.shape[0], self.count
        frames = sound.view(B, -1, BLOCK)
        fast = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = False
        c = frames @ self.kernel
        torch.backends.cuda.matmul.allow_tf32 = fast
        T = c.shape[1]
        s = torch.empty_like(c)
        scan_kernel[(B, triton.cdiv(D, 64))](c, s, self.step, T, D, 64, num_warps=2)
        return s.view(B, T, 4, D)

    def reference(self, total):
        up, down = 1 - math.exp(-PERIOD / 0.05), 1 - math.exp(-PERIOD / 3.0)
        out = torch.empty_like(total)
        reference_kernel[(triton.cdiv(len(total), 16),)](total.contiguous(), out, *total.shape, up, down, QUIETEST, 16, num_warps=1)
        return out

    @torch.no_grad()
    def forward(self, sound, gain=None):
        """Returns the features, B x T x 87 x per, of sound, B x 2 x (T BLOCK): means over both channels. gain: B x D, logarithm of an equaliser's power."""
        B = sound.shape[0]
        s1r, s1i, s2r, s2i = self.bank(sound.flatten(0, 1)).unflatten(0, (B, 2)).unbind(3)
        square = (s2r ** 2 + s2i ** 2).mean(1) + 1e-20
        power = 2 * square
        if gain is not None: power = power * gain.exp()[:, None]
        reference = self.reference(power[..., :DETECTORS].sum(-1).clamp_min(QUIETEST))
        u = ((power / reference[..., None] + FLOOR).log() - math.log(FLOOR)) / 4
        shape = lambda x: x.view(*x.shape[:2], 1 + self.config["sharp"], DETECTORS)
        sure = u.clamp_max(1)
        shift = ((s1i * s2r - s1r * s2i).mean(1) / square).clamp(-2, 2) * sure
        growth = ((s1r * s2r + s1i * s2i).mean(1) / square - 1).clamp(-2, 2) * sure
        return torch.stack([shape(u), shape(shift), shape(growth)], 3).permute(0, 1, 4, 2, 3).flatten(3)       # position, (bank, feature)


# ---------------------------------------------------------------- network

def ends_of(starts, rows):
    """Returns the first row and the end of each zone. `starts`: first rows of all zones except the lowest."""
    return tuple(zip((0, *starts), (*starts, rows)))


class Band(nn.Module):
    """A layer with the same weights at every position of a zone: out[q] = bias[q] + sum over offsets o of in[q + base + o] @ weight[zone of q][o]; 0 beyond the ends.
    Computed as one dense product."""
    def __init__(self, offsets, inputs, outputs, rows_in, rows_out, base, zones, scale=2.0):
        super().__init__()
        ends = ends_of(zones, rows_out)
        self.weight = nn.Parameter((torch.randn(len(offsets), inputs, outputs) * math.sqrt(scale / (len(offsets) * inputs))).repeat(len(ends), 1, 1, 1))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.place = nn.Parameter(torch.zeros(rows_out, outputs))
        mask = torch.zeros(len(ends), len(offsets), rows_in, rows_out)
        for r, (a, b) in enumerate(ends):
            for k, o in enumerate(offsets):
                for q in range(a, b):
                    if 0 <= q + base + o < rows_in: mask[r, k, q + base + o, q] = 1
        self.register_buffer("mask", mask, False)
        self.cost = rows_out * len(offsets) * inputs * outputs

    def forward(self, x):
        i, c = self.weight.shape[2:]
        with torch.autocast("cuda", enabled=False):
            dense = torch.einsum("ropq,roic->piqc", self.mask, self.weight).reshape(self.mask.shape[2] * i, self.mask.shape[3] * c)
        return x @ dense.to(x.dtype) + (self.bias + self.place).flatten().to(x.dtype)


class Each(nn.Module):
    """Multiplies each row by the matrix of its zone."""
    def __init__(self, inputs, outputs, rows, zones):
        super().__init__()
        self.ends = ends_of(zones, rows)
        self.weight = nn.Parameter((torch.randn(inputs, outputs) / math.sqrt(inputs)).repeat(len(self.ends), 1, 1))
        self.cost = rows * inputs * outputs

    def forward(self, x):
        return by_zone(x, self.weight.to(x.dtype), self.ends)


class Cell(nn.Module):
    """A GRU with the same weights for each row of a zone."""
    def __init__(self, inputs, hidden, rows, zones=()):
        super().__init__()
        self.ends = ends_of(zones, rows)
        n = len(self.ends)
        self.register_buffer("rows", torch.tensor([0, *zones, rows], dtype=torch.int32), False)
        self.input = nn.Parameter((torch.randn(inputs, 3 * hidden) / math.sqrt(inputs)).repeat(n, 1, 1))
        w = torch.cat([torch.linalg.qr(torch.randn(hidden, hidden))[0] * 0.7 for _ in range(3)], 1)
        self.hidden = nn.Parameter(w.repeat(n, 1, 1))
        bias = torch.zeros(3 * hidden); bias[hidden:2 * hidden] = torch.linspace(-1, 3, hidden)
        self.bias, self.bn = nn.Parameter(bias.repeat(n, 1)), nn.Parameter(torch.zeros(n, hidden))
        self.cost = rows * 3 * hidden * (inputs + hidden)

    def forward(self, x):
        w, bias = self.input.to(x.dtype), self.bias.to(x.dtype)
        gi = torch.cat([x[:, :, a:b] @ w[r] + bias[r] for r, (a, b) in enumerate(self.ends)], 2)
        return Gru.apply(gi, self.hidden, self.bn, self.rows, self.ends)


class Network(nn.Module):
    def __init__(self, config):
        super().__init__()
        k = self.config = {**SHAPE, **config}
        self.features = Features(k)
        per, c1, c, g, out = self.features.per, k["c1"], k["c"], k["g"], len(OUTPUTS)
        base, zones = FIRST - LOWEST, k["zones"]
        self.near = Band(k["near"], per * len(k["lags"]), c1, DETECTORS, DETECTORS, 0, k["near_zones"])
        self.harmonic = Band(k["harmonic"], c1, c, DETECTORS, NOTES, base, zones)
        self.whole_in = nn.Linear(2 * c, g)
        self.whole = Cell(g, g, 1)
        self.first = Cell(c, c, NOTES, zones)
        self.mix = Band(k["mix"], c, c, NOTES, NOTES, 0, zones, 1.0)
        self.skip = Each(c, c, NOTES, zones)
        self.whole_mix = nn.Linear(g, c, bias=False)
        self.second = Cell(c, c, NOTES, zones)
        self.head = Band(k["head"], c, out, NOTES, NOTES, 0, zones, 0.3)
        self.direct = Each(c, out, NOTES, zones)
        self.whole_out = nn.Linear(g, out, bias=False)
        with torch.no_grad(): self.head.bias.copy_(torch.tensor([-2.0, -2.0, -3.0, -3.0]))

    def cost(self):
        """Returns the multiply-adds per frame of network and detectors (608 each by the chunked recursion of crates/listener)."""
        own = sum(m.cost for m in self.modules() if isinstance(m, (Band, Cell, Each)))
        return own + sum(m.weight.numel() for m in self.modules() if isinstance(m, nn.Linear)), 608 * self.features.count

    def forward(self, x):
        """Returns logits, B x T x 80 x 4. x: features, B x T x 87 x per."""
        B, T = x.shape[:2]
        x = torch.cat([F.pad(x, (0, 0, 0, 0, lag, 0))[:, :T] for lag in self.config["lags"]], 3).flatten(2)
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            with torch.autocast("cuda", enabled=False): a = torch.relu(self.near(x))
            a = torch.relu(self.harmonic(a.to(torch.bfloat16))).view(B, T, NOTES, -1)
            pooled = torch.cat([a.mean(2), a.amax(2)], 2)
            w = self.whole(torch.relu(self.whole_in(pooled))[:, :, None])[:, :, 0]
            h = self.first(a)
            m = torch.relu(self.mix(h.flatten(2)).view(B, T, NOTES, -1) + self.skip(a) + self.whole_mix(w)[:, :, None])
            h = self.second(m)
            return (self.head(h.flatten(2)).view(B, T, NOTES, -1) + self.direct(m) + self.whole_out(w)[:, :, None]).float()
