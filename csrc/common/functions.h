// SPDX-License-Identifier: MIT
// Names of the function that an elementwise kernel evaluates, shared by the ops, the row kernels
// and the device; made from the list of ops.
#pragma once

#include <type_traits>

namespace svmf {

// Functions of kappa for one m: csrc/math/vmf_kappa.h.
enum class KappaFunction : int {
#define SVMF_KAPPA_OP(name, function) function,
#include "common/ops.inc"
};

// Functions of rho for one m: csrc/math/spherical_cauchy.h.
enum class RhoFunction : int {
#define SVMF_RHO_OP(name, function) function,
#include "common/ops.inc"
};

// Functions of the power spherical kappa for one m: csrc/math/power_spherical.h.
enum class PowerFunction : int {
#define SVMF_POWER_OP(name, function) function,
#include "common/ops.inc"
};

// Functions of a Bessel order and x: csrc/math/log_bessel.h.
enum class BesselFunction : int {
#define SVMF_BESSEL_OP(name, function) function,
#include "common/ops.inc"
};

// The families of distributions that differ in the law of w = mu.z alone: csrc/math/cosine_laws.h.
enum class Family : int {
  kVonMisesFisher,
  kSphericalCauchy,
  kPowerSpherical,
};

// How a sample depends on kappa for the gradient: csrc/math/vmf_pathwise.h,
// csrc/math/wood_gradients.h.
enum class SampleGradient : int {
  kPathwise,
  kRejection,
};

// Calls f with the function as a constant: f(std::integral_constant<KappaFunction, function>{}).
template <class F>
auto with_constant(KappaFunction chosen, F f) {
  switch (chosen) {
#define SVMF_KAPPA_OP(name, function) \
  case KappaFunction::function:       \
    return f(std::integral_constant<KappaFunction, KappaFunction::function>{});
#include "common/ops.inc"
  }
  __builtin_unreachable();
}

template <class F>
auto with_constant(Family chosen, F f) {
  switch (chosen) {
    case Family::kVonMisesFisher:
      return f(std::integral_constant<Family, Family::kVonMisesFisher>{});
    case Family::kSphericalCauchy:
      return f(std::integral_constant<Family, Family::kSphericalCauchy>{});
    case Family::kPowerSpherical:
      return f(std::integral_constant<Family, Family::kPowerSpherical>{});
  }
  __builtin_unreachable();
}

template <class F>
auto with_constant(RhoFunction chosen, F f) {
  switch (chosen) {
#define SVMF_RHO_OP(name, function) \
  case RhoFunction::function:       \
    return f(std::integral_constant<RhoFunction, RhoFunction::function>{});
#include "common/ops.inc"
  }
  __builtin_unreachable();
}

template <class F>
auto with_constant(PowerFunction chosen, F f) {
  switch (chosen) {
#define SVMF_POWER_OP(name, function) \
  case PowerFunction::function:       \
    return f(std::integral_constant<PowerFunction, PowerFunction::function>{});
#include "common/ops.inc"
  }
  __builtin_unreachable();
}

template <class F>
auto with_constant(BesselFunction chosen, F f) {
  switch (chosen) {
#define SVMF_BESSEL_OP(name, function) \
  case BesselFunction::function:       \
    return f(std::integral_constant<BesselFunction, BesselFunction::function>{});
#include "common/ops.inc"
  }
  __builtin_unreachable();
}

}  // namespace svmf
