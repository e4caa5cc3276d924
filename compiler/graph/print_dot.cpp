#include <fmt/format.h>

#include "compiler/graph/graph.hpp"

namespace raddle::graph {
namespace {

std::string dot_string(std::string_view text) {
  std::string escaped = "\"";
  for (const char sign : text) {
    if (sign == '"' || sign == '\\') escaped += '\\';
    escaped += static_cast<unsigned char>(sign) < ' ' ? ' ' : sign;
  }
  return escaped + "\"";
}

/// Light fills and dark lines: read on white; on black, too, as each node has its own ground.
const char* style_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::variable: return "shape=ellipse, fillcolor=\"#ffffff\"";
    case NodeKind::input: return "shape=ellipse, fillcolor=\"#e3ecf4\"";
    case NodeKind::output: return "shape=ellipse, fillcolor=\"#e3ecf4\", peripheries=2";
    case NodeKind::call: return "shape=box, fillcolor=\"#dbeadb\"";
    case NodeKind::library: return "shape=box, fillcolor=\"#f2f2ee\"";
    case NodeKind::program: return "shape=cds, fillcolor=\"#f5e3cc\"";
    case NodeKind::decision: return "shape=diamond, fillcolor=\"#f7f1d0\"";
  }
  return "";
}

class DotPrinter {
 public:
  explicit DotPrinter(const Graph& graph) : graph_(graph) {}

  std::string print() {
    text_ = "digraph script {\n";
    line(1, "graph [rankdir=TB, fontname=\"Helvetica\", fontsize=11, compound=true, bgcolor=\"white\"]");
    line(1,
         "node [style=filled, color=\"#7a828a\", fontcolor=\"#22262b\", fontname=\"Helvetica\", fontsize=11, "
         "margin=\"0.09,0.04\", height=0.3]");
    line(1, "edge [color=\"#7a828a\", arrowsize=0.7]");
    line(1, "label=" + dot_string(graph_.clusters.front().label));
    print_cluster(0, 1);
    for (const Edge& edge : graph_.edges)
      line(1, fmt::format("n{} -> n{}{}", edge.from, edge.to, edge.kind == EdgeKind::after ? " [style=dashed]" : ""));
    return text_ + "}\n";
  }

 private:
  void line(int depth, std::string_view words) {
    text_.append(static_cast<std::size_t>(2 * depth), ' ');
    (text_ += words) += "\n";
  }

  void print_cluster(ClusterId cluster, int depth) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.cluster == cluster)
        line(depth, fmt::format("n{} [label={}, tooltip={}, {}]", i, dot_string(node.label), dot_string(node.about),
                                style_of(node.kind)));
    }
    for (ClusterId inner = cluster + 1; inner < graph_.clusters.size(); ++inner) {
      if (graph_.clusters[inner].parent != cluster) continue;
      line(depth, fmt::format("subgraph cluster_{} {{", inner));
      line(depth + 1, fmt::format("graph [label={}, labeljust=l, style=rounded, color=\"#a9afb5\"]",
                                  dot_string(graph_.clusters[inner].label)));
      print_cluster(inner, depth + 1);
      line(depth, "}");
    }
  }

  const Graph& graph_;
  std::string text_;
};

}  // namespace

std::string print_dot(const Graph& graph) { return DotPrinter(graph).print(); }

}  // namespace raddle::graph
