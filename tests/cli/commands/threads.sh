#!/usr/bin/env bash
# threads.sh AGON: OpenMP's threads wait without spinning, unless the environment says how.
agon=$1
. "$(dirname "$0")/helpers.sh"

# Loads LibTorch, and with it OpenMP; the file does not exist.
learning() { "$@" train-rm "$scratch/none.yaml" 2>&1; }
tells() {
  local text=$1 got
  shift
  got=$(learning "$@") && fail "$*: a file that is not there is read"
  grep -qF "$text" <<<"$got" || fail "$*: does not say $text: $got"
}
export OMP_DISPLAY_ENV=verbose
unset OMP_WAIT_POLICY GOMP_SPINCOUNT
tells "GOMP_SPINCOUNT = '0'" "$agon"
tells "OMP_WAIT_POLICY = 'PASSIVE'" "$agon"
tells "OMP_WAIT_POLICY = 'ACTIVE'" env OMP_WAIT_POLICY=active "$agon"
tells "GOMP_SPINCOUNT = '123'" env GOMP_SPINCOUNT=123 "$agon"
tells "GOMP_SPINCOUNT = '0'" env OMP_NUM_THREADS=2 "$agon"
"$agon" --version 2>&1 | grep -q OMP_ && fail "a command that needs no LibTorch loads it"
finish
