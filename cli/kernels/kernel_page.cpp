// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/kernel_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/units/unit_text.hpp"
#include "cli/kernels/kernel_parts.hpp"
#include "cli/pages/brief_parts.hpp"

namespace roofcast::cli {
namespace {

constexpr double kPageWidth = 840.0;
constexpr double kPageHeight = 380.0;
constexpr double kPageLeft = 90.0;
constexpr double kPageRight = 30.0;
constexpr double kPageTop = 30.0;
constexpr double kPageBottom = 60.0;
constexpr double kMostWaves = 24.0;  // that are drawn one by one
constexpr std::size_t kNamed = 6;    // causes with a colour of their own; report.css has one more
constexpr double kLabelWidth = 40.0;
constexpr double kLabelHeight = 14.0;
constexpr double kSmallShare = 0.005;
constexpr std::string_view kOthers = "others";

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     for_html(text));
}

std::string opened(const std::string& label) {
  return fmt::format("<svg class=\"front\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                     kPageWidth, kPageHeight, for_html(label));
}

std::string box(double x, double y, double width, double height, int colour,
                const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" style=\"fill: "
      "var(--c{})\"><title>{}</title></rect>\n",
      x, y, width, height, colour, for_html(title));
}

// A logarithmic axis with a line at each decade.
struct Decades {
  double low;
  double high;
  double from;
  double to;
  Decades(double least, double most, double first, double last)
      : low(std::pow(10.0, std::floor(std::log10(least)))),
        high(std::pow(10.0, std::ceil(std::log10(most)))),
        from(first),
        to(last) {}
  double at(double value) const {
    return from + std::log(value / low) / std::log(high / low) * (to - from);
  }
  std::vector<double> ticks() const {
    std::vector<double> all;
    for (double tick = low; tick <= 1.001 * high; tick *= 10.0) {
      all.push_back(tick);
    }
    return all;
  }
};

bool has_place(const KernelPoint& point) {
  return point.kernel.reason.empty() && point.kernel.cost.flop.si() > 0.0 &&
         point.kernel.cost.dram_bytes.si() > 0.0;
}

double intensity(const ExplainedKernel& k) { return k.cost.flop.si() / k.cost.dram_bytes.si(); }
std::string values_text(const KernelPoint& point) {
  return fmt::format("{}", fmt::join(point.values, ", "));
}
double flop_rate(const ExplainedKernel& k) { return k.cost.flop.si() / k.time.si(); }

// The rates of the datasheet, of the first point that has a place: products and bytes of memory.
double roof_of(const ExplainedKernel& k, bool memory) {
  for (const models::Roof& roof : k.roofs) {
    const bool products = roof.name == "tensor" || roof.name == "vector";
    if (memory ? roof.name == "HBM" : products) {
      return roof.rate;
    }
  }
  return 0.0;
}

std::string flop_text(double rate) {
  return base::format_quantity(base::FlopsPerSecond::from_si(rate));
}

}  // namespace

std::string roofline_svg(const KernelCurve& curve) {
  std::vector<const KernelPoint*> points;
  for (const KernelPoint& point : curve.points) {
    if (has_place(point)) {
      points.push_back(&point);
    }
  }
  if (points.empty()) {
    return "";
  }
  const ExplainedKernel& first = points.front()->kernel;
  const double peak = roof_of(first, false);
  const double memory = roof_of(first, true);
  if (peak == 0.0 || memory == 0.0) {
    return "";
  }
  const double ridge = peak / memory;
  double least = ridge;
  double most = ridge;
  double slowest = peak;
  for (const KernelPoint* point : points) {
    least = std::min(least, intensity(point->kernel));
    most = std::max(most, intensity(point->kernel));
    slowest = std::min(slowest, flop_rate(point->kernel));
  }
  const Decades x(least / 2.0, 4.0 * most, kPageLeft, kPageWidth - kPageRight);
  const Decades y(std::min(slowest / 2.0, x.low * memory), 1.5 * peak, kPageHeight - kPageBottom,
                  kPageTop);
  std::string svg =
      opened(fmt::format("Roofline: {} at {:.3g} FLOP a byte, under a peak of {}",
                         flop_text(flop_rate(first)), intensity(first), flop_text(peak)));
  for (const double tick : x.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>\n", x.at(tick), kPageTop,
                       kPageHeight - kPageBottom);
    svg +=
        text_at(x.at(tick), kPageHeight - kPageBottom + 20.0, "middle", fmt::format("{:g}", tick));
  }
  for (const double tick : y.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/>\n", kPageLeft, y.at(tick),
                       kPageWidth - kPageRight);
    svg += text_at(kPageLeft - 8.0, y.at(tick) + 5.0, "end", flop_text(tick));
  }
  svg +=
      text_at(kPageWidth - kPageRight, kPageHeight - 14.0, "end", "FLOP a byte of device memory");
  svg += fmt::format("<path class=\"line\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\"/>\n",
                     x.at(x.low), y.at(x.low * memory), x.at(ridge), y.at(peak), x.at(x.high));
  svg += text_at(kPageWidth - kPageRight, y.at(peak) - 8.0, "end",
                 fmt::format("{}, dense {}", flop_text(peak), base::name(first.math)));
  svg += text_at(x.at(ridge), kPageHeight - kPageBottom - 8.0, "middle",
                 fmt::format("ridge {:.3g}", ridge));
  std::pair<double, double> last;  // label
  for (const KernelPoint* point : points) {
    const ExplainedKernel& k = point->kernel;
    const std::string title =
        fmt::format("{}: {} at {:.3g} FLOP a byte, limited by {}",
                    curve.varied.empty() ? "the kernel" : label(curve, *point),
                    flop_text(flop_rate(k)), intensity(k), models::name(k.verdict));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"><title>{}</title></circle>\n",
                       x.at(intensity(k)), y.at(flop_rate(k)), for_html(title));
    const std::pair place{x.at(intensity(k)) + 9.0, y.at(flop_rate(k)) + 16.0};
    const bool free = std::abs(place.first - last.first) > kLabelWidth ||
                      std::abs(place.second - last.second) > kLabelHeight;
    if (!curve.varied.empty() && free) {
      svg += text_at(place.first, place.second, "start", values_text(*point));
      last = place;
    }
  }
  return svg + "</svg>\n";
}

std::string waves_svg(const KernelPoint& point) {
  const models::Anatomy& a = point.kernel.anatomy;
  const double room = a.blocks_per_sm * point.platform.machine.sms;
  if (a.waves == 0.0 || room == 0.0) {
    return "";
  }
  const double exact = a.blocks / room;
  const double full = std::floor(exact * (1.0 + 1e-12));
  const double rest = exact - full > 1e-9 ? exact - full : 0.0;
  const double hidden = std::max(0.0, full - kMostWaves);  // drawn as one
  const double drawn = full - hidden + (hidden > 0.0 ? 1.0 : 0.0) + (rest > 0.0 ? 1.0 : 0.0);
  const double width = (kPageWidth - kPageLeft - kPageRight) / drawn;
  const double height = kPageHeight - kPageTop - kPageBottom;
  std::string svg =
      opened(fmt::format("{:.0f} thread blocks in {:.2f} waves of {:.0f}", a.blocks, exact, room));
  double at = kPageLeft;
  const auto wave = [&](double share, const std::string& title) {
    svg += box(at, kPageTop + height * (1.0 - share), width - 2.0, height * share, 0, title);
    at += width;
  };
  if (hidden > 0.0) {
    wave(1.0, fmt::format("{:.0f} full waves", hidden));
    svg += text_at(at - 0.5 * width, kPageTop - 8.0, "middle", fmt::format("{:.0f} more", hidden));
  }
  for (double i = hidden; i < full; i += 1.0) {
    wave(1.0, fmt::format("wave {:.0f}: {:.0f} thread blocks", i + 1.0, room));
  }
  if (rest > 0.0) {
    wave(rest, fmt::format("the last wave: {:.0f} thread blocks, {:.0f} % of the SMs", rest * room,
                           100.0 * rest));
    svg += text_at(at - 0.5 * width, kPageTop + height * (1.0 - rest) - 8.0, "middle",
                   fmt::format("{:.0f} %", 100.0 * rest));
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    svg += text_at(kPageLeft - 8.0, kPageTop + height * (1.0 - share) + 5.0, "end",
                   fmt::format("{:.0f} %", 100.0 * share));
  }
  svg += text_at(kPageWidth - kPageRight, kPageHeight - 14.0, "end",
                 "SMs that have a thread block, wave by wave");
  return svg + "</svg>\n";
}

std::string causes_svg(const KernelCurve& curve) {
  const double width =
      (kPageWidth - kPageLeft - kPageRight) / static_cast<double>(curve.points.size());
  const double height = kPageHeight - kPageTop - kPageBottom;
  std::array<double, models::kCauses> sums{};
  for (const KernelPoint& point : curve.points) {
    for (const models::Share& share : point.kernel.shares) {
      sums[static_cast<std::size_t>(share.cause)] += share.share;
    }
  }
  std::vector<models::Cause> named;  // the greatest first; the others are drawn as one
  for (int c = 0; c < models::kCauses; ++c) {
    named.push_back(static_cast<models::Cause>(c));
  }
  std::stable_sort(named.begin(), named.end(), [&](models::Cause one, models::Cause other) {
    return sums[static_cast<std::size_t>(one)] > sums[static_cast<std::size_t>(other)];
  });
  named.resize(kNamed);
  std::string svg =
      opened(fmt::format("What the time is for, by {}", fmt::join(curve.varied, " and ")));
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const KernelPoint& point = curve.points[i];
    const double x = kPageLeft + static_cast<double>(i) * width;
    double top = kPageTop + height;
    double others = 1.0;
    const auto stack = [&](double share, std::size_t colour, std::string_view name) {
      top -= share * height;
      svg += box(x, top, std::max(1.0, width - 2.0), share * height, static_cast<int>(colour),
                 fmt::format("{}: {} {:.1f} %", label(curve, point), name, 100.0 * share));
    };
    for (std::size_t c = 0; c < named.size(); ++c) {
      for (const models::Share& share : point.kernel.shares) {
        if (share.cause == named[c]) {
          stack(share.share, c, models::name(share.cause));
          others -= share.share;
        }
      }
    }
    if (others > kSmallShare && point.kernel.reason.empty()) {
      stack(others, kNamed, kOthers);
    }
    const std::size_t step = curve.points.size() / 16 + 1;
    if (i % step == 0) {
      svg +=
          text_at(x + 0.5 * width, kPageHeight - kPageBottom + 20.0, "middle", values_text(point));
    }
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    svg += text_at(kPageLeft - 8.0, kPageTop + height * (1.0 - share) + 5.0, "end",
                   fmt::format("{:.0f} %", 100.0 * share));
  }
  double at = kPageLeft;
  for (std::size_t c = 0; c <= named.size(); ++c) {
    const std::string name(c < named.size() ? models::name(named[c]) : kOthers);
    svg += box(at, kPageHeight - 26.0, 12.0, 12.0, static_cast<int>(c), name);
    svg += text_at(at + 16.0, kPageHeight - 15.0, "start", name);
    at += 30.0 + 8.0 * static_cast<double>(name.size());
  }
  return svg + "</svg>\n";
}

namespace {

// "Limited by HBM from m=1, by tensor from m=512."
std::string limits_text(const KernelCurve& curve) {
  std::vector<std::string> parts;
  std::string_view last;
  for (const KernelPoint& point : curve.points) {
    const bool runs = point.kernel.reason.empty();
    const std::string_view limit = runs ? models::name(point.kernel.verdict) : std::string_view();
    if (runs && limit != last) {
      parts.push_back(fmt::format("by {} from {}", limit, label(curve, point)));
    }
    last = runs ? limit : last;
  }
  return parts.empty() ? "It does not run." : fmt::format("Limited {}.", fmt::join(parts, ", "));
}

}  // namespace

Brief kernel_page(const KernelQuestion& question, const KernelCurve& curve) {
  Brief page;
  const KernelPoint& first = curve.points.front();
  page.question = fmt::format("{} on {}", shape_text(question, question.shape),
                              first.platform.system.chip.name);
  page.assumptions.push_back(platform_text(first.platform));
  const auto draw = [&](const char* heading, std::string svg) {
    if (!svg.empty()) {
      page.charts.push_back({heading, std::move(svg)});
    }
  };
  draw("Roofline", roofline_svg(curve));
  if (!curve.varied.empty()) {
    draw("What the time is for", causes_svg(curve));
    page.answer.push_back(limits_text(curve));
    page.evidence.push_back({fmt::format("By {}", fmt::join(curve.varied, " and ")),
                             curve_table(question, curve, Chart::none)});
    return page;
  }
  if (!first.kernel.reason.empty()) {
    page.answer.push_back(fmt::format("It does not run: {}.", first.kernel.reason));
    return page;
  }
  draw("Waves of thread blocks", waves_svg(first));
  TextTable runs({"line", "what it says"});
  for (const KernelLine& line : kernel_lines(first)) {
    if (line.name == "time" || line.name == "limited by") {
      page.answer.push_back(line.name == "time" ? fmt::format("It takes {}.", line.text)
                                                : fmt::format("It is limited by {}.", line.text));
    }
    runs.add({line.name, line.text});
  }
  const models::Machine& machine = first.platform.machine;
  page.evidence.push_back({"How it runs", std::move(runs)});
  page.evidence.push_back(
      {"Parts of the time. Takes: alone; counts: of the time, in which compute, "
       "DRAM and L2 overlap",
       terms_table(first.kernel, machine.calibration.overlap_exponent)});
  page.evidence.push_back({"Roofs of the datasheet", roofs_table(first.kernel)});
  if (first.kernel.anatomy.plans.size() > 1) {
    page.evidence.push_back({"Algorithms", plans_table(first.kernel, machine)});
  }
  return page;
}

}  // namespace roofcast::cli
