// SPDX-License-Identifier: Apache-2.0
//
// How the module computes: without the interpreter's lock, until Ctrl-C or the interpreter's end.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace roofcast::cli::python {

// Does `work` on this thread.
void compute(const std::function<void()>& work);
// Does it on another one, while this one asks the interpreter about Ctrl-C, which nobody else sees.
void compute_beside(const std::function<void()>& work);

// Tells all work to end, and waits for it. No more begins: its thread could not take the lock again.
void end_all();

// What `work` returns: for what takes milliseconds.
template <class Work>
auto computed(const Work& work) {
  std::optional<std::invoke_result_t<Work>> result;
  compute([&] { result.emplace(work()); });
  return std::move(*result);
}

// The same for what may take long.
template <class Work>
auto answered(const Work& work) {
  std::optional<std::invoke_result_t<Work>> result;
  compute_beside([&] { result.emplace(work()); });
  return std::move(*result);
}

}  // namespace roofcast::cli::python
