#!/usr/bin/env bash
# results_command.sh AGON SOURCE: docs/results/*.md are the pages that script/experiments --pages makes from
# experiments/results. docs/results.md links all of them, and names the model in every row of its speed tables.
agon=$1 source=$2
. "$(dirname "$0")/helpers.sh"

mkdir -p "$scratch/docs"
cp -r "$source/experiments" "$source/script" "$scratch"
cp "$source/docs/results.md" "$scratch/docs"
"$scratch/script/experiments" --pages || fail "the pages cannot be written"
diff -r "$source/docs/results" "$scratch/docs/results" >"$scratch/differences" ||
  fail "docs/results is not what script/experiments --pages writes: $(head -5 "$scratch/differences")"
for page in "$source"/docs/results/*.md; do
  grep -q "Commits: \|Figures kept by hand" "$page" || fail "$page names no commit"
  grep -qF "(results/$(basename "$page"))" "$source/docs/results.md" || fail "docs/results.md does not link $page"
done
python3 - "$source/docs/results.md" <<'PYTHON' || fail "docs/results.md: above"
import re, sys
text = open(sys.argv[1]).read()
first = text.index("| paper | the paper's claim | here | likely cause |")
assert first < text.index("\n## "), "the papers' table does not come first"
for method in ("ADPO", "SPC", "Visual-ARFT", "YOJO", "AdaPO", "PDCR"):
    assert re.search(rf"^\| {method}\b", text, re.M), f"no row of {method}"
for line in [line for line in text[first:text.index("\n## ")].split("\n") if line.startswith("|")]:
    for cell in line.split("|"):
        assert len(cell.strip()) <= 150, f"a cell of {len(cell.strip())} characters: {cell}"
speed = text[text.index("## Speed compared with peers"):text.index("## Learning")]
rows = [line for line in speed.split("\n") if line.startswith("| ") and not line.startswith("| what |")]
assert rows and all(re.search(r"none|[0-9.]+ M", row.split("|")[2]) for row in rows), "a speed without its model"
PYTHON
finish
