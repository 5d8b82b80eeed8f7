#!/usr/bin/env bash
# Project rules that a program can check. Usage: check.sh format | paths | libraries PROGRAM LIBRARY | naming | types
set -euo pipefail
cd "$(dirname "$0")/../.."

# Every file of the project that git tracks or would add.
sources() { git ls-files --cached --others --exclude-standard "$@"; }

check_format() {
  local files; mapfile -t files < <(sources '*.h' '*.cc' '*.cu' '*.cuh')
  [ ${#files[@]} -gt 0 ] || { echo "format: no files found"; exit 1; }
  clang-format-14 --dry-run -Werror "${files[@]}" || { echo "format: run script/format"; exit 1; }
  echo "format: ${#files[@]} files"
}

# No path that exists only on the machine on which a file was written. /home/agent is the sandbox's; the abuse suite
# tries such paths.
check_paths() {
  local hits
  hits=$(sources | grep -v '^tests/sandbox/abuse/' | xargs -d '\n' grep -InP '(^|[^A-Za-z0-9._-])/((root|work|mnt|Users)/|home/(?!agent))' -- || true)
  [ -z "$hits" ] || { echo "paths: these hold only on one machine:"; cut -c1-160 <<<"$hits"; exit 1; }
  echo "paths: $(sources | wc -l) files"
}

# The program and its learning library need no Python and find their libraries. The program starts without LibTorch and
# OpenMP; the library loads a single OpenMP runtime.
check_libraries() {
  local program=$1 learning=$2 libraries file runtimes
  for file in "$program" "$learning"; do
    libraries=$(ldd "$file")
    ! grep -E 'libpython|libtorch_python|not found' <<<"$libraries" || { echo "libraries: $file must not need these"; exit 1; }
  done
  runtimes=$(grep -cE 'lib(gomp|omp|iomp5)\.so' <<<"$libraries")
  [ "$runtimes" = 1 ] || { echo "libraries: $runtimes OpenMP runtimes:"; grep omp <<<"$libraries"; exit 1; }
  ! ldd "$program" | grep -E 'lib(torch|c10|gomp|omp|iomp5)' || { echo "libraries: $program must start without these"; exit 1; }
  echo "libraries: $(wc -l <<<"$libraries") shared libraries of learning, no Python, one OpenMP runtime"
}

# clang-tidy's naming rules (.clang-tidy) over all .cc files and, through them, the project's headers. They are joined
# into two files, so that the headers of libraries are parsed twice and not a thousand times. Clashes that result are
# not errors.
check_naming() {
  local part parts=("core net kernels sandbox tools env record" "agents critic serve cli benchmarks")
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  printf '%s\n' -std=c++20 -w -ferror-limit=0 -DFMT_SHARED -DAT_PER_OPERATOR_HEADERS "-I$PWD" -isystem /usr/include/opencv4 \
    -idirafter "$PWD/.deps/torch/include" -idirafter "$PWD/.deps/torch/include/torch/csrc/api/include" >"$scratch/compile_flags.txt"
  for part in 0 1; do
    # shellcheck disable=SC2086
    printf '%s/*.cc\n' ${parts[part]} | xargs -d '\n' git ls-files --cached --others --exclude-standard | sed "s|.*|#include \"$PWD/&\"|" >"$scratch/$part.cc"
  done
  printf '%s\n' 0.cc 1.cc |
    (cd "$scratch" && xargs -n 1 -P "$(nproc)" clang-tidy-14 --quiet "--config-file=$OLDPWD/.clang-tidy") >"$scratch/report" 2>&1 || true
  ! grep -E 'readability-identifier-naming|fatal error' "$scratch/report" || return 1
  echo "naming: $(cat "$scratch"/*.cc | wc -l) files with the headers they include"
}

# Two types of one name in one namespace: no compiler sees both, and the linker uses the functions of one for both. Two
# types of one name in headers, in any namespaces: readers confuse them.
check_types() {
  local types twice same
  types=$(sources '*.h' '*.cc' '*.cu' | xargs -d '\n' awk '
    FNR == 1 { space = ""; hidden = 0 }
    /^namespace [a-z_:]+ \{/ { space = $2 }
    /^namespace \{/ { hidden = 1 }
    /^}  \/\/ namespace$/ { hidden = 0 }
    !hidden && /\{/ && match($0, /^(struct|class|enum class) [A-Z][A-Za-z0-9]* /) {
      n = split(substr($0, RSTART, RLENGTH), words, " ")
      print space "::" words[n], FILENAME
    }')
  twice=$(cut -d ' ' -f 1 <<<"$types" | sort | uniq -d)
  [ -z "$twice" ] || { echo "types: of one name in one namespace:"; grep -wF "$twice" <<<"$types"; exit 1; }
  same=$(sed -nE 's/^.*::(\w+) .*\.h$/\1/p' <<<"$types" | sort | uniq -d)
  [ -z "$same" ] || { echo "types: of one name in several headers:"; grep -E "::($(paste -sd '|' <<<"$same")) .*\.h$" <<<"$types"; exit 1; }
  echo "types: $(wc -l <<<"$types")"
}

case "$1" in
  format) check_format ;;
  paths) check_paths ;;
  libraries) check_libraries "$2" "$3" ;;
  naming) check_naming ;;
  types) check_types ;;
  *) echo "check.sh: no check '$1'"; exit 1 ;;
esac
