// SPDX-License-Identifier: MIT
// The reflections that turn e1 into mu, as numbers per row; what runs along the row stands in the
// kernels.
//
// householder:
//     H = I - 2 u u'/(u'u),   u = e1 - mu.
// 1 - mu_0 is exact where it is small, so H is orthogonal to rounding for every mu, also next to
// e1; mu = e1 gives the identity.
//
// The sampler takes the better conditioned of the two reflections that a sign allows. With sigma =
// -sign(mu_0) and d = 1 + |mu_0| nothing cancels, and the sample is
//     z = s g + beta mu
// with g the direction (docs/sampling.md).
#pragma once

#include "math/lanes.h"

namespace svmf {
inline namespace SVMF_ISA {

// 2 (u'y)/(u'u), zero for mu = e1.
template <class V>
SVMF_INLINE V householder_coefficient(V uy, V uu) {
  return select(uu == V(0), V(0), (uy + uy) / uu);
}

// z = s g + beta mu, where g is the direction g_1, ..., g_(m-1) with `first` in front.
template <class V>
struct SampleReflection {
  V first;
  V beta;
};

// dot = sum of g_j mu_j over j >= 1; s = sqrt(1 - w^2)/|g|. 0 (dot + d) is nan if mu has a value
// that is not finite: then the whole row is.
template <class V>
SVMF_INLINE SampleReflection<V> reflect_sample(V w, V s, V dot, V mu0) {
  const V d = V(1) + absolute(mu0);
  const V ratio = dot / d;
  return {select(mu0 < V(0), ratio, -ratio), mul_add(dot + d, V(0), w - s * ratio)};
}

// What the gradient needs of one sample, with G the incoming gradient:
//     grad mu = beta G + gamma (z - beta mu),
//     beta = (w - sigma z_0)/d,   gamma = (sigma G_0 - G.mu)/d.
template <class V>
struct ReflectionGradient {
  V beta;
  V gamma;
};

template <class V>
SVMF_INLINE ReflectionGradient<V> reflection_gradient(V w, V z0, V g0, V g_mu, V mu0) {
  const V scale = V(1) / (V(1) + absolute(mu0));
  const auto negative = mu0 < V(0);
  return {(w - select(negative, z0, -z0)) * scale, (select(negative, g0, -g0) - g_mu) * scale};
}

// One column of grad mu, added to `sum`.
template <class V>
SVMF_INLINE V add_reflection_gradient(const ReflectionGradient<V>& r, V g, V z, V mu, V sum) {
  return mul_add(r.beta, g, mul_add(r.gamma, mul_add(-r.beta, mu, z), sum));
}

// (dw/dkappa)/(1-w^2) from dw/dkappa. At a pole (w = +-1 exactly) z does not move with w to first
// order.
template <class V>
SVMF_INLINE V step_along_meridian(V derivative, V one_minus_w, V one_plus_w) {
  const V product = one_minus_w * one_plus_w;
  return select(product == V(0), V(0), derivative / product);
}

// G.(mu - z) + (1-w) G.z: the gradient along the meridian, which that step goes.
template <class V>
SVMF_INLINE V gradient_along_meridian(V one_minus_w, V g_z, V g_difference) {
  return mul_add(one_minus_w, g_z, g_difference);
}

}  // namespace SVMF_ISA
}  // namespace svmf
