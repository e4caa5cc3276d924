#include "gpu/open_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "gpu/cuda/cuda_devices.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/simulated/card_model.hpp"
#include "gpu/simulated/simulated_devices.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned simulated_warps = 4;
constexpr vm::DeviceCosts simulated_costs{.batch_ns = 10'000, .start_ns = 10'000'000};
constexpr unsigned all = std::numeric_limits<unsigned>::max();
constexpr std::size_t most_calls_ahead = 64;
constexpr std::uint64_t least_memory = 64 << 10;
constexpr const char* this_program = "/proc/self/exe";

constexpr const char* links_text = "links are what they are; those of a model stand behind `simulated:h200x4`, say";

/// What `--gpus` says.
struct GivenDevices {
  std::string kind;    ///< none, all, simulated, or how many
  unsigned count = 0;  ///< 0: as the kind says
  bool is_whole = false, is_resident = false;
  std::optional<std::size_t> memory{};
  std::optional<std::uint64_t> patience_ns{};
  const CardModel* model = nullptr;  ///< of simulated ones: `count` cards
  // of a model's cards
  std::optional<bool> has_one_bus{}, has_peers{};
  std::optional<std::size_t> calls_ahead{};
};

/// 4096, 512K, 64M, 4G.
std::optional<std::size_t> bytes_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto place = std::string_view("KMGT").find(unit);
  if (fault != std::errc() || unit.size() > 1 || place == std::string_view::npos) return {};
  const unsigned shift = unit.empty() ? 0 : 10 * static_cast<unsigned>(place + 1);
  if (number < (least_memory >> std::min(shift, 16U)) || number > (std::uint64_t{1} << 50 >> shift)) return {};
  return number << shift;
}

/// Of whole seconds, a day at most.
std::optional<std::uint64_t> seconds_of(std::string_view text) {
  constexpr std::uint64_t ns_of_second = 1'000'000'000, most = 86'400;
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, number);
  if (fault != std::errc() || end != last || number == 0 || number > most) return {};
  return number * ns_of_second;
}

/// From 1 to most_gpus.
std::optional<unsigned> count_of(std::string_view text) {
  unsigned count = 0;
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, count);
  if (fault != std::errc() || end != last || count == 0 || count > most_gpus) return {};
  return count;
}

std::optional<std::size_t> calls_of(std::string_view text) {
  std::size_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, number);
  if (fault != std::errc() || end != last || number > most_calls_ahead) return {};
  return number;
}

/// h200, h200x4.
struct Cards {
  const CardModel* model = nullptr;  ///< null: the word names none
  std::optional<unsigned> count = 1;
};
Cards cards_of(std::string_view word) {
  if (const CardModel* const model = card_model(word)) return {.model = model};
  const std::size_t cross = word.rfind('x');
  if (cross == std::string_view::npos) return {};
  Cards cards{.model = card_model(word.substr(0, cross)), .count = count_of(word.substr(cross + 1))};
  return cards;
}

std::string number_text() { return fmt::format("there can be 1 to {} of them; none: `--gpus none`", most_gpus); }

std::optional<std::string> read_kind(GivenDevices& given) {
  if (given.kind == "none" || given.kind == "all" || given.kind == "simulated") return {};
  if (const std::optional<unsigned> count = count_of(given.kind)) {
    given.count = *count;
    return {};
  }
  const bool is_number = !given.kind.empty() && given.kind.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) return number_text();
  if (cards_of(given.kind).model != nullptr) return fmt::format("did you mean `simulated:{}`?", given.kind);
  return "";
}

/// "whole, memory=512M, h100, h200x4"
std::string words_text(const GivenDevices& given) {
  const bool is_simulated = given.kind == "simulated";
  return fmt::format("whole, memory=512M, {}", is_simulated
                                                   ? fmt::format("{}, {}x4, link=shared, peers=nvlink, ahead=4",
                                                                 fmt::join(model_names(), ", "), model_names().back())
                                                   : "patience=60, resident");
}

/// What stands behind a colon.
std::optional<std::string> read_word(std::string_view word, GivenDevices& given) {
  const bool is_simulated = given.kind == "simulated";
  if (given.kind == "none") return "nothing can stand behind `none`";
  if (word == "whole") {
    given.is_whole = true;
  } else if (word == "resident") {
    if (is_simulated) return "no kernel stays on a simulated device";
    given.is_resident = true;
  } else if (word.starts_with("memory=")) {
    given.memory = bytes_of(word.substr(7));
    if (!given.memory) return "memory is a size, from 64K on, as in `memory=512M` or `memory=4G`";
  } else if (word.starts_with("link=")) {
    if (!is_simulated) return links_text;
    if (word != "link=shared" && word != "link=own")
      return "link is `shared`, one bus for the copies of all cards, or `own`, one for each";
    given.has_one_bus = word == "link=shared";
  } else if (word.starts_with("peers=")) {
    if (!is_simulated) return links_text;
    if (word != "peers=nvlink" && word != "peers=none")
      return "peers is `nvlink`, cards copy from each other by links of that kind, or `none`";
    given.has_peers = word == "peers=nvlink";
  } else if (word.starts_with("ahead=")) {
    if (!is_simulated) return "how many calls ahead arrays are copied is a model's, as in `simulated:h200:ahead=4`";
    given.calls_ahead = calls_of(word.substr(6));
    if (!given.calls_ahead)
      return fmt::format("ahead is a number of calls, {} at most, as in `ahead=4`", most_calls_ahead);
  } else if (word.starts_with("patience=")) {
    if (is_simulated) return "there is no patience with a simulated device";
    given.patience_ns = seconds_of(word.substr(9));
    if (!given.patience_ns) return "patience is a number of seconds, a day at most, as in `patience=60`";
  } else {
    const Cards cards = cards_of(word);
    const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
    if (cards.model == nullptr && is_simulated && is_number)
      return fmt::format("one device is simulated; for several a model stands here, as in `simulated:h200x{}`", word);
    if (cards.model == nullptr) return fmt::format("`{}` is none of what can stand there: {}", word, words_text(given));
    if (!is_simulated) return fmt::format("a model stands behind `simulated`: `simulated:{}`", word);
    if (given.model != nullptr) return "there can be one model";
    if (!cards.count) return number_text();
    given.model = cards.model;
    given.count = *cards.count;
  }
  return {};
}

/// @error  what is wrong; "": nothing that is known
std::expected<GivenDevices, std::string> devices_of(std::string_view text) {
  GivenDevices given{.kind = std::string(text.substr(0, text.find(':')))};
  if (auto fault = read_kind(given)) return std::unexpected(*fault);
  while (text.contains(':')) {
    text.remove_prefix(text.find(':') + 1);
    if (auto fault = read_word(text.substr(0, text.find(':')), given)) return std::unexpected(*fault);
  }
  if ((given.has_one_bus || given.has_peers) && given.model == nullptr)
    return std::unexpected("links are of a model's cards, as in `simulated:h200x4:link=shared`");
  if (given.calls_ahead && given.model == nullptr)
    return std::unexpected("how many calls ahead arrays are copied is a model's, as in `simulated:h200:ahead=4`");
  return given;
}

OpenedDevices open_cards(const GivenDevices& given, std::function<std::string()> cubin_folder,
                         const std::string& policy) {
  const auto takes = given.is_whole ? vm::DeviceTakes::whole_launches : vm::DeviceTakes::what_is_worth_while;
  CardLimits limits;
  limits.memory = given.memory.value_or(limits.memory);
  limits.answer_ns = given.patience_ns.value_or(limits.answer_ns);
  // what is loaded late waits for the kernel that stays
  if (given.is_resident) setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const auto way = given.is_resident ? CudaDevices::Way::resident : CudaDevices::Way::launches;
  const ServerProgram server{.path = this_program, .cubin_folder = std::move(cubin_folder)};
  const unsigned most = given.kind == "all" ? all : given.count;
  auto devices = std::make_shared<CudaDevices>(most, takes, way, CudaDevices::usual_library, limits, server, policy);
  // whoever asks for no more than is the default misses no GPU
  if (given.kind == "all" && !given.is_whole && !given.is_resident) return {devices, ""};
  const std::expected<unsigned, std::string> count = devices->open();
  if (!count) return {nullptr, count.error() + "; workers compute everything"};
  if (*count < given.count) return {devices, *count == 1 ? "there is 1 GPU" : fmt::format("there are {} GPUs", *count)};
  return {devices, ""};
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const CardModel& model : card_models()) names.emplace_back(model.name);
  return names;
}

std::optional<std::string> fault_of_devices(const std::string& text) {
  const auto given = devices_of(text);
  return given ? std::nullopt : std::optional(given.error());
}

std::expected<OpenedDevices, std::string> open_devices(const std::string& text,
                                                       std::function<std::string()> cubin_folder,
                                                       const std::string& policy) {
  const auto given = devices_of(text);
  if (!given) return std::unexpected("there are none of this name");
  if (given->kind == "none") return OpenedDevices{};
  if (given->kind != "simulated") return open_cards(*given, std::move(cubin_folder), policy);
  constexpr vm::DeviceCosts whole{.takes = vm::DeviceTakes::whole_launches};
  if (const CardModel* const model = given->model) {
    const std::size_t usable = model->memory_bytes / 10 * 9;  // as of a card that is there
    const ModelLinks links{.are_one_bus = given->has_one_bus.value_or(false),
                           .have_peers = given->has_peers.value_or(false)};
    const SimulatedDevices::Cards cards{*model, given->count, links,
                                        given->calls_ahead.value_or(SimulatedDevices::usual_calls_ahead)};
    const std::size_t memory = std::min(usable, given->memory.value_or(usable));
    return OpenedDevices{std::make_shared<SimulatedDevices>(simulated_warps, whole, memory, cards, policy), ""};
  }
  return OpenedDevices{
      std::make_shared<SimulatedDevices>(simulated_warps, given->is_whole ? whole : simulated_costs,
                                         given->memory.value_or(SimulatedDevices::usual_memory), policy),
      ""};
}

FoundGpus find_gpus() {
  CudaDevices devices(all, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, CudaDevices::usual_library,
                      {}, {.path = this_program});
  FoundGpus found;
  found.has_driver = LoadedDriver::is_installed(CudaDevices::usual_library);
  if (const std::expected<unsigned, std::string> count = devices.open(); !count) {
    found.text = count.error() + ": workers compute everything";
    found.has_problem = found.has_driver;
    return found;
  }
  for (const vm::DeviceFacts& facts : devices.facts())
    found.text += fmt::format("{}{}, {} GiB, {}", found.text.empty() ? "" : "; ", facts.name, facts.memory_bytes >> 30,
                              facts.kind);
  const std::string problem = devices.problem();
  found.has_problem = !problem.empty();
  if (found.has_problem) found.text += (found.text.empty() ? "" : "; ") + problem;
  if (found.text.empty()) found.text = "none: workers compute everything";
  return found;
}

}  // namespace raddle::gpu
