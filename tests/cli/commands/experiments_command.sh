#!/usr/bin/env bash
# experiments_command.sh AGON SOURCE: agon accepts the changes and flags in the rows of experiments/*.table. Training
# runs print their config; commands that play tasks play two. Other models replace the models that experiments write.
# eval-rm is skipped, since its preferences take an hour to make.
agon=$(realpath "$1") source=$(realpath "$2")
. "$(dirname "$0")/helpers.sh"

mkdir "$scratch/experiments" "$scratch/runs"
cp "$source"/experiments/*.{yaml,table} "$scratch/experiments"
ln -s "$source/models" "$scratch/models"
ln -s "$source/models/agon-tiny-critic" "$scratch/runs/selfplay-critic"
ln -s "$source/models/agon-tiny-tools" "$scratch/runs/selfplay-sneaky"
ln -s "$source/models/agon-tiny-reward" "$scratch/runs/reward-model"
cd "$scratch" || exit 1

# takes COMMAND...: agon accepts the current row.
takes() {
  taken=$((taken + 1))
  "$agon" "$@" </dev/null >"$scratch/out" 2>&1 || fail "$table: $kind $rest: $(tail -1 "$scratch/out")"
}

# plays COMMAND FLAGS...: the same with two tasks, and with a critic of models/ in place of one under runs/.
plays() {
  local command=$1 flags=("${@:2}") i
  for ((i = 0; i < ${#flags[@]}; ++i)); do
    case ${flags[i]} in
      --tasks) flags[i + 1]=2 ;;
      runs/*) flags[i]=models/agon-tiny-critic ;;
    esac
  done
  takes "$command" "${flags[@]}"
}

taken=0 lines=0
for table in experiments/*.table; do
  config=${table%.table}
  while read -r kind rest; do
    read -ra words <<<"$rest" # for a training run: variant, seeds, changes
    sets=()
    for change in "${words[@]:2}"; do sets+=(--set "$change"); done
    out=played/$((++lines))
    case $kind in
      run) takes train "$config.yaml" "${sets[@]}" --print-config ;;
      selfplay) takes selfplay "$config.yaml" "${sets[@]}" --print-config ;;
      online) takes train "$config-online.yaml" "${sets[@]}" --print-config ;;
      reward | judge) takes train-rm "$config.yaml" "${sets[@]}" --print-config ;;
      prepare) takes train-sft "${words[1]}" --print-config ;;
      search) plays search "${words[@]:2}" --out "$out" ;;
      decompose) plays decompose "${words[@]:2}" --out "$out" ;;
      preferences) plays make-preferences "${words[@]:1}" --out "$out" ;;
      eval) plays eval "${words[@]}" --policy models/agon-tiny --out "$out" ;;
      eval-critic) plays eval-critic "${words[@]}" ;;
      verify) plays run "${words[@]}" --reward-model models/agon-tiny-reward --out "$out" ;;
    esac
  done <"$table"
done
[ "$taken" -gt 150 ] || fail "only $taken rows were tried"
finish
