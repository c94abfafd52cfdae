// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace roofcast::base {
namespace {

constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t kBlock = 64;

using Sha256State = std::array<std::uint32_t, 8>;

void absorb(Sha256State& state, std::string_view block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    w[i / 4] = w[i / 4] << 8U | static_cast<unsigned char>(block[i]);
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
  }
  Sha256State s = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t e = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const std::uint32_t a = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const std::uint32_t t = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i];
    const std::uint32_t u = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    s = {t + u, s[0], s[1], s[2], s[3] + t, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    state[i] += s[i];
  }
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes.size());
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) {
    absorb(state, bytes.substr(0, kBlock));
  }
  std::string last(bytes);
  last += '\x80';
  last.resize(last.size() <= kBlock - 8 ? kBlock - 8 : 2 * kBlock - 8, '\0');
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    last += static_cast<char>(bits >> (shift - 8) & 0xffU);
  }
  for (std::size_t i = 0; i < last.size(); i += kBlock) {
    absorb(state, std::string_view(last).substr(i, kBlock));
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state) {
    for (unsigned shift = 32; shift > 0; shift -= 4) {
      text += kDigits[word >> (shift - 4) & 0xfU];
    }
  }
  return text;
}

}  // namespace roofcast::base
