#include "compiler/codegen/background_compiler.hpp"

#include <utility>

namespace raddle::codegen {

BackgroundCompiler::~BackgroundCompiler() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void BackgroundCompiler::request(vm::LeafId leaf, std::function<void(raddle_leaf_function)> done) {
  {
    const std::scoped_lock lock(mutex_);
    requests_.push_back({leaf, std::move(done)});
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }
  }
  requested_.notify_one();
}

void BackgroundCompiler::work(const std::stop_token& stop) {
  while (true) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      if (!requested_.wait(lock, stop, [this] { return !requests_.empty(); }) || stop.stop_requested()) return;
      request = std::move(requests_.front());
      requests_.pop_front();
    }
    request.done(compile(request.leaf));
  }
}

raddle_leaf_function BackgroundCompiler::compile(vm::LeafId leaf) {
  const auto [entry, is_new] = compiled_.try_emplace(leaf, nullptr);
  if (!is_new) return entry->second;
  if (!jit_) {
    auto jit = LeafJit::create(source_);
    if (!jit) return nullptr;
    jit_ = std::move(*jit);
  }
  if (auto code = jit_->compile(leaf)) entry->second = *code;
  return entry->second;
}

}  // namespace raddle::codegen
