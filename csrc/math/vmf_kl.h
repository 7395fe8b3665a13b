// SPDX-License-Identifier: MIT
// KL between two vMF distributions in the same R^m (docs/math.md):
//     KL(vMF(mu1, k1) || vMF(mu2, k2)) = B(k1, k2) + k2 A1 |mu1 - mu2|^2 / 2.
//
// B is the Bregman divergence of L,
//     B = L2 - L1 - A1 (k2 - k1).
// Close concentrations would cancel in that form. For k2/k1 in [1/3, 3] it is
//     B = (k2-k1)^2 int_0^1 (1-x) A'(k1 + x (k2-k1)) dx
// by Gauss-Legendre quadrature. Farther apart, with KL1 = k1 A1 - L1 in its own stable form,
//     B = KL1 + (L2 - k2) + k2 (1 - A1),
// or KL1 + L2 - k2 A1 for small k2.
#pragma once

#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace kl_quadrature {

// Gauss-Legendre rules on [0, 1] (mpmath, 21 digits), the lower half of each; the upper half is its
// mirror image.
template <class Scalar>
struct Rule;
template <>
struct Rule<double> {
  static constexpr int kNodes = 16;
  SVMF_HOST_DEVICE static constexpr double lower_node(int i) {
    constexpr double x[] = {0.00529953250417503370192, 0.027712488463383711961,
                            0.0671843988060841280598,  0.122297795822498483052,
                            0.191061877798678125777,   0.270991611171386306829,
                            0.359198224610370543385,   0.452493745081181279907};
    return x[i];
  }
  SVMF_HOST_DEVICE static constexpr double lower_weight(int i) {
    constexpr double w[] = {0.0135762297058770474259, 0.0311267619693239464314,
                            0.047579255841246392405,  0.0623144856277669360262,
                            0.0747979944082883660408, 0.0845782596975012690947,
                            0.0913017075224617944334, 0.0947253052275342481427};
    return w[i];
  }
};
template <>
struct Rule<float> {
  static constexpr int kNodes = 10;
  SVMF_HOST_DEVICE static constexpr double lower_node(int i) {
    constexpr double x[] = {0.013046735741414139961, 0.067468316655507744634,
                            0.160295215850487796883, 0.2833023029353764046,
                            0.425562830509184394558};
    return x[i];
  }
  SVMF_HOST_DEVICE static constexpr double lower_weight(int i) {
    constexpr double w[] = {0.0333356721543440687968, 0.0747256745752902965729,
                            0.109543181257991021998, 0.134633359654998177546,
                            0.147762112357376435087};
    return w[i];
  }
};

template <class Scalar>
SVMF_HOST_DEVICE constexpr double node(int i) {
  constexpr int kNodes = Rule<Scalar>::kNodes;
  return i < kNodes / 2 ? Rule<Scalar>::lower_node(i)
                        : 1.0 - Rule<Scalar>::lower_node(kNodes - 1 - i);
}
// With the factor 1 - x of the integrand.
template <class Scalar>
SVMF_HOST_DEVICE constexpr double weight(int i) {
  constexpr int kNodes = Rule<Scalar>::kNodes;
  return Rule<Scalar>::lower_weight(i < kNodes / 2 ? i : kNodes - 1 - i) * (1.0 - node<Scalar>(i));
}

}  // namespace kl_quadrature

template <class V>
SVMF_INLINE V bregman_near(V k1, V k2, const VmfTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V step = k2 - k1;
  V sum(0);
  for (int i = 0; i < kl_quadrature::Rule<S>::kNodes; ++i) {
    const V k = mul_add(step, V(kl_quadrature::node<S>(i)), k1);
    const MeanLength<V> x = mean_length_at(place_kappa(k, table), table);
    sum = mul_add(V(kl_quadrature::weight<S>(i)), (x.e + x.e) / x.q, sum);
  }
  return step * (step * sum);
}

template <class V>
SVMF_INLINE V bregman_far(V k1, V k2, const MeanLength<V>& mean1, const KappaPlace<V>& place1,
                          const VmfTable<ScalarOf<V>>& table) {
  const KappaPlace<V> place2 = place_kappa(k2, table);
  const V log1 = shared_logarithm(place1), log2 = shared_logarithm(place2);
  const V own = kl_uniform_at(place1, log1, table);
  const V small = log_partition_at(place2, log2, table) - k2 * mean1.A;
  const V large =
      log_partition_minus_kappa_at(place2, log2, table) + k2 * one_minus_mean_length(mean1, k1);
  return own + select(k2 < V(table.nu), small, large);
}

// squared_distance = |mu1 - mu2|^2. Negative or nan kappas -> nan.
template <class V>
SVMF_INLINE V vmf_kl(V k1, V k2, V squared_distance, const VmfTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const KappaPlace<V> place1 = place_kappa(k1, table);
  const MeanLength<V> mean1 = mean_length_at(place1, table);
  const auto near = (k2 * V(3) >= k1) & (k2 <= k1 * V(3));
  const V far = bregman_far(k1, k2, mean1, place1, table);
  const V B = any(near) ? select(near, bregman_near(k1, k2, table), far) : far;
  const V kl = mul_add(k2 * mean1.A, V(S(0.5)) * squared_distance, B);
  return select((k1 >= V(0)) & (k2 >= V(0)), kl, not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
