// SPDX-License-Identifier: MIT
// w = mu.z of a vMF sample: Wood's rejection sampler ("Simulation of the von Mises Fisher
// distribution", 1994; Algorithm 2 of Davidson et al. 2018), without cancellation at any kappa, and
// the closed form for m = 3.
//
// Both 1-w and 1+w are carried, because neither can be recovered from w near |w| = 1. With
//     nu = (m-1)/2,   s = sqrt(nu^2 + kappa^2),   b = nu/(s + kappa),
//     eps ~ Beta(nu, nu),   D = (1-eps) + b eps
// a proposal is
//     1-w = 2 b eps/D,   1+w = 2 (1-eps)/D,
//     log acceptance = 2 nu (x + log1p(-x)),   x = kappa (1-2 eps)/((s+kappa+nu) D).
// The symmetric Beta comes from Ulrich's polar formula,
//     eps = (1 + rho cos(theta))/2,   rho^2 = 1 - U^(1/(nu-1/2));
// for m = 5 (Beta(2, 2)) it is the median of three uniform numbers.
//
// Termination: the acceptance probability of a proposal falls with kappa from 1 to
//     e^nu Gamma(2 nu)/((4 nu)^nu Gamma(nu)),
// which is smallest for m = 2: sqrt(e/(2 pi)) = 0.6577 (tests/sampler/test_proposals.py scans it).
// So kMaxProposals rejections in a row have probability below 0.343^256 < 1e-118. A row that got
// there all the same is given nan.
#pragma once

#include "math/elementary.h"
#include "math/uniform.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kMaxProposals = 256;

// Philox blocks that one proposal takes: up to 4 uniform numbers.
template <class Scalar>
inline constexpr int kBlocksPerProposal = sizeof(Scalar) == 4 ? 1 : 2;

// Uniform number i of a proposal's blocks.
template <class V, class W, int K>
SVMF_INLINE V proposal_uniform(const PhiloxBlock<W> (&blocks)[K], int i) {
  constexpr int kDraws = kDrawsPerBlock<ScalarOf<V>>;
  return open_uniform<V>(blocks[i / kDraws], i % kDraws);
}
template <class V, class W, int K>
SVMF_INLINE V proposal_turns(const PhiloxBlock<W> (&blocks)[K], int i) {
  constexpr int kDraws = kDrawsPerBlock<ScalarOf<V>>;
  return uniform_turns<V>(blocks[i / kDraws], i % kDraws);
}

// Constants of m.
template <class Scalar>
struct WoodDimension {
  Scalar nu;
  Scalar twice_nu;
  Scalar beta_exponent;  // 1/(nu - 1/2); unused for m = 2
  bool circle;           // m = 2
  bool median;           // m = 5
};

template <class Scalar>
inline WoodDimension<Scalar> make_wood_dimension(int64_t m) {
  const double nu = 0.5 * static_cast<double>(m - 1);
  return {static_cast<Scalar>(nu), static_cast<Scalar>(2 * nu),
          static_cast<Scalar>(m == 2 ? 0.0 : 1.0 / (nu - 0.5)), m == 2, m == 5};
}

// Constants of one kappa.
template <class V>
struct WoodConcentration {
  V b;
  V slope;  // kappa/(s + kappa + nu)
};

template <class V>
SVMF_INLINE WoodConcentration<V> prepare_wood(V kappa,
                                              const WoodDimension<ScalarOf<V>>& dimension) {
  const V nu(dimension.nu);
  const V sum = square_root(mul_add(kappa, kappa, nu * nu)) + kappa;
  return {nu / sum, kappa / (sum + nu)};
}

// The part of w that a sample keeps.
template <class V>
struct Cosine {
  V below;  // 1 - w
  V above;  // 1 + w
};

// w from the smaller of the two: exact where it matters.
template <class V>
SVMF_INLINE V cosine_value(const Cosine<V>& c) {
  return select(c.below < c.above, V(1) - c.below, c.above - V(1));
}

// 2 eps and 2 (1 - eps), both to full relative precision.
template <class V>
struct TwiceBeta {
  V low, high;
};

// m = 2: the arcsine distribution.
template <class V>
SVMF_INLINE TwiceBeta<V> twice_arcsine(V turns) {
  V sine, cosine;
  sine_cosine_turns(turns * V(ScalarOf<V>(0.5)), &sine, &cosine);
  return {V(2) * cosine * cosine, V(2) * sine * sine};
}

template <class V>
SVMF_INLINE V median(V a, V b, V c) {
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

// m = 5. The median of 1 - u belongs to the same number: rounding keeps the order.
template <class V, class W, int K>
SVMF_INLINE TwiceBeta<V> twice_median(const PhiloxBlock<W> (&blocks)[K]) {
  constexpr int kDraws = kDrawsPerBlock<ScalarOf<V>>;
  V u[3], v[3];
  for (int i = 0; i < 3; ++i) uniform_pair(blocks[i / kDraws], i % kDraws, &u[i], &v[i]);
  return {V(2) * median(u[0], u[1], u[2]), V(2) * median(v[0], v[1], v[2])};
}

// Every other m: sums of positive terms. For m = 4 the exponent is 1.
template <class V>
SVMF_INLINE TwiceBeta<V> twice_polar(V u, V one_minus_u, V turns, ScalarOf<V> exponent) {
  using S = ScalarOf<V>;
  V sine, cosine, power = u, power_minus_one = -one_minus_u;
  sine_cosine_turns(turns * V(S(0.5)), &sine, &cosine);
  if (exponent != S(1))
    exponential_pair(log_normal_number(u) * V(exponent), &power, &power_minus_one);
  const V rho = square_root(-power_minus_one);
  const V rest = power / (V(1) + rho);  // 1 - rho
  const V twice_rho = rho + rho;
  return {mul_add(twice_rho * cosine, cosine, rest), mul_add(twice_rho * sine, sine, rest)};
}

// eps of a proposal, that is (1 - cosine)/2 of a uniform vector.
template <class V, class W, int K>
SVMF_INLINE TwiceBeta<V> propose_beta(const PhiloxBlock<W> (&blocks)[K],
                                      const WoodDimension<ScalarOf<V>>& dimension) {
  if (dimension.circle) return twice_arcsine(proposal_turns<V>(blocks, 1));
  if (dimension.median) return twice_median<V>(blocks);
  V u, one_minus_u;
  uniform_pair(blocks[0], 0, &u, &one_minus_u);
  return twice_polar(u, one_minus_u, proposal_turns<V>(blocks, 1), dimension.beta_exponent);
}

// One proposal; true where it is accepted.
template <class V, class W, int K>
SVMF_INLINE MaskOf<V> wood_propose(const PhiloxBlock<W> (&blocks)[K],
                                   const WoodConcentration<V>& row,
                                   const WoodDimension<ScalarOf<V>>& dimension, Cosine<V>* out) {
  const TwiceBeta<V> twice = propose_beta<V>(blocks, dimension);
  const V scale = V(1) / mul_add(row.b, twice.low, twice.high);  // 1/(2 D)
  const V twice_scale = scale + scale;
  *out = {row.b * twice.low * twice_scale, twice.high * twice_scale};
  const V x = row.slope * (twice.high - twice.low) * scale;
  V exponential_value, unused;
  if (dimension.circle || dimension.median) {
    // ((1-x) e^x)^(2 nu) as it stands: an absolute error of a few eps in a probability.
    exponential_pair(x, &exponential_value, &unused);
    const V base = (V(1) - x) * exponential_value;
    if (dimension.circle) return proposal_uniform<V>(blocks, 2) <= base;
    return proposal_uniform<V>(blocks, 3) <= square(square(base));
  }
  exponential_pair(V(dimension.twice_nu) * log1p_minus_argument(-x), &exponential_value, &unused);
  return proposal_uniform<V>(blocks, 2) <= exponential_value;
}

// m = 3: w has density proportional to exp(kappa w). With u uniform and v = 1-u,
//     1-w = -log(u + v e^(-2 kappa))/kappa.
template <class V>
SVMF_INLINE Cosine<V> sphere_cosine(V u, V v, V kappa) {
  using S = ScalarOf<V>;
  V decay, decay_minus_one;
  exponential_pair(-(kappa + kappa), &decay, &decay_minus_one);
  const V y = v * decay_minus_one;
  const V rest = mul_add(v, decay, u);  // 1 + y without cancellation
  const V logarithm = select(y > V(S(-0.5)), log1p_positive(y), log_reduced(rest, V(0)));
  const V below = minimum(select(kappa == V(0), v + v, -logarithm / kappa), V(2));
  return {below, V(2) - below};
}

}  // namespace SVMF_ISA
}  // namespace svmf
