// For programs that link LibTorch: settings that its libraries read from the environment. agon itself sets them before
// it loads LibTorch (cli/learning/on_demand.cc).
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

char* look_up(const char* name) {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return nullptr;
}

}  // namespace

// LibTorch carries an OpenMP runtime (libgomp). By default its threads spin for milliseconds while they wait for one
// another. On a processor that another program needs too, they spin while the thread they wait for cannot run: a
// training step then takes 10 to 30 times as long. libgomp reads OMP_WAIT_POLICY while it is loaded, before any code of
// the program, and has no call to change it later. It finds this definition before the C library's, which differs in
// one thing: OMP_WAIT_POLICY is "passive" unless the environment sets it or GOMP_SPINCOUNT.
extern "C" char* getenv(const char* name) noexcept {
  static char passive[] = "passive";
  char* const value = look_up(name);
  const bool free = value == nullptr && std::strcmp(name, "OMP_WAIT_POLICY") == 0;
  return free && look_up("GOMP_SPINCOUNT") == nullptr ? passive : value;
}

namespace {

// It carries oneDNN too, whose AMX kernels for bfloat16 end in an illegal instruction (tilezero, before any tile is
// configured) on virtual machines with that unit: LibTorch 2.11, Intel Xeon, Linux 6.18. AVX-512 multiplies bfloat16
// there as well. oneDNN reads the variable at its first use; one that is set already stays.
[[maybe_unused]] const int kOneDnnTold = setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", 0);

}  // namespace
