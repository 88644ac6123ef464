"""Trains listeners of several sizes at once on what render.py writes, while it writes.

usage: train.py DATA_FOLDER OUT_FOLDER NET .. --seconds S [--batch 48] [--length 690] [--capacity 30000] [--rate 2e-3] [--rank R --ranks N]
NET: NAME=SIZE[-WITHOUT][=INIT]: full=full, light=light=light.npz, plain=light-3; INIT: an .npz of weights to start from

All nets get the same parts of 8 s, in the last third of the time 16 s; each learns on a stream of its own, as a CUDA graph. A net with -WITHOUT learns
nothing from files with these sources (render.py: 1 recorded notes, 2 singing). The learning rate is a cosine over the S seconds. DATA_FOLDER's chunks are
deleted once they are on the device. N processes, one for each device with a DATA_FOLDER of its own, learn together: every ten steps their weights and
their optimisers' moments become the mean of all, on the CPU (MASTER_ADDR and MASTER_PORT say where they meet). The first process keeps the clock and
writes, every --every seconds and at the end: OUT_FOLDER/NAME.npz (pack.py), averaged weights with thresholds chosen by the validation songs, and a line of
JSON in NAME.log.
"""
import argparse, glob, json, math, os, threading, time
import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
import choose, pack
from events import AHEAD, FIRST, HELD, NOTES, ONSET
from model import BLOCK, SIZES, Network

FRAMES = 3445
WARM = 80                                   # frames before the loss counts
LOW, LOW_WEIGHT, LOW_F1 = 57 - FIRST, 1.6, 0.35      # the notes below A3: weight in the cross entropy, and of an F1 of their own
KEEP = 0.998                                # factor on the averaged weights in each step; the new weights get the rest
SHARE = 10                                  # number of steps after which the processes take the mean of their weights


class Data:
    """Sounds and labels on the device. Loads new files as they appear."""
    def __init__(self, folder, capacity):
        self.folder, self.count, self.capacity = folder, 0, capacity
        self.sound = torch.empty(capacity, 2, FRAMES * BLOCK, dtype=torch.int16, device="cuda")
        self.label = torch.empty(capacity, AHEAD + FRAMES + 2, NOTES, dtype=torch.uint8, device="cuda")
        self.sources = torch.zeros(capacity, dtype=torch.uint8, device="cuda")
        self.stream, self.lock = torch.cuda.Stream(), threading.Lock()          # held during a transfer, and while a graph is captured

    def load(self):
        for path in sorted(glob.glob(self.folder + "/chunk-*[0-9].npz"), key=os.path.getmtime):
            if self.count >= self.capacity: return
            with np.load(path) as z: sound, label, sources = z["sound"], z["labels"], z["sources"]
            n = min(len(sound), self.capacity - self.count)
            with self.lock, torch.cuda.stream(self.stream):
                self.sources[self.count:self.count + n] = torch.from_numpy(sources[:n]).cuda()
                self.sound[self.count:self.count + n] = torch.from_numpy(sound[:n]).cuda()
                self.label[self.count:self.count + n] = torch.from_numpy(label[:n]).cuda()
                self.stream.synchronize()
            self.count += n
            os.unlink(path)

    def watch(self):
        while self.count < self.capacity:
            self.load()
            time.sleep(0.5)

    def batch(self, size, length):
        """Draws a batch: sound B x 2 x (length BLOCK) in about +-1, labels from AHEAD frames before to 1 frame after, sources."""
        rand = lambda *shape: torch.rand(*shape, device="cuda")
        def pick():
            k = torch.randint(self.count, (size,), device="cuda")
            at = torch.randint(FRAMES - length + 1, (size,), device="cuda")
            at = torch.where(rand(size) < 0.15, torch.zeros_like(at), at)
            samples, frames = at[:, None] * BLOCK + torch.arange(length * BLOCK, device="cuda"), at[:, None] + torch.arange(AHEAD + length + 1, device="cuda")
            return self.sound[k[:, None, None], torch.arange(2, device="cuda")[:, None], samples[:, None]].float() / 32768, self.label[k[:, None], frames], self.sources[k]
        x, y, s = pick()
        x2, y2, s2 = pick()                                                       # some are two files at once
        n = max(1, size // 10)
        x[:n] += x2[:n] * (0.2 + 0.8 * rand(n, 1, 1))
        y[:n] |= y2[:n]
        s[:n] |= s2[:n]
        x = torch.where(rand(size, 1, 1) < 0.3, x.mean(1, keepdim=True), x)     # mono
        scale = x.std((1, 2), keepdim=True) * 10 ** (-(15 + 45 * rand(size, 1, 1)) / 20)
        noise = torch.randn_like(x)
        noise = torch.where(rand(size, 1, 1) < 0.5, noise[:, :1], noise)        # in both channels the same, or not
        smooth = F.avg_pool1d(F.pad(noise.flatten(0, 1)[:, None], (7, 8)), 16, 1)[:, 0, :x.shape[2]].view_as(x) * 4
        return x + torch.where(rand(size, 1, 1) < 0.25, scale * torch.where(rand(size, 1, 1) < 0.5, smooth, noise), 0.0), y, s


def equaliser(octave, size):
    """Draws an equaliser: log power of a random tilt, for some also of two bells."""
    r = lambda: torch.randn(size, 1, device="cuda")
    gain = 0.5 * r() * (octave - 3.6)
    for _ in range(2): gain = gain + 0.9 * r() * torch.exp(-0.5 * ((octave - 7.2 * torch.rand(size, 1, device="cuda")) / (0.3 + 1.2 * torch.rand(size, 1, device="cuda"))) ** 2)
    return gain * (torch.rand(size, 1, device="cuda") < 0.5)


def recent(onset, first, last):
    """Returns whether there was an onset from `first` to `last` frames ago (0: now). onset: B x T x N (float)."""
    x = onset.transpose(1, 2)
    y = F.max_pool1d(F.pad(x, (last, 0)), last - first + 1, 1)
    return y[..., :x.shape[2]].transpose(1, 2)


def targets(y, length):
    """Returns targets and weights, B x length x N x 4. y: labels, B x (AHEAD + length + 1) x N. Decision k is about frame k + 1, or k - 3."""
    held, onset = (y & HELD).float(), (y & ONSET).float() / ONSET
    now, late = slice(AHEAD + 1, AHEAD + 1 + length), slice(AHEAD - 3, AHEAD - 3 + length)
    r6, r3, age = recent(onset, 0, 5), recent(onset, 0, 2), recent(onset, 2, 9)
    after = slice(AHEAD - 2, AHEAD - 2 + length)                             # onset within one frame of the frame meant
    t = torch.stack([held[:, now], held[:, late], r6[:, now], r3[:, after]], 3)
    w = torch.stack([1 + 0.5 * age[:, now] * held[:, now], 1 + 0.5 * age[:, late] * held[:, late], torch.full_like(t[..., 0], 0.25), torch.full_like(t[..., 0], 0.25)], 3)
    w[:, :, :LOW] *= LOW_WEIGHT
    return t, w


def loss_of(z, t, w, use):
    """Computes the loss of a batch. `use`: for each of the B parts, 1 if it counts, otherwise 0."""
    z, t, w = z[:, WARM:], t[:, WARM:], w[:, WARM:]
    item = use[:, None, None, None]
    count = (t[..., :2] * item).sum() / 2 + 100
    cross = (F.binary_cross_entropy_with_logits(z, t, reduction="none") * w * item).sum() / count
    p, y = torch.sigmoid(z[..., :2]), t[..., :2]
    both, sums = (p * y).sum(1), (p + y).sum(1)                              # parts x notes x 2
    missed = lambda notes, least: ((1 - (2 * both[:, notes].sum(1) + least) / (sums[:, notes].sum(1) + least)).mean(1) * use).sum() / use.sum().clamp_min(1)
    f1 = missed(slice(None), 10) + LOW_F1 * missed(slice(LOW), 60)
    still = (y[:, 1:] == y[:, :-1]) * item
    flicker = ((p[:, 1:] - p[:, :-1]).abs() * still).sum() / count
    return cross + 0.7 * f1 + 0.2 * flicker, (cross.detach(), f1.detach(), flicker.detach())


class Learner:
    """A net with its optimiser, averaged weights, stream and graphs."""
    def __init__(self, spec, args):
        self.name, size, init = (spec.split("=") + [""])[:3]
        size, _, without = size.partition("-")
        self.without, self.net = int(without or 0), Network(SIZES[size]).cuda()
        if init: self.net.load_state_dict(pack.state(init))
        self.rate = torch.zeros((), device="cuda")
        groups = [{"params": [p for n, p in self.net.named_parameters() if n.endswith("place") == place], "weight_decay": 0.3 if place else 0.01} for place in (False, True)]
        self.optimiser = torch.optim.AdamW(groups, lr=self.rate, betas=(0.9, 0.99), capturable=True)
        self.own = self.net.state_dict()                                       # its own tensors
        self.mean = {k: v.detach().clone() for k, v in self.own.items()}
        self.stream = torch.cuda.Stream()
        self.sums, self.path, self.began, self.graphs, self.pool, self.steps = [], f"{args.out}/{self.name}", bool(init), {}, None, 0

    def learn(self, x, t, w, sources):
        loss, parts = loss_of(self.net(x), t, w, ((sources & self.without) == 0).float())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()
        return torch.stack([loss.detach(), *parts])

    def step(self, k, rate, given, lock):
        """Makes a step with the tensors `given`, which must be the same objects for a shape every time. The first three steps of a shape warm up, then its
        graph is captured."""
        self.rate.fill_(rate)
        shape = given[0].shape
        known = self.graphs.get(shape, 0)
        if not isinstance(known, int):
            known[0].replay()
            parts = known[1]
        elif known < 3:
            self.optimiser.zero_grad(set_to_none=True)
            parts = self.learn(*given)
            self.graphs[shape] = known + 1
        else:
            with lock:
                torch.cuda.synchronize()
                self.optimiser.zero_grad(set_to_none=True)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=self.pool, stream=self.stream): parts = self.learn(*given)
                self.pool, self.graphs[shape] = graph.pool(), (graph, parts)
                graph.replay()
        keep = KEEP if self.began else min(KEEP, 1 - 1 / (k + 1))
        with torch.no_grad(): torch._foreach_lerp_(list(self.mean.values()), list(self.own.values()), 1 - keep)
        if k % 20 == 0: self.sums.append(parts.clone())

    @torch.no_grad()
    def share(self, ranks):
        """Replaces weights, averaged weights and moments by their means over all processes."""
        state = self.optimiser.state.values()
        tensors = [*self.own.values(), *self.mean.values(), *(s[k] for s in state for k in ("exp_avg", "exp_avg_sq"))]
        flat = torch.cat([t.flatten() for t in tensors]).cpu()
        dist.all_reduce(flat)
        for t, part in zip(tensors, (flat / ranks).split([t.numel() for t in tensors])): t.copy_(part.view_as(t))

    def report(self, args, line):
        torch.cuda.synchronize()
        line["loss"] = [round(v, 4) for v in torch.stack(self.sums).mean(0).tolist()] if self.sums else None
        self.sums, decide = [], [-0.1, 0.4, 0.0, 0.1, 0.4, -0.5]
        if os.path.exists(args.data + "/valid.npz") and not self.without:
            judged = Network(self.net.config).cuda()
            judged.load_state_dict(self.mean)
            line["valid"], decide = choose.by_validation(judged, args.data + "/valid.npz")
        pack.save(self.path + ".tmp.npz", self.net.config, self.mean, decide)
        os.replace(self.path + ".tmp.npz", self.path + ".npz")
        with open(self.path + ".log", "a") as f: f.write(json.dumps(line) + "\n")
        print(self.name, json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data"); parser.add_argument("out"); parser.add_argument("nets", nargs="+"); parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--batch", type=int, default=48); parser.add_argument("--length", type=int, default=690); parser.add_argument("--capacity", type=int, default=30000)
    parser.add_argument("--rate", type=float, default=2e-3); parser.add_argument("--every", type=float, default=120); parser.add_argument("--start", type=int, default=200)
    parser.add_argument("--rank", type=int, default=0); parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--long", type=float, default=0.65, help="from this part of the time on, half as many parts twice as long")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    if args.ranks > 1: dist.init_process_group("gloo", rank=args.rank, world_size=args.ranks)
    os.makedirs(args.out, exist_ok=True)
    start, data = time.time(), Data(args.data, args.capacity)
    learners = [Learner(spec, args) for spec in args.nets]
    torch.manual_seed(args.rank)
    while data.count < min(args.start, data.capacity): data.load(); time.sleep(0.2)
    threading.Thread(target=data.watch, daemon=True).start()
    for l in learners: print(l.name, l.net.config, sum(p.numel() for p in l.net.parameters()), "weights", l.net.cost(), "multiply-adds", flush=True)
    print(f"{data.count} files after {time.time() - start:.0f} s", flush=True)
    line = lambda: {"s": round(time.time() - start), "step": step, "files": data.count}
    step, told, shapes = 0, time.time(), {}
    while True:
        if args.ranks == 1 or step % SHARE == 0:
            done = torch.tensor((time.time() - start) / args.seconds, dtype=torch.float64)
            if args.ranks > 1: dist.broadcast(done, 0)
            done = done.item()
        if done >= 1: break
        rate = args.rate * min(1, (step + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * done))
        size, length = (args.batch // 2, 2 * args.length) if done >= args.long or 30 <= step < 40 else (args.batch, args.length)      # the second graph is rehearsed early
        x, y, sources = data.batch(size, length)
        t, w = targets(y, length)
        features = learners[0].net.features
        fresh = features(x, equaliser(features.octave, size)), t, w, sources
        here = torch.cuda.current_stream()
        for l in learners: here.wait_stream(l.stream)
        given = shapes.setdefault(length, fresh)
        for old, new in zip(given, fresh): old.copy_(new)
        for l in learners: l.stream.wait_stream(here)
        for l in learners:
            with torch.cuda.stream(l.stream): l.step(step, rate, given, data.lock)
        step += 1
        if step % SHARE == 0:
            torch.cuda.synchronize()                     # not too far ahead of the clock
            if args.ranks > 1:
                for l in learners: l.share(args.ranks)
        if step % 500 == 0: print(f"step {step} at {time.time() - start:.0f} s, {data.count} files", flush=True)
        if args.rank == 0 and time.time() - told > args.every:
            for l in learners: l.report(args, line())
            told = time.time()
    if args.rank == 0:
        for l in learners: l.report(args, line())
    print(f"{torch.cuda.max_memory_reserved() / 2 ** 30:.1f} GiB", flush=True)


if __name__ == "__main__": main()
