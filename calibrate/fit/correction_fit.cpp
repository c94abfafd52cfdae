// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/correction_fit.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "calibrate/fit/monotone.hpp"
#include "calibrate/operators/predict.hpp"
#include "models/operators/correction.hpp"
#include "models/operators/operator_cost.hpp"

namespace roofcast::calibrate {
namespace {

using Eigen::VectorXd;
using hardware::CorrectionGrid;
using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Triplets = std::vector<Eigen::Triplet<double>>;

constexpr double kSmooth = 0.05;
constexpr double kSmall = 0.005;
constexpr double kQuadratic = 0.02;  // residuals below it count as squares
constexpr double kScale = 0.05;
constexpr double kMostLog = 2.5;  // of a node
constexpr int kRounds = 8;

// How a grid of an operator is laid out. Time rises along the first axes; kernels exist for some numbers
// of queries a KV head and not for others.
struct Layout {
  std::string_view op;
  std::array<double, hardware::kCorrectionAxes> octaves;
  std::size_t rising;
};
constexpr Layout kLayouts[] = {
    {"gemm", {1, 2, 2, 1}, 3},
    {"experts", {1, 1, 2, 1}, 3},
    {"prefill", {2, 2, 2, 1}, 3},
    {"decode", {2, 2, 1, 1}, 2},
    {"scan", {2, 2, 2, 1}, 3},
    {"update", {2, 2, 1, 1}, 2},
    {"convolution", {2, 2, 1, 1}, 2},
    {"collective", {1, 1, 1, 1}, 1},
    {"int8_collective", {1, 1, 1, 1}, 1},
    {"staged_exchange", {1, 1, 1, 1}, 1},
};
const Layout& layout_of(const CorrectionGrid& grid) {
  return *std::find_if(std::begin(kLayouts), std::end(kLayouts),
                       [&](const Layout& l) { return l.op == grid.op; });
}

// One operator of a row that a grid corrects.
struct Part {
  models::CorrectionSite site;
  double physical_s;
};
struct Sample {
  std::vector<Part> parts;
  double other_s;  // predicted, of the rest of the row
  double measured_s;
};

struct Samples {
  CorrectionGrid grid;
  workloads::Operator like;
  std::vector<Sample> rows;
};

void lay_out(Samples& samples) {
  CorrectionGrid& grid = samples.grid;
  const Layout& layout = layout_of(grid);
  std::size_t nodes = 1;
  for (std::size_t j = 0; j < grid.axes.size(); ++j) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const Sample& row : samples.rows) {
      for (const Part& part : row.parts) {
        least = std::min(least, part.site.shape[j]);
        most = std::max(most, part.site.shape[j]);
      }
    }
    const double octaves = layout.octaves[j];
    const double origin = std::floor(least);
    grid.axes[j] = {origin, octaves,
                    static_cast<std::size_t>(std::ceil((most - origin) / octaves - 1e-9)) + 1};
    nodes *= grid.axes[j].nodes;
  }
  grid.values.assign(nodes, 0.0F);
}

// Penalties on steps between neighbours and on size.
Eigen::SparseMatrix<double> penalty(const CorrectionGrid& grid) {
  const auto nodes = static_cast<Eigen::Index>(grid.values.size());
  Triplets t;
  Eigen::Index stride = 1;
  for (std::size_t j = grid.axes.size(); j-- > 0;) {
    const auto count = static_cast<Eigen::Index>(grid.axes[j].nodes);
    for (Eigen::Index i = 0; i < nodes; ++i) {
      if (i / stride % count + 1 < count) {
        t.emplace_back(i, i, kSmooth);
        t.emplace_back(i + stride, i + stride, kSmooth);
        t.emplace_back(i, i + stride, -kSmooth);
        t.emplace_back(i + stride, i, -kSmooth);
      }
    }
    stride *= count;
  }
  for (Eigen::Index i = 0; i < nodes; ++i) {
    t.emplace_back(i, i, kSmall);
  }
  Eigen::SparseMatrix<double> matrix(nodes, nodes);
  matrix.setFromTriplets(t.begin(), t.end());
  return matrix;
}

// The rows' residuals at g, and how they fall with it.
struct Linear {
  Matrix slope;
  VectorXd residual;
};
Linear linearise(const Samples& samples, const VectorXd& g) {
  const auto rows = static_cast<Eigen::Index>(samples.rows.size());
  Triplets t;
  Linear linear{Matrix(rows, g.size()), VectorXd(rows)};
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Sample& row = samples.rows[static_cast<std::size_t>(i)];
    std::vector<CorrectionGrid::Corners> corners;
    std::vector<double> times;
    double all = row.other_s;
    for (const Part& part : row.parts) {
      corners.push_back(samples.grid.around(part.site.shape));
      double log_factor = 0.0;
      for (std::size_t c = 0; c < corners.back().count; ++c) {
        log_factor +=
            corners.back().weight[c] * g[static_cast<Eigen::Index>(corners.back().node[c])];
      }
      times.push_back(part.physical_s * std::exp(log_factor));
      all += times.back();
    }
    linear.residual[i] = std::log(row.measured_s / all);
    for (std::size_t p = 0; p < times.size(); ++p) {
      for (std::size_t c = 0; c < corners[p].count; ++c) {
        t.emplace_back(i, static_cast<Eigen::Index>(corners[p].node[c]),
                       corners[p].weight[c] * times[p] / all);
      }
    }
  }
  linear.slope.setFromTriplets(t.begin(), t.end());
  return linear;
}

// ln of the physical time at every node, without absent rows (models/operators/fixed_tiles.hpp): with more rows a GEMM may have
// fewer of them.
std::vector<double> log_physical(const Samples& samples, models::Machine machine) {
  machine.calibration.gemm_absent_row_reads = 0.0;
  const CorrectionGrid& grid = samples.grid;
  std::vector<double> logs;
  for (std::size_t node = 0; node < grid.values.size(); ++node) {
    hardware::LogShape shape{};
    std::size_t rest = node;
    for (std::size_t j = grid.axes.size(); j-- > 0;) {
      const hardware::CorrectionAxis& axis = grid.axes[j];
      shape[j] = axis.origin + axis.step * static_cast<double>(rest % axis.nodes);
      rest /= axis.nodes;
    }
    const workloads::Operator op = models::operator_at(samples.like, shape);
    logs.push_back(std::log(models::physical_cost_of(op, machine).time / base::second));
  }
  return logs;
}

// How much the rows say of each node.
std::vector<double> known(const Samples& samples) {
  std::vector<double> weights(samples.grid.values.size(), kSmall);
  for (const Sample& row : samples.rows) {
    for (const Part& part : row.parts) {
      const CorrectionGrid::Corners corners = samples.grid.around(part.site.shape);
      for (std::size_t c = 0; c < corners.count; ++c) {
        weights[corners.node[c]] += corners.weight[c] * corners.weight[c];
      }
    }
  }
  return weights;
}

void solve(Samples& samples, const models::Machine& machine, const CorrectionGrid* newer) {
  if (newer == nullptr) {
    lay_out(samples);
  } else {
    samples.grid = *newer;
  }
  const Eigen::SparseMatrix<double> held = penalty(samples.grid);
  VectorXd start(held.rows());
  std::copy(samples.grid.values.begin(), samples.grid.values.end(), start.begin());
  VectorXd g = start;
  for (int round = 0; round < kRounds; ++round) {
    const Linear at = linearise(samples, g);
    const VectorXd weights =
        at.residual.unaryExpr([](double r) { return kScale / std::max(std::abs(r), kQuadratic); });
    const Eigen::SparseMatrix<double> normal =
        Eigen::SparseMatrix<double>(at.slope.transpose() * weights.asDiagonal() * at.slope) + held;
    const VectorXd right =
        at.slope.transpose() * weights.cwiseProduct(at.residual + at.slope * g) + held * start;
    Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver;
    solver.setTolerance(1e-6);
    solver.compute(normal);
    g = solver.solveWithGuess(right, g).cwiseMax(-kMostLog).cwiseMin(kMostLog);
  }
  for (Eigen::Index i = 0; i < g.size(); ++i) {
    samples.grid.values[static_cast<std::size_t>(i)] = static_cast<float>(g[i]);
  }
  make_monotone(samples.grid, layout_of(samples.grid).rising, log_physical(samples, machine),
                known(samples));
  for (float& value : samples.grid.values) {
    value = 0.01F * std::round(100.0F * value);
  }
}

bool is_attention(const workloads::Operator& op) {
  return std::holds_alternative<workloads::PrefillAttention>(op) ||
         std::holds_alternative<workloads::DecodeAttention>(op);
}

// A row split into what one grid corrects and the rest: of a row of attention, the projections around it.
struct SplitTimes {
  const workloads::Operator* corrected = nullptr;  // nullptr: nothing
  hardware::CorrectionKey key = 0;
  Sample sample;
};
SplitTimes split(const MeasuredOperator& row, const models::Machine& machine) {
  SplitTimes s;
  s.sample.other_s = row.overhead_s;
  s.sample.measured_s = row.measured_s;
  const bool attends = std::any_of(row.operators.begin(), row.operators.end(), is_attention);
  for (const workloads::Operator& op : row.operators) {
    const double seconds = models::physical_cost_of(op, machine).time / base::second;
    const bool beside = attends && !is_attention(op);
    const auto site = beside ? std::nullopt : models::correction_site(op);
    if (site && (s.corrected == nullptr || site->key == s.key)) {
      s.corrected = &op;
      s.key = site->key;
      s.sample.parts.push_back({*site, seconds});
    } else {
      s.sample.other_s += seconds;
    }
  }
  double seconds = s.sample.other_s;
  for (const Part& part : s.sample.parts) {
    seconds += part.physical_s;
  }
  if (seconds < host_s(row, machine)) {  // the row timed the host
    s.corrected = nullptr;
  }
  return s;
}

}  // namespace

std::vector<CorrectionGrid> fit_corrections(const std::vector<const MeasuredOperator*>& rows,
                                            const models::Machine& machine,
                                            const hardware::Corrections& newer) {
  std::map<hardware::CorrectionKey, Samples> all;
  for (const MeasuredOperator* row : rows) {
    SplitTimes s = split(*row, machine);
    if (s.corrected != nullptr) {
      Samples& samples = all[s.key];
      if (samples.rows.empty()) {
        samples.grid = models::correction_grid(*s.corrected);
        samples.like = *s.corrected;
      }
      samples.rows.push_back(std::move(s.sample));
    }
  }
  std::vector<CorrectionGrid> grids;
  for (auto& [key, samples] : all) {
    solve(samples, machine, newer.find(key));
    grids.push_back(std::move(samples.grid));
  }
  std::sort(grids.begin(), grids.end(), [](const CorrectionGrid& a, const CorrectionGrid& b) {
    return std::tie(a.op, a.of) < std::tie(b.op, b.of);
  });
  return grids;
}

std::vector<CorrectionGrid> earned(std::vector<CorrectionGrid> grids,
                                   const std::vector<const MeasuredOperator*>& rows,
                                   const models::Machine& machine,
                                   const hardware::Corrections& newer, double least) {
  hardware::Corrections corrections;
  for (const CorrectionGrid& grid : grids) {
    corrections.add(grid);
  }
  struct Gain {
    double sum = 0.0;
    std::size_t rows = 0;
  };
  std::map<const CorrectionGrid*, Gain> gains;
  for (const MeasuredOperator* row : rows) {
    const SplitTimes s = split(*row, machine);
    const CorrectionGrid* grid = s.corrected == nullptr ? nullptr : corrections.find(s.key);
    if (grid == nullptr) {
      continue;
    }
    const auto error = [&](const CorrectionGrid* by) {
      double seconds = s.sample.other_s;
      for (const Part& part : s.sample.parts) {
        seconds +=
            part.physical_s * (by == nullptr ? 1.0 : std::exp(models::log_factor(*by, part.site)));
      }
      return std::abs(std::log(row->measured_s / seconds));
    };
    Gain& gain = gains[grid];
    gain.sum += error(newer.find(s.key)) - error(grid);
    ++gain.rows;
  }
  std::vector<CorrectionGrid> kept;
  for (const CorrectionGrid& grid : corrections.grids()) {
    if (const auto found = gains.find(&grid);
        found != gains.end() &&
        found->second.sum > least * static_cast<double>(found->second.rows)) {
      kept.push_back(grid);
    }
  }
  return kept;
}

}  // namespace roofcast::calibrate
