#include "gpu/cuda/cuda_devices.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "gpu/cuda/cuda_state.hpp"

namespace raddle::gpu {

namespace {

constexpr std::int64_t batch_ns = 100'000;      // copies, a launch, two waits
constexpr std::int64_t start_ns = 400'000'000;  // driver, context, PTX by LLVM, code by the driver

}  // namespace

CudaDevices::CudaDevices(unsigned most, vm::DeviceTakes takes, Way way, std::string library, const CardLimits& limits,
                         ServerProgram server, std::string policy)
    : takes_(takes),
      state_(std::make_shared<State>(most, way, limits, std::move(library), std::move(server), std::move(policy))) {}

CudaDevices::~CudaDevices() {
  std::jthread opener;
  {
    const std::lock_guard lock(state_->mutex);
    opener = std::move(state_->opener);
  }
  state_->close();
}

std::expected<unsigned, std::string> CudaDevices::open() {
  if (const std::string fault = state_->look_for_driver(); !fault.empty()) return std::unexpected(fault);
  return state_->open_cards();
}

void CudaDevices::prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                          std::shared_ptr<vm::CompilerLink> compiler, Prepared done) {
  if (const std::string fault = state_->look_for_driver(); !fault.empty()) return done(std::unexpected(fault));
  try {
    State::start_opener(state_);
  } catch (const std::system_error& error) {
    return done(std::unexpected(error.what()));
  }
  const auto text = std::make_shared<State::Text>(State::Text{kernels, entry, std::move(compiler), std::move(done)});
  // the compiler may live longer than this
  text->compiler->use([&](vm::KernelCompiler& given) {
    given.request_ptx(kernels, entry, [weak = std::weak_ptr(state_), text](const std::string& ptx) {
      const std::shared_ptr<State> state = weak.lock();
      if (!state || ptx.empty()) return text->done(std::unexpected(""));
      state->add_load([own = state.get(), text, ptx] { own->load_text(text, ptx); });
    });
  });
}

void CudaDevices::prepare_calls(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler, Prepared done) {
  if (const std::string fault = state_->look_for_driver(); !fault.empty()) return done(std::unexpected(fault));
  try {
    State::start_opener(state_);
  } catch (const std::system_error& error) {
    return done(std::unexpected(error.what()));
  }
  // the compiler may live longer than this
  compiler.request_ptx(function, [weak = std::weak_ptr(state_), name = fmt::format("the AppKernel `{}`", function.name),
                                  done = std::move(done)](const std::expected<std::string, std::string>& ptx) {
    const std::shared_ptr<State> state = weak.lock();
    if (!state) return;
    if (!ptx) return done(std::unexpected(ptx.error()));
    state->add_load([own = state.get(), name, ptx = *ptx, done] {
      auto kernel = own->loaded_for_calls(name, ptx);
      if (kernel && !own->start_call_threads()) kernel = std::unexpected("there are no threads for it");
      done(std::move(kernel));
    });
  });
}

void CudaDevices::submit(vm::DeviceCall call) { state_->submit(std::move(call)); }

void CudaDevices::submit(vm::DeviceBatch batch) { state_->submit(std::move(batch)); }

bool CudaDevices::is_hungry() const {
  return state_->load_of_cards.is_below(state_->working.load(std::memory_order_relaxed), threads_of_card);
}

vm::DeviceCosts CudaDevices::costs() const { return {.batch_ns = batch_ns, .start_ns = start_ns, .takes = takes_}; }

std::vector<vm::DeviceFacts> CudaDevices::facts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->facts;
}

std::string CudaDevices::problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem;
}

}  // namespace raddle::gpu
