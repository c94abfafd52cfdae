// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/kv_cache.hpp"

#include "models/footprint.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_replay_kv_cache {
namespace {

Scenario scenario(const std::string& model) {
  return read_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: " + model +
                  "\nprecision: bf16\ndeployment: {tensor_parallel: 1}\nserving: {stack: vllm}\n"
                  "traffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}\n"));
}

// 32 layers, 8 heads of 128, keys and values, 2 bytes: 131,072 bytes a token, blocks of 16 tokens.
constexpr double kBlock = 16.0 * 131072.0;
const Prefix kNone;  // of a sequence that nobody is like

}  // namespace

TEST_CASE("A sequence that runs holds whole blocks, and none when it is released", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 10.0 * kBlock * base::byte);
  Holding holding;
  REQUIRE(cache.admit(holding, 0, kNone, 0));
  CHECK(cache.used() == 0);
  REQUIRE(cache.grow(holding, 1));
  CHECK(cache.used() == static_cast<std::int64_t>(kBlock));
  REQUIRE(cache.grow(holding, 16));
  CHECK(cache.used() == static_cast<std::int64_t>(kBlock));
  REQUIRE(cache.grow(holding, 17));
  CHECK(cache.used() == static_cast<std::int64_t>(2.0 * kBlock));
  cache.release(holding, kNone);
  CHECK(cache.used() == 0);
  CHECK(cache.committed() == 0);
}

TEST_CASE("What does not fit changes nothing", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 10.5 * kBlock * base::byte);
  Holding first;
  Holding second;
  REQUIRE(cache.admit(first, 160, kNone, 0));
  CHECK_FALSE(cache.admit(second, 16, kNone, 0));
  REQUIRE(cache.grow(first, 160));
  CHECK_FALSE(cache.grow(first, 161));
  CHECK(first.blocks == 10);
  CHECK(cache.used() == static_cast<std::int64_t>(10.0 * kBlock));
}

TEST_CASE("A promise keeps others out, and is kept", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 10.0 * kBlock * base::byte);
  Holding first;
  Holding second;
  REQUIRE(cache.admit(first, 128, kNone, 0));
  REQUIRE(cache.grow(first, 16));
  CHECK(cache.used() == static_cast<std::int64_t>(kBlock));
  CHECK(cache.committed() == static_cast<std::int64_t>(8.0 * kBlock));
  CHECK_FALSE(cache.admit(second, 48, kNone, 0));
  REQUIRE(cache.admit(second, 32, kNone, 0));
  REQUIRE(cache.grow(second, 32));
  CHECK(cache.grow(first, 128));
}

TEST_CASE("Recurrent states are held whatever the length, and windows bound the rest", "[unit]") {
  const Scenario hybrid = scenario("nemotron-h-8b");
  KvCache states(view(hybrid), 1e12 * base::byte);
  Holding holding;
  REQUIRE(states.admit(holding, 0, kNone, 0));
  const double state =
      models::state_bytes(hybrid.model, hybrid.precision, hybrid.deployment.mapping).si();
  CHECK(static_cast<double>(states.used()) == Approx(state));
  CHECK(state > 0.0);

  const Scenario windowed = scenario("gpt-oss-20b");
  KvCache cache(view(windowed), 1e12 * base::byte);
  Holding sequence;
  REQUIRE(cache.admit(sequence, 0, kNone, 0));
  for (const std::int64_t tokens : {100, 1000, 10000}) {
    REQUIRE(cache.grow(sequence, tokens));
    const double bytes = models::cache_bytes(static_cast<double>(tokens), windowed.model,
                                             windowed.precision, windowed.deployment.mapping, 16)
                             .si();
    CHECK(static_cast<double>(cache.used()) == Approx(bytes));
  }
}

TEST_CASE("A published prefix is held once, found again, and idle when nobody runs it", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 20.0 * kBlock * base::byte);
  const std::vector<std::uint64_t> hashes = {11, 22, 33};
  const Prefix first{hashes, 1, 32};
  const Prefix second{std::span(hashes).first(2), 2, 32};  // shares 64 tokens
  Holding a;
  Holding b;
  REQUIRE(cache.admit(a, 96, first, 95));
  CHECK(a.units == 0);
  REQUIRE(cache.grow(a, 96));
  cache.publish(a, first, 96);
  CHECK(cache.used() == static_cast<std::int64_t>(6.0 * kBlock));
  CHECK(cache.known_tokens(second, 1000) == 64);
  CHECK(cache.known_tokens(second, 63) == 48);  // a unit, and a block of the next
  CHECK(cache.known_tokens(second, 48) == 48);
  CHECK(cache.known_tokens(second, 47) == 32);
  REQUIRE(cache.admit(b, 128, second, 127));
  CHECK(b.units == 2);
  REQUIRE(cache.grow(b, 128));
  CHECK(cache.used() == static_cast<std::int64_t>((6.0 + 4.0) * kBlock));
  cache.release(a, first);
  CHECK(cache.used() == static_cast<std::int64_t>(8.0 * kBlock));
  CHECK(cache.idle() == static_cast<std::int64_t>(2.0 * kBlock));
  cache.release(b, second);
  CHECK(cache.used() == 0);
  CHECK(cache.committed() == 0);
  CHECK(cache.idle() == static_cast<std::int64_t>(6.0 * kBlock));
  CHECK(cache.known_tokens(first, 1000) == 96);
}

TEST_CASE("An equal prompt finds all of it but its last block, however long units are", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 64.0 * kBlock * base::byte);
  const std::vector<std::uint64_t> hashes = {11, 22};
  const Prefix shared{hashes, 1, 128};
  Holding a;
  Holding b;
  REQUIRE(cache.admit(a, 256, shared, 255));
  REQUIRE(cache.grow(a, 256));
  cache.publish(a, shared, 256);
  CHECK(cache.known_tokens(shared, 255) == 240);
  const Prefix other{std::span(hashes).first(1), 2, 128};
  CHECK(cache.known_tokens(other, 255) == 128);  // its next unit is not the same
  REQUIRE(cache.admit(b, 256, shared, 255));
  CHECK(b.units == 1);
  REQUIRE(cache.grow(b, 256));
  CHECK(cache.used() == static_cast<std::int64_t>(24.0 * kBlock));
  cache.publish(b, shared, 256);
  CHECK(b.units == 2);
  CHECK(cache.used() == static_cast<std::int64_t>(16.0 * kBlock));  // the copy is gone
}

TEST_CASE("Idle units make room, the end of a prefix first; held ones never do", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 10.0 * kBlock * base::byte);
  const std::vector<std::uint64_t> hashes = {11, 22, 33};
  const Prefix shared{hashes, 1, 32};
  const Prefix other{{}, 2, 32};
  Holding a;
  Holding b;
  REQUIRE(cache.admit(a, 96, shared, 0));
  REQUIRE(cache.grow(a, 96));
  cache.publish(a, shared, 96);
  REQUIRE(cache.admit(b, 64, other, 0));
  REQUIRE(cache.grow(b, 64));
  CHECK_FALSE(cache.grow(b, 65));  // all ten are held
  CHECK(cache.known_tokens(shared, 1000) == 96);
  cache.release(a, shared);
  REQUIRE(cache.grow(b, 65));
  CHECK(cache.known_tokens(shared, 1000) == 64);
  REQUIRE(cache.grow(b, 160));
  CHECK(cache.known_tokens(shared, 1000) == 0);
  CHECK(cache.used() + cache.idle() == cache.capacity());
}

TEST_CASE("Two that compute the same prefix at once keep one copy", "[unit]") {
  const Scenario s = scenario("llama-3.1-8b");
  KvCache cache(view(s), 20.0 * kBlock * base::byte);
  const std::vector<std::uint64_t> hashes = {11, 22};
  const Prefix first{hashes, 1, 32};
  const Prefix second{hashes, 2, 32};
  Holding a;
  Holding b;
  for (const auto& [holding, prefix] : {std::pair{&a, &first}, std::pair{&b, &second}}) {
    REQUIRE(cache.admit(*holding, 64, *prefix, 63));
    REQUIRE(cache.grow(*holding, 64));
  }
  CHECK(cache.used() == static_cast<std::int64_t>(8.0 * kBlock));
  cache.publish(a, first, 64);
  cache.publish(b, second, 64);
  CHECK(cache.used() == static_cast<std::int64_t>(4.0 * kBlock));
  CHECK(cache.committed() == cache.used());
  cache.release(a, first);
  cache.release(b, second);
  CHECK(cache.used() == 0);
  CHECK(cache.committed() == 0);
}

TEST_CASE("States of recurrent layers are of one length: no prefix is kept", "[unit]") {
  const Scenario s = scenario("nemotron-h-8b");
  KvCache cache(view(s), 1e12 * base::byte);
  const std::vector<std::uint64_t> hashes = {11};
  const Prefix prefix{hashes, 1, 512};
  Holding holding;
  REQUIRE(cache.admit(holding, 512, prefix, 511));
  REQUIRE(cache.grow(holding, 512));
  cache.publish(holding, prefix, 512);
  CHECK(cache.known_tokens(prefix, 1000) == 0);
  cache.release(holding, prefix);
  CHECK(cache.used() == 0);
}

}  // namespace roofcast::sim::unit_sim_replay_kv_cache
