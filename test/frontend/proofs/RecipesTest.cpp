#include "frontend/recipes/RecipeSchema.h"
#include "test/frontend/proofs/RecipeChecks.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tenon;
using namespace tenon::test;

TEST(Recipes, SettingsAreReadWithTheirTypes) {
  Checked c(train("bind B = 8, C = 3\nschedule = cosine(warmup = 0.1, total = 10_000)\nclip = global_norm(1.0)\nseed = 42\n"
                  "checkpoint = every(500, keep = 2)",
                  "adamw(lr = 2.5e-4, betas = (0.9, 0.95), decay = 0.1)"));
  ASSERT_EQ(c.mistakes(), "");
  const CheckedRecipe &recipe = c.checked[0];
  EXPECT_EQ(recipe.binds, (std::map<std::string, int64_t>{{"B", 8}}));
  EXPECT_EQ(recipe.find("optimizer")->text, "adamw");
  EXPECT_EQ(recipe.find("optimizer")->keywords[1].second->elements[1]->real, 0.95);
  EXPECT_EQ(recipe.find("clip")->keywords[0].first, "norm");
  EXPECT_EQ(recipe.find("seed")->integer, 42);
  EXPECT_EQ(recipe.find("checkpoint")->keywords[1].second->integer, 2);
}

TEST(Recipes, BestNamesALossOrMetric) {
  Checked c(train(
      "checkpoint = every(500, keep = 2, best = acc, lowest = true)\nstop = patience(5) valid = held_out(0.1, every = 50)"));
  ASSERT_EQ(c.mistakes(), "");
  EXPECT_EQ(c.checked[0].find("checkpoint")->keywords[2].second->text, "acc");
  EXPECT_EQ(c.checked[0].find("stop")->keywords[0].second->integer, 5);
  EXPECT_EQ(mistakesOf("checkpoint = every(500, best = mlm) valid = held_out(0.1)"), "");
  EXPECT_EQ(mistakesOf("checkpoint = every(500, best = bleu)"), "T0611 5:32");
  EXPECT_EQ(mistakesOf("checkpoint = every(500, lowest = true)"), "T0610 5:34");
  EXPECT_EQ(mistakesOf("checkpoint = every(500, best = mlm, lowest = false)"), "T0616 5:46");
  EXPECT_EQ(mistakesOf("stop = patience(0)"), "T0609 5:17");
}

/// What compares evaluations needs some: data held out by the task or by `valid`, and for `stop` more than the one at the end.
TEST(Recipes, BestAndStopNeedEvaluations) {
  auto mistakes = [](const std::string &data, const std::string &more) {
    return Checked("train M as a { optimizer = adam(lr = 1) loss = mlm\n" + more + "\ndata = " + data + " }", {"mlm"}, {"ids"})
        .mistakes();
  };
  EXPECT_EQ(mistakes("byte_stream(text = \"a\")", "checkpoint = every(500, best = mlm)"), "T0628 2:32");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\", held_out = 0)", "stop = patience(5)"), "T0628 2:8");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\", held_out = 0.1)", "stop = patience(5)"), "T0628 2:8");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\", held_out = 0.1, every = 5)", "stop = patience(5)"), "");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\")", "stop = patience(5) valid = byte_stream(text = \"b\", every = 5)"), "");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\", held_out = 0.1)", "checkpoint = every(500, best = mlm)"), "");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\", held_out = 0.1)", "checkpoint = every(best = mlm)"), "");
  EXPECT_EQ(mistakes("byte_stream(text = \"a\")", "checkpoint = every(best = mlm)"), "T0628 2:27");
}

/// A caller's program evaluates, saves and ends as it likes; what says so in the recipe has no reader, but for lengths that a
/// warm-up is a share of.
TEST(Recipes, WhatACallerDoesNotReadIsSaid) {
  auto warnings = [](const std::string &more, const std::string &data = "caller") {
    return Checked("train M as a { optimizer = adam(lr = 1) loss = mlm\ndata = " + data + "\n" + more + " }", {"mlm"}, {"ids"})
        .mistakes();
  };
  EXPECT_EQ(warnings("clip = global_norm(1) accumulate = 2"), "");
  EXPECT_EQ(warnings("steps = 5 checkpoint = every(500, best = mlm) stop = patience(5)"), "T0629 3:9, T0629 3:24, T0629 3:54");
  EXPECT_EQ(warnings("epochs = 2 valid = held_out(0.1)"), "T0629 3:10, T0629 3:20");
  EXPECT_EQ(warnings("steps = 5 schedule = constant(warmup = 0.1)"), "");
  EXPECT_EQ(warnings("epochs = 5 schedule = linear(warmup = 0.1, epochs = 5)"), "");
  EXPECT_EQ(warnings("steps = 5 schedule = linear(warmup = 0.1, total = 50)"), "T0629 3:9");
  EXPECT_EQ(warnings("steps = 5 schedule = constant(warmup = 2)"), "T0629 3:9");
  EXPECT_EQ(warnings("steps = 5 checkpoint = every(500)", "byte_stream(text = \"a\")"), "");
}

TEST(Recipes, LossesAreWeighted) {
  auto weights = [](const std::string &loss) {
    Checked c("train M as small { data = byte_stream(text = \"a\") optimizer = adam(lr = 1) loss = " + loss + " }");
    EXPECT_EQ(c.mistakes(), "");
    return lossWeights(c.checked[0], c.context);
  };
  using Weights = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(weights("mlm + 50 * rtd"), (Weights{{"mlm", 1}, {"rtd", 50}}));
  EXPECT_EQ(weights("0.5 * (mlm - rtd / 2) + mlm"), (Weights{{"mlm", 1.5}, {"rtd", -0.25}}));
  Checked single("train M as small { data = byte_stream(text = \"a\") optimizer = adam(lr = 1) }", {"nll"});
  EXPECT_EQ(single.mistakes(), "");
  EXPECT_EQ(lossWeights(single.checked[0], single.context), (Weights{{"nll", 1}}));
}

TEST(Recipes, SchedulesHaveWhatTheyNeed) {
  EXPECT_EQ(mistakesOf("schedule = steps(every = 3, factor = 0.5, total = 5, epochs = 2)"), "T0616 5:63");
  EXPECT_EQ(mistakesOf("schedule = milestones(at = 3, factor = 0.1)"), "");
  EXPECT_EQ(mistakesOf("schedule = milestones(factor = 0.1)"), "T0610 5:12");
  EXPECT_EQ(mistakesOf("schedule = milestones(at = (30, 0), factor = 0.1)"), "T0609 5:33");
  EXPECT_EQ(mistakesOf("schedule = milestones(at = (30, 30), factor = 0.1)"), "T0609 5:33");
  std::string thousandAndOne = "1";
  for (int i = 2; i <= 1001; ++i)
    thousandAndOne += ", " + std::to_string(i);
  EXPECT_EQ(mistakesOf("schedule = milestones(at = (" + thousandAndOne + "), factor = 0.1)"), "T0609 5:28");
  EXPECT_EQ(mistakesOf("schedule = milestones(at = (0.3, 0.6), factor = 0.1)"), "T0608 5:29, T0608 5:34");
  EXPECT_EQ(mistakesOf("schedule = cosine_restarts(growth = 2)"), "T0610 5:12");
  EXPECT_EQ(mistakesOf("schedule = cosine_restarts(period = 5, growth = 0.5)"), "T0609 5:49");
  EXPECT_EQ(mistakesOf("schedule = cosine_restarts(period = 5, cycles = 2, total = 9)"), "T0616 5:12");
  EXPECT_EQ(mistakesOf("schedule = cosine_restarts(cycles = 2)"), "T0610 5:37");
  EXPECT_EQ(mistakesOf("schedule = cosine_restarts(cycles = 2, warmup = 9, total = 9)"), "T0627 5:60");
  EXPECT_EQ(mistakesOf("schedule = rsqrt"), "T0610 5:12");
}

TEST(Recipes, MistakesHaveTheirCodeAndPlace) {
  EXPECT_EQ(mistakesOf("step = 5"), "T0601 5:1");
  EXPECT_EQ(mistakesOf("seed = 5\nseed = 6"), "T0602 6:1");
  EXPECT_EQ(mistakesOf("bind B = 8, Q = 3"), "T0603 5:13");
  EXPECT_EQ(mistakesOf("bind B = 8, B = 3"), "T0604 5:13");
  EXPECT_EQ(mistakesOf("bind B = 0"), "T0609 5:10");
  EXPECT_EQ(mistakesOf("bind B = 1.5"), "T0608 5:10");
  EXPECT_EQ(mistakesOf("schedule = cosin(total = 5)"), "T0605 5:12");
  EXPECT_EQ(mistakesOf("schedule = cosine(totl = 5)"), "T0606 5:19");
  EXPECT_EQ(mistakesOf("schedule = cosine(total = 5, total = 6)"), "T0607 5:30");
  EXPECT_EQ(mistakesOf("schedule = cosine(total = 5.5)"), "T0608 5:27");
  EXPECT_EQ(mistakesOf("schedule = cosine(total = 5, warmup = 1.5)"), "T0609 5:39");
  EXPECT_EQ(mistakesOf("schedule = cosine(warmup = 5)"), "T0610 5:12");
  EXPECT_EQ(mistakesOf("schedule = noam(warmup = 5)"), "T0610 5:12");
  EXPECT_EQ(mistakesOf("schedule = gpt1_linear(warmup = 5)"), "T0610 5:12");
  EXPECT_EQ(Checked(train("", "sgd(lr = 1, dampening = 0.1)")).mistakes(), "T0610 4:39");
  EXPECT_EQ(Checked(train("", "sgd(lr = 1, momentum = 0.9, dampening = 0.1, nesterov = true)")).mistakes(), "T0610 4:55");
  EXPECT_EQ(Checked(train("", "sgd(lr = 1, momentum = 0.9, dampening = 0, nesterov = true)")).mistakes(), "");
  EXPECT_EQ(mistakesOf("clip = each(0)"), "T0609 5:13");
  EXPECT_EQ(mistakesOf("clip = value"), "T0610 5:8");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f33)"), "T0611 5:29");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f16, scale = dynamic(every = 5))"), "");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f16, scale = 1024)"), "T0608 5:42");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f16, scale = fixed(0))"), "T0609 5:48");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f16, scale = fixed)"), "T0610 5:42");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f16, scale = dynamic(growth = 1))"), "T0609 5:59");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = f16, scale = dynamic(backoff = 2))"), "T0609 5:60");
  EXPECT_EQ(mistakesOf("numerics = policy(compute = bf16, scale = fixed(8))"), "T0610 5:43");
  EXPECT_EQ(mistakesOf("numerics = policy(scale = dynamic)"), "T0610 5:27");
  EXPECT_EQ(mistakesOf("numerics = policy(reduce = bf16)"), "T0611 5:28");
  EXPECT_EQ(mistakesOf("numerics = policy(reduce = f64, f32 = (\"head.*\", \"rnn\"), bf16 = \"emb\")"), "");
  EXPECT_EQ(mistakesOf("numerics = policy(f32 = head)"), "T0623 5:25");
  EXPECT_EQ(mistakesOf("numerics = policy(f32 = \"emb\")"), "T0610 5:25"); // all is f32 anyway
  EXPECT_EQ(mistakesOf("numerics = policy(compute = bf16, bf16 = \"emb\")"), "T0610 5:42");
  EXPECT_EQ(mistakesOf("init = load(\"a\", names = tf)"), "T0615 5:26");
  EXPECT_EQ(mistakesOf("steps = 5\nepochs = 1"), "T0616 6:10");
  EXPECT_EQ(mistakesOf("mix = \"by share\""), "T0616 5:7");
  EXPECT_EQ(mistakesOf("clip = global_norm(1, 2)"), "T0617 5:23");
  EXPECT_EQ(mistakesOf("clip = global_norm(0.5 ^ depth)"), "T0619 5:20");
  EXPECT_EQ(mistakesOf("seed = X"), "T0623 5:8");
  EXPECT_EQ(mistakesOf("groups = (group(decay = 0))"), "T0610 5:11");
  EXPECT_EQ(mistakesOf("groups = (group(\"*.bias\"))"), "T0610 5:11");
  EXPECT_EQ(mistakesOf("valid = byte_stream(text = 3)"), "T0608 5:28");
  EXPECT_EQ(Checked("train M as a { optimizer = adam(lr = 1) loss = mml data = byte_stream(text = \"a\") }").mistakes(),
            "T0612 1:48");
  EXPECT_EQ(Checked("train M as a { optimizer = adam(lr = 1) loss = mlm * rtd data = byte_stream(text = \"a\") }").mistakes(),
            "T0613 1:48");
  EXPECT_EQ(Checked("train M as a { optimizer = adam(lr = 1) }").mistakes(),
            "T0618 1:12"); // the loss; batches come from the caller
  EXPECT_EQ(Checked("generate M as a { entry = stp method = greedy }").mistakes(), "T0614 1:27");
  EXPECT_EQ(Checked("generate M as a { entry = step method = sample(top_p = 1.5) }").mistakes(), "T0609 1:56");
  EXPECT_EQ(mistakesOf("optimizer = adam(lr = 1)"), "T0602 5:1");
}

TEST(Recipes, BetasAreTwoNumbersBelowOne) {
  auto of = [](const std::string &betas) { return Checked(train("", "adam(lr = 1, betas = " + betas + ")")).mistakes(); };
  EXPECT_EQ(of("(0.9, 0.999)"), "");
  EXPECT_EQ(of("0.9"), "T0608 4:36");
  EXPECT_EQ(of("(0.9, 1.0)"), "T0609 4:42");
  EXPECT_EQ(of("(0.9, 0.99, 0.999)"), "T0608 4:36");
}

TEST(Recipes, DataTasksMustMakeTheInputs) {
  Checked c(train(""));
  Entry entry;
  entry.inputs.resize(2);
  entry.inputs[0].name = "ids";
  entry.inputs[0].type.axes.resize(2);
  entry.inputs[1].name = "seg";
  checkDataInputs(c.checked[0], c.checked[0].find("data"), false, entry, c.diagnostics);
  EXPECT_EQ(c.mistakes(), "T0620 2:10");
  // What the tasks of the runtime give, no more and no less; test/data/ArraysTest.cpp holds them to the same table.
  auto mistakes = [](const std::string &task, const std::string &input, size_t axes) {
    Checked one("train M as a { optimizer = adam(lr = 1) loss = mlm data = " + task + "(text = \"a.txt\") }", {"mlm"});
    Entry reads;
    reads.inputs.resize(1);
    reads.inputs[0].name = input;
    reads.inputs[0].type.axes.resize(axes);
    checkDataInputs(one.checked[0], one.checked[0].find("data"), false, reads, one.diagnostics);
    return one.mistakes();
  };
  EXPECT_EQ(mistakes("permutation_lm", "label", 1), "");
  EXPECT_EQ(mistakes("lm_blocks", "len", 1), "");
  EXPECT_EQ(mistakes("lm_stream", "len", 1), "T0620 1:59");
  EXPECT_EQ(mistakes("byte_stream", "ids", 1), "T0620 1:59"); // with other axes
}

TEST(Recipes, NamesOfRecipes) {
  Checked c(train("") + train("") + "train Q as b { data = byte_stream(text = \"a\") loss = mlm optimizer = adam(lr = 1) }");
  std::vector<const ast::Recipe *> all;
  for (auto &recipe : c.recipes)
    all.push_back(recipe.get());
  checkRecipeNames(all, {"M"}, c.diagnostics);
  EXPECT_EQ(c.mistakes(), "T0621 7:12, T0622 13:7");
}

TEST(Recipes, WhatCannotBeDoneYetIsNamed) {
  Checked c(train("numerics = policy(params = f32, compute = f64) clip = value(1)", "bert_adam(lr = 1, clip_each = 1)"));
  ASSERT_EQ(c.mistakes(), "");
  reportUnsupported(c.checked[0], c.diagnostics);
  EXPECT_EQ(c.mistakes(), "T0690 4:45");
  auto refused = [](const std::string &policy) {
    Checked one(train("numerics = policy(" + policy + ")"));
    reportUnsupported(one.checked[0], one.diagnostics);
    return one.mistakes();
  };
  EXPECT_EQ(refused("params = f64, compute = f64, reduce = f64"), "");
  EXPECT_EQ(refused("params = f32, compute = bf16, reduce = f64, f32 = \"*\""), "");
  EXPECT_EQ(refused("params = f64, compute = bf16"), "");
  EXPECT_EQ(refused("params = bf16"), "");
  EXPECT_EQ(refused("params = f16, compute = bf16, reduce = f64, f32 = \"*\""), "");
  EXPECT_EQ(refused("params = bf16, compute = f64"), "");
  EXPECT_EQ(refused("f64 = \"*\""), "");
  EXPECT_EQ(refused("compute = f16, bf16 = \"*\""), "");
  EXPECT_EQ(refused("params = f64, compute = f64, reduce = f64, f32 = \"*\""), "T0690 5:68");
}

/// Inputs that a task of one's own files makes: those of its keywords, and lengths where rows differ in size.
TEST(Recipes, KeywordsOfOwnFilesAreInputs) {
  auto mistakes = [](const std::string &data) {
    return Checked("train M as a { optimizer = adam(lr = 1) loss = mlm data = " + data + " }", {"mlm"}, {"ids", "label"})
        .mistakes();
  };
  EXPECT_EQ(mistakes("arrays(ids = \"a.npy\", label = \"b.npy\", held_out = 0.1)"), "");
  EXPECT_EQ(mistakes("arrays(ids = ragged(\"a.npy\", \"o.npy\", pad = 1), stream = false)"), "");
  EXPECT_EQ(mistakes("arrays(ids = ragged(\"a.npy\", \"o.npy\", side = left))"), "");
  EXPECT_EQ(mistakes("arrays(ids = ragged(\"a.npy\", \"o.npy\", side = top))"), "T0611 1:104");
  EXPECT_EQ(mistakes("arrays(ids = ragged(\"a.npy\"))"), "T0610 1:72");
  EXPECT_EQ(mistakes("arrays(lable = \"b.npy\")"), "T0606 1:66");
  EXPECT_EQ(mistakes("arrays(ids = 3)"), "T0608 1:72");
  EXPECT_EQ(mistakes("jsonl(text = \"f\", label = \"k\")"), "");
  EXPECT_EQ(mistakes("jsonl(label = \"k\")"), "T0610 1:59");
  EXPECT_EQ(mistakes("caller"), "");
}

/// All published recipes check: with the model's own configs, losses, outs and dims taken from the text.
TEST(Recipes, AllSampleRecipesAreAccepted) {
  const char *const files[] = {"bert",
                               "bert_heads",
                               "charlm",
                               "electra",
                               "ernie1",
                               "ernie2",
                               "gpt1",
                               "gpt2",
                               "gru",
                               "lstm",
                               "mtdnn",
                               "nezha",
                               "resnet",
                               "rnn",
                               "roberta",
                               "star_transformer",
                               "transformer",
                               "transformer_xl_adaptive",
                               "txl",
                               "unilm",
                               "universal_transformer",
                               "variants",
                               "xlnet"};
  unsigned recipes = 0;
  for (const char *name : files) {
    std::ifstream stream(std::string(TENON_SPECS) + "/" + name + ".tn");
    std::ostringstream text;
    text << stream.rdbuf();
    Checked c("");
    c.sources.files.push_back({name, text.str()});
    ast::File file = parse(c.sources, 1, c.diagnostics);
    for (const ast::Item &item : file.items) {
      if (item.kind != ast::Item::Kind::Recipe || item.recipe->kind == ast::Recipe::Kind::Names)
        continue;
      c.context = {item.recipe->owner.text, {}, {}, {}, {}, {"infer"}, {"hf", "hf_generator", "torch"}, evaluate};
      for (const ast::Item &other : file.items) {
        if (other.kind != ast::Item::Kind::Model || other.model->name.text != item.recipe->owner.text)
          continue;
        for (const ast::StmtPtr &statement : other.model->body) {
          if (statement->kind == ast::Stmt::Kind::Config)
            c.context.configs.push_back(statement->name.text);
          if (statement->kind == ast::Stmt::Kind::Dim)
            c.context.dims.push_back(statement->name.text);
          if (statement->kind == ast::Stmt::Kind::In || statement->kind == ast::Stmt::Kind::Loss)
            (statement->kind == ast::Stmt::Kind::In ? c.context.inputs : c.context.losses).push_back(statement->name.text);
          if (statement->kind == ast::Stmt::Kind::Out)
            c.context.outs.push_back(statement->name.text);
        }
      }
      checkBinds(*item.recipe, c.context, c.diagnostics);
      checkRecipe(*item.recipe, c.context, c.diagnostics);
      ++recipes;
    }
    EXPECT_EQ(c.mistakes(), "") << name << ": " << renderText(c.sources, c.diagnostics, false);
  }
  EXPECT_EQ(recipes, 32u);
}
