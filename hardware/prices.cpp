// SPDX-License-Identifier: Apache-2.0
#include "hardware/prices.hpp"

#include "base/document/notes.hpp"

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_prices();

base::Catalog price_catalog() { return {"prices", "price", embedded_prices()}; }

namespace {

using base::Fields;

constexpr base::Seconds kYear = 8766.0 * base::hour;  // 365.25 days
constexpr base::Seconds kMonth = kYear / 12.0;
constexpr base::Joules kKilowattHour = base::kilo * base::watt * base::hour;

// Reads a figure with its date and source.
template <class ReadFigure>
void dated(Fields& f, std::string_view key, base::Need need, ReadFigure read_figure) {
  f.group(
      key,
      [&](Fields& g) {
        std::string date;
        read_figure(g);
        g.text("date", date, base::optional);
        g.source();
      },
      need);
}

}  // namespace

void read(Fields& f, Prices& prices) {
  f.text("name", prices.name, base::optional);
  f.choice<Pay>("pay", prices.pay, {{"rental", Pay::rental}, {"ownership", Pay::ownership}});
  const base::Need owned = prices.pay == Pay::ownership ? base::required : base::optional;
  dated(f, "depreciation", owned, [&](Fields& g) {
    double years = 0.0;
    g.number("years", years, base::positive);
    prices.depreciation = years * kYear;
  });
  dated(f, "electricity", owned,
        [&](Fields& g) { g.quantity("price", prices.electricity, base::not_negative); });
  dated(f, "hosting", owned, [&](Fields& g) {
    base::Dollars month;
    g.quantity("per_kw_month", month, base::not_negative);
    prices.hosting = month / (base::kilo * base::watt * kMonth);
  });
  dated(f, "pue", owned, [&](Fields& g) {
    double ratio = 1.0;
    g.number("ratio", ratio, base::at_least_one);
    prices.pue = ratio;
  });
  dated(f, "grid", base::optional, [&](Fields& g) {
    double grams = 0.0;
    g.number("co2_g_per_kwh", grams, base::not_negative);
    prices.co2_g_per_j = grams / kKilowattHour.si();
  });
  f.group(
      "assumed",
      [&](Fields& g) {
        double upkeep = 0.0;
        g.number("utilisation", prices.utilisation, {0.0, 1.0, true});
        g.number("upkeep_per_year", upkeep, base::fraction, base::optional);
        prices.upkeep = upkeep / kYear.si();
        g.source();
      },
      owned);
  f.quantity("power_budget", prices.power_budget);
  if (prices.power_budget && !prices.pue) {
    base::add_note(
        "prices.power_budget: it is that of a site, and there is no prices.pue: no GPUs under the "
        "budget are counted");
  }
  std::vector<std::string> notes;
  f.texts("notes", notes);
}

}  // namespace roofcast::hardware
