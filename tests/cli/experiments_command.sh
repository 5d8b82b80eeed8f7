#!/usr/bin/env bash
# experiments_command.sh AGON SOURCE: agon takes the changes and flags of every row of experiments/*.table. Trainings print their
# config; searches play two tasks. Models and preferences that other experiments write are stood in for.
agon=$(realpath "$1") source=$(realpath "$2")
. "$(dirname "$0")/helpers.sh"

mkdir "$scratch/experiments" "$scratch/runs"
cp "$source"/experiments/*.{yaml,table} "$scratch/experiments"
ln -s "$source/models" "$scratch/models"
ln -s "$source/models/agon-tiny-critic" "$scratch/runs/selfplay-critic"
ln -s "$source/models/agon-tiny-tools" "$scratch/runs/selfplay-sneaky"
ln -s "$source/models/agon-tiny-reward" "$scratch/runs/reward-model"
cd "$scratch" || exit 1

# takes TABLE KIND VARIANT COMMAND...: it ends well.
takes() {
  local row="$1: $2 $3"
  shift 3
  "$@" </dev/null >"$scratch/out" 2>&1 || fail "experiments/$row: $(tail -1 "$scratch/out")"
}

for table in experiments/*.table; do
  name=$(basename "$table" .table)
  while read -r kind variant seeds changes; do
    sets=()
    for change in $changes; do sets+=(--set "$change"); done
    read -ra flags <<<"$changes"
    case $kind in
      run) takes "$name" "$kind" "$variant" "$agon" train "experiments/$name.yaml" "${sets[@]}" --print-config ;;
      selfplay) takes "$name" "$kind" "$variant" "$agon" selfplay "experiments/$name.yaml" "${sets[@]}" --print-config ;;
      online) takes "$name" "$kind" "$variant" "$agon" train "experiments/$name-online.yaml" "${sets[@]}" --print-config ;;
      reward | judge) takes "$name" "$kind" "$variant" "$agon" train-rm "experiments/$name.yaml" "${sets[@]}" --print-config ;;
      prepare) takes "$name" "$kind" "$variant" "$agon" train-sft "$seeds" --print-config ;;
      search)
        case $changes in *runs/*) continue ;; esac # a critic that another experiment writes
        for ((i = 0; i < ${#flags[@]}; ++i)); do [ "${flags[i]}" != --tasks ] || flags[i + 1]=2; done
        takes "$name" "$kind" "$variant" "$agon" search "${flags[@]}" --out "runs/$name-$variant" ;;
    esac
  done <"$table"
done
finish
