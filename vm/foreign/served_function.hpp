#pragma once
// One call of a function in Python or R: what is asked of the process that makes it, and what that answers.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vm/foreign/served_language.hpp"
#include "vm/foreign/server_exchange.hpp"
#include "vm/memory/shared_blocks.hpp"
#include "vm/program/program.hpp"
#include "vm/value/buffer.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

class MessageReader;

/// Small arrays are sent in the messages, and so are all where memory is not shared; others lie in memory that the
/// process can see: those of inputs are there, or copied there, and where results are to go is said once the process
/// has told how large they are.
class FunctionExchange final : public ServerExchange {
 public:
  /// @param function, language  must outlive go_on() and finish()
  FunctionExchange(const ForeignFunction& function, const ServedLanguage& language)
      : function_(function), language_(language) {}
  ~FunctionExchange() override;
  FunctionExchange(const FunctionExchange&) = delete;
  FunctionExchange& operator=(const FunctionExchange&) = delete;

  std::expected<std::string, std::string> request(std::span<const Value> inputs) override;
  std::optional<std::string> go_on(const std::string& answer) override;
  std::expected<std::vector<Value>, Problem> finish(const std::string& answer) override;

 private:
  /// A copy of an input, or memory for a result, which lies where the process can not see it.
  struct Shared {
    SharedBlocks::Block block;
    std::size_t bytes;
  };
  struct Waiting {
    std::size_t output;  ///< which one
    Buffer::Owner numbers;
    std::optional<Shared> copy;  ///< where the process writes; none: to `numbers`
  };

  std::string put_input(std::string& to, const ForeignFormal& formal, std::span<const Value>& inputs);
  std::string put_array(std::string& to, const ForeignFormal& formal, Array& array, std::span<const Value> extents);
  std::string put_int(std::string& to, const ForeignFormal& formal, const Value& value);
  template <typename Int>
  std::string put_narrowed(std::string& to, const ForeignFormal& formal, std::span<const Int> numbers,
                           std::span<const Value> extents);
  bool shares_memory() const { return language_.shares_memory && SharedBlocks::have_begun(); }
  void put_outputs(std::string& to, std::span<const Value> wanted);
  std::optional<std::string> take_results(const std::string& answer);
  bool take_array(MessageReader& reader, std::size_t output);
  Shared share(std::size_t bytes);

  const ForeignFunction& function_;
  const ServedLanguage& language_;
  std::vector<Shared> copies_;
  std::vector<Value> outputs_;
  std::vector<Waiting> waiting_;
  std::string problem_;  ///< of ours with the results
  bool has_results_ = false;
};

}  // namespace raddle::vm
