// SPDX-License-Identifier: Apache-2.0
//
// Fits the correction grids of one chip and stack to what the physical models leave over.
//
// A row of several operators has ln(measured / predicted) ≈ Σ shareᵢ · g(xᵢ) over those that a grid corrects, with
// shares of the predicted time. Per grid the nodes minimise, by iteratively reweighted least squares,
//
//   Σ rows |residual| (quadratic below 2 %)  +  smooth · Σ neighbours (hₐ − h_b)²  +  small · Σ h²,   h = g − g₀
//
// where g₀ is 0, or the grid of the next newer version of the kernels. So nodes far from rows fade to g₀. Then
// times are made to rise with the work (calibrate/fit/monotone.hpp). Nodes are whole percents, as the document has them.
#pragma once

#include <vector>

#include "calibrate/operators/operator_rows.hpp"
#include "hardware/correction.hpp"
#include "models/machine.hpp"

namespace roofcast::calibrate {

// Grids for every kind of operator that the rows hold. The machine's own corrections are left aside. Grids of `newer`
// are where those of their key start, and lay them out.
std::vector<hardware::CorrectionGrid> fit_corrections(
    const std::vector<const MeasuredOperator*>& rows, const models::Machine& machine,
    const hardware::Corrections& newer = {});

// Those that make the rows' predictions better than `newer` does, by the mean of |ln(measured / predicted)|: by more
// than `least`.
std::vector<hardware::CorrectionGrid> earned(std::vector<hardware::CorrectionGrid> grids,
                                             const std::vector<const MeasuredOperator*>& rows,
                                             const models::Machine& machine,
                                             const hardware::Corrections& newer = {},
                                             double least = 0.0);

}  // namespace roofcast::calibrate
