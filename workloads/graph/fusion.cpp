// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/fusion.hpp"

namespace roofcast::workloads {

void read(base::Fields& f, Fusion& fusion) {
  f.choice<QuantiseFusion>("quantise", fusion.quantise,
                           {{"none", QuantiseFusion::none},
                            {"per tensor", QuantiseFusion::tensors},
                            {"all but fp8_block", QuantiseFusion::all_but_fp8_blocks},
                            {"all_reduces", QuantiseFusion::all_reduces},
                            {"all", QuantiseFusion::all}});
  f.flag("all_reduce_norm", fusion.norm);
  f.flag("copies_large_sums", fusion.copies_large_sums, base::optional);
  f.flag("alternative_experts", fusion.alternative_experts, base::optional);
  f.flag("alternative_mxfp4_experts", fusion.alternative_mxfp4_experts, base::optional);
  f.flag("searches_experts", fusion.searches_experts, base::optional);
  f.flag("separate_cache_write", fusion.separate_cache_write, base::optional);
  f.flag("tf32_products", fusion.tf32_products, base::optional);
  f.choice<Exchange>("exchange", fusion.exchange,
                     {{"all_to_all", Exchange::all_to_all},
                      {"gather", Exchange::gather},
                      {"gather_few", Exchange::gather_few}},
                     base::optional);
  f.choice<SharedExperts>("shared_experts", fusion.shared_experts,
                          {{"before", SharedExperts::before},
                           {"beside", SharedExperts::beside},
                           {"among", SharedExperts::among}},
                          base::optional);
  f.choice<AllReduceKernels>("custom_all_reduce", fusion.custom_all_reduce,
                             {{"none", AllReduceKernels::library},
                              {"barriers", AllReduceKernels::barriers},
                              {"flags", AllReduceKernels::flags}});
}

}  // namespace roofcast::workloads
