#!/bin/sh
# Signs the installer $1 with the maintainers' Developer ID and has Apple notarise it. Needs the variables CERTIFICATE (a
# .p12 file in base64), CERTIFICATE_PASSWORD, APPLE_ID, APPLE_PASSWORD and APPLE_TEAM.
set -eu
keychain=$(mktemp -u).keychain
secret=$(openssl rand -hex 16)
printf %s "$CERTIFICATE" | base64 --decode > "$keychain.p12"
security create-keychain -p "$secret" "$keychain"
security unlock-keychain -p "$secret" "$keychain"
security import "$keychain.p12" -k "$keychain" -P "$CERTIFICATE_PASSWORD" -T /usr/bin/productsign
security set-key-partition-list -S apple-tool:,apple: -k "$secret" "$keychain"
rm "$keychain.p12"
productsign --keychain "$keychain" --sign "$APPLE_TEAM" "$1" "$1.signed"
mv "$1.signed" "$1"
security delete-keychain "$keychain"
xcrun notarytool submit "$1" --wait --apple-id "$APPLE_ID" --password "$APPLE_PASSWORD" --team-id "$APPLE_TEAM"
xcrun stapler staple "$1"
