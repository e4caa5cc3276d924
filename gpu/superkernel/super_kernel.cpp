#include "gpu/superkernel/super_kernel.hpp"

#include <system_error>
#include <utility>

namespace raddle::gpu::superkernel {

namespace {

constexpr std::uint64_t ask_ns = 100'000'000;  ///< after so long without a beat the driver is asked

}  // namespace

SuperKernel::SuperKernel(const QueueSizes& sizes, const HostBlock& memory, const Queues& queues,
                         std::uint64_t silent_ns, KernelLauncher& launcher)
    : memory_(memory), silent_ns_(silent_ns), launcher_(launcher), producer_(sizes, memory), queues_(queues) {}

SuperKernel::~SuperKernel() {
  is_closing_ = true;
  ++under_way_;
  under_way_.notify_one();
  if (thread_.joinable()) thread_.join();
  swap([] {});
}

void SuperKernel::submit(const QueueTask& task, Done done) {
  std::unique_lock lock(mutex_);
  try {
    if (!is_lost() && !thread_.joinable()) thread_ = std::jthread([this] { work(); });
  } catch (const std::system_error&) {
    give_up();
  }
  if (is_lost()) {
    lock.unlock();
    return done(std::nullopt);
  }
  Given& given = given_.emplace_back(task, std::move(done));
  given.self = std::prev(given_.end());
  given.task.tag = &given;
  if (!waiting_.empty() || !producer_.submit(given.task)) waiting_.push_back(&given);
  ++under_way_;
  under_way_.notify_one();
}

bool SuperKernel::swap(const std::function<void()>& change) {
  const std::lock_guard lock(launching_);
  if (queues_.launch != 0) {
    store<Access::stop_written>(memory_.stop(), queues_.launch);
    if (!comes_to_end()) return false;
    launcher_.wait();
  }
  change();
  return true;
}

/// Of a kernel that was told to end. One that does not is lost, of which the thread that takes completions tells its
/// tasks. @pre launching_ is held
bool SuperKernel::comes_to_end() {
  const std::uint64_t begin = now_ns();
  std::uint64_t asked = begin;
  Pause pause;
  while (!is_lost() && load<Access::ended_read>(memory_.ended()) != queues_.launch) {
    const std::uint64_t now = now_ns();
    const bool is_time_to_ask = now - asked > ask_ns;
    if (is_time_to_ask) asked = now;
    if (now - begin > silent_ns_ || (is_time_to_ask && launcher_.has_failed())) give_up();
    pause.wait();
  }
  return !is_lost();
}

bool SuperKernel::has_ended() const {
  return load<Access::ended_read>(memory_.ended()) == queues_.launch && !is_left_out(Step::relaunch);
}

/// Launches it if it is not there.
SuperKernel::Presence SuperKernel::need_kernel() {
  const std::lock_guard lock(launching_);
  if (is_lost()) return Presence::none;
  if (queues_.launch != 0 && !has_ended()) return Presence::runs;
  ++queues_.launch;
  return launcher_.launch(queues_) ? Presence::is_new : Presence::none;
}

/// @pre mutex_ is held
void SuperKernel::give_waiting() {
  while (!waiting_.empty() && producer_.submit(waiting_.front()->task)) waiting_.pop_front();
}

void SuperKernel::tell(Given& given, std::optional<std::uint64_t> made) {
  Done done = std::move(given.done);
  {
    const std::lock_guard lock(mutex_);
    given_.erase(given.self);
    give_waiting();
  }
  --under_way_;
  done(made);
}

/// @pre it is lost
void SuperKernel::lose_all() {
  std::list<Given> lost;
  {
    const std::lock_guard lock(mutex_);
    lost.swap(given_);
    waiting_.clear();
  }
  under_way_ -= lost.size();
  for (Given& given : lost) given.done(std::nullopt);
}

void SuperKernel::work() {
  std::uint64_t beat = 0, heard = 0, asked = 0;
  Pause pause;
  while (true) {
    if (under_way_.load() == 0) {
      under_way_.wait(0);
      heard = now_ns();
      pause.begin_anew();
    }
    if (is_closing_) return;
    const Presence presence = need_kernel();
    if (presence == Presence::none) {
      give_up();
      lose_all();
      continue;
    }
    if (presence == Presence::is_new) heard = now_ns();
    if (const std::optional<Completion> completion = producer_.take()) {
      tell(*static_cast<Given*>(completion->tag), completion->made);
      heard = now_ns();
      pause.begin_anew();
      continue;
    }
    const std::uint64_t now = now_ns(), last = beat;
    beat = load<Access::beat_read>(memory_.beat());
    if (beat != last) heard = now;
    const bool is_time_to_ask = now - heard > ask_ns && now - asked > ask_ns;
    if (is_time_to_ask) asked = now;
    if (now - heard > silent_ns_ || (is_time_to_ask && launcher_.has_failed())) give_up();
    pause.wait();
  }
}

}  // namespace raddle::gpu::superkernel
