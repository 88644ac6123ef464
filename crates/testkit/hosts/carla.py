"""Carla's engine with one plugin on JACK: carla.py LIBRARY TYPE FILE. Runs each line of standard input as Python."""

import ctypes
import os
import select
import sys

library, kind, path = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
carla = ctypes.CDLL(library)
carla.carla_standalone_host_init.restype = ctypes.c_void_p
carla.carla_get_last_error.restype = ctypes.c_char_p
carla.carla_get_parameter_info.restype = ctypes.POINTER(ctypes.c_char_p)
host = ctypes.c_void_p(carla.carla_standalone_host_init())
RACK, BINARIES, POSIX64 = (1, 2), 20, 2


def call(name, *args):
    function = getattr(carla, f"carla_{name}")
    function.restype = function.restype if function.restype is not ctypes.c_int else ctypes.c_bool
    result = function(host, *args)
    assert result or name[:3] in ("set", "sho", "eng"), (name, carla.carla_get_last_error(host))
    return result


def set_parameter(name, value):
    names = [call("get_parameter_info", 0, index)[0] for index in range(carla.carla_get_parameter_count(host, 0))]
    carla.carla_set_parameter_value(host, 0, names.index(name.encode()), ctypes.c_float(value))


call("set_engine_option", *RACK, b"")
call("set_engine_option", BINARIES, 0, os.path.dirname(library).encode())
assert call("engine_init", b"JACK", b"carla"), carla.carla_get_last_error(host)
call("add_plugin", POSIX64, kind, path, b"", b"", ctypes.c_int64(0), None, 0)
print("loaded", flush=True)
while True:
    carla.carla_engine_idle(host)
    if select.select([sys.stdin], [], [], 0.02)[0]:
        exec(sys.stdin.readline() or "sys.exit()")
        print("done", flush=True)
