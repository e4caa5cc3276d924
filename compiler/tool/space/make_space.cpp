// From the words of the command line to a Space.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/space/sobol.hpp"
#include "compiler/tool/space/space.hpp"

namespace raddle::sweep {
namespace {

constexpr std::uint64_t most_points = std::uint64_t{1} << 62;

std::string_view option_of(SampleMethod method) {
  switch (method) {
    case SampleMethod::random: return "--random";
    case SampleMethod::latin_hypercube: return "--lhs";
    case SampleMethod::sobol: return "--sobol";
  }
  return "";
}

OptionError error_in(std::string option, const std::string& word, std::string message, std::string help = "") {
  return {std::move(option), word, {std::move(message), 0, word.size(), std::move(help)}};
}

}  // namespace

class SpaceBuilder {
 public:
  explicit SpaceBuilder(const SpaceOptions& options) : options_(options) {}

  std::expected<Space, OptionError> run() {
    for (const std::string& word : options_.parameters) read_parameter(word);
    if (!error_) check_distributions();
    for (const std::string& word : options_.zips) read_zip(word);
    if (!error_) make_groups();
    if (!error_ && !options_.table.empty()) add_table();
    if (!error_ && !drawn_.empty()) add_samples();
    if (!error_) add_repeats();
    if (!error_) multiply();
    if (!error_) space_.find_places();
    if (error_) return std::unexpected(std::move(*error_));
    return std::move(space_);
  }

 private:
  struct Listed {
    std::string name;
    Values values;
    std::size_t zip;  // its group of --zip, or no_zip
  };
  static constexpr std::size_t no_zip = ~std::size_t{0};

  bool is_made_by_repeats(const std::string& name) const {
    return options_.repeats != 0 && (name == "rep" || name == "seed");
  }

  void fail(OptionError error) {
    if (!error_) error_ = std::move(error);
  }
  void fail(const std::string& word, std::size_t begin, std::size_t end, std::string message, std::string help = "") {
    fail(OptionError{"-p", word, {std::move(message), begin, end, std::move(help)}});
  }

  void read_parameter(const std::string& word) {
    if (error_) return;
    const std::size_t sign = word.find_first_of("=~");
    constexpr const char* form = "-p NAME=VALUES, as in -p a=1,2,3 or -p a=0:1:0.1";
    if (sign == std::string::npos) return fail(word, 0, word.size(), "values are missing", form);
    const std::string name = word.substr(0, sign);
    if (!is_name(name)) return fail(word, 0, sign, fmt::format("`{}` is no name for a parameter", name), form);
    if (is_made_by_repeats(name))
      return fail(word, 0, sign, fmt::format("`{}` is made by --repeats", name), "one of the two has to go");
    if (!names_.insert(name).second) return fail(word, 0, sign, fmt::format("the parameter `{}` is given twice", name));
    const std::string_view rest = std::string_view(word).substr(sign + 1);
    if (word[sign] == '~') {
      auto distribution = Distribution::parse(rest, sign + 1);
      if (!distribution) return fail({"-p", word, std::move(distribution.error())});
      drawn_.push_back({name, word, *distribution});
    } else {
      auto values = Values::parse(rest, sign + 1);
      if (!values) return fail({"-p", word, std::move(values.error())});
      listed_.push_back({name, std::move(*values), no_zip});
    }
  }

  /// For whoever has given a range: `-p a=0:1 --random 10`.
  std::string distribution_help() const {
    return fmt::format("one that is drawn is given as -p '{}~U(0,1)', in place of `=`: uniform from 0 to 1",
                       listed_.empty() ? "a" : listed_.front().name);
  }

  void check_distributions() {
    if (drawn_.empty() && options_.method)
      return fail(error_in(std::string(option_of(*options_.method)), std::to_string(options_.sample_count),
                           "no parameter has a distribution", distribution_help()));
    if (drawn_.empty()) return;
    const Drawn& first = drawn_.front();
    if (!options_.method)
      return fail(first.word, 0, first.word.size(), fmt::format("how many values of `{}` are to be drawn?", first.name),
                  "--random N, --lhs N or --sobol N");
    if (*options_.method == SampleMethod::sobol && drawn_.size() > most_sobol_dimensions) {
      const Drawn& beyond = drawn_[most_sobol_dimensions];
      fail(beyond.word, 0, beyond.word.size(), "not supported yet: more than 21 parameters with --sobol",
           "--lhs has no such limit");
    }
  }

  void read_zip(const std::string& word) {
    if (error_) return;
    const std::size_t group = zip_count_++;
    const Listed* first = nullptr;
    for (const Part& part : split({word, 0}, ',')) {
      const auto at = [&](std::string message, std::string help = "") {
        fail(OptionError{"--zip", word, {std::move(message), part.begin, part.end(), std::move(help)}});
      };
      const auto found = std::ranges::find(listed_, part.text, &Listed::name);
      if (found == listed_.end()) {
        std::vector<std::string> names;
        for (const Listed& each : listed_) names.push_back(each.name);
        const std::string nearest = nearest_name(part.text, names);
        return at(fmt::format("no parameter `{}` has a list of values", part.text),
                  nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
      }
      if (found->zip != no_zip) return at(fmt::format("`{}` is zipped twice", part.text));
      if (first != nullptr && first->values.size() != found->values.size())
        return at(fmt::format("`{}` has {} value{}, but `{}` has {}", found->name, found->values.size(),
                              found->values.size() == 1 ? "" : "s", first->name, first->values.size()));
      found->zip = group;
      if (first == nullptr) first = &*found;
    }
  }

  /// In the order of -p; a zipped group stands where its first parameter stands.
  void make_groups() {
    std::set<std::size_t> done;
    for (const Listed& each : listed_) {
      if (each.zip != no_zip && !done.insert(each.zip).second) continue;
      Space::Zip zip;
      for (const Listed& other : listed_) {
        if (&other != &each && (each.zip == no_zip || other.zip != each.zip)) continue;
        add_parameter(other.name, other.values.type(), other.values.cell_type());
        zip.columns.push_back(other.values);
      }
      space_.groups_.emplace_back(std::move(zip));
    }
  }

  void add_table() {
    const std::string& path = options_.table;
    std::string text, reason;
    if (!read_file(path, text, reason))
      return fail(error_in("--from", path, fmt::format("can not read `{}`: {}", path, reason)));
    auto table = CsvTable::parse(std::move(text), path);
    if (!table) return fail(error_in("--from", path, table.error()));
    if (table->size() == 0) return fail(error_in("--from", path, "it has no rows"));
    std::vector<ValueType> types(table->columns().size(), ValueType::int_);
    std::vector<ColumnType> cell_types(types.size());
    for (std::size_t row = 0; row < table->size(); ++row) {
      const std::vector<std::string> cells = table->row(row);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (types[i] != ValueType::string) types[i] = common_type(types[i], type_of(cells[i]));
        if (!cells[i].empty()) cell_types[i].add(type_of_cell(cells[i]));
      }
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string& name = table->columns()[i];
      if (!is_name(name)) return fail(error_in("--from", path, fmt::format("`{}` is no name for a parameter", name)));
      if (is_made_by_repeats(name))
        return fail(error_in("--from", path, fmt::format("the column `{}`: that name is made by --repeats", name)));
      if (!names_.insert(name).second)
        return fail(error_in("--from", path, fmt::format("the parameter `{}` is given by -p, too", name)));
      add_parameter(name, types[i], cell_types[i].type());
    }
    space_.groups_.emplace_back(std::move(*table));
  }

  void add_samples() {
    std::vector<Distribution> distributions;
    for (const Drawn& each : drawn_) {
      if (each.distribution.is_whole())
        add_parameter(each.name, ValueType::int_, CellType::int_);
      else
        add_parameter(each.name, ValueType::float_, CellType::float_);
      distributions.push_back(each.distribution);
    }
    space_.groups_.emplace_back(
        Samples(*options_.method, options_.sample_count, std::move(distributions), options_.seed));
  }

  void add_repeats() {
    space_.seed_ = options_.seed;
    space_.repeats_ = options_.repeats;
    if (options_.repeats == 0) return;
    for (const char* name : {"rep", "seed"}) add_parameter(name, ValueType::int_, CellType::int_);
  }

  void multiply() {
    const auto by = [&](std::uint64_t factor) {
      if (factor > most_points / space_.size_) return fail(error_in("-p", "", "the sweep has more than 2^62 points"));
      space_.size_ *= factor;
    };
    for (const Space::Group& group : space_.groups_) by(Space::size_of(group));
    if (options_.repeats != 0) by(options_.repeats);
  }

  void add_parameter(const std::string& name, ValueType type, CellType cell_type) {
    space_.parameters_.push_back({.name = name, .type = type, .cell_type = cell_type});
  }

  struct Drawn {
    std::string name, word;
    Distribution distribution;
  };
  const SpaceOptions& options_;
  std::set<std::string> names_;
  std::vector<Listed> listed_;
  std::vector<Drawn> drawn_;
  std::size_t zip_count_ = 0;
  Space space_;
  std::optional<OptionError> error_;
};

std::expected<Space, OptionError> Space::make(const SpaceOptions& options) { return SpaceBuilder(options).run(); }

}  // namespace raddle::sweep
