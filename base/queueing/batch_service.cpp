// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/batch_service.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include "base/integers.hpp"

namespace roofcast::base::queueing {
namespace {

// r + r² + … + r^b for r in [0, 1].
double powers(double r, double b) {
  return 1.0 - r < 1e-9 ? b * r : r * -std::expm1(b * std::log(r)) / (1.0 - r);
}

}  // namespace

// busy       Σ r^n: weight of a running service, in units of A
// idle       weight of an idle server; last_idle is that of n = a − 1
// waiting    Σ n · weight of n
Queue exponential_batches(Hertz arrivals, Seconds service, std::int64_t least, std::int64_t most) {
  const double load = arrivals * service;
  const double b = as_double(most);
  const double rho = load / b;
  if (rho >= 1.0 || load == 0.0) {
    // Without arrivals, the first customer of a batch of at least two waits for ever for the second.
    return load == 0.0 && least > 1 ? Queue{0.0,
                                            1.0,
                                            Seconds::infinity(),
                                            Seconds::infinity(),
                                            (as_double(least) - 1.0) / 2.0,
                                            (as_double(least) - 1.0) / 2.0}
                                    : queue_of(rho, 0.0, arrivals, {}, service);
  }
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 64; ++i) {
    const double middle = 0.5 * (low + high);
    (powers(middle, b) < load ? low : high) = middle;
  }
  const double r = high;
  const double busy = 1.0 / (1.0 - r);
  double idle = 0.0;
  double waiting = r * busy * busy;
  double last_idle = 0.0;
  for (std::int64_t n = 0; n < least; ++n) {
    last_idle = (1.0 - std::pow(r, as_double(n + 1))) * busy / load;
    idle += last_idle;
    waiting += as_double(n) * last_idle;
  }
  const double all = busy + idle;
  // An arrival starts at once only if an idle server lacks no other customer.
  return queue_of(rho, 1.0 - last_idle / all, arrivals, waiting / all / arrivals, service);
}

Queue constant_batches(Hertz arrivals, Seconds service, std::int64_t most) {
  const double load = arrivals * service;
  const double b = as_double(most);
  const double rho = load / b;
  if (rho >= 1.0 || load == 0.0) {
    return queue_of(rho, 0.0, arrivals, {}, service);
  }
  // The number waiting at the end of a service has the generating function
  // C (z-1) Π (z - z_i) e^{λS(z-1)} / (z^b - e^{λS(z-1)}) with C = (b - λS) / Π (1 - z_i).
  std::complex<double> sum = 0.0;  // Σ 1 / (1 - z_i)
  // C Π (-z_i): probability that no customer waits at the end of a service.
  std::complex<double> none = b - load;
  for (std::int64_t k = 1; k < most; ++k) {
    const double angle = 2.0 * std::numbers::pi * as_double(k) / b;
    std::complex<double> z = std::polar(std::exp(-rho), angle);
    for (int i = 0; i < 100; ++i) {  // Newton's method on z - e^{iφ + ρ(z-1)}
      const std::complex<double> image =
          std::exp(std::complex<double>(0.0, angle) + rho * (z - 1.0));
      const std::complex<double> step = (z - image) / (1.0 - rho * image);
      z -= step;
      if (std::abs(step) < 1e-15) {
        break;
      }
    }
    sum += 1.0 / (1.0 - z);
    none *= -z / (1.0 - z);
  }
  // left  mean number that a starting service leaves behind: the number at the end of a service without the λS that
  //       arrive during it
  // idle  idle time of a cycle, in services
  const double left = sum.real() + (load * load - b * (b - 1.0)) / (2.0 * (b - load));
  const double idle = none.real() / load;
  const double waiting = (left + load / 2.0) / (1.0 + idle);
  return queue_of(rho, 1.0 / (1.0 + idle), arrivals, waiting / arrivals, service);
}

}  // namespace roofcast::base::queueing
