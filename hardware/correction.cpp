// SPDX-License-Identifier: Apache-2.0
#include "hardware/correction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/units/number_format.hpp"

namespace roofcast::hardware {
namespace {

constexpr double kPercent = 0.01;
constexpr std::size_t kMostNodes = 100'000;

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> all;
  while (true) {
    const auto begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) {
      return all;
    }
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(separators), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<std::int64_t> token(std::string_view word) {
  for (int i = 0; i < base::kNumberFormats; ++i) {
    if (word == base::name(static_cast<base::NumberFormat>(i))) {
      return kFormatToken + i;
    }
  }
  return number<std::int64_t>(word);
}

// The window of a grid of attention: 0 for none.
std::int64_t window_of(const CorrectionGrid& grid) {
  const auto texts = words(grid.of, " ");
  const bool attends = grid.op == "prefill" || grid.op == "decode";
  return attends && texts.size() > 1 ? number<std::int64_t>(texts[1]).value_or(0) : 0;
}

std::optional<CorrectionKey> key_of(const CorrectionGrid& grid) {
  CorrectionKey key = correction_key(grid.op, {});
  for (const std::string_view word : words(grid.of, " ")) {
    const auto value = token(word);
    if (!value) {
      return std::nullopt;
    }
    key = base::fnv(key, static_cast<std::uint64_t>(*value));
  }
  return key;
}

bool read_axes(std::string_view text, CorrectionGrid& grid) {
  std::size_t nodes = 1;
  for (const std::string_view axis : words(text, " ")) {
    const auto parts = words(axis, ":");
    if (parts.size() != 3) {
      return false;
    }
    const auto origin = number<double>(parts[0]);
    const auto step = number<double>(parts[1]);
    const auto count = number<std::size_t>(parts[2]);
    if (!origin || !step || !(*step > 0.0) || !count || *count == 0 || *count > kMostNodes) {
      return false;
    }
    nodes *= *count;
    if (nodes > kMostNodes) {
      return false;
    }
    grid.axes.push_back({*origin, *step, *count});
  }
  grid.values.reserve(nodes);
  return !grid.axes.empty() && grid.axes.size() <= kCorrectionAxes;
}

bool read_values(std::string_view text, CorrectionGrid& grid) {
  std::size_t nodes = 1;
  for (const CorrectionAxis& axis : grid.axes) {
    nodes *= axis.nodes;
  }
  for (const std::string_view word : words(text, " \n")) {
    const auto star = word.find('*');
    const auto value = number<int>(word.substr(0, star));
    const auto times = star == std::string_view::npos ? std::optional<std::size_t>(1)
                                                      : number<std::size_t>(word.substr(star + 1));
    if (!value || !times || *times > nodes - std::min(nodes, grid.values.size())) {
      return false;
    }
    grid.values.insert(grid.values.end(), *times, static_cast<float>(kPercent * *value));
  }
  return grid.values.size() == nodes;
}

void read(base::Fields& f, Corrections& corrections) {
  CorrectionGrid grid;
  std::string axes, values;
  f.text("operator", grid.op);
  f.text("of", grid.of);
  f.text("axes", axes);
  f.text("log_percent", values);
  const auto key = key_of(grid);
  if (f.has("of") && !key) {
    f.problem("of", "expects whole numbers and number formats");
  } else if (f.has("axes") && !read_axes(axes, grid)) {
    f.problem("axes", "expects 1 to 4 axes, each origin:step:nodes as in 0:1:17");
  } else if (f.has("log_percent") && !read_values(values, grid)) {
    f.problem("log_percent", "expects one whole number a node of the axes, 0*5 for five zeros");
  } else if (key && corrections.find(*key) != nullptr) {
    f.problem("of", "has a correction already");
  } else if (!grid.values.empty()) {
    corrections.add(std::move(grid));
  }
}

// Lists that were read without a problem, by the hash of their document.
class KnownCorrections {
 public:
  std::shared_ptr<const Corrections> find(std::size_t hash) {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(hash);
    return known == known_.end() ? nullptr : known->second;
  }
  void keep(std::size_t hash, const std::shared_ptr<const Corrections>& corrections) {
    constexpr std::size_t kMost = 64;
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) {
      known_.clear();
    }
    known_.emplace(hash, corrections);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::shared_ptr<const Corrections>> known_;
};

}  // namespace

// position  nodes  place of the shape along an axis
// inside    nodes  the same, moved to the grid
// below     –      index of the node below it; the last node is never the lower one of a cell
CorrectionGrid::Cell CorrectionGrid::cell(const LogShape& shape) const {
  Cell cell;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    const CorrectionAxis& axis = axes[j];
    const double last = static_cast<double>(axis.nodes - 1);
    const double position = (shape[j] - axis.origin) / axis.step;
    const double inside = std::clamp(position, 0.0, last);
    const auto below = static_cast<std::size_t>(std::min(inside, std::max(0.0, last - 1.0)));
    cell.beyond += std::abs(position - inside) * axis.step;
    cell.above += std::max(0.0, position - inside) * axis.step;
    cell.share[j] = inside - static_cast<double>(below);
    cell.first = cell.first * axis.nodes + below;
  }
  std::size_t stride = 1;
  for (std::size_t j = axes.size(); j-- > 0;) {
    cell.next[j] = axes[j].nodes > 1 ? stride : 0;
    stride *= axes[j].nodes;
  }
  return cell;
}

// Each axis with more than one node doubles the corners: a copy of each moves to the next node and takes a share of the
// weight.
CorrectionGrid::Corners CorrectionGrid::around(const LogShape& shape) const {
  const Cell at = cell(shape);
  Corners c;
  c.beyond = at.beyond;
  c.node[0] = at.first;
  c.weight[0] = 1.0;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    for (std::size_t i = 0; at.next[j] > 0 && i < c.count; ++i) {
      c.node[c.count + i] = c.node[i] + at.next[j];
      c.weight[c.count + i] = c.weight[i] * at.share[j];
      c.weight[i] *= 1.0 - at.share[j];
    }
    c.count *= at.next[j] > 0 ? 2 : 1;
  }
  return c;
}

namespace {

// The value between the two nodes along each axis, of which `next` are apart. A number of axes that is known makes it
// straight-line code.
template <std::size_t Axes>
double between(const float* value, const std::size_t* next, const double* share) {
  if constexpr (Axes == 0) {
    return static_cast<double>(*value);
  } else {
    const double low = between<Axes - 1>(value, next + 1, share + 1);
    return low + *share * (between<Axes - 1>(value + *next, next + 1, share + 1) - low);
  }
}
static_assert(kCorrectionAxes == 4);

}  // namespace

double CorrectionGrid::at(const LogShape& shape) const {
  const Cell at = cell(shape);
  if (!(at.above < kReach)) {
    return 0.0;
  }
  const float* value = values.data() + at.first;
  const std::size_t* next = at.next.data();
  const double* share = at.share.data();
  const double inside = axes.size() == 1   ? between<1>(value, next, share)
                        : axes.size() == 2 ? between<2>(value, next, share)
                        : axes.size() == 3 ? between<3>(value, next, share)
                                           : between<4>(value, next, share);
  return inside * std::max(0.0, 1.0 - (inside < 0.0 ? at.above : at.beyond) / kReach);
}

const CorrectionGrid* Corrections::find(CorrectionKey key) const {
  const auto at = std::lower_bound(index_.begin(), index_.end(), std::pair(key, std::size_t{0}));
  return at != index_.end() && at->first == key ? &grids_[at->second] : nullptr;
}

void Corrections::add(CorrectionGrid grid) {
  const CorrectionKey key = key_of(grid).value_or(0);
  if (const CorrectionGrid* same = find(key)) {
    grids_[static_cast<std::size_t>(same - grids_.data())] = std::move(grid);
    return;
  }
  index_.emplace_back(key, grids_.size());
  std::sort(index_.begin(), index_.end());
  if (const std::int64_t window = window_of(grid); window > 0) {
    const auto at = std::lower_bound(windows_.begin(), windows_.end(), window);
    if (at == windows_.end() || *at != window) {
      windows_.insert(at, window);
    }
  }
  grids_.push_back(std::move(grid));
}

std::string axes_text(const CorrectionGrid& grid) {
  std::string text;
  for (const CorrectionAxis& axis : grid.axes) {
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : " ", axis.origin, axis.step, axis.nodes);
  }
  return text;
}

std::string values_text(const CorrectionGrid& grid) {
  constexpr std::size_t kLine = 110;
  std::string text;
  std::size_t line = 0;
  for (std::size_t i = 0; i < grid.values.size();) {
    const auto percent = [&](std::size_t node) {
      return std::lround(static_cast<double>(grid.values[node]) / kPercent);
    };
    std::size_t end = i + 1;
    while (end < grid.values.size() && percent(end) == percent(i)) {
      ++end;
    }
    const bool run = end - i > 2;
    const std::string word =
        run ? fmt::format("{}*{}", percent(i), end - i) : fmt::format("{}", percent(i));
    i = run ? end : i + 1;
    if (text.size() + word.size() - line > kLine) {
      text += '\n';
      line = text.size();
    } else if (!text.empty()) {
      text += ' ';
    }
    text += word;
  }
  return text;
}

std::shared_ptr<const Corrections> read_corrections(base::Fields& f) {
  static KnownCorrections known;
  constexpr std::string_view kKey = "corrections";
  const base::Node* list = f.has(kKey) ? f.node().find(kKey) : nullptr;
  const std::size_t hash = list != nullptr ? base::hash(*list) : 0;
  if (list != nullptr) {
    if (auto same = known.find(hash)) {
      f.take(kKey);
      return same;
    }
  }
  Corrections corrections;
  f.each(
      kKey, [&](base::Fields& g) { read(g, corrections); }, base::optional);
  if (corrections.grids().empty()) {
    return nullptr;
  }
  auto all = std::make_shared<const Corrections>(std::move(corrections));
  const bool faultless =
      list != nullptr && list->items.size() == all->grids().size() &&
      std::all_of(list->items.begin(), list->items.end(),
                  [](const base::Node& item) { return item.entries.size() == 4; });
  if (faultless) {
    known.keep(hash, all);
  }
  return all;
}

}  // namespace roofcast::hardware
