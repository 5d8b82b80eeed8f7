// kernels/multiversion.h - macros that compile a function for several instruction sets.
// AGON_MULTIVERSION: for AVX-512, AVX2 and plain x86-64; the program picks one when it loads. On other processors and
// under sanitizers there is one version, for the baseline.
// AGON_WIDE: for AVX-512 only. Call such a function only if has_wide_registers() (kernels/vector.h).
// AGON_APART before a loop promises that no iteration reads what another one writes, even if pointers refer to the same
// array. Without it, GCC does not vectorise such loops.
#pragma once

#if defined(__x86_64__) && !AGON_SANITIZED
#define AGON_HAS_MULTIVERSION
#endif

// clang before 18 reads "arch=" as one processor model, and takes one feature per version, with what it implies.
#if !defined(AGON_HAS_MULTIVERSION)
#define AGON_MULTIVERSION
#define AGON_WIDE
#elif defined(__clang__) && __clang_major__ < 18
#define AGON_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#define AGON_WIDE __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma")))
#else
#define AGON_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define AGON_WIDE __attribute__((target("arch=x86-64-v4")))
#endif

#if defined(__clang__)
#define AGON_APART
#else
#define AGON_APART _Pragma("GCC ivdep")
#endif
