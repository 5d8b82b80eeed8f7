#include "env/vector_env.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/error.h"

namespace agon::env {

struct VectorEnv::Pool {
  struct Slot {
    std::unique_ptr<Env> env;
    std::uint64_t episodes = 0;  // started
    bool started = false;
    bool ended = false;      // next_step: the next step starts a new episode
    bool in_flight = false;  // from its job to its result's receipt
  };
  struct Job {
    int env_id;
    std::optional<Action> action;  // nothing: reset
  };
  struct Done {
    VectorStep step;
    std::string error;
    bool failed = false;
  };

  VectorOptions options;
  std::uint64_t test_tasks;
  std::vector<Slot> slots;
  std::mutex mutex;
  std::condition_variable_any work, ready;
  std::deque<Job> jobs;     // guarded by mutex, as are the three below
  std::vector<Done> done;   // in order of completion
  std::size_t awaited = 0;  // how many results the caller waits for
  std::size_t in_flight = 0;
  std::vector<std::jthread> threads;  // last: stopped before the other members are destroyed

  Pool(const EnvFactory& make, std::uint64_t tasks, const VectorOptions& wanted) : options(wanted), test_tasks(tasks) {
    if (options.num_envs < 1) throw Error("VectorEnv: num_envs is {}; give at least 1.", options.num_envs);
    if (options.batch_size < 0 || options.batch_size > options.num_envs)
      throw Error("VectorEnv: batch_size is {}; give 1..num_envs ({}), or 0 for all.", options.batch_size,
                  options.num_envs);
    if (options.threads < 0)
      throw Error("VectorEnv: threads is {}; give 1 or more, or 0 for all cores.", options.threads);
    if (options.split != Split::train && test_tasks == 0)
      throw Error("VectorEnv: the {} split has no tasks.", to_string(options.split));
    if (options.batch_size == 0) options.batch_size = options.num_envs;
    const auto cores = std::max(1u, std::thread::hardware_concurrency());
    const int workers = std::min(options.threads == 0 ? static_cast<int>(cores) : options.threads, options.num_envs);
    for (int i = 0; i < options.num_envs; ++i) slots.push_back({make()});
    for (int i = 0; i < workers; ++i) threads.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }

  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (work.wait(lock, stop, [this] { return !jobs.empty(); })) carry_out_next(lock);
  }

  // REQUIRES: the lock is held and there is a job. The lock is released while the env works.
  void carry_out_next(std::unique_lock<std::mutex>& lock) {
    Job job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    Done result = carry_out(std::move(job));
    lock.lock();
    done.push_back(std::move(result));
    if (done.size() >= awaited) ready.notify_one();
  }

  Done carry_out(Job job) {
    Done result;
    result.step.env_id = job.env_id;
    try {
      result.step = job.action ? step(job.env_id, *job.action) : VectorStep{job.env_id, reset(job.env_id), nullptr};
    } catch (const std::exception& exception) {
      slots[static_cast<std::size_t>(job.env_id)].started = false;
      result.error = exception.what();
      result.failed = true;
    }
    return result;
  }

  StepResult reset(int env_id) {
    Slot& slot = slots[static_cast<std::size_t>(env_id)];
    std::uint64_t index =
        static_cast<std::uint64_t>(env_id) + slot.episodes * static_cast<std::uint64_t>(options.num_envs);
    if (options.split != Split::train) index %= test_tasks;
    ++slot.episodes;  // a task that cannot start is not tried again
    StepResult first = slot.env->reset({options.split, index, options.seed});
    slot.started = true;
    slot.ended = false;
    return first;
  }

  VectorStep step(int env_id, const Action& action) {
    Slot& slot = slots[static_cast<std::size_t>(env_id)];
    if (slot.ended) return {env_id, reset(env_id), nullptr};
    StepResult result = slot.env->step(action);
    const bool end = result.terminated || result.truncated;
    if (end && options.autoreset == Autoreset::next_step) slot.ended = true;
    if (!end || options.autoreset != Autoreset::same_step) return {env_id, std::move(result), nullptr};
    StepResult next = reset(env_id);
    next.reward = result.reward;
    next.terminated = result.terminated;
    next.truncated = result.truncated;
    return {env_id, std::move(next), std::make_unique<StepResult>(std::move(result))};
  }

  // Queues the jobs and wakes up to `helpers` threads. Throws Error, with nothing done, if one of the envs cannot take
  // its job.
  void submit(std::vector<Job> batch, std::size_t helpers) {
    std::vector<bool> named(slots.size());
    for (const Job& job : batch) {
      if (job.env_id < 0 || job.env_id >= options.num_envs)
        throw Error("VectorEnv: no env {}; there are {}.", job.env_id, options.num_envs);
      const auto id = static_cast<std::size_t>(job.env_id);
      const Slot& slot = slots[id];
      if (named[id]) throw Error("VectorEnv: env {} is named twice.", id);
      named[id] = true;
      if (slot.in_flight) throw Error("VectorEnv: env {} is in flight; receive its result first.", job.env_id);
      if (job.action && !slot.started) throw Error("VectorEnv: env {} has no task; reset it first.", job.env_id);
    }
    const std::size_t woken = std::min(helpers, batch.size());
    {
      const std::lock_guard lock(mutex);
      for (Job& job : batch) {
        slots[static_cast<std::size_t>(job.env_id)].in_flight = true;
        jobs.push_back(std::move(job));
      }
      in_flight += batch.size();
    }
    for (std::size_t i = 0; i < woken; ++i) work.notify_one();
  }

  // The first `count` results, in order of completion.
  std::vector<VectorStep> receive(std::size_t count) {
    std::unique_lock lock(mutex);
    if (in_flight < count)
      throw Error("VectorEnv: {} results wanted, {} envs in flight; send actions first.", count, in_flight);
    awaited = count;
    ready.wait(lock, [&] { return done.size() >= count; });
    for (std::size_t i = 0; i < count; ++i)
      if (done[i].failed) throw_failure(i);
    std::vector<VectorStep> steps;
    for (std::size_t i = 0; i < count; ++i) {
      slots[static_cast<std::size_t>(done[i].step.env_id)].in_flight = false;
      steps.push_back(std::move(done[i].step));
    }
    done.erase(done.begin(), done.begin() + static_cast<std::ptrdiff_t>(count));
    in_flight -= count;
    return steps;
  }

  [[noreturn]] void throw_failure(std::size_t at) {
    const Done failed = std::move(done[at]);
    done.erase(done.begin() + static_cast<std::ptrdiff_t>(at));
    slots[static_cast<std::size_t>(failed.step.env_id)].in_flight = false;
    --in_flight;
    throw Error("VectorEnv: env {}: {}", failed.step.env_id, failed.error);
  }

  // Runs all jobs at once, on this thread too; results in env order. After an Error nothing is in flight.
  std::vector<VectorStep> run(std::vector<Job> batch) {
    if (in_flight > 0) throw Error("VectorEnv: {} envs are in flight; receive their results first.", in_flight);
    const std::size_t count = batch.size();
    submit(std::move(batch), threads.size() - 1);
    {
      std::unique_lock lock(mutex);
      while (!jobs.empty()) carry_out_next(lock);
    }
    std::vector<VectorStep> steps;
    try {
      steps = receive(count);
    } catch (const Error&) {
      while (in_flight > 0) discard();
      throw;
    }
    std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.env_id < b.env_id; });
    return steps;
  }
  void discard() {
    try {
      receive(1);
    } catch (const Error&) {  // the first failure is reported
    }
  }
};

VectorEnv::VectorEnv(const Suite& suite, const VectorOptions& options)
    : VectorEnv([&] { return suite.make_env(); }, suite.info().test_tasks, options) {}
VectorEnv::VectorEnv(const EnvFactory& make, std::uint64_t test_tasks, const VectorOptions& options)
    : pool_(std::make_unique<Pool>(make, test_tasks, options)) {}
VectorEnv::~VectorEnv() = default;

int VectorEnv::num_envs() const { return pool_->options.num_envs; }

std::vector<VectorStep> VectorEnv::reset() {
  std::vector<Pool::Job> jobs;
  for (int i = 0; i < num_envs(); ++i) jobs.push_back({i, std::nullopt});
  return pool_->run(std::move(jobs));
}

std::vector<VectorStep> VectorEnv::reset(std::span<const int> env_ids) {
  std::vector<Pool::Job> jobs;
  for (const int id : env_ids) jobs.push_back({id, std::nullopt});
  return pool_->run(std::move(jobs));
}

std::vector<VectorStep> VectorEnv::step(std::vector<Action> actions) {
  if (actions.size() != pool_->slots.size())
    throw Error("VectorEnv: {} actions for {} envs; give one per env.", actions.size(), num_envs());
  std::vector<Pool::Job> jobs;
  for (int i = 0; i < num_envs(); ++i) jobs.push_back({i, std::move(actions[static_cast<std::size_t>(i)])});
  return pool_->run(std::move(jobs));
}

void VectorEnv::async_reset() {
  std::vector<Pool::Job> jobs;
  for (int i = 0; i < num_envs(); ++i) jobs.push_back({i, std::nullopt});
  pool_->submit(std::move(jobs), pool_->threads.size());
}

void VectorEnv::send(int env_id, Action action) {
  std::vector<Pool::Job> jobs;
  jobs.push_back({env_id, std::move(action)});
  pool_->submit(std::move(jobs), pool_->threads.size());
}

std::vector<VectorStep> VectorEnv::recv() {
  return pool_->receive(static_cast<std::size_t>(pool_->options.batch_size));
}

}  // namespace agon::env
