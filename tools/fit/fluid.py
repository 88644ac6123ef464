"""Plays lists of events by FluidSynth's library and one soundfont."""
import ctypes
import numpy as np
from events import BEND, CONTROL, OFF, ON, PROGRAM

RATE = 44100


class Fluid:
    def __init__(self, font, library="libfluidsynth.so.3", gain=0.5):
        f = self.f = ctypes.CDLL(library)
        for name in ("new_fluid_settings", "new_fluid_synth"): getattr(f, name).restype = ctypes.c_void_p
        p, d, i = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
        f.new_fluid_synth.argtypes = [p]
        f.fluid_settings_setnum.argtypes = [p, ctypes.c_char_p, d]
        f.fluid_synth_sfload.argtypes = [p, ctypes.c_char_p, i]
        for name in ("noteon", "cc"): getattr(f, "fluid_synth_" + name).argtypes = [p, i, i, i]
        for name in ("noteoff", "program_change", "pitch_bend"): getattr(f, "fluid_synth_" + name).argtypes = [p, i, i]
        f.fluid_synth_system_reset.argtypes = [p]
        f.fluid_synth_set_reverb_on.argtypes = f.fluid_synth_set_chorus_on.argtypes = [p, i]
        f.fluid_synth_set_reverb.argtypes = [p, d, d, d, d]
        f.fluid_synth_write_float.argtypes = [p, i, p, i, i, p, i, i]
        f.fluid_set_log_function.argtypes = [i, p, p]
        for level in range(5): f.fluid_set_log_function(level, None, None)
        settings = f.new_fluid_settings()
        f.fluid_settings_setnum(settings, b"synth.sample-rate", RATE)
        f.fluid_settings_setnum(settings, b"synth.gain", gain)
        self.synth = f.new_fluid_synth(settings)
        if f.fluid_synth_sfload(self.synth, font.encode(), 1) < 0: raise RuntimeError("cannot load " + font)

    def render(self, events, seconds, reverb=None, chorus=True):
        """Plays sorted events. `reverb`: None for the default, False, or (room, damping, width, level). Returns 2 x samples at RATE."""
        f, s = self.f, self.synth
        f.fluid_synth_system_reset(s)
        f.fluid_synth_set_reverb_on(s, int(reverb is not False))
        f.fluid_synth_set_reverb(s, *(reverb or (0.2, 0.0, 0.5, 0.9)))
        f.fluid_synth_set_chorus_on(s, int(chorus))
        n, now = int(seconds * RATE), 0
        out = np.zeros((2, n), np.float32)
        left, right = out[0].ctypes.data, out[1].ctypes.data
        for t, kind, channel, a, b in events:
            at = min(n, int(t * RATE) // 64 * 64)
            if at > now:
                f.fluid_synth_write_float(s, at - now, left, now, 1, right, now, 1)
                now = at
            if kind == ON: f.fluid_synth_noteon(s, channel, a, b)
            elif kind == OFF: f.fluid_synth_noteoff(s, channel, a)
            elif kind == CONTROL: f.fluid_synth_cc(s, channel, a, b)
            elif kind == PROGRAM: f.fluid_synth_program_change(s, channel, a)
            elif kind == BEND: f.fluid_synth_pitch_bend(s, channel, b + 8192)
        if now < n: f.fluid_synth_write_float(s, n - now, left, now, 1, right, now, 1)
        return out
