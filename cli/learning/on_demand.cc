// The program's side of cli/learning/entries.h: each function loads the library and passes its arguments on.
#include <dlfcn.h>

#include <filesystem>

#include "cli/learning/entries.h"
#include "cli/model_folder.h"
#include "cli/version.h"
#include "core/error.h"

namespace agon {
namespace cli {
namespace {

// With this flag LibTorch finds its own BLAS (MKL) before that of OpenCV's LAPACK, which the program has loaded and
// which is ten times slower. Sanitizers do not support the flag.
constexpr int kOwnSymbolsFirst = AGON_SANITIZED ? 0 : RTLD_DEEPBIND;

const LearningEntries& load_learning() {
  const std::filesystem::path path = program_folder() / kLearningLibrary;
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst);
  if (library == nullptr)
    throw Error("the library of all that needs LibTorch does not load: {}. Rebuild agon.", ::dlerror());
  const void* const symbol = ::dlsym(library, kLearningSymbol);
  const auto* const entries = static_cast<const LearningEntries*>(symbol);
  if (entries == nullptr || entries->version() != version())
    throw Error("{} is from another build of agon than {}. Rebuild agon.", path.string(), version());
  return *entries;
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
std::unique_ptr<ModelBackend> open_torch_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                                 const BackendOptions& options) {
  return learning().open_torch_backend(folder, config, options);
}

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
