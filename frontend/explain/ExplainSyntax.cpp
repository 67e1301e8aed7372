// Pages of the codes of the grammar, T0001..T0099.
#include "frontend/explain/Explain.h"

namespace tenon {

static constexpr ExplainPage kSyntax[] = {
    {"T0001", "unexpected text",
     "Something else has to stand here. The message names what the grammar expects at this place and what it found.",
     "use blocks = stack(4) Block", "use blocks = stack[4] Block"},
    {"T0002", "character without a meaning",
     "Outside strings and comments the language knows letters, digits, '_' and the signs -> .. == != <= >= - + * / ^ < > = ~ : , "
     ". and brackets. Conditions are joined by the words and, or, not; the remainder is mod; products of tensors are "
     "dot[axes](a, b).",
     "mask j <= i && j < len", "mask j <= i and j < len"},
    {"T0003", "zero byte in the text",
     "A specification is a text file. A byte of value zero says that this is another kind of file, or one that was damaged.", "",
     ""},
    {"T0004", "not UTF-8",
     "The text is read as UTF-8 and these bytes are not a character of it. Inside strings and comments any bytes are accepted.",
     "", ""},
    {"T0005", "open string",
     "A string begins and ends with '\"' on the same line. There are no escapes; a string cannot contain '\"'.",
     "import \"bert.tn", "import \"bert.tn\""},
    {"T0006", "bracket that is never closed",
     "The bracket is open where something stands that cannot be inside it: the end of the file, the next statement, the next "
     "model. For '{' the message points to the block whose '}' seems to be missing, judged by the indentation of the lines that "
     "follow.",
     "let y = emb[V: ids * 2\nlet z = y + 1", "let y = emb[V: ids] * 2\nlet z = y + 1"},
    {"T0007", "not a statement",
     "Every statement starts with one of: config dim require in param state next use let out loss return until carry yield layer "
     "fn. Either the word is misspelt, or the statement before it has ended where it should go on: an operator or a ',' is "
     "missing.",
     "y = x + 1\nout a b", "let y = x + 1\nout a, b"},
    {"T0008", "keyword used as a name",
     "Keywords cannot name values, axes, layers or parameters. Reserved are: model layer fn train import config dim require in "
     "param state next use let out loss return attend scan carry yield stack loop until and or not mod div if then else bind. "
     "They are allowed as keywords of arguments, as in task(loss = ce), and as keys of a recipe. An `out` is not called eval or "
     "grad either: these entries are made of the losses. A `loss` or `metric` has no name that metrics.jsonl or `tenon eval "
     "--json` give to numbers of their own (step, lr, perplexity, ..), and none that begins with valid_.",
     "let state = x + 1", "let state1 = x + 1"},
    {"T0009", "nested too deeply",
     "Expressions, blocks and the operators of one expression may nest 256 levels. A chain such as a + b + c nests one level per "
     "operator. Name parts of the expression with let.",
     "", ""},
    {"T0010", "file too large", "A specification may have at most 16 MiB.", "", ""},
    {"T0011", "chained comparison",
     "A comparison gives a truth value, which cannot be compared with a number again. Join two comparisons with 'and'.",
     "mask 0 <= i - j <= 16", "mask 0 <= i - j and i - j <= 16"},
    {"T0012", "malformed number",
     "A number is written with digits, one optional '.', and an optional exponent: 12, 30_522, 0.1, 2.5e-4. '_' stands only "
     "between two digits, and letters cannot follow. Whole numbers must fit into 64 bits, others into the range of f64.",
     "config V = 30522k, eps = 1e", "config V = 30_522, eps = 1e-5"},
    {"T0013", "not an item of a file",
     "Outside of all braces only these can stand: import, model, layer, fn, train, generate, names. Often a '}' too many ended a "
     "model early, and the rest of its statements now stand outside.",
     "let x = 3", "model M {\n  let x = 3\n}"},
    {"T0014", "not an item of attend",
     "Inside attend(...) { } every item starts with score, scale, mask, drop or value, and there is at least one. Terms of the "
     "score may have names: score position = ...",
     "attend(i: T, j: S) {\n  query q\n  value v\n}", "attend(i: T, j: S) {\n  score dot[E](q, k)\n  value v\n}"},
    {"T0015", "closing brace without an opening one",
     "This '}' closes nothing: every '{' before it is already closed. Look for a '}' too many further up.", "model M {\n}\n}",
     "model M {\n}"},
    {"T0016", "not a setting",
     "A block train, generate or names consists of settings: key = value, one after the other without commas; a key is a word or "
     "a string. Sizes are bound by: bind B = 32, T = 128.",
     "train M {\n  loss = nll,\n  steps = 100\n}", "train M {\n  loss = nll\n  steps = 100\n}"},
    {"T0017", "expression expected",
     "A value has to stand here: a number, a string, a name, an expression in parentheses, 'if', 'attend' or 'scan'. Often an "
     "operator has nothing on its right side, or a ',' stands before a closing bracket.",
     "let y = x +\nlet z = f(x, )", "let y = x + 1\nlet z = f(x)"},
    {"T0018", "name expected",
     "A name begins with a letter or '_', goes on with letters, digits and '_', and is no keyword. Axes are names, too, also "
     "those of a fixed size; in layers '..' stands for any further axes. In brackets behind a value each place has its axis, "
     "x[T: "
     "0], a slice one that it forms, x[T: 1 .. T -> S], and axes that are not named stay whole.",
     "in image: [B, 3, Y, X]", "dim C = 3\nin image: [B, C, Y, X]"},
    {"T0019", "type expected",
     "A type is a list of axes, [B, T, D], for real numbers, or an element type with optional axes: index(V)[B, T], bool[B], "
     "i32[B], f32[B, T]. A single number is [].",
     "in ids: (B, T)", "in ids: index(V)[B, T]"},
    {"T0020", "wrong or missing closing bracket",
     "A list in brackets goes on with ',' or ends with the bracket that closes it. A ',' may be missing between two elements, or "
     "a bracket of another kind stands where this one should end.",
     "let y = concat[M + T -> S](mem x)", "let y = concat[M + T -> S](mem, x)"},
    {"T0021", "'=' expected",
     "What gets a value is separated from it by '='. Parameters may have an initializer behind '~' instead. '==' compares.",
     "param w: [D, V] normal(0.02)", "param w: [D, V] ~ normal(0.02)"},
    {"T0022", "'{' expected", "The body of a model, layer, function, recipe, attend or scan stands in braces.",
     "model M\n  config D = 4", "model M {\n  config D = 4\n}"},
    {"T0023", "':' expected",
     "Arguments, inputs, parameters, states and carried values declare their type behind ':'. Binders of attend and scan name "
     "their axis behind ':'.",
     "layer L(x [B, T]) -> [B, T] { return x }", "layer L(x: [B, T]) -> [B, T] { return x }"},
    {"T0024", "'->' expected", "Layers and functions declare the types of their results behind '->'.",
     "fn twice(x: [B]) { return 2 * x }", "fn twice(x: [B]) -> [B] { return 2 * x }"},
    {"T0025", "'then' or 'else' expected",
     "A choice is written: if condition then value else value. It is an expression, so it always has both sides.",
     "let y = if project then p(x)", "let y = if project then p(x) else x"},
    {"T0026", "string expected", "The file of an import is a string.", "import bert.tn", "import \"bert.tn\""},
    {"T0099", "too many mistakes",
     "After fifty mistakes in one file the rest is not looked at. This usually means that the file is not a specification.", "",
     ""},
};
ExplainPages explainSyntax() { return kSyntax; }

} // namespace tenon
