// agents/learn/network/torch_environment.h - settings that LibTorch's libraries read from the environment. No torch
// here.
//
//   OMP_WAIT_POLICY     By default the threads of LibTorch's OpenMP runtime (libgomp) spin for milliseconds while they
//                       wait for one another. On a processor that another program needs too, they spin while the
//                       thread they wait for cannot run: a training step then takes several times as long. libgomp
//                       reads the variable while it loads and has no call to change it later.
//   ONEDNN_MAX_CPU_ISA  The AMX kernels for bfloat16 of LibTorch's oneDNN end in an illegal instruction (tilezero,
//                       before any tile is configured) on virtual machines with that unit: LibTorch 2.11, Intel Xeon,
//                       Linux 6.18. AVX-512 multiplies bfloat16 there as well.
#pragma once

namespace agon::agents {

inline constexpr char kOpenMpWaitPolicy[] = "passive";

// For a program that loads LibTorch later. Variables that are set already stay, and GOMP_SPINCOUNT counts as a choice
// of the wait policy. Call it before another thread starts: it changes the environment.
void set_torch_environment();

}  // namespace agon::agents
