// The program's side of cli/learning/entries.h: each function loads the library and passes its arguments on.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "cli/learning/entries.h"
#include "cli/model_folder.h"
#include "core/error.h"

namespace agon {
namespace cli {
namespace {

// What LibTorch's libraries read from the environment while they load. Variables that are set already stay.
void set_environment() {
  // By default the threads of its OpenMP runtime (libgomp) spin for milliseconds while they wait for one another. On a
  // processor that another program needs too, they spin while the thread they wait for cannot run: a training step then
  // takes 10 to 30 times as long. libgomp has no call to change that later.
  if (::getenv("GOMP_SPINCOUNT") == nullptr) ::setenv("OMP_WAIT_POLICY", "passive", 0);
  // The AMX kernels for bfloat16 of its oneDNN end in an illegal instruction (tilezero, before any tile is configured)
  // on virtual machines with that unit: LibTorch 2.11, Intel Xeon, Linux 6.18. AVX-512 multiplies bfloat16 there too.
  ::setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", 0);
}

// With this flag LibTorch finds its own BLAS (MKL) before that of OpenCV's LAPACK, which the program has loaded and
// which is ten times slower. Sanitizers do not support the flag.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOwnSymbolsFirst = 0;
#elif defined(__clang__)
constexpr int kOwnSymbolsFirst =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 0 : RTLD_DEEPBIND;
#else
constexpr int kOwnSymbolsFirst = RTLD_DEEPBIND;
#endif

const LearningEntries& load_learning() {
  const std::filesystem::path path = program_folder() / kLearningLibrary;
  set_environment();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst);
  if (library == nullptr)
    throw Error("the library that trains and reads reward models does not load: {}. Rebuild agon.", ::dlerror());
  const void* const entries = ::dlsym(library, kLearningSymbol);
  if (entries == nullptr)
    throw Error("{} is from another build of agon: it has no {}. Rebuild agon.", path.string(), kLearningSymbol);
  return *static_cast<const LearningEntries*>(entries);
}

// Stays loaded until the program ends.
const LearningEntries& learning() {
  static const LearningEntries& entries = load_learning();
  return entries;
}

}  // namespace
}  // namespace cli

using cli::learning;

namespace agents {

bool train(const TrainConfig& config, Resume resume, const std::atomic<bool>& stop, const GameSourceFactory& games,
           ResponseScorer* scorer) {
  return learning().train(config, resume, stop, games, scorer);
}
bool train_sft(const SftConfig& config, const std::atomic<bool>& stop) { return learning().train_sft(config, stop); }
bool train_offline(const OfflineConfig& config, const std::vector<OfflineSample>& samples,
                   const std::atomic<bool>& stop, OfflineFigures* figures) {
  return learning().train_offline(config, samples, stop, figures);
}
CreditGroup probed_group(const ModelFolder& folder, const TrainGroup& group, const ProbeSettings& settings,
                         const std::map<std::string, double>& rewards) {
  return learning().probed_group(folder, group, settings, rewards);
}
std::vector<SplitStep> split_steps_of(const ModelFolder& folder, env::Env& env, const std::string& instructions,
                                      const std::vector<PlayedTask>& tasks, const DecompositionOptions& options,
                                      const std::function<bool()>& after_task) {
  return learning().split_steps_of(folder, env, instructions, tasks, options, after_task);
}
std::shared_ptr<const env::TextSimilarity> make_sentence_similarity(const std::filesystem::path& folder) {
  return learning().make_sentence_similarity(folder);
}
TorchInfo torch_info() { return learning().torch_info(); }

}  // namespace agents

namespace critic {

std::unique_ptr<RewardModel> open_reward_model(const std::filesystem::path& folder, int threads) {
  return learning().open_reward_model(folder, threads);
}
RewardTrainingConfig load_reward_training(const std::filesystem::path& file, std::span<const std::string> changes) {
  return learning().load_reward_training(file, changes);
}
Json train_reward_model(const RewardTrainingConfig& config, const std::atomic<bool>& stop) {
  return learning().train_reward_model(config, stop);
}
Json train_judge(const RewardTrainingConfig& config, const std::atomic<bool>& stop) {
  return learning().train_judge(config, stop);
}

}  // namespace critic
}  // namespace agon
