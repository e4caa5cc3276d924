#include "stdlib/expand_definition.hpp"

#include <doctest/doctest.h>

using raddle::stdlib::Definition;
using raddle::stdlib::definitions_of;
using raddle::stdlib::expanded;
using raddle::stdlib::without_variables;

namespace {

std::string one(std::string_view text, std::string_view type, unsigned rank) {
  const std::vector<Definition> all = definitions_of(text);
  REQUIRE(all.size() == 1);
  return expanded(without_variables(all[0].text), all[0], type, rank);
}

}  // namespace

TEST_CASE("a type variable") {
  CHECK(one("<W> (W y) f(W a[n], int W_) { y = a[0] + W(1); }\n", "float", 0) ==
        "(float y) f(float a[n], int W_) { y = a[0] + float(1); }\n");
  CHECK(one("<W> (W y) f(W x) { y = x; }\n", "", 0) == "(W y) f(W x) { y = x; }\n");
}

TEST_CASE("a rank variable: extents of types, its number") {
  CHECK(one("<T, R> (T b[R - 1]) f(T a[R], T c[R + 1]) { b = g(a, R); }\n", "int", 4) ==
        "(int b[:, :, :]) f(int a[:, :, :, :], int c[:, :, :, :, :]) { b = g(a, 4); }\n");
  CHECK(one("<Q> (float b[Q]) f(int n) { b = g(R); }\n", "", 3) == "(float b[:, :, :]) f(int n) { b = g(R); }\n");
}

TEST_CASE("the number behind, and products") {
  CHECK(one("<Q> (float b[Q - 1]) f(int nK) { b = g(PRODUCT(where(K < 1, nK, 1), Q), EACH(where(K < 1, nK, nL), Q - "
            "1)); }\n",
            "", 3) ==
        "(float b[:, :]) f(int n0, int n1, int n2) { b = g(((where(0 < 1, n0, 1)) * (where(1 < 1, n1, 1)) * (where(2 < "
        "1, n2, "
        "1))), where(0 < 1, n0, n1), where(1 < 1, n1, n2)); }\n");
}

TEST_CASE("what is repeated for each axis") {
  CHECK(one("<T, Q> (T b[EACH(nK, Q)]) f(int nK, T x) { b = h(x, EACH(g(nK, s[K + 1 : Q - 1]), Q)); }\n", "int", 3) ==
        "(int b[n0, n1, n2]) f(int n0, int n1, int n2, int x) { b = h(x, g(n0, s[0 + 1 : 3 - 1]), g(n1, s[1 + 1 : 3 - "
        "1]), g(n2, s[2 + 1 : 3 - 1])); }\n");
  CHECK(one("<R> (float b[R]) f(int a) { foreach iK in [0 : nK - 1] { b[EACH(iK, R)] = a[SUM(iK * nK, R)]; } }\n", "",
            4) ==
        "(float b[:, :, :, :]) f(int a) { foreach i0 in [0 : n0 - 1], i1 in [0 : n1 - 1], i2 in [0 : n2 - 1], i3 in [0 "
        ": n3 - 1] { b[i0, i1, i2, i3] = a[((i0 * n0) + (i1 * n1) + (i2 * n2) + (i3 * n3))]; } }\n");
  CHECK(
      one("<R> (boolean y) f(float a[m0, EACH(nK, 1, R)]) { y = ALL(at == K || nK > 0, R); }\n", "", 4) ==
      "(boolean y) f(float a[m0, n1, n2, n3]) { y = ((at == 0 || n0 > 0) && (at == 1 || n1 > 0) && (at == 2 || n2 > 0) "
      "&& (at == 3 || n3 > 0)); }\n");
}
