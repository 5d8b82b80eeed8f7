// kernels/multiversion.h - AGON_MULTIVERSION compiles a function for AVX-512, AVX2 and plain x86-64, chosen when the
// program loads. AGON_APART before a loop: what one round of it writes no other one reads, also where arrays are the
// same; with GCC, which otherwise leaves such loops as they are.
#pragma once

namespace agon::kernels {
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define AGON_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define AGON_APART _Pragma("GCC ivdep")
inline constexpr bool kMultiversion = true;
#else
#define AGON_MULTIVERSION
#define AGON_APART
inline constexpr bool kMultiversion = false;
#endif
}  // namespace agon::kernels
