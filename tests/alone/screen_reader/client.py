"""A screen reader without a voice: an AT-SPI client in pyatspi that knows nothing of the plugin.

Reads commands from standard input, one JSON object per line, and answers each with a line of JSON. DBUS_SESSION_BUS_ADDRESS names
the session bus. The first argument is the name of the program to read.
"""

import json
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib

PATIENCE = 60.0
# Timeouts in milliseconds, for calls and for the start of programs. A busy machine takes longer than the usual second. A program that
# leaves the bus during a call may never answer the call, which must not use up the patience.
Atspi.set_timeout(10_000, 60_000)

import pyatspi

announced = []


def switch(on):
    """Tells all programs whether a screen reader is active, as a desktop does."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    arguments = GLib.Variant("(ssv)", ("org.a11y.Status", "IsEnabled", GLib.Variant("b", on)))
    bus.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.freedesktop.DBus.Properties", "Set", arguments, None, 0, -1, None)


def pump():
    while GLib.MainContext.default().iteration(False):
        pass


def wait(find):
    """Calls `find` until its result is not None, and returns the result. Ends the program after PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        pump()
        try:
            found = find()
        except GLib.Error:
            # The tree has changed during the read.
            found = None
        if found is not None:
            return found
        time.sleep(0.02)
    raise SystemExit(f"nothing found within {PATIENCE} s")


def fresh(node):
    """Returns `node` without its cached values. AT-SPI's cache misses changes between its first look and its first event."""
    node.clear_cache()
    return node


def frames(program):
    """Returns the windows of `program` that have content."""
    applications = [one for one in fresh(pyatspi.Registry.getDesktop(0)) if one and one.name == program]
    windows = [window for one in applications for window in fresh(one) if window]
    return [window for window in windows if fresh(window).childCount > 1]


def frame(program):
    return next(iter(frames(program)), None)


def windows(program):
    return [window.name for window in frames(program)]


def nodes(node):
    yield node
    for index in range(node.childCount):
        child = node.getChildAtIndex(index)
        if child:
            yield from nodes(child)


def description(node):
    return {
        "role": role_of(node),
        "name": node.name,
        "description": node.description,
        "checked": pyatspi.STATE_CHECKED in node.getState().getStates(),
    }


def role_of(node):
    # Before 2.53, AT-SPI called a button "push button".
    return node.getRoleName().replace("push button", "button")


def named(window, role, name):
    return next((node for node in nodes(window) if role_of(node) == role and node.name == name), None)


def main(program):
    listener = lambda event: announced.append(str(event.any_data))
    pyatspi.Registry.registerEventListener(listener, "object:announcement")
    for line in sys.stdin:
        command = json.loads(line)
        do, answer = command["do"], None
        if do == "switch":
            switch(command["on"])
        elif do == "windows":
            answer = wait(lambda: windows(program) if len(windows(program)) == command["count"] else None)
        elif do == "tree":
            answer = wait(lambda: [description(node) for node in nodes(window)] if (window := frame(program)) else None)
        elif do == "announced":
            answer = wait(lambda: True if command["text"] in announced else None) and announced
        else:
            find = lambda: named(window, command["role"], command["name"]) if (window := frame(program)) else None
            node = wait(find)
            if do == "set":
                node.queryValue().currentValue = command["value"]
                answer = wait(lambda: True if abs(node.queryValue().currentValue - command["value"]) < 1e-3 else None)
            elif do == "press":
                answer = node.queryAction().doAction(0)
            elif do == "focus":
                answer = node.queryComponent().grabFocus()
            elif do == "await":
                field, text = command["field"], command["text"]
                answer = wait(lambda: found if text in str((found := description(find()))[field]) else None)
        print(json.dumps(answer), flush=True)


main(sys.argv[1])
