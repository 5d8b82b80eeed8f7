// MKL is to find this program's answer to who made the processor, and LibTorch is to ask at all; oneDNN is to leave AMX
// alone.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "agents/local/torch_info.h"

TEST_CASE("MKL goes by what the processor can do: it finds this program's definition before its own") {
  REQUIRE_FALSE(agon::agents::torch_info().version.empty());  // LibTorch is loaded
  constexpr const char* kName = "mkl_serv_intel_cpu_true";
  void* const ours = dlsym(RTLD_DEFAULT, kName);
  void* const theirs = dlsym(RTLD_NEXT, kName);
  REQUIRE(ours != nullptr);
  REQUIRE(theirs != nullptr);  // else this LibTorch has no such question, and agents/local/torch_processor.cc can go
  CHECK(ours != theirs);
  CHECK(reinterpret_cast<int (*)()>(ours)() == 1);
}

TEST_CASE("oneDNN is told which instructions to take, unless somebody has told it") {
  REQUIRE(std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr);
}
