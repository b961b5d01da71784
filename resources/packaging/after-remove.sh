#!/bin/sh
# After the .deb is removed. An update comes by here, too ($1 is `upgrade`) and leaves everything.
# DPKG_ROOT is set where a package was installed into a folder instead of the system.
set -e

case "$1" in
  remove | purge)
    rm -f "$DPKG_ROOT/usr/bin/${executable}" "$DPKG_ROOT/usr/bin/rookery"
    if [ -z "$DPKG_ROOT" ] && command -v update-desktop-database >/dev/null; then
      update-desktop-database /usr/share/applications || true
    fi
    ;;
esac

# `remove` keeps what people made; `purge` is asked for by name and takes it along.
if [ "$1" = purge ]; then
  getent passwd | cut -d: -f6 | sort -u | while read -r home; do
    case "$home" in
      /home/* | /root)
        rm -rf "$DPKG_ROOT$home/.local/share/rookery" "$DPKG_ROOT$home/.config/autostart/rookery.desktop"
        ;;
    esac
  done
fi
