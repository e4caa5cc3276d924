#pragma once
// The dataflow graph of a script, as it is drawn: variables and calls, what flows between them, and in which function,
// loop or branch they are. Made from the IR as it is lowered, where each operation names what it reads and assigns.
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::graph {

enum class NodeKind : std::uint8_t {
  variable,
  input,     ///< of a function, a loop's variable
  output,    ///< of a function
  call,      ///< of a function of the script
  library,   ///< of a function of the library
  program,   ///< of an app function
  decision,  ///< what a branch is taken by
};

using NodeId = std::uint32_t;
using ClusterId = std::uint32_t;

struct Node {
  NodeKind kind = NodeKind::variable;
  std::string label;
  std::string about;  ///< "float x, model.df:3:7"
  ClusterId cluster = 0;
};

enum class EdgeKind : std::uint8_t {
  data,
  after,  ///< waits for it, and takes nothing of it
};

struct Edge {
  NodeId from = 0, to = 0;
  EdgeKind kind = EdgeKind::data;
  bool operator==(const Edge&) const = default;
};

struct Cluster {
  std::string label;
  ClusterId parent = 0;  ///< of the first one: itself
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;        ///< each once
  std::vector<Cluster> clusters;  ///< the first one is all; each after its parent
};

/// Variables that nothing is connected with are left out, and so are functions of the library's modules.
/// @param module  as lowered, not optimised   @param is_library  is a file one of the library?
Graph build_graph(const ir::Module& module, const std::string& name, const std::vector<bool>& is_library);

/// For graphviz.
std::string print_dot(const Graph& graph);

/// For Mermaid, as Markdown pages have it.
std::string print_mermaid(const Graph& graph);

}  // namespace raddle::graph
