// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/gemm_pass.hpp"

namespace roofcast::bench {

Product product_of(GemmPass pass, const GemmShape& s) {
  switch (pass) {
    case GemmPass::forward:
      break;
    case GemmPass::data_gradient:
      return {{false, s.k, s.n}, {false, s.n, s.m}, {false, s.k, s.m}, s.n};
    case GemmPass::weight_gradient:
      return {{false, s.k, s.m}, {true, s.n, s.m}, {false, s.k, s.n}, s.m};
  }
  return {{true, s.k, s.n}, {false, s.k, s.m}, {false, s.n, s.m}, s.k};
}

}  // namespace roofcast::bench
