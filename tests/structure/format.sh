#!/usr/bin/env bash
# All sources look as .clang-format says: format.sh CLANG_FORMAT
set -euo pipefail
cd "$(dirname "$0")/../.."
find daemon client tests -name node_modules -prune -o \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 "$1" --dry-run --Werror
