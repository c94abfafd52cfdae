// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/front_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/pages/brief_parts.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

constexpr double kWidth = 840.0;
constexpr double kHeight = 380.0;
constexpr double kLeft = 76.0;
constexpr double kRight = 40.0;
constexpr double kTop = 40.0;
constexpr double kBottom = 62.0;
constexpr double kDecades = 20.0;  // a greater ratio has a logarithmic axis
constexpr std::size_t kFewestTicks = 3;
constexpr std::size_t kDots = 2'000;  // of what is not on the front

// A number's place on an axis, and the ticks of the axis.
struct Scale {
  const sim::Metric& metric;
  double low;
  double high;
  double from;  // in the drawing
  double to;
  bool log = false;

  Scale(const sim::Metric& of, double least, double most, double first, double last)
      : metric(of), low(least), high(most), from(first), to(last) {
    log = low > 0.0 && high / low > kDecades;
    if (log) {
      low /= 1.2;
      high *= 1.2;
    } else {
      const double pad = 0.04 * (high - low) + 1e-12 * std::abs(high);
      low = low >= 0.0 && low < 0.5 * high ? 0.0 : low - pad;
      high += pad;
    }
  }
  double at(double value) const {
    const double share =
        log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
  std::vector<double> ticks() const {
    std::vector<double> all;
    if (log) {
      for (const bool fine : {false, true}) {
        all.clear();
        for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high;
             power *= 10.0) {
          for (const double digit : {1.0, 2.0, 5.0}) {
            if ((digit == 1.0 || fine) && power * digit >= low && power * digit <= high) {
              all.push_back(power * digit);
            }
          }
        }
        if (all.size() >= kFewestTicks) {
          break;
        }
      }
      return all;
    }
    constexpr double kRoom = 5.0;
    const double least = (high - low) / kRoom;
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    const double step = power * (least <= power         ? 1.0
                                 : least <= 2.0 * power ? 2.0
                                 : least <= 5.0 * power ? 5.0
                                                        : 10.0);
    for (double i = std::ceil(low / step); i * step <= high; i += 1.0) {
      all.push_back(i * step);
    }
    return all;
  }
  // "5" of "5 ms"; the unit is that of the last tick, and stands beside the axis where all have it.
  std::string unit() const {
    const std::string last = display(ticks().back(), metric.unit);
    const std::string unit = last.substr(std::min(last.find(' '), last.size()));
    for (const double tick : ticks()) {
      if (tick != 0.0 && !display(tick, metric.unit).ends_with(unit)) {
        return "";
      }
    }
    return unit;
  }
  std::string text(double tick) const {
    const std::string all = display(tick, metric.unit);
    return tick == 0.0 ? "0" : all.substr(0, all.size() - unit().size());
  }
  std::string name() const {
    const std::string of = unit();
    return of.empty() ? std::string(metric.label)
                      : fmt::format("{} ({})", metric.label, of.substr(1));
  }
};

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     for_html(text));
}

std::string axes(const Scale& x, const Scale& y) {
  std::string svg;
  for (const double tick : x.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>\n", x.at(tick), kTop,
                       kHeight - kBottom);
    svg += label(x.at(tick), kHeight - kBottom + 22.0, "middle", x.text(tick));
  }
  for (const double tick : y.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/>\n", kLeft, y.at(tick),
                       kWidth - kRight);
    svg += label(kLeft - 8.0, y.at(tick) + 6.0, "end", y.text(tick));
  }
  svg += label(kWidth - kRight, kHeight - 8.0, "end", x.name());
  return svg + label(4.0, 22.0, "start", y.name());
}

// A row that is recommended.
struct Mark {
  std::size_t number = 0;  // from 1
  std::string name;
  double x = 0.0;
  double y = 0.0;
  double radius = 0.0;
};

struct Box {
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};
Box box_of(const Mark& mark) {
  return {mark.x - mark.radius, mark.y - mark.radius, mark.x + mark.radius, mark.y + mark.radius};
}

// Circles first, then their numbers, each in the first of four places that no circle and no other number takes.
std::string marks_svg(const std::vector<Mark>& marks) {
  constexpr double kDigit = 11.0;  // of a label, on a phone too
  constexpr double kHigh = 18.0;
  constexpr double kGap = 4.0;
  std::string svg;
  std::vector<Box> taken;
  for (const Mark& mark : marks) {
    const std::string what = for_html(fmt::format("row {}, {}", mark.number, mark.name));
    svg += fmt::format(
        "<a href=\"#row-{0}\" aria-label=\"{1}\"><title>{1}</title><circle cx=\"{2:.1f}\" "
        "cy=\"{3:.1f}\" r=\"{4}\"/></a>\n",
        mark.number, what, mark.x, mark.y, mark.radius);
    taken.push_back(box_of(mark));
  }
  const Box page{0.0, 0.0, kWidth, kHeight - kBottom};
  for (const Mark& mark : marks) {
    const std::string text = fmt::format("{}", mark.number);
    const double width = kDigit * static_cast<double>(text.size());
    const double beside = mark.radius + kGap;
    for (const auto& [left, up] :
         {std::pair{false, true}, {true, true}, {false, false}, {true, false}}) {
      const double x = left ? mark.x - beside : mark.x + beside;
      const double y = up ? mark.y - 2.0 : mark.y + kHigh - 2.0;
      const Box box{left ? x - width : x, y - kHigh + kGap, left ? x : x + width, y};
      const bool free = box.left > page.left && box.right < page.right && box.top > page.top &&
                        box.bottom < page.bottom &&
                        std::none_of(taken.begin(), taken.end(),
                                     [&](const Box& other) { return other.meets(box); });
      if (free) {
        svg += label(x, y, left ? "end" : "start", text);
        taken.push_back(box);
        break;
      }
    }
  }
  return svg;
}

bool is_better(const sim::Metric& metric, double a, double b) {
  return metric.better == sim::Better::lower ? a < b : a > b;
}

}  // namespace

const sim::Metric* traded_against(const sim::Metric& metric, const sim::Sweep& sweep) {
  std::vector<std::string> names = sweep.pareto.maximize;
  names.insert(names.end(), sweep.pareto.minimize.begin(), sweep.pareto.minimize.end());
  for (const sim::Condition& condition : sweep.where) {
    names.push_back(condition.metric);
  }
  for (const std::string& name : names) {
    const sim::Metric* other = sim::find_metric(name);
    if (other != nullptr && other != &metric && other->better != sim::Better::none) {
      return other;
    }
  }
  return nullptr;
}

std::string front_svg(const sim::ResultTable& result, const sim::Metric& x, const sim::Metric& y,
                      const std::vector<Recommended>& recommended) {
  const sim::ResultColumn& xs = result.column(x.name);
  const sim::ResultColumn& ys = result.column(y.name);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < result.rows(); ++row) {
    if (result.meets(row) && std::isfinite(xs.number(row)) && std::isfinite(ys.number(row))) {
      rows.push_back(row);
    }
  }
  if (rows.size() < 2) {
    return "";
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return xs.number(a) != xs.number(b) ? is_better(x, xs.number(a), xs.number(b))
                                        : is_better(y, ys.number(a), ys.number(b));
  });
  std::vector<std::size_t> front;
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const std::size_t row : rows) {
    lowest = std::min(lowest, ys.number(row));
    highest = std::max(highest, ys.number(row));
    if (front.empty() || is_better(y, ys.number(row), ys.number(front.back()))) {
      front.push_back(row);
    }
  }
  const auto [left, right] = std::minmax({xs.number(rows.front()), xs.number(rows.back())});
  const Scale across(x, left, right, kLeft, kWidth - kRight);
  const Scale up(y, lowest, highest, kHeight - kBottom, kTop);
  const auto place = [&](std::size_t row) {
    return fmt::format("{:.1f} {:.1f}", across.at(xs.number(row)), up.at(ys.number(row)));
  };
  std::string svg = fmt::format(
      "<svg class=\"front\" viewBox=\"0 0 {} {}\" role=\"group\" aria-label=\"{} against {}: {} "
      "rows, "
      "{} on the front\">\n{}",
      kWidth, kHeight, for_html(std::string(y.label)), for_html(std::string(x.label)), rows.size(),
      front.size(), axes(across, up));
  std::string dots;
  for (std::size_t i = 0; i < rows.size(); i += rows.size() / kDots + 1) {
    dots += fmt::format("M{}h0", place(rows[i]));
  }
  svg += fmt::format("<path class=\"dots\" d=\"{}\"/>\n<path class=\"line\" d=\"M", dots);
  std::vector<std::string> line;
  for (const std::size_t row : front) {
    line.push_back(place(row));
  }
  svg += fmt::format("{}\"/>\n", fmt::join(line, "L"));
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < recommended.size(); ++i) {
    const auto& [number, name] = recommended[i];
    if (number >= 1 && number <= result.rows() && std::isfinite(xs.number(number - 1)) &&
        std::isfinite(ys.number(number - 1))) {
      marks.push_back({number, name, across.at(xs.number(number - 1)), up.at(ys.number(number - 1)),
                       i == 0 ? 9.0 : 6.0});
    }
  }
  return svg + marks_svg(marks) + "</svg>\n";
}

}  // namespace roofcast::cli
