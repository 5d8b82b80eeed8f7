#include "agents/learn/network/lora.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "agents/hub/name_pattern.h"
#include "core/error.h"
#include "core/rng.h"

namespace agon::agents {
namespace {

using at::Tensor;

std::vector<std::string> matching(const std::map<std::string, AdaptableLinear>& linears, const std::string& targets) {
  std::vector<std::string> modules;
  try {
    const NamePattern pattern(targets);
    for (const auto& [module, linear] : linears)
      if (pattern.matches(module)) modules.push_back(module);
  } catch (const Error& error) {
    throw Error("lora: targets: {}.", error.what());
  }
  if (modules.empty())
    throw Error("lora: no linear of the model matches '{}' as a whole; a name is '{}'.", targets,
                linears.empty() ? "" : linears.begin()->first);
  return modules;
}

void check_rank(int rank, const std::string& module, const Tensor& weight) {
  const std::int64_t most = std::min(weight.size(0), weight.size(1));
  if (rank < 1 || rank > most) throw Error("lora: a rank of {} for {}, which takes 1 to {}.", rank, module, most);
}

// Uniform within 1 / sqrt(inputs): kaiming_uniform with a = sqrt(5).
Tensor draw(int rank, const Tensor& weight, Rng rng) {
  const std::int64_t inputs = weight.size(1);
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  Tensor a = at::empty({rank, inputs}, at::kFloat);
  auto* values = a.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < a.numel(); ++i) values[i] = static_cast<float>((2 * rng.uniform() - 1) * bound);
  return a.to(weight.options());
}

}  // namespace

LoraAdapter::LoraAdapter(std::shared_ptr<TransformerNetwork> model, const LoraOptions& options, std::uint64_t seed)
    : model_(std::move(model)) {
  if (!(options.alpha > 0) || !std::isfinite(options.alpha))
    throw Error("lora: alpha is {}. Give a number above 0.", options.alpha);
  lora_.config = {.base_model = "", .rank = options.rank, .alpha = options.alpha};
  for (const std::string& module : matching(model_->linears(), options.targets)) {
    const Tensor& weight = model_->linears().at(module).weight;
    check_rank(options.rank, module, weight);
    lora_.modules[module] = {draw(options.rank, weight, Rng::derive(seed, "lora", module, 0)),
                             at::zeros({weight.size(0), options.rank}, weight.options()), lora_.config.scale()};
  }
  attach();
}

LoraAdapter::LoraAdapter(std::shared_ptr<TransformerNetwork> model, const std::filesystem::path& folder)
    : model_(std::move(model)), lora_(read_lora(folder, model_->linears())) {
  for (auto& [module, low_rank] : lora_.modules) {
    const Tensor& weight = model_->linears().at(module).weight;
    low_rank.a = low_rank.a.to(weight.options());
    low_rank.b = low_rank.b.to(weight.options());
  }
  attach();
}

LoraAdapter::~LoraAdapter() {
  apply(false);
  for (const Tensor& parameter : frozen_) parameter.requires_grad_(true);
}

void LoraAdapter::attach() {
  for (const auto& [module, linear] : model_->linears())
    if (linear.low_rank->b.defined()) throw Error("lora: the model has an adapter already, on {}.", module);
  for (const Tensor& parameter : model_->parameters())
    if (parameter.requires_grad()) frozen_.push_back(parameter.requires_grad_(false));
  for (auto& [module, low_rank] : lora_.modules) {
    low_rank.a.requires_grad_(true);
    low_rank.b.requires_grad_(true);
  }
  apply(true);
}

void LoraAdapter::apply(bool on) {
  for (const auto& [module, low_rank] : lora_.modules)
    *model_->linears().at(module).low_rank = on ? low_rank : LowRank();
}

std::vector<Tensor> LoraAdapter::parameters() const {
  std::vector<Tensor> all;
  for (const auto& [module, low_rank] : lora_.modules) {
    all.push_back(low_rank.a);
    all.push_back(low_rank.b);
  }
  return all;
}

std::vector<std::string> LoraAdapter::modules() const {
  std::vector<std::string> names;
  for (const auto& [module, low_rank] : lora_.modules) names.push_back(module);
  return names;
}

void LoraAdapter::save(const std::filesystem::path& folder, const std::string& base_model) const {
  write_lora(folder, lora_, base_model, model_->config().vision.has_value());
}

void LoraAdapter::restore(const std::filesystem::path& folder) {
  const LoraFile saved = read_lora(folder, model_->linears());
  const bool same_modules =
      std::equal(saved.modules.begin(), saved.modules.end(), lora_.modules.begin(), lora_.modules.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  const PeftConfig &theirs = saved.config, &own = lora_.config;
  if (!same_modules || theirs.rank != own.rank || theirs.scale() != own.scale())
    throw Error("{}: an adapter of rank {}, alpha {} on {} modules; this one has {}, {} on {}{}.", folder.string(),
                theirs.rank, theirs.alpha, saved.modules.size(), own.rank, own.alpha, lora_.modules.size(),
                same_modules ? "" : ", not the same ones");
  const at::NoGradGuard no_grad;
  for (auto& [module, low_rank] : lora_.modules) {
    low_rank.a.copy_(saved.modules.at(module).a);
    low_rank.b.copy_(saved.modules.at(module).b);
  }
}

LoraAdapter::Off::Off(LoraAdapter& adapter) : adapter_(adapter) {
  if (adapter_.switched_off_++ == 0) adapter_.apply(false);
}

LoraAdapter::Off::~Off() {
  if (--adapter_.switched_off_ == 0) adapter_.apply(true);
}

LoraAdapter::Merged::Merged(LoraAdapter& adapter) : off_(adapter), adapter_(adapter) {
  const at::NoGradGuard no_grad;
  for (const auto& [module, low_rank] : adapter_.lora_.modules) {
    Tensor weight = adapter_.model_->linears().at(module).weight;
    base_[module] = weight.clone();
    weight.addmm_(low_rank.b, low_rank.a, 1, low_rank.scale);
  }
}

LoraAdapter::Merged::~Merged() {
  const at::NoGradGuard no_grad;
  for (const auto& [module, weight] : base_) {
    Tensor merged = adapter_.model_->linears().at(module).weight;
    merged.copy_(weight);
  }
}

}  // namespace agon::agents
