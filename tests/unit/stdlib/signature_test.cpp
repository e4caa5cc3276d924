#include <doctest/doctest.h>

#include <stdexcept>

#include "stdlib/builtins.hpp"
#include "stdlib/read_signature.hpp"

namespace raddle::stdlib {

TEST_CASE("signatures tell files that are written from those that are there") {
  const BuiltinSignature write = read_signature("file(string path)");
  CHECK(write.file_output_count() == 1);
  CHECK(!write.returns_existing_files());

  const BuiltinSignature input = read_signature("file!(string path)");
  CHECK(input.file_output_count() == 0);
  CHECK(input.returns_existing_files());

  CHECK(read_signature("file![](string pattern)").returns_existing_files());
  CHECK(read_signature("(file,url,int)()").file_output_count() == 2);
}

TEST_CASE("signatures tell what is awaited") {
  const BuiltinSignature print = read_signature("void(string format, int|float|string|boolean... values)");
  CHECK(print.gives_nothing());
  CHECK(print.has_varargs);
  CHECK(print.inputs[1].alternatives.size() == 4);
  CHECK(print.mark(7) == InputMark::none);

  CHECK(read_signature("int(&V[K] array)").mark(0) == InputMark::closed);
  const BuiltinSignature exists = read_signature("boolean(&&V[K] array, K key)");
  CHECK(exists.mark(0) == InputMark::reference);
  CHECK(exists.mark(1) == InputMark::none);
  CHECK(exists.looks_at_growing_array());

  const BuiltinSignature name = read_signature("string(&file f)");
  CHECK(name.uses_name_of(BasicType::file));
  CHECK(!name.uses_name_of(BasicType::url));
  CHECK(!read_signature("string(file f)").uses_name_of(BasicType::file));
  CHECK(read_signature("string(file f)").takes(BasicType::file));
  CHECK(!read_signature("void(int|file... values)").takes(BasicType::file));
}

TEST_CASE("signatures have types and defaults") {
  constexpr std::string_view text = "float[][string](bag<T> b, string separator=\", \", float x = -1.5, int par=1)";
  constexpr BuiltinSignature read = read_signature(text);
  const SignatureType& output = read.outputs[0];
  CHECK(output.element == NamedType{BasicType::float_});
  CHECK(output.keys[0] == NamedType{BasicType::int_});
  CHECK(output.keys[1] == NamedType{BasicType::string});
  CHECK(read.inputs[0].alternatives[0].is_bag);
  CHECK(read.inputs[0].alternatives[0].element == NamedType{BasicType::variable, 'T'});
  CHECK(read.inputs[1].name.of(text) == "separator");
  CHECK(read.inputs[1].default_value.of(text) == ", ");
  CHECK(read.inputs[2].default_value.of(text) == "-1.5");
  CHECK(read.has_process_count);
  CHECK(!read.inputs[0].has_default);
  CHECK(read_signature("()(int i)").outputs.empty());
}

TEST_CASE("malformed signatures") {
  for (const char* const text :
       {"int", "int(", "int(int)", "integer(int i)", "int(int i) x", "int(int... i, int j)", "int(int i=)"})
    CHECK_THROWS_AS(read_signature(text), std::logic_error);
}

TEST_CASE("each entry of the table has its own signature") {
  for (const Builtin& builtin : builtins()) {
    const BuiltinSignature& known = signature_of(builtin);
    const BuiltinSignature read = read_signature(builtin.signature);
    CHECK(known.inputs.size() == read.inputs.size());
    CHECK(known.outputs.size() == read.outputs.size());
  }
}

}  // namespace raddle::stdlib
