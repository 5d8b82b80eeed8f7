// agents/learn/network/torch_environment.h - sets environment variables that LibTorch's libraries read. No torch here.
//
//   OMP_WAIT_POLICY     By default the threads of LibTorch's OpenMP runtime (libgomp) spin for milliseconds while they
//                       wait for one another. On a processor that another program needs too, they spin while the
//                       thread they wait for cannot run: a training step then takes several times as long. libgomp
//                       reads the variable while it loads and has no call to change it later.
//   ONEDNN_MAX_CPU_ISA  On virtual machines with AMX, the bfloat16 kernels of LibTorch's oneDNN crash with an illegal
//                       instruction (tilezero, before any tile is configured): LibTorch 2.11, Intel Xeon, Linux 6.18.
//                       The default set here is therefore AVX-512, which multiplies bfloat16 as well.
#pragma once

namespace agon::agents {

inline constexpr char kOpenMpWaitPolicy[] = "passive";

// Sets both variables, for a program that loads LibTorch later. Variables that are already set stay. If GOMP_SPINCOUNT
// is set, OMP_WAIT_POLICY is left alone. Call it before another thread starts: it changes the environment.
void set_torch_environment();

}  // namespace agon::agents
