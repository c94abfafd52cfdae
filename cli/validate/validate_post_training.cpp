// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/trainings/post_training_rows.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/validate/validation.hpp"
#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

int validate_post_training(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  ErrorsFile out(options.out, table, {"predicted_step_s"});
  sim::Workspace workspace;
  std::vector<calibrate::Pair> all;
  TextTable rows({"model", "chip", "policy", "GPUs", "measured", "predicted", "error", "rollout",
                  "log-probs", "training", "refit", "host"});
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    calibrate::MeasuredPostTraining measured =
        calibrate::post_training_row(table, row, options.calibration);
    sim::ServingEstimate e;
    if (measured.reason.empty()) {
      e = sim::estimate(sim::view(*measured.scenario), workspace);
      measured.reason = sim::reason(e);
    }
    if (!measured.reason.empty()) {
      out.add(row, {NAN}, "", measured.reason);
      ++skipped;
      ++skipped_by_reason[measured.reason];
      continue;
    }
    const sim::PostTrainingStep& step = *e.workflow->post_training;
    const double predicted = step.time.si();
    all.push_back({measured.step_s, predicted});
    out.add(row, {predicted}, std::string(hardware::name(e.provenance)), "");
    std::vector<std::string> cells = {measured.model,
                                      measured.chip,
                                      measured.policy,
                                      fmt::format("{}", e.gpus),
                                      display(measured.step_s, "s"),
                                      display(predicted, "s"),
                                      calibrate::percent(predicted / measured.step_s - 1.0)};
    for (const base::Seconds part :
         {step.rollout, step.logprobs, step.training, step.refit, step.host}) {
      cells.push_back(display(part.si(), "s"));
    }
    rows.add(cells);
  }
  out.close();
  if (options.json != nullptr) {
    (*options.json)["all"] = error_json(calibrate::summarise(all));
    (*options.json)["not_predicted"] = skipped_by_reason;
    (*options.json)["runs"] = json_rows(rows);
    return kDone;
  }
  if (!all.empty()) {
    say("{}\n", rows.text());
  }
  say("{}{}\n", skipped_table(skipped_by_reason),
      calibrate::summary_line("step", calibrate::summarise(all), skipped));
  return kDone;
}

}  // namespace roofcast::cli
