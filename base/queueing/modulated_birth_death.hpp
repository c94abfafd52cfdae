// SPDX-License-Identifier: Apache-2.0
//
// A birth-death process whose birth rate has phases, as arrivals of a Markov-modulated Poisson process do:
//
//   up      from n to n + 1 at births(i)            in phase i
//   down    from n to n − 1 at deaths(i, n)
//   phase   from i to i + 1 at leaves(i), after the last phase to the first
//
// The probabilities follow level by level: p(n + 1) = p(n) R(n), where R comes from the last level down (Gaver, Jacobs,
// Latouche: Finite birth-and-death models in randomly changing environments, Advances in Applied Probability 16, 1984).
// With one phase this is p(n + 1) = p(n) births/deaths(n + 1).
#pragma once

#include <vector>

namespace roofcast::base::queueing {

struct BirthPhase {
  double births = 0;           // 1/s
  double leaves = 0;           // 1/s
  std::vector<double> deaths;  // 1/s, with 1, 2, … present; as many in every phase
};

// Probabilities by phase, then by the number present from 0 to the number of deaths. They add up to 1.
std::vector<std::vector<double>> modulated_birth_death(const std::vector<BirthPhase>& phases);

}  // namespace roofcast::base::queueing
