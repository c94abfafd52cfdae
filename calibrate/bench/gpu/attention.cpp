// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/gpu/attention.cuh"

#include <map>
#include <stdexcept>

namespace roofcast::bench {

void run_attention(SuiteRun& run, const std::vector<AttentionShape>& shapes,
                   const AttentionKernel& kernel) {
  Table table(run.directory, layout(kernel.kind), run.subject);
  std::map<std::vector<std::int64_t>, std::string> checked;  // by heads
  for (const AttentionShape& s : shapes) {
    const std::string format = "bfloat16";
    run.row(table,
            {kernel.name, format, format, s.batch, s.context, std::int64_t{0}, s.heads, s.kv_heads,
             s.head_dim, std::int64_t{0}},
            [&] {
              const std::vector<std::int64_t> heads = {s.heads, s.kv_heads, s.head_dim};
              if (!checked.contains(heads)) {
                checked[heads] = kernel.wrong(s);
              }
              if (!checked[heads].empty()) {
                throw std::runtime_error(checked[heads]);
              }
              const Spread seconds = kernel.time(s);
              Cells cells = cells_of(seconds, 1e3);
              cells.emplace_back(kernel.rate(s, seconds.median));
              return cells;
            });
  }
}

}  // namespace roofcast::bench
