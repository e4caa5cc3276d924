#include "compiler/parse/expectations.hpp"

#include "RaddleParser.h"

namespace raddle {

using P = RaddleParser;

const char* subject_of_rule(std::size_t rule) {
  switch (rule) {
    case P::RuleImport_item: return "import";
    case P::RulePragma_item: return "pragma";
    case P::RuleGlobal_constant: return "constant";
    case P::RuleType_alias:
    case P::RuleType_definition: return "type definition";
    case P::RuleField_line: return "field";
    case P::RuleTcl_body: return "function";
    case P::RuleFor_statement: return "part of the `for` header";
    default: return "statement";
  }
}

std::string expected_by_rule(std::size_t rule) {
  switch (rule) {
    case P::RuleImport_item: return "a module name";
    case P::RuleText: return "a string";
    case P::RuleType_definition: return "a type or `{`";
    case P::RuleFunction_definition: return "the body of the function";
    case P::RuleWord:
    case P::RuleWord_value: return "a word of the command line";
    case P::RuleStatement:
    case P::RuleCompound_statement:
    case P::RuleSimple_statement:
    case P::RuleControlled: return "a statement";
    case P::RuleElse_part: return "`{` or `if`";
    case P::RuleCase_clause: return "`case` or `default`";
    case P::RuleSuffix:
    case P::RuleIndex_entry: return "an index";
    default: return "an expression";
  }
}

std::string name_expected_by_rule(std::size_t rule) {
  switch (rule) {
    case P::RulePlain_type: return "a type";
    case P::RuleFormal: return "a parameter name";
    case P::RuleField:
    case P::RuleSuffix: return "a field name";
    case P::RuleFunction_definition:
    case P::RuleApp_definition: return "a function name";
    case P::RuleType_alias:
    case P::RuleType_definition: return "a name for the type";
    case P::RuleAnnotation: return "the name of an annotation";
    case P::RuleDeclarator:
    case P::RuleForeach_statement:
    case P::RuleFor_variable:
    case P::RuleFor_update:
    case P::RuleIterate_statement: return "a variable name";
    default: return "a name";
  }
}

bool is_list_rule(std::size_t rule) {
  switch (rule) {
    case P::RuleArguments:
    case P::RuleFormals:
    case P::RuleParenthesised:
    case P::RuleArray_literal:
    case P::RuleMap_literal:
    case P::RuleDimension:
    case P::RuleSuffix:
    case P::RuleSimple_statement:
    case P::RuleFor_statement:
    case P::RuleWait_statement: return true;
    default: return false;
  }
}

bool begins_item(std::uint32_t token_type) {
  switch (token_type) {
    case P::APP:
    case P::GLOBAL:
    case P::IMPORT:
    case P::PRAGMA:
    case P::TYPE:
    case P::TYPEDEF: return true;
    default: return false;
  }
}

bool is_reserved_word(std::uint32_t token_type) { return token_type >= P::APP && token_type <= P::WAIT; }

bool has_block(std::uint32_t token_type) {
  switch (token_type) {
    case P::IF:
    case P::FOR:
    case P::FOREACH:
    case P::WAIT:
    case P::ITERATE: return true;
    default: return false;
  }
}

}  // namespace raddle
