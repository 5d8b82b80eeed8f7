// LibTorch carries MKL, which asks who made the processor before it asks what that can do, and takes kernels for AVX2
// on every one that is not Intel's: 110 GFLOP/s a core instead of 210 where there is AVX-512 (AMD EPYC, Zen 5). MKL
// finds this definition before its own of the same name, and goes by CPUID alone.
extern "C" int mkl_serv_intel_cpu_true() { return 1; }
