#!/bin/sh
# Runs the plugin in jalv on a JACK server of its own without devices, loads a preset, sets Mix, and records the plugin's output
# for a sine in OUTPUT: jack.sh URI PRESET LOG OUTPUT
set -eu
uri="$1"
preset="$2"
log="$3"
output="$4"
export JACK_DEFAULT_SERVER="tone-filter-$$" JACK_NO_START_SERVER=1 JACK_NO_AUDIO_RESERVATION=1

commands="$(mktemp -u)"
mkfifo "$commands"
jobs=""
trap 'kill $jobs 2>/dev/null || true; sleep 1; kill -KILL $jobs 2>/dev/null || true; rm -f "$commands"' EXIT
trap 'exit 1' INT TERM

# Waits up to a minute until JACK has the port $1.
await() {
    tries=0
    until jack_lsp 2>/dev/null | grep -q "^$1$"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 120 ]; then
            echo "JACK has no port $1" >&2
            exit 1
        fi
        sleep 0.5
    done
}

# Long blocks, so that a busy computer misses none.
jackd --name "$JACK_DEFAULT_SERVER" --no-realtime --timeout 10000 --no-mlock \
    -d dummy --rate 44100 --period 8192 >/dev/null 2>&1 &
jobs="$!"
await system:playback_1
jalv -x -n tone-filter "$uri" <"$commands" >"$log" 2>&1 &
jalv="$!"
jobs="$jobs $jalv"
# Open as long as jalv is to run.
exec 3>"$commands"
await tone-filter:out_2
jack_simple_client sine "$JACK_DEFAULT_SERVER" 3>&- >/dev/null 2>&1 &
jobs="$jobs $!"
await sine:output1
# jalv knows presets only after it has listed them.
echo "presets" >&3
sleep 2
echo "preset $preset" >&3
sleep 2
echo "mix = 100" >&3
sleep 2
echo "controls" >&3
jack_connect sine:output1 tone-filter:in_1
jack_connect sine:output2 tone-filter:in_2
jack_rec -f "$output" -d 2 -b 32 tone-filter:out_1 tone-filter:out_2 >/dev/null 2>&1
exec 3>&-
wait "$jalv"
