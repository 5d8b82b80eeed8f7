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

# No path of the machine on which something was written or made. /home/agent is the sandbox's; the abuse suite tries such paths.
check_paths() {
  local hits
  hits=$(sources | grep -v '^tests/sandbox/abuse/' | xargs -d '\n' grep -InP '(^|[^A-Za-z0-9._-])/((root|work|mnt|Users)/|home/(?!agent))' -- || true)
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

# clang-tidy's naming rules (.clang-tidy) over the .cc files and, through them, the headers of ours that they include.
# A file takes seconds, so those not reached in four minutes are counted, not checked; files with LibTorch take ten
# times as long to parse and are left out.
check_naming() {
  local torch='<(torch|ATen|c10)/|"agents/(learn/|local/qwen2_5_vl\.h)' all files report
  all=$(sources '*.cc' | grep -vc '^tests/')
  mapfile -t files < <(sources '*.cc' | grep -v '^tests/' | xargs grep -LE "$torch")
  report=$(mktemp)
  trap "rm -f '$report'" EXIT
  printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" tests/layers/check.sh naming_of "$1" $(($(date +%s) + 240)) >"$report"
  grep -vE '^(checked|late)$' "$report" || true
  echo "naming: $(grep -c '^checked$' "$report") files checked with the headers they include, $(grep -c '^late$' "$report")" \
    "not reached in time, $((all - ${#files[@]})) with LibTorch left out"
  ! grep -qE '(warning|error): ' "$report"
}

# naming_of BUILD_FOLDER DEADLINE FILE: one file for check_naming.
check_naming_of() {
  if [ "$(date +%s)" -ge "$2" ]; then echo late; return; fi
  clang-tidy-14 --quiet -p "$1" "$3" 2>&1 | grep -vE '^[0-9]+ warnings? (generated|treated)' || true
  echo checked
}

case "$1" in
  format) check_format ;;
  paths) check_paths ;;
  libraries) check_libraries "$2" ;;
  naming) check_naming "$2" ;;
  naming_of) check_naming_of "$2" "$3" "$4" ;;
  *) echo "check.sh: no check '$1'"; exit 1 ;;
esac
