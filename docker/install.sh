#!/bin/sh
# Installs this folder, or removes what it has installed.
#
#   sh install.sh [--folder FOLDER] [--prefix PREFIX]
#   sh FOLDER/install.sh --remove
#
# FOLDER gets the programs with all they need: /opt/mcp-session-bridge, or without root
# ~/.local/lib/mcp-session-bridge. A version that is there already is replaced. PREFIX gets links to the
# programs, man pages and completions: /usr/local, or ~/.local. As root, systemd gets the units in /usr/local.
# Configuration and state are never removed.
set -eu

fail() { echo "install.sh: $*" >&2; exit 1; }
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
has() { command -v "$1" >/dev/null 2>&1; }
# Of prefixes, systemd searches only these.
with_systemd() {
  case $prefix in /usr | /usr/local) [ "$(id -u)" -eq 0 ] && has systemctl ;; *) false ;; esac
}

# made PATH: writes down what was made outside of the folder.
made() { printf '%s\n' "$1" >>"$next/lib/installed"; }

# link FILE TARGET: nothing of another origin is replaced.
link() {
  if [ -e "$2" ] || [ -L "$2" ]; then
    case $(readlink "$2" || true) in
      "$folder"/*) ;;
      *) echo "install.sh: left alone, not from here: $2" >&2; return 0 ;;
    esac
  fi
  mkdir -p "$(dirname "$2")"
  ln -sf "$folder/$1" "$2"
  made "$2"
}

# remove_made LIST: what is listed there.
remove_made() {
  while read -r path; do
    case $path in
      */lib/systemd/system/* | */lib/sysusers.d/*) rm -f "$path" ;;
      *) case $(readlink "$path" 2>/dev/null || true) in "$folder"/*) rm -f "$path" ;; esac ;;
    esac
  done <"$1"
}

# write_path PROGRAM: where the loader and the libraries will be.
write_path() {
  while read -r place length; do
    text=$folder
    while [ ${#text} -lt "$length" ]; do text=$text/; done
    printf %s "$text" | dd of="$1" bs=1 seek="$place" conv=notrunc 2>/dev/null || fail "cannot write $1"
  done <"$here/lib/places"
}

install_units() {
  mkdir -p "$prefix/lib/systemd/system" "$prefix/lib/sysusers.d"
  for unit in "$next"/share/mcp-session-bridge/systemd/mcp-bridged*; do
    sed "s|/opt/mcp-session-bridge/bin/|$folder/bin/|" "$unit" >"$prefix/lib/systemd/system/${unit##*/}"
    made "$prefix/lib/systemd/system/${unit##*/}"
  done
  cp "$next/share/mcp-session-bridge/sysusers.conf" "$prefix/lib/sysusers.d/mcp-bridged.conf"
  made "$prefix/lib/sysusers.d/mcp-bridged.conf"
  systemd-sysusers "$prefix/lib/sysusers.d/mcp-bridged.conf"
  [ -d /etc/mcp-bridged ] || install -d -m 750 -g mcp-bridged /etc/mcp-bridged
  [ ! -d /run/systemd/system ] || systemctl daemon-reload
}

# Daemons that execute the programs of a folder that is gone: their clients stay connected if they are upgraded.
running() {
  for process in /proc/[0-9]*; do
    case $(readlink "$process/exe" 2>/dev/null || true) in
      "$folder".old/bin/mcp-bridged*) printf ' %s' "${process#/proc/}" ;;
    esac
  done
}

install_folder() {
  if [ "$(id -u)" -eq 0 ]; then
    : "${folder:=/opt/mcp-session-bridge}" "${prefix:=/usr/local}"
  else
    : "${folder:=${HOME:?}/.local/lib/mcp-session-bridge}" "${prefix:=${HOME:?}/.local}"
  fi
  mkdir -p "$folder" "$prefix" || fail "cannot make $folder and $prefix; --folder and --prefix name others"
  folder=$(CDPATH='' cd -- "$folder" && pwd -P) prefix=$(CDPATH='' cd -- "$prefix" && pwd -P)
  case $folder in *[!A-Za-z0-9/._+~@-]*) fail "$folder: the path can have letters, digits and /._+~@- only" ;; esac
  read -r _ most <"$here/lib/places"
  [ ${#folder} -le "$most" ] || fail "$folder: the path can have $most characters at most"
  if [ -n "$(ls -A "$folder")" ] && [ ! -e "$folder/lib/places" ]; then fail "$folder: there is something else in it"; fi

  next=$folder
  if [ "$folder" != "$here" ]; then
    next=$folder.new
    trap 'rm -rf "$folder.new"' EXIT
    rm -rf "$next"
    cp -R "$here" "$next" || fail "cannot write $next"
  fi
  : >"$next/lib/installed.new"
  # Not in place: a program that runs cannot be written.
  cp "$here/bin/mcp-bridged" "$next/bin/mcp-bridged.new"
  write_path "$next/bin/mcp-bridged.new"
  mv "$next/bin/mcp-bridged.new" "$next/bin/mcp-bridged"
  [ ! -e "$folder/lib/installed" ] || remove_made "$folder/lib/installed"
  mv "$next/lib/installed.new" "$next/lib/installed"
  if [ "$next" != "$folder" ]; then
    rm -rf "$folder.old"
    mv "$folder" "$folder.old"
    mv "$next" "$folder"
    next=$folder
  fi
  "$folder/bin/mcp-bridged" --version >/dev/null || fail "$folder/bin/mcp-bridged does not start on this machine"
  old=$(running)
  rm -rf "$folder.old"

  for program in mcp-bridged mcp-nc; do
    link bin/$program "$prefix/bin/$program"
    link share/bash-completion/completions/$program "$prefix/share/bash-completion/completions/$program"
    link share/zsh/site-functions/_$program "$prefix/share/zsh/site-functions/_$program"
    link share/fish/vendor_completions.d/$program.fish "$prefix/share/fish/vendor_completions.d/$program.fish"
  done
  link share/man/man8/mcp-bridged.8 "$prefix/share/man/man8/mcp-bridged.8"
  link share/man/man1/mcp-nc.1 "$prefix/share/man/man1/mcp-nc.1"
  ! with_systemd || install_units

  echo "installed: $folder; remove it with: sh $folder/install.sh --remove"
  [ -z "$old" ] || echo "these daemons run the old version: upgrade them in place with: kill -USR2$old"
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "not in your PATH: export PATH=$prefix/bin:\$PATH" ;;
  esac
}

remove_folder() {
  folder=$here
  [ -e "$folder/lib/installed" ] || fail "$folder was not installed; remove it as it is"
  running_systemd=
  if [ -d /run/systemd/system ] && grep -q '/lib/systemd/system/' "$folder/lib/installed"; then running_systemd=yes; fi
  if [ -n "$running_systemd" ]; then
    for unit in /etc/systemd/system/*.wants/mcp-bridged*; do
      [ ! -L "$unit" ] || systemctl --quiet disable "${unit##*/}" || true
    done
    systemctl stop 'mcp-bridged*.socket' 'mcp-bridged*.service' || true
    systemctl reset-failed 'mcp-bridged*' 2>/dev/null || true
  fi
  remove_made "$folder/lib/installed"
  rm -rf "$folder"
  [ -z "$running_systemd" ] || systemctl daemon-reload
  echo "removed: $folder"
  # There is nothing left to read.
  exit 0
}

main() {
  folder='' prefix='' action=install_folder
  while [ $# -gt 0 ]; do
    case $1 in
      --folder | --prefix)
        [ $# -gt 1 ] || fail "$1 needs a path"
        if [ "$1" = --folder ]; then folder=$2; else prefix=$2; fi
        shift ;;
      --remove) action=remove_folder ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; exit 64 ;;
    esac
    shift
  done
  $action
}

main "$@"
