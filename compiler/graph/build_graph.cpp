#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/ir/written_name.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::graph {
namespace {

using NodeSet = std::set<NodeId>;

/// A piece of the script, on one short line.
std::string excerpt(const SourceMap& sources, const Span& span) {
  constexpr std::size_t longest = 40;
  const std::string& text = sources.at(span.file).text();
  if (span.end > text.size() || span.begin >= span.end) return "";
  std::string line;
  for (const char sign : text.substr(span.begin, span.end - span.begin)) {
    const bool is_blank = static_cast<unsigned char>(sign) <= ' ';
    if (!is_blank || !line.ends_with(' ')) line += is_blank ? ' ' : sign;
  }
  if (line.size() <= longest) return line;
  std::size_t end = longest - 3;
  while ((static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;  // not in the middle of a character
  return line.substr(0, end) + "...";
}

/// The nodes of one function.
class FunctionGraph {
 public:
  FunctionGraph(Graph& graph, std::set<std::pair<NodeId, NodeId>>& drawn, const ir::Module& module,
                const ir::Function& function)
      : graph_(graph), drawn_(drawn), module_(module), function_(function), of_variable_(function.variables.size()) {}

  void build(ClusterId cluster) {
    for (const ir::VarId input : function_.parameters) declare(input, NodeKind::input, cluster);
    for (const ir::VarId output : function_.outputs) declare(output, NodeKind::output, cluster);
    build_region(0, cluster);
  }

 private:
  // ---- variables

  bool has_node(ir::VarId variable) const { return !function_.variables[variable].name.empty(); }

  /// A dense array and its elements are one variable of the script: one node.
  void declare(ir::VarId variable, NodeKind kind, ClusterId cluster) {
    if (!has_node(variable)) return;
    const ir::Var& var = function_.variables[variable];
    NodeSet& nodes = of_written_[{var.name, var.span.file, var.span.begin}];
    if (nodes.empty())
      nodes = {add_node(kind, var.name, var.span, cluster, module_.types->name(var.type) + " " + var.name)};
    of_variable_[variable] = nodes;
  }

  /// Where a value comes from: the variable's own node; of a temporary, the nodes that it was made from.
  NodeSet sources_of(ir::Operand operand) const {
    return operand.is_constant || operand.index == ir::none ? NodeSet() : of_variable_[operand.index];
  }
  NodeSet sources_of(std::span<const ir::Operand> operands) const {
    NodeSet all;
    for (const ir::Operand operand : operands) all.merge(sources_of(operand));
    return all;
  }

  NodeId add_node(NodeKind kind, std::string label, const Span& span, ClusterId cluster, const std::string& what) {
    graph_.nodes.push_back(
        {kind, std::move(label), fmt::format("{}, {}", what, module_.sources->describe(span)), cluster});
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }

  void connect(const NodeSet& from, NodeId to, EdgeKind kind = EdgeKind::data) {
    for (const NodeId node : from)
      if (node != to && drawn_.emplace(node, to).second) graph_.edges.push_back({node, to, kind});
  }
  void connect(const NodeSet& from, const NodeSet& to) {
    for (const NodeId node : to) connect(from, node);
  }

  /// What an operation makes of `from` is the value of `result`.
  void assign(ir::VarId result, const NodeSet& from) {
    if (has_node(result))
      flow(from, of_variable_[result]);
    else
      of_variable_[result].insert(from.begin(), from.end());
  }

  /// What flows out of a region, or does not flow but is assigned there, depends on what that region waits for.
  void flow(const NodeSet& from, const NodeSet& to) {
    connect(from, to);
    const auto is_outside = [&](NodeId node) { return node < first_inside_; };
    if (!std::ranges::all_of(from, is_outside) || !std::ranges::all_of(to, is_outside)) return;
    for (const NodeId node : to) connect(causes_, node, EdgeKind::after);
  }

  // ---- regions

  ClusterId add_cluster(std::string label, ClusterId parent) {
    graph_.clusters.push_back({std::move(label), parent});
    return static_cast<ClusterId>(graph_.clusters.size() - 1);
  }

  void build_region(ir::RegionId id, ClusterId cluster) {
    const ir::Region& region = function_.regions[id];
    for (const ir::VarId variable : region.variables) {
      const bool is_output = std::ranges::find(function_.outputs, variable) != function_.outputs.end();
      if (!is_output) declare(variable, NodeKind::variable, cluster);
    }
    for (const ir::Op& op : region.ops) build(op, cluster);
  }

  void declare_parameters(ir::RegionId region, ClusterId cluster) {
    for (const ir::VarId parameter : function_.regions[region].parameters) declare(parameter, NodeKind::input, cluster);
  }

  void build(const ir::Op& op, ClusterId cluster) {
    using enum ir::OpKind;
    switch (op.kind) {
      case call: return build_call(op, NodeKind::call, written_name(module_.functions[op.callee]), cluster);
      case call_app: return build_call(op, NodeKind::program, written_name(module_.functions[op.callee]), cluster);
      case call_builtin:
        if (stdlib::builtins()[op.callee].name.starts_with('@')) return build_operator(op);  // not the script's
        return build_call(op, NodeKind::library, std::string(stdlib::builtins()[op.callee].name), cluster);
      case if_:
      case switch_: return build_branches(op, cluster);
      case foreach_range:
      case foreach_array: return build_foreach(op, cluster);
      case loop: return build_loop(op, cluster);
      case wait:
      case wait_deep: return build_wait(op, cluster);
      case attempt: return build_region(op.regions.front(), add_cluster("try", cluster));
      case memo: return build_region(op.regions.front(), add_cluster("memo", cluster));
      case memo_keep: return;  // nothing of the script flows out of it
      case array_hold: return;
      case array_new: return;  // nor do extents into elements
      case array_insert:
      case bag_append:
      case struct_set:
      case file_assign:
      case update: return build_write(op);
      case copy:
      case int_to_float:
      case add:
      case sub:
      case mul:
      case div:
      case idiv:
      case mod:
      case pow:
      case index_add:
      case index_mul:
      case mul_add:
      case mul_sub:
      case sub_mul:
      case neg:
      case not_:
      case and_:
      case or_:
      case eq:
      case ne:
      case lt:
      case le:
      case gt:
      case ge:
      case concat:
      case path_join:
      case array_get:
      case array_row:
      case array_list:
      case array_map:
      case array_range:
      case bag_new:
      case bag_row:
      case struct_new:
      case struct_make:
      case struct_get:
      case file_new:
      case update_new:
      case update_get: return build_operator(op);
    }
  }

  /// No node: what it makes comes from where its operands do.
  void build_operator(const ir::Op& op) {
    for (const ir::VarId result : op.results) assign(result, sources_of(op.operands));
  }

  void build_call(const ir::Op& op, NodeKind kind, const std::string& name, ClusterId cluster) {
    const Span& span = op.span.end != 0 ? op.span : function_.span;  // of `memo`, its call is nowhere in the text
    const NodeId node = add_node(kind, name, span, cluster, "call of " + name);
    const std::size_t files = kind == NodeKind::library ? 0 : module_.functions[op.callee].file_output_count;
    const std::span<const ir::Operand> operands = op.operands;
    connect(sources_of(operands.subspan(files)), node);
    for (const ir::Operand file : operands.first(files)) {
      const NodeSet made = sources_of(file);
      connect({node}, made);
      if (made.empty() && !file.is_constant) of_variable_[file.index] = {node};  // a file without a name
    }
    for (const ir::VarId result : op.results) assign(result, {node});
  }

  /// Into a variable that holds others.
  void build_write(const ir::Op& op) {
    const std::span<const ir::Operand> operands = op.operands;
    const ir::VarId into = operands.front().index;
    const NodeSet from = sources_of(operands.subspan(1));
    if (has_node(into) || op.kind != ir::OpKind::array_insert)
      flow(from, of_variable_[into]);
    else
      of_variable_[into].insert(from.begin(), from.end());  // the elements of a whole-array expression
    for (const ir::VarId result : op.results) assign(result, of_variable_[into]);
  }

  void build_branches(const ir::Op& op, ClusterId cluster) {
    const std::string text = condition_text(op.operands.front(), op.span);
    const NodeId decision = add_node(NodeKind::decision, text, op.span, cluster, "branch");
    connect(sources_of(op.operands), decision);
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      if (function_.regions[op.regions[i]].ops.empty()) continue;
      const bool is_default = i >= op.labels.size();
      const std::string label = op.kind == ir::OpKind::if_ ? (i == 0 ? "then" : "else")
                                : is_default               ? "default"
                                                           : fmt::format("case {}", op.labels[i]);
      build_after({decision}, [&] { build_region(op.regions[i], add_cluster(label, cluster)); });
    }
  }

  void build_foreach(const ir::Op& op, ClusterId cluster) {
    const std::vector<ir::VarId>& parameters = function_.regions[op.regions.front()].parameters;
    const std::string name = parameters.empty() ? "" : " " + function_.variables[parameters.front()].name;
    const ClusterId inside = add_cluster("foreach" + name, cluster);
    build_after(sources_of(op.operands), [&] {
      declare_parameters(op.regions.front(), inside);
      if (!parameters.empty() && has_node(parameters.front()))
        connect(sources_of(op.operands), of_variable_[parameters.front()]);
      build_region(op.regions.front(), inside);
    });
  }

  void build_loop(const ir::Op& op, ClusterId cluster) {
    const ClusterId inside = add_cluster(op.test_after ? "iterate" : "for", cluster);
    const std::vector<ir::VarId>& variables = function_.regions[op.regions[0]].parameters;
    declare_parameters(op.regions[0], inside);
    for (std::size_t i = 0; i < variables.size(); ++i) assign(variables[i], sources_of(op.operands[i]));
    build_region(op.regions[0], inside);
    build_region(op.regions[1], inside);
    const NodeId decision =
        add_node(NodeKind::decision, condition_text(op.condition, op.span), op.span, inside, "test");
    connect(sources_of(op.condition), decision);
    for (std::size_t i = 0; i < variables.size(); ++i) assign(variables[i], sources_of(op.nexts[i]));
    for (std::size_t i = 0; i < op.results.size(); ++i) assign(op.results[i], of_variable_[variables[i]]);
  }

  void build_wait(const ir::Op& op, ClusterId cluster) {
    build_after(sources_of(op.operands), [&] { build_region(op.regions.front(), cluster); });
  }

  /// What `build` makes begins after `causes`: calls and decisions that nothing of it flows into.
  template <typename Build>
  void build_after(const NodeSet& causes, const Build& build) {
    const std::size_t first_node = graph_.nodes.size(), first_edge = graph_.edges.size();
    const NodeSet causes_around = std::exchange(causes_, causes);
    const std::size_t first_around = std::exchange(first_inside_, first_node);
    build();
    causes_ = causes_around;
    first_inside_ = first_around;
    NodeSet begins;
    for (std::size_t node = first_node; node < graph_.nodes.size(); ++node) {
      const NodeKind kind = graph_.nodes[node].kind;
      if (kind != NodeKind::variable && kind != NodeKind::input) begins.insert(static_cast<NodeId>(node));
    }
    for (std::size_t edge = first_edge; edge < graph_.edges.size(); ++edge)
      if (graph_.edges[edge].from >= first_node) begins.erase(graph_.edges[edge].to);
    for (const NodeId node : begins) connect(causes, node, EdgeKind::after);
  }

  /// As it is written; of a condition that is a variable or constant, too.
  std::string condition_text(ir::Operand condition, const Span& otherwise) const {
    if (!condition.is_constant && condition.index != ir::none) {
      const ir::Var& variable = function_.variables[condition.index];
      if (!variable.name.empty()) return variable.name;
      if (std::string text = excerpt(*module_.sources, variable.span); !text.empty()) return text;
    }
    return condition.is_constant ? "constant" : excerpt(*module_.sources, otherwise);
  }

  Graph& graph_;
  std::set<std::pair<NodeId, NodeId>>& drawn_;
  const ir::Module& module_;
  const ir::Function& function_;
  std::vector<NodeSet> of_variable_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, NodeSet> of_written_;  ///< by name and place
  // of the innermost region that waits for something:
  NodeSet causes_;                ///< what it waits for
  std::size_t first_inside_ = 0;  ///< of its nodes
};

/// `(int n) steps(int start)`
std::string signature(const ir::Module& module, const ir::Function& function) {
  const auto list = [&](const std::vector<ir::VarId>& variables, std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t i = from; i < to; ++i) {
      const ir::Var& variable = function.variables[variables[i]];
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", module.types->name(variable.type), variable.name);
    }
    return text;
  };
  const std::size_t files = function.file_output_count;
  std::string outputs = list(function.parameters, 0, files);
  const std::string values = list(function.outputs, 0, function.outputs.size());
  if (!outputs.empty() && !values.empty()) outputs += ", ";
  return fmt::format("({}{}) {}({})", outputs, values, ir::written_name(function),
                     list(function.parameters, files, function.parameters.size()));
}

std::vector<ir::FunctionId> callees_of(const ir::Function& function) {
  std::vector<ir::FunctionId> callees;
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      if (op.kind == ir::OpKind::call) callees.push_back(op.callee);
  return callees;
}

/// Without nodes that say nothing: variables that nothing is connected with.
void drop_lonely_variables(Graph& graph) {
  std::vector<bool> is_kept(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeKind kind = graph.nodes[i].kind;
    is_kept[i] = kind != NodeKind::variable && kind != NodeKind::input;
  }
  for (const Edge& edge : graph.edges) is_kept[edge.from] = is_kept[edge.to] = true;
  std::vector<NodeId> new_ids(graph.nodes.size());
  std::vector<Node> kept;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    new_ids[i] = static_cast<NodeId>(kept.size());
    if (is_kept[i]) kept.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(kept);
  for (Edge& edge : graph.edges) edge = {new_ids[edge.from], new_ids[edge.to], edge.kind};
}

}  // namespace

Graph build_graph(const ir::Module& module, const std::string& name, const std::vector<bool>& is_library) {
  Graph graph;
  graph.clusters.push_back({name, 0});
  std::set<std::pair<NodeId, NodeId>> drawn;
  std::vector<ir::FunctionId> functions{module.entry};  // in the order in which they are first called
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const ir::Function& function = module.functions[functions[i]];
    ClusterId cluster = 0;
    if (i != 0) {
      cluster = static_cast<ClusterId>(graph.clusters.size());
      graph.clusters.push_back({signature(module, function), 0});
    }
    FunctionGraph(graph, drawn, module, function).build(cluster);
    for (const ir::FunctionId callee : callees_of(function))
      if (!is_library[module.functions[callee].span.file] && std::ranges::find(functions, callee) == functions.end())
        functions.push_back(callee);
  }
  drop_lonely_variables(graph);
  return graph;
}

}  // namespace raddle::graph
