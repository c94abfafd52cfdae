// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/text_table.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

namespace roofcast::cli::unit_cli_text_table {

TEST_CASE("A table aligns numbers right, words left, and ends no line with blanks", "[unit]") {
  TextTable table({"name", "value", "note"});
  table.add({"a", "1.5 ms", ""});
  table.add({"longer", "12,345 tok/s", "fast"});
  CHECK(table.text() ==
        "name           value  note\n"
        "a             1.5 ms\n"
        "longer  12,345 tok/s  fast\n");
}

TEST_CASE("A column with one word in it is a column of words", "[unit]") {
  TextTable table({"value"});
  table.add({"1"});
  table.add({"none"});
  CHECK(table.text() == "value\n1\nnone\n");
  TextTable numbers({"value"});
  numbers.add({"1"});
  numbers.add({"-"});
  numbers.add({"-25"});
  CHECK(numbers.text() == "value\n    1\n    -\n  -25\n");
}

TEST_CASE("A table without rows is its header", "[unit]") {
  CHECK(TextTable({"name", "value"}).text() == "name  value\n");
}

TEST_CASE("A table that is too wide has its last columns below each row", "[unit]") {
  TextTable table({"name", "first", "second", "third"});
  table.add({"a", "100 ms", "200 ms", "300 ms"});
  CHECK(table.text({.width = 28}) == table.text({}));
  CHECK(table.text({.width = 27}) ==
        "name   first  second\n"
        "a     100 ms  200 ms\n"
        "    third 300 ms\n");
  CHECK(table.text({.width = 19}) ==
        "name   first\na     100 ms\n    second 200 ms,\n    third 300 ms\n");
}

TEST_CASE("A last column of sentences is wrapped, and no column is left out for it", "[unit]") {
  TextTable table({"name", "unit", "meaning"});
  table.add({"ttft", "s", "time to first token: request overhead, waiting, prefill"});
  CHECK(table.text({.width = 40}) ==
        "name  unit  meaning\n"
        "ttft  s     time to first token: request\n"
        "            overhead, waiting, prefill\n");
}

TEST_CASE("In colour the header is bold and the best row green; without, a table has no escapes",
          "[unit]") {
  TextTable table({"name", "value"});
  table.add({"a", "1"});
  table.mark_last();
  table.add({"b", "2"});
  CHECK(table.text({.color = true}) ==
        "\x1b[1mname  value\x1b[0m\n\x1b[1;32ma         1\x1b[0m\nb         2\n");
  CHECK(table.text({}) == "name  value\na         1\nb         2\n");
  CHECK(table.text({.width = 40}) == "name  value\na         1 *\nb         2\n");
}

TEST_CASE("Letters of more than one byte take one column", "[unit]") {
  TextTable table({"name", "value"});
  table.add({"µ", "1"});
  CHECK(table.text() == "name  value\nµ         1\n");
}

TEST_CASE("A metric is shown in a readable unit with three significant digits", "[unit]") {
  CHECK(display(0.0154, "s") == "15.4 ms");
  CHECK(display(8.5e9, "B") == "8.5 GB");
  CHECK(display(2354.4, "tok/s/GPU") == "2,354 tok/s/GPU");
  CHECK(display(78.66, "tok/s/user") == "78.7 tok/s/user");
  CHECK(display(0.4828, "USD/Mtok") == "0.483 USD/Mtok");
  CHECK(display(8.0, "") == "8");
  CHECK(display(0.0, "") == "0");
}

TEST_CASE("Thousands are grouped, rounding included", "[unit]") {
  CHECK(display(999.4, "") == "999");
  CHECK(display(999.5, "") == "1,000");
  CHECK(display(1e6, "") == "1,000,000");
  CHECK(display(-1234.0, "") == "-1,234");
  CHECK(display(-123456.0, "") == "-123,456");
}

TEST_CASE("A metric without a value is a dash, and infinity says so", "[unit]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* unit : {"", "s", "B", "tok/s"}) {
    CHECK(display(nan, unit) == "-");
  }
  CHECK(display(std::numeric_limits<double>::infinity(), "") == "inf");
}

}  // namespace roofcast::cli::unit_cli_text_table
