#!/bin/sh
# Runs the README's commands in a minimal Debian of the given SUITE, such as bookworm, with the packages that the README names and
# this computer's Rust. Prints the CPU time that demo, and demo and test together, have taken. Needs root, mmdebstrap and rustup.
set -eu
suite=$1
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null || ! command -v rustup >/dev/null; then
    echo "needs root, mmdebstrap and rustup" >&2
    exit 3
fi
system=$(mktemp -d)
trap 'rm -rf "$system"' EXIT
mmdebstrap --variant=minbase --include=ca-certificates,git,build-essential "$suite" "$system"
mkdir -p "$system/root/.rustup" "$system/root/.cargo"
cp -a "$(dirname "$(command -v rustup)")" "$system/root/.cargo/bin"
cp /etc/resolv.conf /etc/hosts "$system/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
git clone -q . "$system/root/tone-filter"
# The mounts end with this command, before the folder is deleted.
unshare --mount sh -euc '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    mount --bind -o ro "$1" "$0/root/.rustup"
    exec chroot "$0" env -i HOME=/root PATH=/root/.cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -euxc "$2"
' "$system" "$(rustup show home)" '
    apt-get update -q
    cd /root/tone-filter
    cargo xtask demo
    times
    cargo xtask test
    times
    cargo xtask install
    cargo install --locked --path crates/cli
    tone-filter render target/demo/dry.wav -o /tmp/wet.wav
    cargo xtask package --release
    apt-get install -y ./target/package/*.deb
    /usr/bin/tone-filter --version
    python3 -m venv /tmp/python
    /tmp/python/bin/pip install -q target/package/*.whl
    /tmp/python/bin/python -c "import tone_filter; print(tone_filter.presets())"
    npm install --prefix /tmp/npm target/package/tone-filter-[0-9]*.tgz'
