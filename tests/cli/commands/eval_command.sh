#!/usr/bin/env bash
# eval_command.sh AGON MODEL: agon eval and agon run with two turns on the command line, with a small random model.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"

short="--max-tokens 12 --tasks 6 --samples 2"
# same_figures A B: compares two summaries without their times.
same_figures() { [ "$(sed '/"seconds"/d' "$1")" = "$(sed '/"seconds"/d' "$2")" ]; }

# Two turns.
"$agon" run --policy "$model" $short --suite charts --two-turn --out "$scratch/two" --json >"$scratch/two.json" 2>/dev/null || fail "run --two-turn"
grep -q '"acc_t2"' "$scratch/two.json" || fail "no two-turn figures: $(cat "$scratch/two.json")"
[ "$(sqlite3 "$scratch/two/run.sqlite" "SELECT count(*) FROM turns WHERE turn = 1 AND observation LIKE '%There might be an error%'")" = 18 ] ||
  fail "18 second answers expected"
[ "$(sqlite3 "$scratch/two/run.sqlite" "SELECT task_id FROM tasks WHERE task_index = 3")" = charts/2/test/3 ] || fail "another task id"
"$agon" show "$scratch/two" 2>/dev/null | grep -q '^two turns  *samples' || fail "show lacks the two-turn figures"
"$agon" show "$scratch/two" 3 2>/dev/null | grep -q '^(a wrong answer)' || fail "a transcript does not tell which answer is right"
refuses 1 two_turn "$agon" run --policy "$model" $short --suite charts --out "$scratch/two" --resume
refuses 2 "up to 10 turns" "$agon" run --policy "$model" --suite phone --two-turn --out "$scratch/x"
refuses 2 "two-turn" "$agon" run --policy "$model" --reexamine Sure? --out "$scratch/x"

# Several policies and suites: the runs are those of agon run, and the second policy is compared with the first.
cp -r "$model" "$scratch/other"
evaluate() { "$agon" eval --policy "$model" --policy "$scratch/other" --suite charts --suite shapes $short "$@"; }
evaluate --out "$scratch/eval" >"$scratch/table" 2>"$scratch/progress" || fail "eval: $(cat "$scratch/progress")"
for words in '^charts, level 2, test split: 6 tasks x 2 samples' '^shapes, level 2' '^minus ' "^run: $scratch/eval/other/shapes"; do
  grep -q "$words" "$scratch/table" || fail "the table lacks '$words': $(cat "$scratch/table")"
done
evaluate --out "$scratch/eval" --resume --json >"$scratch/again.json" 2>/dev/null || fail "eval --resume"
[ "$(grep -c '"policy"' "$scratch/again.json")" = 4 ] || fail "4 rows expected"
name=$(basename "$model")
"$agon" run --policy "$model" $short --suite charts --out "$scratch/run" --json >"$scratch/run.json" 2>/dev/null
for pair in "eval/$name/charts a" "run b"; do
  "$agon" show "$scratch/${pair% *}" --json | sed -n '/"episodes"/,/^  "provenance"/p' >"$scratch/${pair#* }"
done
same_figures "$scratch/a" "$scratch/b" || fail "eval and run play different episodes"
"$agon" eval --policy "$model" $short --two-turn --out "$scratch/eval2" 2>/dev/null | grep -q '^samples  *acc@t1' || fail "eval --two-turn"

refuses 1 "holds a run already" evaluate --out "$scratch/eval"
refuses 2 "given twice" "$agon" eval --policy "$model" --policy "$model/" --out "$scratch/x"
refuses 2 "given twice" "$agon" eval --suite charts --suite charts --out "$scratch/x"
refuses 2 "up to 10 turns" "$agon" eval --policy "$model" --suite charts --suite phone --two-turn --out "$scratch/x"
refuses 2 "Did you mean 'charts'" "$agon" eval --policy "$model" --suite chart
refuses 1 "no-such-model" "$agon" eval --policy "$scratch/no-such-model" --out "$scratch/x"
refuses 2 "--out" "$agon" eval --policy "$model" --resume
refuses 2 "suite jsonl" "$agon" eval --policy "$model" --file tasks.jsonl --out "$scratch/x"
[ ! -e "$scratch/x" ] || fail "an evaluation that cannot be leaves a folder"

finish
