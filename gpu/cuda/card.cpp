#include "gpu/cuda/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "gpu/cuda/stream_copies.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned usual_block = 256;  ///< threads; the driver lets a kernel with many registers have fewer
constexpr unsigned warp_lanes = 32;
constexpr std::int64_t most_blocks = 1 << 16;                ///< a thread computes several points of a larger batch
constexpr std::size_t chunk_bytes = std::size_t{128} << 20;  ///< of memory that is asked for at once
constexpr int least_compute = 70;                            ///< sm_70
constexpr unsigned stream_beside_default = 1;                ///< CU_STREAM_NON_BLOCKING
constexpr unsigned sleeping_waits = 4;  ///< CU_CTX_SCHED_BLOCKING_SYNC: processors are the workers'
constexpr int invalid_value = 1;        ///< CUDA_ERROR_INVALID_VALUE

}  // namespace

std::expected<std::unique_ptr<Card>, std::string> Card::open(const CudaDriver& driver, unsigned number,
                                                             const CardLimits& limits) {
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
  std::size_t bytes = 0, free_bytes = 0, all_bytes = 0;
  int version = 0;
  void* context = nullptr;
  if (error == 0) error = driver.driver_version(&version);
  if (error == 0) error = driver.device_memory(&bytes, device);
  if (error == 0) driver.context_flags(device, sleeping_waits);  // a wish: who has the context already decides
  if (error == 0) error = driver.retain_context(&context, device);
  if (error != 0) return std::unexpected(fmt::format("GPU {} can not be used: {}", number, driver.text_of(error)));
  std::unique_ptr<Card> card(new Card(driver, device, context));
  if (error = driver.set_context(context); error == 0) error = driver.free_memory(&free_bytes, &all_bytes);
  if (error != 0) return std::unexpected(fmt::format("GPU {} can not be used: {}", number, driver.text_of(error)));
  const std::size_t memory = std::min(limits.memory, free_bytes / 10 * 9);  // some is for code, stacks and queues
  card->memory_ = std::make_shared<CardMemory>(memory, std::min(chunk_bytes, memory / 4));
  card->patience_ = {limits.silent_ns, limits.answer_ns};
  card->facts_ = {name.data(), bytes, static_cast<unsigned>(lanes),
                  fmt::format("sm_{}, driver of CUDA {}", compute, text_of_version(version))};
  card->multiprocessors_ = static_cast<unsigned>(multiprocessors);
  return card;
}

/// Of a kernel that does not end the driver would wait for ever: then everything is left to the end of the process.
Card::~Card() {
  driver_.set_context(context_);
  const bool is_hung = resident_ && resident_->is_hung();
  if (is_hung) resident_->abandon();
  resident_.reset();
  if (is_hung) return;
  if (memory_) {
    if (const std::expected<void*, int> stream = open_stream()) {
      StreamCopies engine(driver_, *stream);
      memory_->give_back_chunks(engine);
      close_stream(*stream);
    }
  }
  for (const auto& [text, module] : modules_)
    if (module.module != nullptr) driver_.unload_module(module.module);
  driver_.set_context(nullptr);
  driver_.release_context(device_);
}

std::expected<void*, int> Card::open_stream() {
  void* stream = nullptr;
  if (const int error = driver_.set_context(context_)) return std::unexpected(error);
  if (const int error = driver_.create_stream(&stream, stream_beside_default)) return std::unexpected(error);
  return stream;
}

void Card::close_stream(void* stream) { driver_.destroy_stream(stream); }

int Card::make_resident() {
  if (const int error = driver_.set_context(context_)) return error;
  auto made = ResidentCard::make(driver_, context_, multiprocessors_, patience_);
  if (!made) return made.error();
  resident_ = std::move(*made);
  return 0;
}

CardFunction Card::load(const std::string& ptx, const char* kernel) {
  CardFunction found;
  const auto load = [&] { found = load_module(ptx, kernel); };
  if (resident_)
    resident_->swap(load);  // beside a kernel that does not end nothing is loaded
  else
    load();
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
  if (!is_new) return found;
  int threads = 0, blocks = 0;
  int error = driver_.set_context(context_);
  if (error == 0) error = driver_.load_module(&module.module, ptx);
  if (error == 0) error = driver_.module_function(&found.function, module.module, name);
  if (error == 0) error = driver_.function_attribute(&threads, cuda_function_threads_of_block, found.function);
  if (error == 0) error = driver_.function_attribute(&found.registers, cuda_function_registers, found.function);
  found.block = std::min(usual_block, static_cast<unsigned>(threads));
  if (error == 0) error = driver_.blocks_at_once(&blocks, found.function, static_cast<int>(found.block), 0);
  found.lanes = std::int64_t{blocks} * found.block * multiprocessors_;
  if (found.lanes == 0) found = {.error = error};
  return found;
}

BatchRun Card::run(const vm::DeviceBatch& batch, const CardFunction& code, void* stream, unsigned thread) {
  if (code.function == nullptr) return {.error = invalid_value};
  StreamCopies engine(driver_, stream);
  BatchRun run = run_batch(batch, *memory_, engine,
                           [&](const vm::DeviceBatch& part, std::vector<std::int64_t> words,
                               std::uint64_t least) -> std::expected<std::int64_t, int> {
                             if (!code.number || words.size() > ResidentCard::most_words)
                               return compute_by_launch(code, words, least, stream);
                             if (const int error = engine.wait())
                               return std::unexpected(error);  // it is of another stream
                             return resident_->compute(thread, *code.number, words, part.count());
                           });
  run.transfers = engine.take_transfers();
  return run;
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
  std::vector<CudaDriver::Parameter> parameters;
  for (const std::int64_t& word : words) parameters.push_back(std::as_bytes(std::span(&word, 1)));
  // few points are to keep all multiprocessors busy, too
  const std::int64_t warps = (count + warp_lanes - 1) / warp_lanes;
  const std::int64_t even = (warps + multiprocessors_ - 1) / multiprocessors_ * warp_lanes;
  const auto block = static_cast<unsigned>(std::min<std::int64_t>(code.block, even));
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, (count + block - 1) / block));
  return driver_.launch(code.function, blocks, block, stream, parameters);
}

}  // namespace raddle::gpu
