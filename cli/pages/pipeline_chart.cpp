// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/pipeline_chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/pages/brief_parts.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

using base::Seconds;
using sim::PipelineEvent;
using sim::PipelineTimeline;
using sim::PipelineWork;

constexpr std::int64_t kColumns = 88;  // of letters
constexpr double kDrawing = 1200.0;    // of a drawing
constexpr double kRow = 22.0;
constexpr double kLeftOf = 60.0;
constexpr double kAbove = 54.0;
constexpr double kNumbered = 16.0;  // the least width of a box with a number

// 0 to 9: forward passes of a micro-batch by the last digit of its number; a to j: backward passes; w: gradients of weights.
char letter_of(const PipelineEvent& e) {
  const auto digit = static_cast<char>(e.micro_batch % 10);
  switch (e.work) {
    case PipelineWork::forward:
      return static_cast<char>('0' + digit);
    case PipelineWork::backward:
      return static_cast<char>('a' + digit);
    case PipelineWork::weights:
      break;
  }
  return 'w';
}

// kColumns letters from `from` on, each for `each` of time.
std::string letters(const PipelineTimeline& timeline, Seconds from, Seconds each) {
  std::vector<std::string> lines(static_cast<std::size_t>(timeline.ranks),
                                 std::string(static_cast<std::size_t>(kColumns), '.'));
  for (const PipelineEvent& e : timeline.events) {
    std::string& line = lines[static_cast<std::size_t>(e.rank)];
    const auto first = static_cast<std::int64_t>((e.start - from) / each + 0.5);
    const auto last = static_cast<std::int64_t>((e.end - from) / each + 0.5);
    for (std::int64_t at = std::max<std::int64_t>(0, first); at < std::min(kColumns, last); ++at) {
      line[static_cast<std::size_t>(at)] = letter_of(e);
    }
  }
  std::string text;
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    text += fmt::format("{:>4}  {}\n", rank, lines[rank]);
  }
  return text;
}

Seconds shortest(const PipelineTimeline& timeline) {
  Seconds least = timeline.time;
  for (const PipelineEvent& e : timeline.events) {
    least = e.work == PipelineWork::forward ? base::min(least, e.end - e.start) : least;
  }
  return least;
}

const char* colour_of(const PipelineEvent& e) {
  switch (e.work) {
    case PipelineWork::forward:
      return e.chunk % 2 == 0 ? "#4c78a8" : "#9ecae9";
    case PipelineWork::backward:
      return e.chunk % 2 == 0 ? "#54a24b" : "#88d27a";
    case PipelineWork::weights:
      break;
  }
  return "#eeca3b";
}

const char* name_of(PipelineWork work) {
  return work == PipelineWork::forward    ? "forward"
         : work == PipelineWork::backward ? "backward"
                                          : "gradients of weights";
}

}  // namespace

std::string pipeline_text(const PipelineTimeline& timeline) {
  const Seconds each = base::max(0.5 * shortest(timeline), timeline.time / 1e6);
  const Seconds window = static_cast<double>(kColumns) * each;
  std::string text = fmt::format(
      "\npipeline of {}: a stage waits {} ({:.1f}%), a letter is {}\n"
      "0-9 forward and a-j backward passes of micro-batches, by their last digit; w gradients of "
      "weights; . waits\nrank\n{}",
      display(timeline.time.si(), "s"), display(timeline.waits(0).si(), "s"),
      100.0 * (timeline.waits(0) / timeline.time), display(each.si(), "s"),
      letters(timeline, {}, each));
  if (timeline.time > window) {
    text += fmt::format("its end\n{}", letters(timeline, timeline.time - window, each));
  }
  return text;
}

std::string pipeline_svg(const PipelineTimeline& timeline, const std::string& title) {
  const double scale = kDrawing / timeline.time.si();
  const double height = kAbove + kRow * static_cast<double>(timeline.ranks) + 40.0;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"8\" y=\"20\" font-size=\"14\">{}</text>\n"
      "<text x=\"8\" y=\"40\">{} of passes; a stage waits {:.1f}%. Blue: forward. Green: backward. "
      "Yellow: gradients of weights. Pale: other chunks.</text>\n",
      kLeftOf + kDrawing + 10.0, height, for_html(title), display(timeline.time.si(), "s"),
      100.0 * (timeline.waits(0) / timeline.time));
  for (std::int64_t rank = 0; rank < timeline.ranks; ++rank) {
    svg += fmt::format("<text x=\"8\" y=\"{:.1f}\">rank {}</text>\n",
                       kAbove + kRow * (static_cast<double>(rank) + 0.65), rank);
  }
  for (const PipelineEvent& e : timeline.events) {
    const double x = kLeftOf + scale * e.start.si();
    const double y = kAbove + kRow * static_cast<double>(e.rank);
    const double width = scale * (e.end - e.start).si();
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\" "
        "stroke=\"#ffffff\" stroke-width=\"0.3\"><title>{} of micro-batch {}, rank {}, chunk {}: "
        "{} to {}</title></rect>\n",
        x, y, width, kRow - 3.0, colour_of(e), name_of(e.work), e.micro_batch, e.rank, e.chunk,
        display(e.start.si(), "s"), display(e.end.si(), "s"));
    if (width >= kNumbered) {
      svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\" fill=\"#ffffff\">{}</text>\n", x + 2.0,
                         y + 13.0, e.micro_batch);
    }
  }
  return svg + fmt::format(
                   "<text x=\"{:.0f}\" y=\"{:.1f}\">0</text>\n"
                   "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n</svg>\n",
                   kLeftOf, height - 18.0, kLeftOf + kDrawing, height - 18.0,
                   display(timeline.time.si(), "s"));
}

}  // namespace roofcast::cli
