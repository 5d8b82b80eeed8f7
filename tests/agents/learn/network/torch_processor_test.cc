// MKL must find this program's answer to the question of the processor's maker, and this LibTorch must ask it. oneDNN
// must not use AMX.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "agents/learn/network/torch_info.h"
#include "torch_catch.h"

TEST_CASE("MKL goes by what the processor can do: it finds this program's definition before its own") {
  REQUIRE_FALSE(agon::agents::torch_info().version.empty());  // LibTorch is loaded
  constexpr const char* kName = "mkl_serv_intel_cpu_true";
  void* const ours = dlsym(RTLD_DEFAULT, kName);
  void* const theirs = dlsym(RTLD_NEXT, kName);
  REQUIRE(ours != nullptr);
  REQUIRE(theirs !=
          nullptr);  // else LibTorch no longer asks, and agents/learn/network/torch_processor.cc can be removed
  CHECK(ours != theirs);
  CHECK(reinterpret_cast<int (*)()>(ours)() == 1);
}

TEST_CASE("OpenMP is told to wait without spinning, unless somebody has told it how") {
  CHECK(dlsym(RTLD_DEFAULT, "getenv") == reinterpret_cast<void*>(&std::getenv));
  const auto policy = [] {
    const char* const value = std::getenv("OMP_WAIT_POLICY");
    return std::string(value ? value : "(none)");
  };
  const auto with = [&](const char* name, const char* value) {
    setenv(name, value, 1);
    const std::string found = policy();
    unsetenv(name);
    return found;
  };
  unsetenv("OMP_WAIT_POLICY");
  unsetenv("GOMP_SPINCOUNT");
  CHECK(policy() == "passive");
  CHECK(with("OMP_WAIT_POLICY", "active") == "active");
  CHECK(with("OMP_WAIT_POLICY", "") == "");
  CHECK(with("GOMP_SPINCOUNT", "100") == "(none)");
}

TEST_CASE("the environment is what it is to everybody else") {
  CHECK(std::getenv("AGON_NOT_THERE") == nullptr);
  setenv("AGON_NOT_THERE", "a=b", 1);
  CHECK(std::getenv("AGON_NOT_THERE") == std::string("a=b"));
  CHECK(std::getenv("AGON_NOT_THER") == nullptr);
  unsetenv("AGON_NOT_THERE");
  CHECK(std::getenv("AGON_NOT_THERE") == nullptr);
  CHECK(std::getenv("") == nullptr);
}

TEST_CASE("oneDNN is told which instructions to take, unless somebody has told it") {
  REQUIRE(std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr);
}
