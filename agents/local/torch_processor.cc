// What LibTorch's libraries are told of the processor.
#include <cstdlib>

// LibTorch carries MKL, which asks who made the processor before it asks what that can do, and takes kernels for AVX2
// on every one that is not Intel's: 110 GFLOP/s a core instead of 210 where there is AVX-512 (AMD EPYC, Zen 5). MKL
// finds this definition before its own of the same name, and goes by CPUID alone. The linker is told to look for it
// (agents/CMakeLists.txt).
extern "C" int mkl_serv_intel_cpu_true() { return 1; }

namespace {

// It carries oneDNN too, whose AMX kernels for bfloat16 end in an illegal instruction (tilezero, before any tile is
// configured) on virtual machines with that unit: LibTorch 2.11, Intel Xeon, Linux 6.18. AVX-512 multiplies bfloat16
// there as well. oneDNN reads the variable at its first use; one that is set already stays.
[[maybe_unused]] const int kOneDnnTold = setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", 0);

}  // namespace
