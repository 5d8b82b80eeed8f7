#!/bin/bash
# tests/sandbox/tier_a.sh [CASE...]: runs cases of the abuse suite at tier A, as root and as an ordinary user, each in a
# cgroup that is delegated to it. Run it as root on a machine with cgroup v2 and its controllers; elsewhere on an
# emulated machine, with longer time limits: script/vm env SLOWER=5 tests/sandbox/tier_a.sh
cd "$(dirname "$0")/../.."
failed=0
python3 -c "import numpy, cv2"  # into the page cache: an emulated machine takes its time
[ $# -gt 0 ] || set -- 01 02 03 04 05 06 07 08 09 18 19 20 21 22 23 28 34 36 37 48 50 51 53 54 55 72 73 74 78 82 83 84 85 86 88 89 95 96 99 100 101 102 106 108 109 112 113 114 117 118 119 120 122 123 124 125 126 127 130 132 133 134 140 144 145 benign/cv2_numpy benign/fork_children benign/multiprocessing_pool benign/new_session benign/short_children benign/subprocesses benign/threads
for name in "$@"; do
  for user in 0 65534; do
    for file in tests/sandbox/abuse/"$name"*.py; do
      if output=$(build/release/tests/abuse_runner "$file" A "$user" "${SLOWER:-1}" 2>&1); then echo "held    $user $(basename "$file")"
      else failed=$((failed + 1)); echo "FAILED  $user $(basename "$file")"; echo "$output"; fi
    done
  done
done
echo "$failed failed"
[ "$failed" = 0 ]
