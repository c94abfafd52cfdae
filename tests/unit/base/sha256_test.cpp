// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include "tests/catch.hpp"

namespace roofcast::unit_base_sha256 {

using roofcast::base::sha256;

// FIPS 180-2, appendix B, and the empty message.
TEST_CASE("SHA-256 gives the digests of its standard", "[unit]") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace roofcast::unit_base_sha256
