// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/host_cache.hpp"

#include <string>

#include "sim/replay/kv_cache.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_replay_host_cache {
namespace {

constexpr base::BytesPerSecond kLink = base::BytesPerSecond::from_si(100.0);
constexpr double kBlock = 16.0 * 131072.0;  // bytes of 16 tokens of llama-3.1-8b's cache in bf16

}  // namespace

TEST_CASE("The unit used least recently makes way in host memory", "[unit]") {
  HostCache host(30, kLink);
  host.store(1, 10);
  host.store(2, 10);
  host.store(3, 10);
  host.use(1);
  host.store(2, 10);  // again: it is used
  host.store(4, 10);
  CHECK(host.has(1));
  CHECK(host.has(2));
  CHECK_FALSE(host.has(3));
  CHECK(host.has(4));
  CHECK(host.used() == 30);
  host.store(5, 31);  // never fits
  CHECK_FALSE(host.has(5));
  CHECK(host.used() == 30);
}

TEST_CASE("Loads follow each other on the link", "[unit]") {
  HostCache host(1000, kLink);
  CHECK(host.load(100, 2.0 * base::second).si() == Approx(3.0));
  CHECK(host.load(50, 2.5 * base::second).si() == Approx(3.5));
  CHECK(host.load(50, 10.0 * base::second).si() == Approx(10.5));
}

TEST_CASE("What a KV cache evicts is found in host memory, as far as it is whole from the start",
          "[unit]") {
  const Scenario s = [] {
    Scenario read = read_scenario(base::parse_document(
        "test",
        "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {}\nserving: {stack: "
        "vllm}\ntraffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}\n"));
    read.serving.kv_offload.capacity = 4.0 * kBlock * base::byte;
    read.serving.kv_offload.bandwidth = base::BytesPerSecond::from_si(kBlock);
    return read;
  }();
  KvCache cache(view(s), 10.0 * kBlock * base::byte);
  const std::vector<std::uint64_t> hashes = {11, 22, 33};
  const Prefix first{hashes, 1, 32};
  const Prefix other{{}, 2, 32};
  Holding a;
  REQUIRE(cache.admit(a, 96, first, 0));
  REQUIRE(cache.grow(a, 96));
  cache.publish(a, first, 96);
  cache.release(a, first);
  CHECK(cache.restorable_tokens(first, 1000) == 96);  // all of it is on the device
  Holding b;
  REQUIRE(cache.admit(b, 96, other, 0));
  REQUIRE(cache.grow(b, 96));  // one unit has to go
  CHECK(cache.known_tokens(first, 1000) == 64);
  CHECK(cache.restorable_tokens(first, 1000) == 96);
  CHECK(cache.restorable_tokens(first, 95) == 64);
  CHECK(cache.restore(first, 64, 96, 5.0 * base::second).si() == Approx(5.0 + 2.0));
  REQUIRE(cache.grow(b, 160));  // the others too; the host holds two
  CHECK(cache.known_tokens(first, 1000) == 0);
  CHECK(cache.restorable_tokens(first, 1000) == 64);
  CHECK(cache.restore(first, 0, 64, 20.0 * base::second).si() == Approx(20.0 + 4.0));
}

}  // namespace roofcast::sim::unit_sim_replay_host_cache
