// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_training_words {

TEST_CASE("Nobody prompts a training: its cost and energy are not called those with prompts",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string training = example("llama-8b_training");
  roofcast.write("sweep.yaml", "base: " + training +
                                   "\naxes: {training.global_batch: [256, 512]}\n"
                                   "pareto: {minimize: [cost_usd_per_mtok, energy_j_per_tok]}\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"sensitivity", training, "--metric", "cost_usd_per_mtok"},
        std::vector<std::string>{"solve", training, "--vary", "training.global_batch=256..512",
                                 "--until", "cost_usd_per_mtok < 0.3", "--minimize",
                                 "energy_j_per_tok"},
        std::vector<std::string>{"sweep", "sweep.yaml", "--csv", "rows.csv"}}) {
    const std::string text = roofcast.output(command);
    INFO(command.front());
    CHECK(contains(text, "Cost"));
    CHECK(!contains(text, "prompts"));
    CHECK(!contains(text, "Mtok output"));
  }
}

TEST_CASE("A model that is served has its cost with prompts", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  CHECK(contains(
      roofcast.output({"sensitivity", example("llama-70b"), "--metric", "cost_usd_per_mtok"}),
      "Cost with prompts"));
}

}  // namespace roofcast::cli::cli_training_words
