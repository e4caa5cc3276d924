#pragma once
// A call of a function in Python, R or Tcl.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vm/calls/own_outputs.hpp"
#include "vm/foreign/server_exchange.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/value/file_identity.hpp"
#include "vm/value/rank_wish.hpp"

namespace raddle::vm {

/// Owns a reference to the function's frame, whose variables hold the inputs. Whoever has the last answer fills
/// `outcome` and `rank`, then injects it (publishing it).
class ServedCall final : public Cell {
 public:
  ServedCall(Frame& frame, std::uint32_t instruction) : frame(frame), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
  std::expected<std::vector<Value>, ServerExchange::Problem> outcome;
  std::int32_t rank = RankWish::any;  ///< that has made a call which others are to follow
  OwnOutputs own;
  std::vector<std::string> begun;  ///< for WrittenFiles::end
  /// Its mapped outputs, and what was in their places before.
  std::vector<std::pair<std::string, std::optional<FileIdentity>>> before;
};

}  // namespace raddle::vm
