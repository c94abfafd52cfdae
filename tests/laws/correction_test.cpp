// SPDX-License-Identifier: Apache-2.0
#include "models/operators/correction.hpp"

#include "calibrate/platforms/chip_platforms.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_correction {
namespace {

using workloads::Operator;

// Every chip and stack with a calibration of its own.
std::vector<const sim::Platform*> measured_platforms() {
  static calibrate::ChipPlatforms platforms;
  std::vector<const sim::Platform*> all;
  for (const std::string& id : base::catalog_ids(hardware::calibration_catalog())) {
    const auto dot = id.find('.');
    if (dot != std::string::npos) {
      all.push_back(platforms.find(id.substr(0, dot), id.substr(dot + 1)));
      REQUIRE(all.back() != nullptr);
      REQUIRE(all.back()->system.calibration.provenance ==
              hardware::Provenance::measured_corrected);
    }
  }
  return all;
}

// Operators like this one at every node of its grid, `share` of a step beyond it, and one step further along
// each of the first `axes`.
void grow(Violations& law, const Operator& like, double share, std::size_t axes) {
  for (const sim::Platform* p : measured_platforms()) {
    const auto* grid =
        p->machine.calibration.corrections->find(models::correction_site(like).value().key);
    if (grid == nullptr) {
      continue;
    }
    models::Machine machine = p->machine;
    machine.calibration.gemm_absent_row_reads = 0.0;  // fewer may be absent with more rows
    const auto time = [&](const hardware::LogShape& shape) {
      return models::cost_of(models::operator_at(like, shape), machine).time;
    };
    for (std::size_t node = 0; node < grid->values.size(); ++node) {
      hardware::LogShape shape{};
      std::array<bool, hardware::kCorrectionAxes> is_last{};
      std::size_t rest = node;
      for (std::size_t j = grid->axes.size(); j-- > 0;) {
        const auto& axis = grid->axes[j];
        const double place = static_cast<double>(rest % axis.nodes) + (j < axes ? share : 0.0);
        shape[j] = axis.origin + axis.step * place;
        is_last[j] = place + 1.0 > static_cast<double>(axis.nodes - 1);
        rest /= axis.nodes;
      }
      for (std::size_t j = 0; j < axes; ++j) {
        if (is_last[j]) {
          continue;
        }
        hardware::LogShape grown = shape;
        grown[j] += grid->axes[j].step;
        law.add(time(shape) / time(grown) - 1.0, [&] {
          return fmt::format("{}: {}, less than a step along axis {} before",
                             p->system.calibration.id, describe(models::operator_at(like, grown)),
                             j);
        });
      }
    }
  }
}

workloads::DecodeAttention decode() {
  return {{8, 1, 128, 128, 0, 256, base::NumberFormat::bf16}, 1, 1, 1024};
}

}  // namespace

// Nodes are whole percents. Corrections of another chip, transferred, may break this.
TEST_CASE("From node to node of its own corrections a chip takes no less time for more work",
          "[laws]") {
  Violations law(0.021);
  for (const auto format :
       {base::NumberFormat::bf16, base::NumberFormat::fp8, base::NumberFormat::fp8_block}) {
    grow(law, workloads::Gemm{1, 32, 32, 1, format, format}, 0.0, 3);
  }
  grow(law, decode(), 0.0, 2);
  ROOFCAST_CHECK_LAW(law);
}

// Between nodes a correction falls evenly where the physical time may stand still for a while: a tile, a wave.
// The largest fall that was found is 28 %, GEMMs of A100.
TEST_CASE("A step of more work takes hardly less time between the nodes", "[laws]") {
  Violations law(0.29);
  for (const double share : {0.3, 0.7}) {
    grow(law, workloads::Gemm{1, 32, 32}, share, 3);
    grow(law, decode(), share, 2);
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Four of five nodes of any correction are within a factor of twelve", "[laws]") {
  for (const sim::Platform* p : measured_platforms()) {
    for (const hardware::CorrectionGrid& grid : p->machine.calibration.corrections->grids()) {
      INFO(p->system.calibration.id << " " << grid.op << " " << grid.of);
      std::size_t large = 0;
      for (const float value : grid.values) {
        large += std::abs(value) > 2.5F ? 1 : 0;
      }
      CHECK(large * 5 <= grid.values.size());
    }
  }
}

namespace {

std::int64_t keys_of(const workloads::PrefillAttention& op) { return op.new_tokens; }
std::int64_t keys_of(const workloads::DecodeAttention& op) { return op.context; }

// Windows one by one around those of real models and around all keys, and others between.
std::vector<std::int64_t> windows_up_to(std::int64_t keys) {
  std::vector<std::int64_t> all;
  for (std::int64_t w = 16; w <= keys + 1; ++w) {
    const auto near = [&](std::int64_t real) { return std::abs(w - real) <= 3; };
    if (w < 300 || near(1024) || near(4096) || near(8192) || near(keys) || w % 997 < 2) {
      all.push_back(w);
    }
  }
  return all;
}

// Visits prefill and decode of several shapes on every measured platform.
template <class Visit>
void visit_attention(Visit visit) {
  for (const sim::Platform* p : measured_platforms()) {
    for (const std::int64_t dim : {64, 128, 192, 256}) {
      for (const auto cache : {base::NumberFormat::bf16, base::NumberFormat::fp8}) {
        const workloads::AttentionHeads heads{32, 4, dim, dim, 0, 8 * dim, cache};
        for (const std::int64_t keys : {130, 170, 300, 1100, 10000, 65536}) {
          visit(*p, workloads::PrefillAttention{heads, 2, keys, 0});
          visit(*p, workloads::DecodeAttention{heads, 64, 1, keys});
        }
      }
    }
  }
}

}  // namespace

// The largest step is 4 % beside the key itself, two keys after a measured window begins to hide keys.
TEST_CASE("One key more in a window changes the time of attention by a few percent", "[laws]") {
  Violations law(0.05);
  visit_attention([&](const sim::Platform& p, auto op) {
    const auto time = [&](std::int64_t window) {
      op.heads.window = window;
      return models::cost_of(Operator(op), p.machine).time;
    };
    for (const std::int64_t window : windows_up_to(keys_of(op))) {
      const double step = std::abs(time(window + 1) / time(window) - 1.0);
      law.add(step - 1.0 / static_cast<double>(window), [&] {
        return fmt::format("{}: {}, one key after {}", p.system.calibration.id,
                           describe(Operator(op)), window);
      });
    }
  });
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A window that hides no key changes nothing in prefill", "[laws]") {
  visit_attention([&](const sim::Platform& p, auto op) {
    if constexpr (std::is_same_v<decltype(op), workloads::PrefillAttention>) {
      const base::Seconds without = models::cost_of(Operator(op), p.machine).time;
      for (const std::int64_t more : {0, 1, 100000}) {
        op.heads.window = keys_of(op) + more;
        CHECK(models::cost_of(Operator(op), p.machine).time == without);
      }
    }
  });
}

TEST_CASE("A window that was measured keeps its own correction", "[laws]") {
  std::size_t measured = 0;
  visit_attention([&](const sim::Platform& p, auto op) {
    const hardware::Calibration& c = p.machine.calibration;
    for (const std::int64_t window : {128, 1024, 8192}) {
      op.heads.window = window;
      const auto site = models::correction_site(Operator(op)).value();
      const auto* own = c.corrections->find(site.key);
      if (own != nullptr && 4 * keys_of(op) >= 5 * window) {
        ++measured;
        CHECK(models::correction_log(Operator(op), c) ==
              Approx(c.corrections_share * models::log_factor(*own, site)).margin(1e-12));
      }
    }
  });
  CHECK(measured > 100);
}

}  // namespace roofcast::laws::laws_correction
