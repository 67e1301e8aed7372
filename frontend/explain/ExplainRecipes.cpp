// Pages of the codes of recipes (T0601..T0649, T0690) and names tables (T0650..T0659).
#include "frontend/explain/Explain.h"

namespace tenon {

static constexpr ExplainPage kRecipes[] = {
    {"T0601", "unknown setting",
     "A train block knows: bind, data, valid, init, loss, tasks, mix, freeze, groups, optimizer, schedule, clip, accumulate, "
     "slices, save, numerics, steps, epochs, checkpoint, average, seed. A generate block knows: entry, method, start, stop, "
     "seed.",
     "train GPT2 as small { optimiser = adam(lr = 1e-3) }", "train GPT2 as small { optimizer = adam(lr = 1e-3) }"},
    {"T0602", "a setting twice",
     "Each setting stands once in a recipe. Where several values make sense, as for groups, write a tuple.",
     "clip = global_norm(1.0)\nclip = global_norm(0.25)", "clip = global_norm(0.25)"},
    {"T0603", "nothing of this name to bind",
     "`bind` gives sizes to the symbolic dims of the model, and other values to its configs, for this recipe only. Axes that are "
     "derived (dim S = M + T) follow by themselves.",
     "bind B = 8, Time = 128", "bind B = 8, T = 128"},
    {"T0604", "bound twice", "A dim or config has one value per recipe.", "bind B = 8, T = 128, B = 16", "bind B = 16, T = 128"},
    {"T0605", "unknown function",
     "The value of this setting is a call of one of a few functions: an optimizer, a schedule, a data task, a method of "
     "generation. The message lists them.",
     "schedule = cosin(total = 1000)", "schedule = cosine(total = 1000)"},
    {"T0606", "unknown keyword", "The function has no argument of this name. The message lists those it has.",
     "optimizer = adam(learning_rate = 1e-3)", "optimizer = adam(lr = 1e-3)"},
    {"T0607", "a keyword twice", "Each argument of a function is given once.", "adam(lr = 1e-3, lr = 1e-4)", "adam(lr = 1e-4)"},
    {"T0608", "a value of another kind",
     "Steps, sizes and seeds are whole numbers (10_000, not 1e4); files are texts in quotes; betas are two numbers; switches are "
     "true or false.",
     "steps = 1e4", "steps = 10_000"},
    {"T0609", "a value outside its range",
     "The message says what is allowed. Rates and factors are not negative, probabilities lie between 0 and 1, betas below 1, "
     "and a warm-up is either a whole number of steps or a fraction of the run between 0 and 1. Milestones rise.",
     "optimizer = adam(lr = 1e-3, betas = (0.9, 1.0))", "optimizer = adam(lr = 1e-3, betas = (0.9, 0.999))"},
    {"T0610", "an argument is missing, or has nothing to say",
     "Some arguments have no default: an optimizer needs its rate, a decaying schedule its length (`total` steps or `epochs`), a "
     "data task its text or file, a group its patterns and at least one factor. And `scale` is for compute = f16 alone.",
     "schedule = cosine(warmup = 100)", "schedule = cosine(warmup = 100, total = 10_000)"},
    {"T0611", "not one of the choices", "Only the words that the message lists are allowed here.",
     "numerics = policy(compute = fp16)", "numerics = policy(compute = f16)"},
    {"T0612", "unknown loss", "`loss` speaks of the losses that the model declares by `loss NAME = ..`.", "loss = mml + nsp",
     "loss = mlm + nsp"},
    {"T0613", "not a weighted sum of losses",
     "A recipe weighs the losses of the model: sums of a loss, or of a number times a loss. Anything else belongs into the "
     "model, as a loss of its own.",
     "loss = mlm * rtd", "loss = mlm + 50 * rtd"},
    {"T0614", "unknown entry", "`entry` names an `out` of the model; `out a, b` without a name is the entry infer.",
     "generate GPT2 as sample { entry = decode method = greedy() }",
     "generate GPT2 as sample { entry = step method = greedy() }"},
    {"T0615", "unknown naming scheme",
     "`names = hf` needs a table `names LAYER as hf { .. }` in this file or one that it imports.",
     "init = load(\"model.safetensors\", names = huggingface)", "init = load(\"model.safetensors\", names = hf)"},
    {"T0616", "settings that exclude each other",
     "A run is as long as `steps` or as `epochs` say, not both. `tasks` bring their own data and losses, so `data` and `loss` do "
     "not stand beside them, and `mix` has a meaning only with them. `tokens` says how many rows a batch has, so `bind` does "
     "not. A `model` of sentencepiece is the vocabulary, so `vocab`, `merges` and `unit` say nothing beside it.",
     "steps = 10_000\nepochs = 3", "epochs = 3"},
    {"T0617", "an argument without its keyword",
     "Only a few arguments go without keyword: the norm of global_norm, the number of steps of every, the file of load, the "
     "patterns of group.",
     "optimizer = adam(1e-3)", "optimizer = adam(lr = 1e-3)"},
    {"T0618", "a recipe is incomplete",
     "A train block needs `optimizer` and, if the model has several losses, `loss`; without `data` its batches come through the "
     "C interface. A generate block needs `entry` and `method`.",
     "train GPT2 as small { data = byte_stream(text = \"a.txt\") }",
     "train GPT2 as small { data = byte_stream(text = \"a.txt\") optimizer = adam(lr = 1e-3) }"},
    {"T0619", "depth outside of a group",
     "`depth` is the place of a parameter in its stack. It has a value only in the factors of a group, which are computed for "
     "each parameter.",
     "clip = global_norm(0.5 ^ depth)", "groups = group(\"blocks.*\", lr = 0.9 ^ (N - 1 - depth))"},
};
ExplainPages explainRecipes() { return kRecipes; }

static constexpr ExplainPage kRecipesAsAWhole[] = {
    {"T0620", "the data task and the inputs differ",
     "Each data task fills inputs by their names: byte_stream makes ids and target, mlm_nsp makes ids, seg, len, at, word, "
     "weight and follows. The losses of the recipe must need nothing else. Files of your own: arrays(ids = \"ids.npy\", label = "
     "\"label.npy\") and jsonl(..) name every input. Losses that read no input have nothing to be given: data = caller.",
     "data = byte_stream(text = \"a.txt\")    # for BERT, which needs seg, at, ..",
     "data = mlm_nsp(text = \"a.txt\", rate = 0.15)"},
    {"T0621", "two recipes of one name", "Recipes of a model are chosen by name (--recipe small), so each name occurs once.",
     "train GPT2 as small { .. }\ntrain GPT2 as small { .. }", "train GPT2 as small { .. }\ntrain GPT2 as long { .. }"},
    {"T0622", "unknown model", "A recipe names the model that it trains: one of this file or of a file that it imports.",
     "train GPT as small { .. }", "train GPT2 as small { .. }"},
    {"T0623", "unknown name in a setting", "Values may speak of the configs of the model, and of nothing else of it.",
     "schedule = noam(size = hidden, warmup = 4000)", "schedule = noam(size = D, warmup = 4000)"},
    {"T0624", "unknown recipe", "--recipe names a train block of the chosen model.", "tenon train gpt2.tn --recipe tiny",
     "tenon train gpt2.tn --recipe small"},
    {"T0625", "an entry that cannot generate",
     "Text is generated symbol by symbol: each call of the entry of a generate block brings `ids`, the newest symbols, and takes "
     "the logits of the next one. So the entry must read ids: index(V)[B, T] and no other input, its first output must be logits "
     "with the axes [B, T, V], and it must keep what came before: by walking along T (`out step(T) = logits`), or in a `state` "
     "as Transformer-XL does. `beam` wants an entry that walks; one that does may read, beside its symbols along T, "
     "what has no axis T, such as a source. So does `feed = mask`: the next symbol is read at a mask behind the text, whose "
     "place is taken back.",
     "out logits\ngenerate GPT2 as sample { entry = infer  method = greedy }",
     "out step(T) = logits\ngenerate GPT2 as sample { entry = step  method = greedy }"},
    {"T0626", "a loss that no parameter reaches",
     "Training follows the gradient of a loss to the parameters. This one depends on none of them, or only through "
     "stop_gradient, states, whole numbers (argmax, comparisons) or a weight of 0: no step would change anything.",
     "loss l = mean(stop_gradient(h))", "loss l = mean(h)"},
    {"T0627", "a schedule that ends in its warm-up",
     "`total` counts the steps of the whole schedule, its warm-up among them; a rate that decays needs some steps after it.",
     "schedule = cosine(warmup = 1000, total = 1000)", "schedule = cosine(warmup = 1000, total = 100_000)"},
    {"T0628", "nothing to compare evaluations by",
     "`best` and `stop` compare evaluations, so a recipe that has one of them holds data out (held_out = 0.05 of its task, or "
     "valid = ..); `stop` (and schedule = plateau) counts evaluations, so it says how often there is one (every = 100 of the "
     "task or of `valid`).",
     "data = byte_stream(text = \"a.txt\")  stop = patience(5)",
     "data = byte_stream(text = \"a.txt\", held_out = 0.05, every = 100)  stop = patience(5)"},
    {"T0629", "a setting that nothing reads",
     "With `data = caller` a program makes the batches and calls the training step, so it also decides when to evaluate, to save "
     "and to end: `steps`, `epochs`, `checkpoint`, `stop`, `average` and `valid` are for `tenon train`, which makes batches from "
     "a data task. `steps` and `epochs` are read all the same where the warm-up of the schedule is a share of the run. "
     "`save = blocks(steps = k)` is about recurrences, which save every k-th carry.",
     "data = caller  steps = 1000  stop = patience(5)", "data = caller"},
    {"T0630", "a loss that is not evaluated",
     "A recipe evaluates the losses and metrics that it trains, and of the others those whose inputs its data make: a text for "
     "masks has no classes, and a model may have heads for other data. An input of almost the name of one that they make, or of "
     "the "
     "same name with other axes, is more likely a slip of the pen.",
     "in lable: index(C)[B]\nmetric acc = mean(argmax[C](logits) == lable)",
     "in label: index(C)[B]\nmetric acc = mean(argmax[C](logits) == label)"},
    {"T0631", "bytes for an input of a vocabulary",
     "A data task of texts without `vocab` (or `model`, of sentencepiece) makes bytes: 256 symbols and up to eight marks. "
     "Where an input takes thousands of symbols, few of them are learned so, and weights that belong to a vocabulary see "
     "symbols that mean something else.",
     "in ids: index(30_522)[B, T]\ndata = single(file = \"train.tsv\")",
     "in ids: index(30_522)[B, T]\ndata = single(file = \"train.tsv\", vocab = \"vocab.txt\")"},
};
ExplainPages explainRecipesAsAWhole() { return kRecipesAsAWhole; }

static constexpr ExplainPage kParameters[] = {
    {"T0640", "a pattern that matches nothing",
     "The patterns of groups, freeze and the exceptions of numerics are compared with whole paths of parameters, such as "
     "blocks.3.wq.weight (exceptions with those of layers, too); * stands for any text, dots included. A pattern without a match "
     "is a slip of the pen that would silently train something else.",
     "freeze = (\"encoder\")", "freeze = (\"encoder.*\")"},
    {"T0641", "nothing is left to train",
     "`freeze` names every parameter that the losses of the recipe reach. The patterns are compared with whole paths, and * "
     "stands for any text, dots included.",
     "freeze = (\"*\")", "freeze = (\"encoder.*\")"},
    {"T0642", "depth of a parameter that is in no stack",
     "The group matches a parameter that belongs to no stack[..], so there is no depth to speak of.",
     "groups = group(\"*\", lr = 0.9 ^ depth)", "groups = group(\"blocks.*\", lr = 0.9 ^ depth)"},
    {"T0643", "slices that do not divide the batch",
     "`slices = n` computes the gradient of a batch as the sum of those of n slices of its rows, all of one size, so n divides "
     "the number of rows.",
     "bind B = 6  slices = 4", "bind B = 8  slices = 4"},
    {"T0644", "a loss that slices do not add up to",
     "With `slices = n` the loss of a batch is the sum of the shares of n slices of its rows, each computed by itself. So a loss "
     "is a sum or a mean over the rows (and whatever else each row has), times a number; to a mean, terms without rows may be "
     "added. A carry that layers add such terms to is one, too. Sums over the rows that depend on no parameter (of weights, of "
     "masks) are made of the whole batch first, so any "
     "expression of them may divide or weigh: sum(w * each) / max(sum(w), 1). A quotient by a sum that depends on parameters, a "
     "maximum, a variance, or a value that the rows of a batch share inside of the model needs all rows at once. `accumulate` "
     "takes the mean over batches that stand each for itself, whatever the loss is.",
     "loss mlm = sum(gate(h) * each) / sum(gate(h))    # in a recipe with slices = 4",
     "loss mlm = sum(weight * each) / sum(weight)      # weight: an input"},
    {"T0690", "not supported yet",
     "The recipe is right and says something that this version cannot do yet: other numerics for some layers of a stack, "
     "slices of a batch where a state has no rows, words by a segmenter of Chinese. `tenon check` names the place, and what "
     "to write instead where there is something.",
     "data = mlm_nsp(text = \"zh.txt\", vocab = \"vocab.txt\", words = jieba)",
     "data = mlm_nsp(text = \"zh.txt\", vocab = \"vocab.txt\", words = units)"},
};
ExplainPages explainParameters() { return kParameters; }

static constexpr ExplainPage kNames[] = {
    {"T0650", "a names table of an unknown layer", "A table belongs to a model or layer and speaks of the paths inside it.",
     "names Blok as hf { \"up.*\" = \"dense.*\" }", "names Block as hf { \"up.*\" = \"dense.*\" }"},
    {"T0651", "not a pattern of paths",
     "The left side of a rule is a path of parameters as the model names them: steps of letters, digits and _, between dots; * "
     "stands for one step, or for a part of one.",
     "\"up..weight\" = \"dense.weight\"", "\"up.weight\" = \"dense.weight\""},
    {"T0652", "not a public name",
     "The right side of a rule is a text, or part(\"packed\", k, n), flatten(\"name\"), stacked(\"name.#\") or "
     "transpose(\"name\"), or copy(..) of one of these. An empty text drops the step.",
     "\"wq.weight\" = slice(\"in_proj_weight\", 0, 3)", "\"wq.weight\" = part(\"in_proj_weight\", 0, 3)"},
    {"T0653", "the public name asks for more than the pattern gives",
     "Each * of the public name is the next captured text of the pattern; {2} is the second one, {2+1} the second one plus 1.",
     "\"rest.*\" = \"layer{2}.*\"", "\"rest.*\" = \"layer{1+1}\""},
    {"T0654", "two tables of one scheme",
     "A model or layer has one table per scheme. Layers are found by their bare name, so two layers of one name cannot both have "
     "one.",
     "names Block as hf { .. }\nnames Block as hf { .. }", "names Block as hf { .. }\nnames Block as torch { .. }"},
    {"T0655", "two rules of one pattern", "The first rule that matches wins, so the second one would never be used.",
     "\"up\" = \"fc1\"  \"up\" = \"fc2\"", "\"up\" = \"fc1\"  \"down\" = \"fc2\""},
    {"T0656", "wrong arguments of a public name",
     "part(\"name\", k, n) is part k = 0 .. n-1 of a tensor that packs n of them by rows; stacked(\"name.#\") has one # for the "
     "index of the first axis; flatten(\"name\") and transpose(\"name\") have the name only, and copy(..) one of all of these.",
     "\"wv.weight\" = part(\"in_proj_weight\", 3, 3)", "\"wv.weight\" = part(\"in_proj_weight\", 2, 3)"},
    {"T0657", "a public name of two parameters",
     "A file of weights holds one tensor per name, or the parts of a packed one. Where a parameter only starts from the tensor "
     "of another (a frozen reference policy, a student), copy(\"policy\") is the name for reading: both get the values, the "
     "other "
     "one writes them. It has to be there: of copies alone nothing would be written.",
     "\"f.*\" = \"dense\"", "\"f.*\" = \"dense.*\""},
    {"T0658", "a rule that matches no parameter",
     "A pattern starts with a `use`, `param` or `state` of the layer that the table belongs to.",
     "names Block as hf { \"pu.*\" = \"dense.*\" }", "names Block as hf { \"up.*\" = \"dense.*\" }"},
    {"T0659", "a state as a part of a public tensor",
     "A state of the model, such as a running mean, is read from files and written to them as a tensor of its own: part, "
     "flatten, stacked and transpose are for parameters.",
     "\"mean\" = part(\"statistics\", 0, 2)", "\"mean\" = \"running_mean\""},
};
ExplainPages explainNames() { return kNames; }

} // namespace tenon
