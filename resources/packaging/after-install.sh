#!/bin/sh
# After the .deb is unpacked: two commands, a sandbox that works here, and the link scheme made known.
# DPKG_ROOT is set where a package is installed into a folder instead of the system.
set -e
program="$DPKG_ROOT/opt/${sanitizedProductName}"

ln -sf '../../opt/${sanitizedProductName}/${executable}' "$DPKG_ROOT/usr/bin/${executable}"
ln -sf '../../opt/${sanitizedProductName}/resources/agent/rookery' "$DPKG_ROOT/usr/bin/rookery"

# Where the kernel gives users no namespaces of their own, Chromium's sandbox needs its helper to be root's.
if unshare --user true 2>/dev/null; then
  chmod 0755 "$program/chrome-sandbox"
else
  chmod 4755 "$program/chrome-sandbox"
fi

if [ -z "$DPKG_ROOT" ] && command -v update-desktop-database >/dev/null; then
  update-desktop-database /usr/share/applications || true
fi
