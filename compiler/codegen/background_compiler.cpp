#include "compiler/codegen/background_compiler.hpp"

#include <system_error>
#include <utility>

#include "compiler/codegen/cpu_identity.hpp"
#include "compiler/codegen/kernel_key.hpp"
#include "vm/kernel/kernel_bytes.hpp"

namespace raddle::codegen {

namespace {

raddle_leaf_function code_of(const std::optional<LoadedLeaf>& leaf) { return leaf ? leaf->code() : nullptr; }

}  // namespace

BackgroundCompiler::BackgroundCompiler(bool unrolls_recursion, unsigned most_threads, std::string cache_folder,
                                       std::string plugin_path)
    : unrolls_recursion_(unrolls_recursion),
      most_threads_(most_threads),
      cache_folder_(std::move(cache_folder)),
      plugin_(std::move(plugin_path)) {}

BackgroundCompiler::~BackgroundCompiler() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) thread.join();
}

void BackgroundCompiler::request(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                                 std::function<void(raddle_leaf_function)> done) {
  if (!queue({{vm::write_kernels(kernels), entry, vm::KernelTarget::host, unrolls_recursion_}, done, {}}))
    return done(nullptr);  // it is interpreted
  requested_.notify_one();
}

void BackgroundCompiler::request_ptx(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                                     std::function<void(std::string)> done) {
  if (!queue({{vm::write_kernels(kernels), entry, vm::KernelTarget::nvptx, false}, {}, done})) return done("");
  requested_.notify_one();
}

void BackgroundCompiler::request_super_ptx(const std::vector<vm::RangeKernel>& ranges,
                                           std::function<void(std::string)> done) {
  Request request{{"", vm::KernelEntry::range, vm::KernelTarget::super, false}, {}, done};
  for (const vm::RangeKernel& range : ranges) {
    const CodeRequest& one = request.ranges.emplace_back(vm::write_kernels(range.group), range.entry);
    request.asked.kernels +=
        std::to_string(one.entry.reads) + " " + std::to_string(one.kernels.size()) + "\n" + one.kernels;
  }
  if (!queue(std::move(request))) return done("");
  requested_.notify_one();
}

/// @return false if there can be no thread that compiles
bool BackgroundCompiler::queue(Request request) {
  const std::scoped_lock lock(mutex_);
  if (requests_.size() >= idle_threads_ && threads_.size() < most_threads_) {
    try {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;
    }
  }
  requests_.push_back(std::move(request));
  return true;
}

void BackgroundCompiler::open_cache() {
  if (!cache_folder_.empty()) plugin_identity_ = plugin_.identity();
  cache_.emplace(plugin_identity_.empty() ? "" : cache_folder_);
  if (cache_->is_usable()) cpu_identity_ = cpu_identity();
}

void BackgroundCompiler::work(const std::stop_token& stop) {
  std::call_once(is_opened_, [this] { open_cache(); });
  while (true) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      ++idle_threads_;
      const bool is_asked = requested_.wait(lock, stop, [this] { return !requests_.empty(); });
      --idle_threads_;
      if (!is_asked || stop.stop_requested()) return;
      request = std::move(requests_.front());
      requests_.pop_front();
    }
    answer(request);
  }
}

void BackgroundCompiler::answer_ptx(const Request& request) {
  const std::string key = kernel_key(request.asked, plugin_identity_, "");
  if (const std::optional<std::string> kept = cache_->find(key)) return request.done_ptx(*kept);
  const std::expected<std::string, std::string> text = request.ranges.empty()
                                                           ? plugin_.ptx(request.asked.kernels, request.asked.entry)
                                                           : plugin_.super_ptx(request.ranges);
  if (!text) return request.done_ptx("");
  request.done_ptx(*text);
  cache_->store(key, *text);
}

void BackgroundCompiler::answer(const Request& request) {
  if (request.asked.target != vm::KernelTarget::host) return answer_ptx(request);
  const std::string key = kernel_key(request.asked, plugin_identity_, cpu_identity_);
  std::unique_lock lock(mutex_);
  const auto [entry, is_new] = known_.try_emplace(key);
  Known& known = entry->second;  // stays where it is
  if (known.is_ready) {
    lock.unlock();
    return request.done(code_of(known.leaf));
  }
  known.waiting.push_back(request.done);
  lock.unlock();
  if (!is_new) return;  // another thread is about it
  if (auto kept = find(key)) {
    ++from_cache_;
    return make_ready(known, std::move(*kept));
  }
  const auto image = plugin_.compile(request.asked);
  if (!image) return make_ready(known, std::nullopt);
  std::optional<LoadedLeaf> leaf;
  if (auto loaded = LoadedLeaf::load(*image)) leaf.emplace(std::move(*loaded));
  compiled_ += leaf.has_value();
  make_ready(known, std::move(leaf));
  cache_->store(key, to_bytes(*image));  // the calls that wait for the code do not wait for the disk
}

/// All who wait are answered.
void BackgroundCompiler::make_ready(Known& known, std::optional<LoadedLeaf> leaf) {
  std::unique_lock lock(mutex_);
  if (leaf) known.leaf.emplace(std::move(*leaf));
  known.is_ready = true;
  const auto waiting = std::exchange(known.waiting, {});
  lock.unlock();
  for (const auto& done : waiting) done(code_of(known.leaf));
}

std::optional<LoadedLeaf> BackgroundCompiler::find(const std::string& key) {
  const std::optional<std::string> bytes = cache_->find(key);
  const std::optional<LeafImage> image = bytes ? image_from_bytes(*bytes) : std::nullopt;
  if (!image) return std::nullopt;
  auto loaded = LoadedLeaf::load(*image);
  if (!loaded) return std::nullopt;
  return std::move(*loaded);
}

}  // namespace raddle::codegen
