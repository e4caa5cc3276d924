#include "compiler/emit/builtin_arguments.hpp"

#include <doctest/doctest.h>

namespace raddle::emit {

TEST_CASE("signatures tell file outputs, void results and references") {
  const BuiltinArguments write = builtin_arguments("file(string)");
  CHECK(write.file_output_count == 1);
  CHECK(write.returns_void.empty());

  const BuiltinArguments input = builtin_arguments("file!(string)");
  CHECK(input.file_output_count == 0);
  CHECK(input.returns_void == std::vector{false});

  const BuiltinArguments print = builtin_arguments("void(string,int|float|string|boolean...)");
  CHECK(print.returns_void == std::vector{true});
  CHECK(print.has_varargs);

  const BuiltinArguments size = builtin_arguments("int(&V[K])");
  CHECK(builtin_arguments("boolean(&&V[K],K)").mark(0) == InputMark::reference);
  CHECK(size.mark(0) == InputMark::closed);

  const BuiltinArguments two = builtin_arguments("(float,float)(float[])");
  CHECK(two.returns_void.size() == 2);
  CHECK(two.mark(0) == InputMark::none);

  const BuiltinArguments split = builtin_arguments("string[](string,string=\",\",int=0)");
  CHECK(split.inputs.size() == 3);

  CHECK(builtin_arguments("()(int)").returns_void.empty());
}

}  // namespace raddle::emit
