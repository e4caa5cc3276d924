/** Tokens of a Raddle script. The input is bytes: the lexer sees each UTF-8 byte as one character, so that token
 *  positions are byte offsets; bytes above 0x7F are only meaningful inside strings and comments.
 *  Rules named BAD_* and UNTERMINATED_* match what is wrong, so that it is reported with its whole text. */
lexer grammar RaddleLexer;

tokens {
  /** A name that ends the value of an annotation: `@dispatch=WORKER (int o) f()`. Set after lexing. */
  CONSTANT_NAME,
  /** The name `try` before a `{` where a statement begins; elsewhere it is a name as any other. Set after lexing. */
  TRY
}

// ---------------------------------------------------------------- reserved words
APP: 'app';
BUILTIN: 'builtin';
CASE: 'case';
CONST: 'const';
DEEP: 'deep';
DEFAULT: 'default';
ELSE: 'else';
FALSE: 'false';
FOR: 'for';
FOREACH: 'foreach';
GLOBAL: 'global';
IF: 'if';
IMPORT: 'import';
IN: 'in';
INFINITE: 'inf';
ITERATE: 'iterate';
NOT_A_NUMBER: 'NaN';
PRAGMA: 'pragma';
STDERR: 'stderr';
STDIN: 'stdin';
STDOUT: 'stdout';
SWITCH: 'switch';
TRUE: 'true';
TYPE: 'type';
TYPEDEF: 'typedef';
UNTIL: 'until';
WAIT: 'wait';

// ---------------------------------------------------------------- names and literals
ID: [A-Za-z_] [A-Za-z0-9_]*;

/** A leading 0 does not mean octal: `010` is ten. */
INT: DIGIT+ | '0x' [0-9a-fA-F]+ | '0o' [0-7]+;
FLOAT: DIGIT+ '.' DIGIT+ EXPONENT? | DIGIT+ EXPONENT;
BAD_NUMBER
  : DIGIT [A-Za-z0-9_]+
  | DIGIT+ '.' DIGIT+ [A-Za-z_] [A-Za-z0-9_]*
  | DIGIT+ '.'
  | '.' DIGIT+
  ;

/** May contain raw newlines. */
STRING: '"' STRING_CHARACTER* '"';
/** The newline after the opening mark belongs to the string. */
MULTILINE_STRING
  : '"""' '\r'? '\n' ('"'? '"'? (~["\\] | ESCAPE))* '"""'
  | '----' '\r'? '\n' ('-'? '-'? '-'? (~[\-\\] | ESCAPE))* '----'
  ;
UNTERMINATED_STRING: '"' STRING_CHARACTER* '\\'?;
UNTERMINATED_MULTILINE_STRING
  : '"""' '\r'? '\n' ('"'? '"'? (~["\\] | ESCAPE))* '"'? '"'? '\\'?
  | '----' '\r'? '\n' ('-'? '-'? '-'? (~[\-\\] | ESCAPE))* '-'? '-'? '-'? '\\'?
  ;

// ---------------------------------------------------------------- operators and punctuation
OR: '||';
AND: '&&';
EQ: '==';
NE: '!=';
LE: '<=';
GE: '>=';
LT: '<';
GT: '>';
PLUS: '+';
MINUS: '-';
TIMES: '*';
DIVIDE: '/';
INT_DIVIDE: '%/';
REMAINDER: '%%';
FORMAT: '%';
POWER: '**';
NOT: '!';
ASSIGN: '=';
APPEND: '+=';
UPDATE: ':=';
ARROW: '=>';
LPAREN: '(';
RPAREN: ')';
LBRACE: '{';
RBRACE: '}';
LBRACK: '[';
RBRACK: ']';
COMMA: ',';
SEMI: ';';
COLON: ':';
AT: '@';
ELLIPSIS: '...';
BAR: '|';
DOT: '.';

// ---------------------------------------------------------------- between tokens
BLANK: [ \t\r\n\f\u000B]+ -> skip;
LINE_COMMENT: '//' ~[\n]* -> skip;
BLOCK_COMMENT: '/*' (~'*' | '*'+ ~[*/])* '*'+ '/' -> skip;
UNTERMINATED_COMMENT: '/*' (~'*' | '*'+ ~[*/])* '*'*;
/** A comment. Directives of the preprocessor are carried out before lexing (compiler/preprocess). */
HASH_LINE: '#' ~[\n]*;
BAD_CHARACTERS: ~[A-Za-z0-9_"|&=!<>+\-*/%:(){}[\],;@.# \t\r\n\f\u000B]+ | '&';

fragment DIGIT: [0-9];
fragment EXPONENT: [eE] [+\-]? DIGIT+;
fragment ESCAPE: '\\' .;
fragment STRING_CHARACTER: ~["\\] | ESCAPE;
