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

BackgroundCompiler::BackgroundCompiler(bool unrolls_recursion, std::string cache_folder, std::string plugin_path)
    : unrolls_recursion_(unrolls_recursion), cache_folder_(std::move(cache_folder)), plugin_(std::move(plugin_path)) {}

BackgroundCompiler::~BackgroundCompiler() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
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
  if (!thread_.joinable()) {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  requests_.push_back(std::move(request));
  return true;
}

void BackgroundCompiler::work(const std::stop_token& stop) {
  if (!cache_folder_.empty()) plugin_identity_ = plugin_.identity();
  cache_.emplace(plugin_identity_.empty() ? "" : cache_folder_);
  if (cache_->is_usable()) cpu_identity_ = cpu_identity();
  while (true) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      if (!requested_.wait(lock, stop, [this] { return !requests_.empty(); }) || stop.stop_requested()) return;
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
  const auto [entry, is_new] = known_.try_emplace(key);
  std::optional<LoadedLeaf>& leaf = entry->second;
  if (!is_new) return request.done(code_of(leaf));
  if (auto kept = find(key)) {
    leaf.emplace(std::move(*kept));
    ++from_cache_;
    return request.done(code_of(leaf));
  }
  const auto image = plugin_.compile(request.asked);
  if (!image) return request.done(nullptr);
  if (auto loaded = LoadedLeaf::load(*image)) leaf.emplace(std::move(*loaded));
  compiled_ += leaf.has_value();
  request.done(code_of(leaf));
  cache_->store(key, to_bytes(*image));  // the calls that wait for the code do not wait for the disk
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
