// SPDX-License-Identifier: MIT
// How each family draws w = mu.z: a proposal of Wood's form (wood.h),
//     1-w = 2 b eps/D,   1+w = 2 (1-eps)/D,   D = (1-eps) + b eps,   eps ~ Beta(nu, nu),
// accepted or not; for m = 3 by inversion. The random words are the same for all (docs/rng.md).
//
// Spherical Cauchy. The Moebius map of a uniform vector u,
//     z = (1 - rho^2)/|u + rho mu|^2 (u + rho mu) + rho mu,
// leaves the meridian through mu where it is and takes mu.u = 1 - 2 eps to w of that form with
//     b = ((1-rho)/(1+rho))^2:
// no proposal is rejected.
//
// Power spherical. (1-w)/2 ~ Beta(nu, nu + kappa). With b = nu/(nu + kappa), the best choice,
//     r = 1 - 2 eps,   q = b r/D,   y = (1-b) r/(2 D),
//     log acceptance = 2 nu (y + log1p(-y)) + kappa (log1p(q) - q):
// two terms of one sign, 0 at r = 0. kappa = 0 accepts everything; for kappa -> infinity the second
// term vanishes, and the acceptance probability falls to Wood's limit, at least 0.6577
// (tests/sampler/test_proposals.py scans it).
#pragma once

#include "common/functions.h"
#include "math/wood.h"

namespace svmf {
inline namespace SVMF_ISA {

template <Family kFamily>
struct CosineLaw;

template <>
struct CosineLaw<Family::kVonMisesFisher> {
  template <class V>
  static SVMF_INLINE MaskOf<V> is_valid(V kappa) {
    return (kappa >= V(0)) & (kappa < infinity<V>());
  }
  template <class V>
  static SVMF_INLINE WoodConcentration<V> prepare(V kappa,
                                                  const WoodDimension<ScalarOf<V>>& dimension) {
    return prepare_wood(kappa, dimension);
  }
  template <class V, class W, int K>
  static SVMF_INLINE MaskOf<V> propose(const PhiloxBlock<W> (&blocks)[K],
                                       const WoodConcentration<V>& row,
                                       const WoodDimension<ScalarOf<V>>& dimension,
                                       Cosine<V>* out) {
    return wood_propose(blocks, row, dimension, out);
  }
  template <class V>
  static SVMF_INLINE Cosine<V> on_sphere(V u, V v, V kappa) {
    return sphere_cosine(u, v, kappa);
  }
};

template <>
struct CosineLaw<Family::kSphericalCauchy> {
  template <class V>
  static SVMF_INLINE MaskOf<V> is_valid(V rho) {
    return (rho >= V(0)) & (rho < V(1));
  }
  template <class V>
  static SVMF_INLINE WoodConcentration<V> prepare(V rho, const WoodDimension<ScalarOf<V>>&) {
    const V ratio = (V(1) - rho) / (V(1) + rho);
    return {ratio * ratio, V(0)};
  }
  template <class V, class W, int K>
  static SVMF_INLINE MaskOf<V> propose(const PhiloxBlock<W> (&blocks)[K],
                                       const WoodConcentration<V>& row,
                                       const WoodDimension<ScalarOf<V>>& dimension,
                                       Cosine<V>* out) {
    *out = of_beta(propose_beta<V>(blocks, dimension), row.b);
    return row.b == row.b;
  }
  template <class V>
  static SVMF_INLINE Cosine<V> on_sphere(V u, V v, V rho) {
    return of_beta(TwiceBeta<V>{u + u, v + v}, prepare(rho, WoodDimension<ScalarOf<V>>{}).b);
  }

 private:
  template <class V>
  static SVMF_INLINE Cosine<V> of_beta(const TwiceBeta<V>& twice, V b) {
    const V scale = V(2) / mul_add(b, twice.low, twice.high);  // 1/D
    return {b * twice.low * scale, twice.high * scale};
  }
};

template <>
struct CosineLaw<Family::kPowerSpherical> {
  template <class V>
  static SVMF_INLINE MaskOf<V> is_valid(V kappa) {
    return (kappa >= V(0)) & (kappa < infinity<V>());
  }
  // slope: 1 - b.
  template <class V>
  static SVMF_INLINE WoodConcentration<V> prepare(V kappa,
                                                  const WoodDimension<ScalarOf<V>>& dimension) {
    const V nu(dimension.nu), sum = nu + kappa;
    return {nu / sum, kappa / sum};
  }
  template <class V, class W, int K>
  static SVMF_INLINE MaskOf<V> propose(const PhiloxBlock<W> (&blocks)[K],
                                       const WoodConcentration<V>& row,
                                       const WoodDimension<ScalarOf<V>>& dimension,
                                       Cosine<V>* out) {
    using S = ScalarOf<V>;
    const V half(S(0.5));
    const TwiceBeta<V> twice = propose_beta<V>(blocks, dimension);
    const V scale = V(1) / mul_add(row.b, twice.low, twice.high);  // 1/(2 D)
    const V twice_scale = scale + scale;
    *out = {row.b * twice.low * twice_scale, twice.high * twice_scale};
    const V twice_r = twice.high - twice.low;
    const V q = row.b * twice_r * scale, y = row.slope * half * twice_r * scale;
    // log1p(q) - q; near q = -1 from 1 + q = (1 + b)(1 - eps)/D, which keeps its digits there.
    const V rest = maximum((V(1) + row.b) * twice.high * scale, V(S(1e-35)));
    const V far = log_normal_number(rest) - q;
    const V near = log1p_minus_argument(maximum(q, V(S(-0.25))));
    const V kappa = V(dimension.nu) * row.slope / row.b;
    V acceptance, unused;
    exponential_pair(mul_add(V(dimension.twice_nu), log1p_minus_argument(-y),
                             kappa * select(q < V(S(-0.25)), far, near)),
                     &acceptance, &unused);
    // Not an index that depends on m: on a GPU the blocks would leave their registers for it.
    const V uniform =
        dimension.median ? proposal_uniform<V>(blocks, 3) : proposal_uniform<V>(blocks, 2);
    return uniform <= acceptance;
  }
  // m = 3: 1-eps = u^(1/(1+kappa)).
  template <class V>
  static SVMF_INLINE Cosine<V> on_sphere(V u, V v, V kappa) {
    using S = ScalarOf<V>;
    const V log_u =
        select(v < V(S(0.5)), log1p_positive(-minimum(v, V(S(0.5)))), log_reduced(u, V(0)));
    V above, minus_below;
    exponential_pair(log_u / (V(1) + kappa), &above, &minus_below);
    return {-(minus_below + minus_below), above + above};
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
