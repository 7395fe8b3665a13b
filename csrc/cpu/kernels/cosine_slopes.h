// SPDX-License-Identifier: MIT
// What the families differ in when a sample is differentiated: how w = mu.z moves with the
// concentration, and the slope of the KL. Called once for a group of rows, so that the vectors' part
// of the backward pass is compiled once for all families.
#pragma once

#include "common/pathwise_tables.h"
#include "math/power_spherical_pathwise.h"
#include "math/reflection.h"
#include "math/spherical_cauchy.h"
#include "math/vmf_pathwise.h"
#include "math/wood.h"
#include "math/wood_gradients.h"
#include "simd/twin.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
class CosineSlopes {
 public:
  using Pair = Twin<RowVec<S>>;

  virtual ~CosineSlopes() = default;
  // (dw/dkappa)/(1 - w^2).
  virtual void along_meridian(const Cosine<Pair>& c, const Pair& kappa, Pair* out) const = 0;
  virtual void of_kl(const Pair& kappa, Pair* out) const = 0;
  // Of the log ratio of target and proposal: zero where no estimator needs it.
  virtual void of_log_ratio(const Cosine<Pair>&, const Pair&, Pair* out) const { *out = Pair(0); }
};

template <class S>
class VmfSlopes final : public CosineSlopes<S> {
  using Pair = typename CosineSlopes<S>::Pair;

 public:
  // m = 3 is drawn by inversion: the derivative through the proposal is the pathwise one, and
  // nothing needs correction.
  VmfSlopes(SampleGradient gradient, int64_t m)
      : inversion_(m == 3),
        is_pathwise_(gradient == SampleGradient::kPathwise || inversion_),
        table_(make_vmf_table<S>(m)),
        pathwise_(pathwise_table<S>(m)) {}

  void along_meridian(const Cosine<Pair>& c, const Pair& kappa, Pair* out) const override {
    const Pair derivative = is_pathwise_
                                ? pathwise_derivative(c.below, c.above, kappa, table_, pathwise_)
                                : rejection_derivative(c.below, c.above, kappa, Pair(table_.nu));
    *out = step_along_meridian(derivative, c.below, c.above);
  }
  void of_kl(const Pair& kappa, Pair* out) const override {
    *out = evaluate_kappa_function<KappaFunction::kKlUniformGrad>(kappa, table_);
  }
  void of_log_ratio(const Cosine<Pair>& c, const Pair& kappa, Pair* out) const override {
    *out = inversion_ ? Pair(0) : log_ratio_derivative(c.below, c.above, kappa, table_);
  }

 private:
  bool inversion_, is_pathwise_;
  VmfTable<S> table_;
  PathwiseTable<S> pathwise_;
};

template <class S>
class CauchySlopes final : public CosineSlopes<S> {
  using Pair = typename CosineSlopes<S>::Pair;

 public:
  explicit CauchySlopes(int64_t m) : table_(make_cauchy_table<S>(m)) {}

  void along_meridian(const Cosine<Pair>&, const Pair& rho, Pair* out) const override {
    *out = cauchy_step_along_meridian(rho);
  }
  void of_kl(const Pair& rho, Pair* out) const override {
    *out = evaluate_rho_function<RhoFunction::kKlUniformGrad>(rho, table_);
  }

 private:
  CauchyTable<S> table_;
};

template <class S>
class PowerSlopes final : public CosineSlopes<S> {
  using Pair = typename CosineSlopes<S>::Pair;

 public:
  explicit PowerSlopes(int64_t m)
      : table_(make_power_table<S>(m)), pathwise_(make_power_pathwise_table<S>(m)) {}

  void along_meridian(const Cosine<Pair>& c, const Pair& kappa, Pair* out) const override {
    *out = power_step_along_meridian(c.below, c.above, kappa, table_, pathwise_);
  }
  void of_kl(const Pair& kappa, Pair* out) const override {
    *out = evaluate_power_function<PowerFunction::kKlUniformGrad>(kappa, table_);
  }

 private:
  PowerTable<S> table_;
  PowerPathwiseTable<S> pathwise_;
};

// Calls f with the slopes of the family.
template <class S, class F>
void with_slopes(Family family, SampleGradient gradient, int64_t m, F f) {
  switch (family) {
    case Family::kVonMisesFisher:
      return f(VmfSlopes<S>(gradient, m));
    case Family::kSphericalCauchy:
      return f(CauchySlopes<S>(m));
    case Family::kPowerSpherical:
      return f(PowerSlopes<S>(m));
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
