#!/usr/bin/env bash
# threads.sh AGON: OpenMP's threads wait without spinning, unless the environment says how.
agon=$1
. "$(dirname "$0")/helpers.sh"

export OMP_DISPLAY_ENV=verbose
unset OMP_WAIT_POLICY GOMP_SPINCOUNT
says 0 "GOMP_SPINCOUNT = '0'" "$agon" --version
says 0 "OMP_WAIT_POLICY = 'PASSIVE'" "$agon" --version
says 0 "OMP_WAIT_POLICY = 'ACTIVE'" env OMP_WAIT_POLICY=active "$agon" --version
says 0 "GOMP_SPINCOUNT = '123'" env GOMP_SPINCOUNT=123 "$agon" --version
says 0 "GOMP_SPINCOUNT = '0'" env OMP_NUM_THREADS=2 "$agon" --version
finish
