// LibTorch contains MKL, which checks the vendor of the processor before its features, and uses AVX2 kernels on every
// processor that is not Intel's: 110 GFLOP/s per core instead of 210 with AVX-512 (AMD EPYC, Zen 5). MKL finds this
// definition before its own of the same name, and then uses only CPUID.
extern "C" int mkl_serv_intel_cpu_true() { return 1; }
