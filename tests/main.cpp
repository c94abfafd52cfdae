// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER  // read by Catch2 v2 only
#include "tests/catch.hpp"

int main(int argc, char* argv[]) {
  Catch::Session session;
#if CATCH_VERSION_MAJOR < 3
  // As in v3, a filter that matches no test is a failure.
  session.configData().warnings = Catch::WarnAbout::NoTests;
#endif
  return session.run(argc, argv);
}
