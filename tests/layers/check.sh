#!/usr/bin/env bash
# House rules that a machine can check. Usage: check.sh format | paths | libraries PROGRAM | naming BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."

# Every C++ and CUDA file of ours that git has or would take.
sources() { git ls-files --cached --others --exclude-standard "$@"; }

check_format() {
  local files; mapfile -t files < <(sources '*.h' '*.cc' '*.cu' '*.cuh')
  [ ${#files[@]} -gt 0 ] || { echo "format: no files found"; exit 1; }
  clang-format-14 --dry-run -Werror "${files[@]}" || { echo "format: run script/format"; exit 1; }
  echo "format: ${#files[@]} files"
}

# No path of the machine on which something was written or made.
check_paths() {
  local hits; hits=$(sources | xargs -d '\n' grep -InE '(^|[^A-Za-z0-9._-])/(root|home|work|mnt|Users)/' -- || true)
  [ -z "$hits" ] || { echo "paths: these hold only on one machine:"; cut -c1-160 <<<"$hits"; exit 1; }
  echo "paths: $(sources | wc -l) files"
}

# The program needs no Python, finds its libraries, and loads one OpenMP runtime.
check_libraries() {
  local libraries; libraries=$(ldd "$1")
  ! grep -E 'libpython|libtorch_python|not found' <<<"$libraries" || { echo "libraries: $1 must not need these"; exit 1; }
  local runtimes; runtimes=$(grep -cE 'lib(gomp|omp|iomp5)\.so' <<<"$libraries")
  [ "$runtimes" = 1 ] || { echo "libraries: $runtimes OpenMP runtimes:"; grep omp <<<"$libraries"; exit 1; }
  echo "libraries: $(wc -l <<<"$libraries") shared libraries, no Python, one OpenMP runtime"
}

# clang-tidy's naming rules (.clang-tidy) over every .cc file, and through it the headers of ours that it includes.
# Files that include LibTorch take ten times as long to parse and are left out; so are those not reached in time.
check_naming() {
  local files left_out
  mapfile -t files < <(sources '*.cc' | grep -v '^tests/' | xargs grep -LE '<(torch|ATen|c10)/|agents/(learn/|local/qwen2_5_vl\.h)')
  left_out=$(($(sources '*.cc' | grep -vc '^tests/') - ${#files[@]}))
  echo "naming: ${#files[@]} files with the headers they include; $left_out files with LibTorch left out"
  printf '%s\0' "${files[@]}" |
    timeout 900 xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 --quiet -p "$1" 2> >(grep -vE '^[0-9]+ warnings? (generated|treated)' >&2)
}

case "$1" in
  format) check_format ;;
  paths) check_paths ;;
  libraries) check_libraries "$2" ;;
  naming) check_naming "$2" ;;
  *) echo "check.sh: no check '$1'"; exit 1 ;;
esac
