/** Syntax of a Raddle script. README.md beside this file has the precedence table and the design.
 *
 *  Every decision but one (after `=>`) looks at one token. A file is parsed item by item: compiler/parse chooses the
 *  start rule of each item (see "start rules") after it has parsed the item's annotations, so there is no rule for a
 *  whole file. No parse tree is built; the labels (`name=`, `items+=`) are all that compiler/parse/build_* reads. */
parser grammar RaddleParser;

options { tokenVocab = RaddleLexer; }

// ---------------------------------------------------------------- start rules
annotations: items+=annotation*;

import_item: IMPORT (path=text | parts+=ID (DOT parts+=ID)*) SEMI;

pragma_item: PRAGMA name=ID arguments_+=word_value* SEMI;

global_constant: GLOBAL CONST type=type_expression name=ID ASSIGN value=expression SEMI;

/** `typedef t int[];` */
type_alias: TYPEDEF name=ID base=type_expression SEMI;

/** `type t { fields }`, `type t base;`, `type t;` */
type_definition
  : TYPE name=ID (structure=LBRACE lines+=field_line* RBRACE | base=type_expression SEMI | SEMI)
  ;
field_line: type=type_expression fields+=field (COMMA fields+=field)* SEMI;
field: name=ID dimensions+=dimension*;

function_definition
  : (LT parameters+=ID (COMMA parameters+=ID)* GT)? outputs=formals? name=ID inputs=formals?
    (body=block | tcl=tcl_body | nothing=SEMI)
  ;
/** `"package" "version" "proc" [ "template" ];` */
tcl_body: package_name=text version=text (procedure=text)? (LBRACK code=text RBRACK)? SEMI;

app_definition: APP outputs=formals? name=ID inputs=formals? LBRACE words+=word* SEMI? RBRACE;

/** A statement, with recovery: a syntax error inside is reported, then the parser goes on behind it. */
statement
  : marks+=annotation*
    ( empty=SEMI
    | chain=chain_statement
    | compound=compound_statement
    )
  ;
  catch [RecognitionException& error] {
    _errHandler->reportError(this, error);
    _errHandler->recover(this, nullptr);
  }
  catch [ParseCancellationException&] {
    _errHandler->recover(this, nullptr);
  }

// ---------------------------------------------------------------- definitions
formals: LPAREN (items+=formal (COMMA items+=formal)*)? RPAREN;
formal: type=type_expression varargs=ELLIPSIS? name=ID dimensions+=dimension* (ASSIGN value=expression)?;

type_expression: first=plain_type (BAR others+=plain_type)*;
plain_type: name=ID (LT argument=type_expression GT)? dimensions+=dimension*;
/** `[]`, `[string]`: growing arrays and their keys; `[n]`, `[n, m]`, `[:, :]`: extents of a dense one. */
dimension: LBRACK (entries+=index_entry (COMMA entries+=index_entry)*)? RBRACK;

/** One word of a command line. */
word: value=word_value | AT (file=ID | stream=(STDIN | STDOUT | STDERR) ASSIGN target=word_value);
/** `a [1]` is two words, `a[1]` is one made of two values: compiler/parse joins them when no blank is between. */
word_value
  : literal=(INT | FLOAT | INFINITE | NOT_A_NUMBER | TRUE | FALSE | STRING | MULTILINE_STRING)
  | name=ID (DOT fields+=ID)*
  | group=parenthesised
  | array=array_literal
  | map=map_literal
  ;

/** `@name`, `@name=value`. In a value a name is a CONSTANT_NAME unless a `(` follows it without a blank, so that the
 *  value of `@dispatch=WORKER (int o) f()` ends before the parenthesis. */
annotation: AT name=(ID | DEFAULT) (ASSIGN value=annotation_value)?;
annotation_value
  : operands+=annotation_operand
    (operators+=(PLUS | MINUS | TIMES | DIVIDE | INT_DIVIDE | REMAINDER | POWER) operands+=annotation_operand)*
  ;
annotation_operand
  : prefixes+=(MINUS | NOT)*
    ( literal=(INT | FLOAT | INFINITE | NOT_A_NUMBER | TRUE | FALSE | STRING | MULTILINE_STRING)
    | constant=CONSTANT_NAME
    | name=ID call=arguments
    | group=parenthesised
    | array=array_literal
    )
    suffixes+=suffix*
  ;

// ---------------------------------------------------------------- statements
block: LBRACE content=statements RBRACE;
/** compiler/parse/error_strategy skips, before each statement, what can not begin one. */
statements: items+=statement*;

compound_statement
  : nested=block
  | branch=if_statement
  | choice=switch_statement
  | each=foreach_statement
  | loop=for_statement
  | repeat=iterate_statement
  | waiting=wait_statement
  | attempt=try_statement
  ;

/** `s1 => s2 => ...`: all but the last are simple statements. */
chain_statement: first=simple_statement (ARROW links+=chain_link)* (SEMI | ARROW last=chain_end);
chain_link: marks+=annotation* body=simple_statement;
chain_end: marks+=annotation* body=compound_statement;

/** Declaration, assignment, append, update, call. A declaration begins like a call: `target` is its type then. */
simple_statement
  : target=reference
    ( declared=declarators
    | (COMMA targets+=reference)* assign=ASSIGN values+=expression (COMMA values+=expression)*
    | APPEND appended=expression
    | LT argument=type_expression GT
      (UPDATE updated=expression | dimensions+=dimension* declared=declarators)
    )?
  | open=LPAREN (elements+=call_argument (COMMA elements+=call_argument)*)? RPAREN
    (assign=ASSIGN values+=expression (COMMA values+=expression)*)?
  ;

declarators: items+=declarator (COMMA items+=declarator)*;
declarator: name=ID dimensions+=dimension* (LT mapping=mapping_expression GT)? (ASSIGN value=expression)?;

/** Without braces: parsed to be reported. */
controlled: braced=block | bare=simple_statement SEMI;

if_statement: IF LPAREN condition=expression RPAREN then_body=controlled (elses+=ELSE parts+=else_part)*;
else_part: IF LPAREN condition=expression RPAREN then_body=controlled | otherwise=controlled;

switch_statement: SWITCH LPAREN value=expression RPAREN LBRACE cases+=case_clause* RBRACE;
case_clause: (CASE negative=MINUS? label=INT | otherwise=DEFAULT) COLON content=statements;

/** `foreach i in [0:n-1], j in [0:m-1] { ... }` is a loop in a loop. */
foreach_statement
  : FOREACH value=ID (COMMA key=ID)? IN iterable=expression (COMMA inner+=foreach_inner)* content=block
  ;
foreach_inner: value=ID IN iterable=expression;

for_statement
  : FOR LPAREN (variables+=for_variable (COMMA variables+=for_variable)*)?
    SEMI condition=expression
    SEMI (updates+=for_update (COMMA updates+=for_update)*)? RPAREN content=controlled
  ;
/** `type name = value`, or `name = value`: the name is where the type would be then. */
for_variable: type=type_expression (name=ID dimensions+=dimension*)? ASSIGN value=expression;
for_update: name=ID ASSIGN value=expression;

iterate_statement: ITERATE counter=ID content=block UNTIL LPAREN condition=expression RPAREN;

/** Without `else`: parsed to be reported. */
try_statement: TRY content=block (ELSE otherwise=controlled)?;

wait_statement: WAIT deep=DEEP? LPAREN awaited+=expression (COMMA awaited+=expression)* RPAREN content=controlled;

// ---------------------------------------------------------------- expressions
/** Flat: the precedence table is in compiler/ast/precedence.hpp. */
expression
  : operands+=operand
    ( operators+=( OR | AND | EQ | NE | LT | LE | GT | GE | PLUS | MINUS | TIMES | DIVIDE | INT_DIVIDE | REMAINDER
                 | FORMAT | POWER )
      operands+=operand )*
  ;
/** Between `<` and `>`: no comparison. */
mapping_expression
  : operands+=operand
    (operators+=(PLUS | MINUS | TIMES | DIVIDE | INT_DIVIDE | REMAINDER | FORMAT | POWER) operands+=operand)*
  ;
operand: prefixes+=(MINUS | NOT)* base=primary suffixes+=suffix*;
primary
  : literal=(INT | FLOAT | INFINITE | NOT_A_NUMBER | TRUE | FALSE | STRING | MULTILINE_STRING)
  | name=ID call=arguments?
  | group=parenthesised
  | array=array_literal
  | map=map_literal
  | marks+=annotation+ callee=ID? call=arguments
  ;
suffix: open=LBRACK (entries+=index_entry (COMMA entries+=index_entry)*)? RBRACK | DOT field_name=ID;
/** `i`, `lo:hi`, `lo:hi:step`, each part of a slice may be missing. */
index_entry
  : low=expression (first=COLON high=expression? (COLON step=expression)?)?
  | first=COLON high=expression? (COLON step=expression)?
  ;
/** What can be assigned to; also a call, and the type of a declaration. */
reference: name=ID call=arguments? suffixes+=suffix*;

arguments: LPAREN (items+=call_argument (COMMA items+=call_argument)*)? RPAREN;
/** `value`, `keyword = value`: the keyword is parsed as an expression. */
call_argument: first=expression (ASSIGN second=expression)?;

parenthesised: LPAREN items+=expression (COMMA items+=expression)* RPAREN;
/** `[a, b]`, `[low:high]`, `[low:high:step]` */
array_literal
  : LBRACK
    (items+=expression (range=COLON high=expression (COLON step=expression)? | (COMMA items+=expression)*))?
    RBRACK
  ;
map_literal: LBRACE (entries+=map_entry (COMMA entries+=map_entry)*)? RBRACE;
map_entry: key=expression COLON value=expression;

text: token=(STRING | MULTILINE_STRING);
