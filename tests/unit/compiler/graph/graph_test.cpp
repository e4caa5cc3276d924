#include "compiler/graph/graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/ir/read_text.hpp"

using namespace raddle;
using namespace raddle::graph;

namespace {

Graph graph_of(const std::string& text) {
  static TypeStore types;
  SourceMap sources;
  sources.add("x.df", std::string(200, 'x'));
  auto module = ir::read_text(text, types);
  REQUIRE(module.has_value());
  module->sources = &sources;
  return build_graph(*module, "x.df", {false});
}

std::string edges_of(const Graph& graph) {
  std::string text;
  for (const Edge& edge : graph.edges)
    text +=
        graph.nodes[edge.from].label + (edge.kind == EdgeKind::after ? "~" : "-") + graph.nodes[edge.to].label + " ";
  return text;
}

}  // namespace

TEST_CASE("temporaries and operators are looked through") {
  const Graph graph = graph_of(R"(entry @main
function @main composite (%n: int) -> () {
  %0: int = add %n, 1
  %1: int = mul %0, %0
  %m: int = call @f %1, 2
  %k: int = copy %m
}
function @f composite (%a: int, %b: int) -> (%c: int) {
  %c = add %a, %b
}
)");
  CHECK(edges_of(graph) == "n-f f-m m-k a-c b-c ");
  REQUIRE(graph.clusters.size() == 2);
  CHECK(graph.clusters[1].label == "(int c) f(int a, int b)");
}

TEST_CASE("what a branch assigns depends on what it is taken by") {
  const Graph graph = graph_of(R"(entry @main
function @main composite (%n: int, %m: int) -> () {
  var %r: int
  %0: boolean = lt %n, 3
  if %0 {
    %r = copy 1
  } {
    %r = copy %m
  }
}
)");
  REQUIRE(graph.nodes.size() == 4);
  CHECK(graph.nodes[3].kind == NodeKind::decision);
  CHECK(graph.edges.size() == 3);  // the decision is connected with `r` once
  CHECK(std::ranges::find(graph.edges, Edge{3, 2, EdgeKind::after}) != graph.edges.end());
  CHECK(std::ranges::find(graph.edges, Edge{1, 2, EdgeKind::data}) != graph.edges.end());
}

TEST_CASE("variables that nothing is connected with are left out") {
  const Graph graph = graph_of(R"(entry @main
function @main composite (%n: int) -> () {
  %m: int = copy 1
}
)");
  CHECK(graph.nodes.empty());
}

TEST_CASE("labels are escaped") {
  const Graph graph{.nodes = {{.kind = NodeKind::decision, .label = "a \"b\" <c> \\n #", .about = ""}},
                    .edges = {},
                    .clusters = {{"x\"y.df", 0}}};
  CHECK(print_dot(graph).find("label=\"a \\\"b\\\" <c> \\\\n #\"") != std::string::npos);
  CHECK(print_dot(graph).find("label=\"x\\\"y.df\"") != std::string::npos);
  CHECK(print_mermaid(graph).find("n0{\"a #quot;b#quot; #lt;c#gt; \\n #35;\"}") != std::string::npos);
}
