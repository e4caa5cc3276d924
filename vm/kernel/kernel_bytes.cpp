#include "vm/kernel/kernel_bytes.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#include "vm/kernel/verify_kernel.hpp"

namespace raddle::vm {

namespace {

constexpr std::uint32_t form = 3;  ///< to be changed with kernel.hpp and kernel_ops.def
static_assert(std::endian::native == std::endian::little);

class Writer {
 public:
  template <typename T>
  void number(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename List>
  void size(const List& list) {
    number(static_cast<std::uint64_t>(list.size()));
  }
  void text(const std::string& text) {
    size(text);
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads zeros once the bytes are over.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  template <typename T>
  void number(T& value) {
    if (left_.size() < sizeof value) return stop(value);
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
  }
  void number(bool& truth) {
    std::uint8_t byte = 0;
    number(byte);
    if (byte > 1) stop(byte);
    truth = byte == 1;
  }
  /// Each element of a list takes a byte at least, so that a size is never beyond what is there.
  template <typename List>
  void size(List& list) {
    std::uint64_t count = 0;
    number(count);
    if (count > left_.size()) stop(count);
    list.resize(count);
  }
  void text(std::string& text) {
    size(text);
    left_.copy(text.data(), text.size());
    left_.remove_prefix(text.size());
  }
  bool is_well_read() const { return is_good_ && left_.empty(); }

 private:
  template <typename T>
  void stop(T& value) {
    is_good_ = false;
    left_ = {};
    value = T{};
  }
  std::string_view left_;
  bool is_good_ = true;
};

template <typename Bytes, typename List>
void numbers(Bytes& bytes, List& list) {
  bytes.size(list);
  for (auto& number : list) bytes.number(number);
}
template <typename Bytes, typename Place>
void place(Bytes& bytes, Place& place) {
  bytes.number(place.file);
  bytes.number(place.begin);
  bytes.number(place.end);
}

/// All that is in a kernel, for both directions: `Kernel` is const of a writer.
template <typename Bytes, typename Kernel>
void visit(Bytes& bytes, Kernel& kernel) {
  bytes.text(kernel.name);
  place(bytes, kernel.place);
  numbers(bytes, kernel.types);
  bytes.number(kernel.parameter_count);
  bytes.number(kernel.row_count);
  numbers(bytes, kernel.constants);
  numbers(bytes, kernel.outputs);
  bytes.size(kernel.blocks);
  for (auto& block : kernel.blocks) {
    bytes.size(block);
    for (auto& instruction : block) {
      bytes.number(instruction.op);
      bytes.number(instruction.result);
      for (auto& input : instruction.inputs) bytes.number(input);
      bytes.number(instruction.index);
      place(bytes, instruction.place);
    }
  }
  bytes.size(kernel.branches);
  for (auto& branch : kernel.branches) {
    bytes.number(branch.then_block);
    bytes.number(branch.else_block);
  }
  bytes.size(kernel.loops);
  for (auto& loop : kernel.loops) {
    numbers(bytes, loop.variables);
    numbers(bytes, loop.initial);
    numbers(bytes, loop.next);
    bytes.number(loop.test_block);
    bytes.number(loop.body_block);
    bytes.number(loop.condition);
    bytes.number(loop.test_after);
  }
  bytes.size(kernel.calls);
  for (auto& call : kernel.calls) {
    bytes.number(call.kernel);
    numbers(bytes, call.inputs);
    numbers(bytes, call.results);
  }
  bytes.size(kernel.reductions);
  for (auto& reduction : kernel.reductions) {
    bytes.number(reduction.kernel);
    bytes.number(reduction.reducer);
    bytes.number(reduction.count);
    numbers(bytes, reduction.inputs);
    bytes.number(reduction.result);
  }
  bytes.size(kernel.foreign_calls);
  for (auto& call : kernel.foreign_calls) {
    bytes.text(call.library);
    bytes.text(call.symbol);
    bytes.number(call.function);
    numbers(bytes, call.inputs);
    bytes.number(call.result);
  }
  bytes.size(kernel.eaches);
  for (auto& each : kernel.eaches) {
    bytes.number(each.point);
    bytes.number(each.count);
    bytes.number(each.block);
  }
}

/// Of enumerations, whose bytes may be any.
bool has_known_names(const Kernel& kernel) {
  for (const KernelType type : kernel.types)
    if (type > KernelType::float32s) return false;
  for (const std::vector<KernelInstruction>& block : kernel.blocks)
    for (const KernelInstruction& instruction : block)
      if (instruction.op > KernelOp::each) return false;
  for (const KernelReduction& reduction : kernel.reductions)
    if (static_cast<std::size_t>(reduction.reducer) >= std::size(kernel_reducers)) return false;
  return true;
}

}  // namespace

std::string write_kernels(const KernelGroup& kernels) {
  Writer writer;
  writer.number(form);
  writer.size(kernels);
  for (const Kernel& kernel : kernels) visit(writer, kernel);
  return writer.take();
}

std::expected<KernelGroup, std::string> read_kernel_bytes(std::string_view bytes) {
  Reader reader(bytes);
  std::uint32_t read_form = 0;
  reader.number(read_form);
  if (read_form != form) return std::unexpected("these are no kernels of this version");
  KernelGroup kernels;
  reader.size(kernels);
  for (Kernel& kernel : kernels) visit(reader, kernel);
  if (!reader.is_well_read()) return std::unexpected("the bytes of a kernel are not complete");
  for (const Kernel& kernel : kernels)
    if (!has_known_names(kernel)) return std::unexpected("a kernel has an operation or a type that is none");
  if (std::string fault = verify_kernels(kernels); !fault.empty()) return std::unexpected(std::move(fault));
  return kernels;
}

Hash128 hash_of(const KernelGroup& kernels) { return hash(write_kernels(kernels)); }

}  // namespace raddle::vm
