// SPDX-License-Identifier: Apache-2.0
//
// A chip that is described by its die, before anybody published a datasheet. Its document has the group `die` in place of
// peaks; it is translated to one with figures of a datasheet, which knobs, derivation and sweeps then work on.
//
//   tensor.16 bits            = sms · clock · flop_per_sm_clock
//   tensor.FORMAT             = tensor.16 bits · formats of the architecture
//   vector.fp32               = sms · clock · vector_flop_per_sm_clock
//   measured.exponential_rate = sms · clock · exponentials_per_sm_clock     where it is stated
//   measured.l2_bandwidth     = sms · clock · l2_bytes_per_sm_clock         where it is stated
//
//   symbol                        meaning                                                   unit
//   sms, clock                    of the die                                                –, Hz
//   flop_per_sm_clock             dense products of 16 bits with FP32 sums, of one SM       FLOP
//   vector_flop_per_sm_clock      of the vector units of one SM                             FLOP
//   exponentials_per_sm_clock     exp() of one SM                                           –
//   l2_bytes_per_sm_clock         reads that hit                                            B
//
// What is not stated is the architecture's (hardware/architectures), and the source of the figure says so. An architecture with
// several kinds of dies needs flop_per_sm_clock, which tells the kind. A width that none of its dies has takes the ratios of the
// formats of the first kind, and no rate of the vector units but a stated one. Rates of exp() and of the L2 that are not stated
// are the calibration's. A stated group `tensor` or `vector` holds as it is stated, and what it lacks follows.
#pragma once

#include "base/document/fields.hpp"
#include "base/document/node.hpp"

namespace roofcast::hardware {

// Whether a document of a chip has the group `die`, and is not derived.
bool is_die(const base::Node& document);

// The keys of the group.
void read_die(base::Fields& f);

// Throws InputError with every problem.
base::Node from_die(const base::Node& document);

}  // namespace roofcast::hardware
