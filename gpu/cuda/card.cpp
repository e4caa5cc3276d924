#include "gpu/cuda/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace raddle::gpu {

namespace {

constexpr unsigned usual_block = 256;  ///< threads; the driver lets a kernel with many registers have fewer
constexpr unsigned warp_lanes = 32;
constexpr std::int64_t most_blocks = 1 << 16;  ///< a thread computes several points of a larger batch
constexpr std::size_t alignment = 256;         ///< of what lies in one allocation
constexpr int least_compute = 70;              ///< sm_70
constexpr unsigned stream_beside_default = 1;  ///< CU_STREAM_NON_BLOCKING
constexpr unsigned sleeping_waits = 4;         ///< CU_CTX_SCHED_BLOCKING_SYNC: processors are the workers'
constexpr int invalid_value = 1;               ///< CUDA_ERROR_INVALID_VALUE

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

std::expected<std::unique_ptr<Card>, std::string> Card::open(const CudaDriver& driver, unsigned number) {
  int device = 0;
  int error = driver.device(&device, static_cast<int>(number));
  std::array<char, 256> name{};
  if (error == 0) error = driver.device_name(name.data(), static_cast<int>(name.size()), device);
  const auto attribute = [&](int which) {
    int value = 0;
    if (error == 0) error = driver.device_attribute(&value, which, device);
    return value;
  };
  const int compute = 10 * attribute(cuda_compute_major) + attribute(cuda_compute_minor);
  const int pools = attribute(cuda_memory_pools);
  const int multiprocessors = attribute(cuda_multiprocessor_count);
  const int lanes = multiprocessors * attribute(cuda_threads_of_multiprocessor);
  if (error == 0 && (compute < least_compute || pools == 0))
    return std::unexpected(
        fmt::format("{} is too old: sm_{}, and sm_{} is needed", name.data(), compute, least_compute));
  std::size_t bytes = 0;
  void* context = nullptr;
  if (error == 0) error = driver.device_memory(&bytes, device);
  if (error == 0) driver.context_flags(device, sleeping_waits);  // a wish: who has the context already decides
  if (error == 0) error = driver.retain_context(&context, device);
  if (error != 0) return std::unexpected(fmt::format("GPU {} can not be used: {}", number, driver.text_of(error)));
  std::unique_ptr<Card> card(new Card(driver, device, context));
  card->facts_ = {name.data(), bytes, static_cast<unsigned>(lanes)};
  card->multiprocessors_ = static_cast<unsigned>(multiprocessors);
  return card;
}

Card::~Card() {
  driver_.set_context(context_);
  resident_.reset();
  for (const auto& [text, module] : modules_)
    if (module.module != nullptr) driver_.unload_module(module.module);
  driver_.set_context(nullptr);
  driver_.release_context(device_);
}

void* Card::open_stream() {
  void* stream = nullptr;
  if (driver_.set_context(context_) != 0 || driver_.create_stream(&stream, stream_beside_default) != 0) return nullptr;
  return stream;
}

void Card::close_stream(void* stream) { driver_.destroy_stream(stream); }

int Card::make_resident() {
  if (const int error = driver_.set_context(context_)) return error;
  auto made = ResidentCard::make(driver_, context_, multiprocessors_);
  if (!made) return made.error();
  resident_ = std::move(*made);
  return 0;
}

void Card::while_no_kernel_stays(const std::function<void()>& change) {
  if (resident_)
    resident_->swap(change);
  else
    change();
}

CardFunction Card::load(const std::string& ptx, const char* kernel) {
  CardFunction found;
  while_no_kernel_stays([&] { found = load_module(ptx, kernel); });
  return found;
}

std::int64_t Card::load_super(const std::string& ptx) {
  CardFunction found;
  if (resident_)
    resident_->swap([&] {
      found = load_module(ptx, vm::super_kernel_name);
      if (found.function == nullptr) return;
      resident_->use(found.function);
      if (super_ != ptx) unload_module(super_);
      super_ = ptx;
    });
  return found.function == nullptr ? 0 : resident_->lanes();
}

void Card::unload_module(const std::string& ptx) {
  const std::lock_guard lock(modules_mutex_);
  const auto entry = modules_.find(ptx);
  if (entry == modules_.end()) return;
  driver_.unload_module(entry->second.module);
  modules_.erase(entry);
}

CardFunction Card::load_module(const std::string& ptx, const char* name) {
  const std::lock_guard lock(modules_mutex_);
  const auto [entry, is_new] = modules_.try_emplace(ptx);
  Module& module = entry->second;
  CardFunction& found = module.function;
  int threads = 0, blocks = 0;
  if (is_new && driver_.set_context(context_) == 0 &&
      driver_.load_module(&module.module, ptx.c_str(), 0, nullptr, nullptr) == 0 &&
      driver_.module_function(&found.function, module.module, name) == 0 &&
      driver_.function_attribute(&threads, cuda_function_threads_of_block, found.function) == 0 &&
      driver_.function_attribute(&found.registers, cuda_function_registers, found.function) == 0) {
    const unsigned block = std::min(usual_block, static_cast<unsigned>(threads));
    if (driver_.blocks_at_once(&blocks, found.function, static_cast<int>(block), 0) == 0) {
      found.block = block;
      found.lanes = std::int64_t{blocks} * block * multiprocessors_;
    }
  }
  return found.lanes == 0 ? CardFunction() : found;
}

void Card::expect(const vm::DeviceBatch& batch) {
  const std::lock_guard lock(copies_mutex_);
  for (const vm::DeviceBatch::Memory& memory : batch.arrays) ++copies_[array_of(batch, memory)].uses;
}

void Card::forget(const vm::DeviceBatch& batch) {
  const std::lock_guard lock(copies_mutex_);
  for (const vm::DeviceBatch::Memory& memory : batch.arrays) forget(array_of(batch, memory));
}

void Card::forget(const Array& array) {
  const auto copy = copies_.find(array);
  if (--copy->second.uses != 0) return;
  if (copy->second.address != 0) forgotten_.push_back(copy->second.address);
  copies_.erase(copy);
}

void Card::free_forgotten(void* stream) {
  const std::lock_guard lock(copies_mutex_);
  for (const std::uint64_t address : forgotten_) driver_.free(address, stream);
  forgotten_.clear();
}

/// Where the copy of an array that is expected lies: it is made if it is not there yet. @error  the driver's number
std::expected<std::uint64_t, int> Card::copy_of(const Array& array, void* stream) {
  const auto [address, size_bytes] = array;
  const std::lock_guard lock(copies_mutex_);
  Copy& copy = copies_.at(array);
  if (copy.address != 0) return copy.address;
  std::uint64_t made = 0;
  if (const int error = driver_.allocate(&made, size_bytes, stream)) return std::unexpected(error);
  int error = driver_.copy_in(made, reinterpret_cast<const void*>(address), size_bytes, stream);
  if (error == 0) error = driver_.wait_for_stream(stream);  // streams of other threads are to read it, too
  if (error != 0) return driver_.free(made, stream), std::unexpected(error);
  return copy.address = made;
}

/// Puts the addresses of the arrays' copies into the words. @return an error's number
int Card::copy_arrays(const vm::DeviceBatch& batch, std::vector<std::int64_t>& words, void* stream) {
  for (const vm::DeviceBatch::Memory& memory : batch.arrays) {
    if (memory.size_bytes == 0) continue;
    const auto copy = copy_of(array_of(batch, memory), stream);
    if (!copy) return copy.error();
    words[memory.word] = static_cast<std::int64_t>(*copy);
  }
  return 0;
}

std::expected<std::int64_t, int> Card::run(const vm::DeviceBatch& batch, const CardFunction& code, void* stream,
                                           unsigned thread) {
  if (stream == nullptr || code.function == nullptr) return std::unexpected(invalid_value);
  std::vector<std::int64_t> words = batch.words;
  if (const int error = copy_arrays(batch, words, stream)) return std::unexpected(error);
  // results, and before them the least number of a point that does not end well
  std::size_t size = alignment;
  for (const vm::DeviceBatch::Memory& memory : batch.results) size += aligned(memory.size_bytes);
  std::uint64_t memory_of_results = 0;
  if (const int error = driver_.allocate(&memory_of_results, size, stream)) return std::unexpected(error);
  std::uint64_t next = memory_of_results + alignment;
  for (const vm::DeviceBatch::Memory& memory : batch.results) {
    words[memory.word] = static_cast<std::int64_t>(next);
    next += aligned(memory.size_bytes);
  }
  std::expected<std::int64_t, int> made = 0;
  if (!code.number || words.size() > ResidentCard::most_words)
    made = compute_by_launch(code, words, memory_of_results, stream);
  else if (const int error = driver_.wait_for_stream(stream))  // the super kernel is of another stream
    made = std::unexpected(error);
  else
    made = resident_->compute(thread, *code.number, words, batch.count());
  if (made)
    if (const int error = take_results(batch, words, *made, stream)) {
      driver_.wait_for_stream(stream);  // for copies that were asked for before the error
      made = std::unexpected(error);
    }
  const int error_of_free = driver_.free(memory_of_results, stream);
  if (made && error_of_free != 0) return std::unexpected(error_of_free);
  return made;
}

/// @param least  where on the card the number goes
std::expected<std::int64_t, int> Card::compute_by_launch(const CardFunction& code, std::vector<std::int64_t>& words,
                                                         std::uint64_t least, void* stream) {
  const std::int64_t count = words[2];
  std::int64_t made = count;
  words.push_back(static_cast<std::int64_t>(least));
  int error = driver_.copy_in(least, &made, sizeof made, stream);
  if (error == 0) error = launch(code, words, count, stream);
  if (error == 0) error = driver_.copy_out(&made, least, sizeof made, stream);
  const int error_of_wait = driver_.wait_for_stream(stream);  // after an error, too: `made` is used until then
  if (error == 0) error = error_of_wait;
  if (error != 0) return std::unexpected(error);
  return made;
}

int Card::launch(const CardFunction& code, std::vector<std::int64_t>& words, std::int64_t count, void* stream) {
  std::vector<void*> parameters;
  for (std::int64_t& word : words) parameters.push_back(&word);
  // few points are to keep all multiprocessors busy, too
  const std::int64_t warps = (count + warp_lanes - 1) / warp_lanes;
  const std::int64_t even = (warps + multiprocessors_ - 1) / multiprocessors_ * warp_lanes;
  const auto block = static_cast<unsigned>(std::min<std::int64_t>(code.block, even));
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, (count + block - 1) / block));
  return driver_.launch(code.function, blocks, 1, 1, block, 1, 1, 0, stream, parameters.data(), nullptr);
}

/// @param made  of how many points
int Card::take_results(const vm::DeviceBatch& batch, const std::vector<std::int64_t>& words, std::int64_t made,
                       void* stream) {
  for (const vm::DeviceBatch::Memory& memory : batch.results) {
    const std::size_t element = memory.size_bytes / static_cast<std::size_t>(batch.count());
    const std::size_t bytes = element * static_cast<std::size_t>(made);
    if (bytes == 0) continue;
    auto* to = reinterpret_cast<void*>(batch.words[memory.word]);
    if (const int error = driver_.copy_out(to, static_cast<std::uint64_t>(words[memory.word]), bytes, stream))
      return error;
  }
  return driver_.wait_for_stream(stream);
}

}  // namespace raddle::gpu
