#include "frontend/recipes/OptimizerRules.h"
#include "frontend/recipes/SchemaForms.h"

namespace tenon::schema {

static OptimizerRule adafactor(const Parameter &rate, const Parameter &decay) {
  return {"adafactor",
          Moments::Factored,
          {{"hf", Correction::None, Decay::Scaled, Trust::None, Bound::Added},
           {"torch", Correction::None, Decay::Before, Trust::None, Bound::Least}},
          {rate, open(positive("eps")), starting(positive("eps_scale"), 1e-3), starting(positive("clip_threshold"), 1),
           starting(positive("beta2_decay"), 0.8), fraction("momentum"), decay, starting(of("scale_parameter", Type::Bool), 1),
           starting(whole("min_dim_size_to_factor"), 1)},
          14};
}

/// Sources: sgd, adam, adamw, adamax of torch.optim (Kingma and Ba 2015; Loshchilov and Hutter 2019; `form = hf`: transformers up
/// to 4, `uncorrected`: the same with correct_bias = False, `fairseq`: RoBERTa); adam_tf of TensorFlow 1; bert_adam of
/// google-research/bert, clip_each of pytorch-pretrained-bert; gpt1_adam of openai/finetune-transformer-lm; adamaxw of MT-DNN;
/// adam_paddle of ERNIE; lamb (You et al. 2020) of LAMB_Optimizer_TF (v3), pytorch-lamb, ALBERT, NVIDIA's BERT (nvidia_tf), apex
/// (nvlamb), NEZHA (huawei); lion of google/automl (Chen et al. 2023, algorithm 2); radam of torch.optim (Liu et al. 2020).
/// adafactor (Shazeer and Stern 2018, algorithms 4 and 5): hf of transformers, as mesh-tensorflow's, torch of torch.optim; names
/// of settings are those of optax.
const std::vector<OptimizerRule> &optimizerRules() {
  static const std::vector<OptimizerRule> rules = [] {
    const Parameter rate = required(positive("lr")), eps = starting(positive("eps"), 1e-8), decay = real("decay");
    Parameter betas = starting(of("betas", Type::Betas), 0.9); // Kingma and Ba 2015, section 2
    betas.second = 0.999;
    Parameter betasOfLion = betas;
    betasOfLion.second = 0.99;
    const std::vector<Parameter> adam = {rate, betas, eps, decay};
    auto alone = [](Correction correction, Decay decays) { return std::vector<OptimizerForm>{{"", correction, decays}}; };
    return std::vector<OptimizerRule>{
        {"sgd",
         Moments::Momentum,
         alone(Correction::None, Decay::Gradient),
         {rate, fraction("momentum"), probability("dampening"), of("nesterov", Type::Bool), decay},
         7},
        {"adam", Moments::Squares, alone(Correction::Each, Decay::Gradient), adam, 16},
        {"adam_tf", Moments::Squares, alone(Correction::Rate, Decay::Gradient), adam, 15},
        {"adamw",
         Moments::Squares,
         {{"torch", Correction::Each, Decay::Before},
          {"hf", Correction::Rate, Decay::After},
          {"fairseq", Correction::Rate, Decay::Before},
          {"uncorrected", Correction::None, Decay::After}},
         {rate, betas, eps, starting(decay, 0.01)},
         16},
        {"bert_adam",
         Moments::Squares,
         alone(Correction::None, Decay::Direction),
         {rate, betas, starting(eps, 1e-6), decay, open(positive("clip_each"))},
         16},
        {"gpt1_adam",
         Moments::Squares,
         alone(Correction::Rate, Decay::Direction),
         {rate, betas, eps, real("l2")},
         16,
         "l2",
         true},
        {"adamax", Moments::Largest, alone(Correction::Each, Decay::Gradient), adam, 13},
        {"adamaxw", Moments::Largest, alone(Correction::Each, Decay::Before), adam, 13},
        {"adam_paddle", Moments::Squares, alone(Correction::Rate, Decay::Before), adam, 16},
        {"lamb",
         Moments::Squares,
         {{"v3", Correction::None, Decay::Direction, Trust::All},
          {"pytorch", Correction::None, Decay::Direction, Trust::NormUpTo10},
          {"albert", Correction::None, Decay::Direction, Trust::Decayed},
          {"nvidia_tf", Correction::Each, Decay::Direction, Trust::All},
          {"nvlamb", Correction::Each, Decay::Direction, Trust::Decayed},
          {"huawei", Correction::Each, Decay::Direction, Trust::RatioUpTo10}},
         {rate, betas, starting(eps, 1e-6), starting(decay, 0.01)},
         28},
        {"lion", Moments::Sign, alone(Correction::None, Decay::Before), {rate, betasOfLion, decay}, 16},
        {"radam",
         Moments::Squares,
         {{"torch", Correction::Rectified, Decay::Gradient}, {"decoupled", Correction::Rectified, Decay::Before}},
         adam,
         17},
        adafactor(rate, decay)};
  }();
  return rules;
}

/// Sources: noam of Vaswani et al. 2017 and tensor2tensor; linear, cosine, polynomial of transformers; bert_linear of
/// google-research/bert, with power = 0.5 of NVIDIA's LAMB; the others by the names of their projects; inverse_sqrt and
/// fairseq_polynomial of fairseq; txl_ of kimiyoung/transformer-xl; rsqrt of T5 (rsqrt_no_ramp_down of mesh-tensorflow); of
/// PyTorch steps: StepLR, milestones: MultiStepLR, plateau: ReduceLROnPlateau; cosine_restarts: CosineAnnealingWarmRestarts
/// (`period`, `growth`; Loshchilov and Hutter 2017) and transformers' cosine_with_restarts (`cycles`).
const std::vector<ScheduleRule> &scheduleRules() {
  static const std::vector<ScheduleRule> rules = [] {
    const Parameter warmup = of("warmup", Type::Share), total = open(whole("total")), epochs = open(positive("epochs")),
                    floor = probability("floor"), power = starting(positive("power"), 1), steps = required(whole("warmup")),
                    factor = required(positive("factor"));
    auto ending = [&](std::vector<Parameter> more = {}) {
      std::vector<Parameter> all = {warmup, total, epochs};
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    return std::vector<ScheduleRule>{
        {"constant", Curve::Constant, {warmup}},
        {"linear", Curve::Power, ending({floor}), true},
        {"cosine", Curve::Cosine, ending({floor}), true},
        {"polynomial", Curve::Power, ending({starting(real("end"), 1e-7), power}), true},
        {"noam", Curve::Noam, {required(whole("size")), steps, starting(positive("factor"), 1)}},
        {"bert_linear", Curve::PowerOfAll, ending({power}), true},
        {"xlnet_linear", Curve::Power, ending({floor}), true},
        {"nezha_linear", Curve::Power, ending(), true},
        {"bertadam_linear", Curve::Power, ending(), true, false},
        {"electra_linear", Curve::Product, ending(), true, false},
        {"gpt1_linear", Curve::Product, ending(), true, false},
        {"gpt1_cosine", Curve::CosineOfAll, ending(), true, false},
        {"txl_cosine", Curve::CosineLate, ending({floor}), true},
        {"txl_inverse_sqrt", Curve::NoamLate, {steps}},
        {"paddle_noam", Curve::NoamPeak, {steps}},
        {"inverse_sqrt", Curve::InverseRoot, {steps}},
        {"fairseq_polynomial", Curve::PowerFromFirst, ending({real("end"), power}), true},
        {"rsqrt", Curve::InverseRootOf, {required(whole("constant"))}},
        {"steps",
         Curve::Steps,
         {required(whole("every")), factor, starting(whole("after", 0), 0), total, epochs},
         false,
         true,
         {"every", "after"}},
        {"milestones", Curve::Milestones, {required(wholes("at")), factor, warmup, total, epochs}, false, true, {"at"}},
        {"cosine_restarts",
         Curve::Restarts,
         {open(whole("period")), open(whole("cycles")), starting(real("growth", 1), 1), warmup, total, epochs, floor},
         false,
         true,
         {"period"},
         {"period", "cycles"}},
        {"plateau", Curve::Plateau, {starting(fraction("factor"), 0.5), whole("patience", 0), whole("warmup", 0), floor}}};
  }();
  return rules;
}

int OptimizerRule::momentCount(double momentum) const {
  switch (moments) {
  case Moments::Momentum:
    return momentum > 0 ? 1 : 0;
  case Moments::Sign:
    return 1;
  case Moments::Squares:
  case Moments::Largest:
    return 2;
  case Moments::Factored:
    return momentum > 0 ? 2 : 1;
  }
  return 0;
}

const OptimizerRule *findOptimizer(std::string_view name) {
  for (const OptimizerRule &rule : optimizerRules())
    if (rule.name == name)
      return &rule;
  return nullptr;
}

const OptimizerForm *findForm(const OptimizerRule &rule, std::string_view name) {
  for (const OptimizerForm &form : rule.forms)
    if (name.empty() || form.name == name)
      return &form;
  return nullptr;
}

const ScheduleRule *findSchedule(std::string_view name) {
  for (const ScheduleRule &rule : scheduleRules())
    if (rule.name == name)
      return &rule;
  return nullptr;
}

} // namespace tenon::schema
