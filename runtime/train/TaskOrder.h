// Which of several tasks a step belongs to, and the how-manieth of its own steps that is: a function of (seed, step), so that a
// run goes on anywhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::train {

/// `mix` of a recipe. Share: each step draws a task, by shares. Shuffled: all steps of an epoch of all tasks in random order
/// (MT-DNN, Liu et al. 2019, algorithm 1). Turns: one after the other.
enum class Mix { Share, Shuffled, Turns };

class TaskOrder {
public:
  struct Turn {
    size_t task = 0;
    uint64_t step = 0; // among those of the task, from 0
  };
  /// `shares`, above 0, are read by Mix::Share, `epochs` (steps of an epoch of each task, at least 1) by Mix::Shuffled.
  TaskOrder(Mix mix, std::vector<double> shares, std::vector<uint64_t> epochs, uint64_t seed);
  /// Of the step with this number, from 0. A step before the last one that was asked for takes as long as all before it.
  Turn at(uint64_t step);

private:
  size_t drawn(uint64_t step) const;
  void shuffle(uint64_t epoch);
  Mix mix;
  std::vector<double> shares;
  std::vector<uint64_t> epochs;
  uint64_t seed, length = 0;    // of an epoch
  uint64_t next = 0;            // Share: the step that `counts` is in front of
  std::vector<uint64_t> counts; // Share: steps of each task so far
  uint64_t shuffled = ~uint64_t{0};
  std::vector<uint32_t> order;     // Shuffled: tasks of the steps of epoch `shuffled`
  std::vector<uint64_t> positions; // Shuffled: of each of these steps among those of its task
};

} // namespace tenon::train
