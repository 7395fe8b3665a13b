// SPDX-License-Identifier: MIT
// The reflection that takes e1 to mu (csrc/math/reflection.h), in O(m) per row:
//     z = H x,   H = I - 2 u u'/(u'u),   u = e1 - mu.
// Backward, with c = 2 u'x/u'u and t = 2 u'g/u'u:
//     grad_x = H g = g - t u,   grad_mu = c g + t z.
#include "cpu/kernels/rows.h"
#include "math/reflection.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

// u'y and u'u for up to two vectors y, lanes along the row. All three are sums: of a sum beside a
// difference g++ 12 makes one instruction that fuses their products, whatever it is told.
template <class S>
struct Projections {
  S uu, ux, ug;
};

template <class S>
Projections<S> project(const S* mu, const S* x, const S* g, int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  V uu(0), ux(0), ug(0);
  int64_t j = 1;
  for (; j + kWidth <= m; j += kWidth) {
    const V u = -V::load(mu + j);
    uu = mul_add(u, u, uu);
    ux = mul_add(u, V::load(x + j), ux);
    ug = mul_add(u, V::load(g + j), ug);
  }
  if (j < m) {
    const V u = -V::load_first(mu + j, m - j, S(0));
    uu = mul_add(u, u, uu);
    ux = mul_add(u, V::load_first(x + j, m - j, S(0)), ux);
    ug = mul_add(u, V::load_first(g + j, m - j, S(0)), ug);
  }
  const S u0 = S(1) - mu[0];
  return {u0 * u0 + sum_lanes(uu), u0 * x[0] + sum_lanes(ux), u0 * g[0] + sum_lanes(ug)};
}

}  // namespace

template <class S>
void householder_rows(const S* x, const S* loc, S* z, int64_t rows, int64_t m) {
  for (int64_t r = 0; r < rows; ++r, x += m, loc += m, z += m) {
    const Projections<S> p = project(loc, x, x, m);
    const S c = householder_coefficient(p.ux, p.uu);
    z[0] = x[0] - c * (S(1) - loc[0]);
    for (int64_t j = 1; j < m; ++j) z[j] = mul_add(c, loc[j], x[j]);
  }
}

template <class S>
void householder_backward_rows(const S* grad, const S* x, const S* loc, S* grad_x, S* grad_loc,
                               int64_t rows, int64_t m) {
  for (int64_t r = 0; r < rows; ++r, grad += m, x += m, loc += m, grad_x += m, grad_loc += m) {
    const Projections<S> p = project(loc, x, grad, m);
    const S c = householder_coefficient(p.ux, p.uu), t = householder_coefficient(p.ug, p.uu);
    const S u0 = S(1) - loc[0];
    grad_x[0] = grad[0] - t * u0;
    grad_loc[0] = c * grad[0] + t * (x[0] - c * u0);
    for (int64_t j = 1; j < m; ++j) {
      grad_x[j] = mul_add(t, loc[j], grad[j]);
      grad_loc[j] = mul_add(c, grad[j], t * mul_add(c, loc[j], x[j]));
    }
  }
}

template void householder_rows(const float*, const float*, float*, int64_t, int64_t);
template void householder_rows(const double*, const double*, double*, int64_t, int64_t);
template void householder_backward_rows(const float*, const float*, const float*, float*, float*,
                                        int64_t, int64_t);
template void householder_backward_rows(const double*, const double*, const double*, double*,
                                        double*, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
