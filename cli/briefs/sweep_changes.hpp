// SPDX-License-Identifier: Apache-2.0
//
// What would put another group of a sweep first: another bound, price or objective.
#pragma once

#include "cli/briefs/sweep_contest.hpp"
#include "cli/pages/brief.hpp"
#include "sim/decide/overridden_scenario.hpp"

namespace roofcast::cli {

// At which bounds of a condition the first is another: the nearest on either side. Points that meet all other conditions
// come in one by one as the bound is loosened; what leads after each is known from the rows. What leads between bounds that
// differ by less than a tenth is left out: estimates and replays differ by as much.
void say_bound(const SweepContest& contest, const sim::Condition& condition, Brief& brief);

// The price at which the second costs what the first does, at its own point; of one system the first pays it, too. Costs are
// linear in it. Nothing where there is none.
void say_price(const SweepContest& contest, const sim::OverriddenScenario& first,
               const sim::OverriddenScenario& second, Brief& brief);

// What comes first by the sweep's other objectives, unless it ties with what is first.
void say_objectives(const SweepContest& contest, Brief& brief);

}  // namespace roofcast::cli
