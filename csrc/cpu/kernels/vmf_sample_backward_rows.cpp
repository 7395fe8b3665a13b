// SPDX-License-Identifier: MIT
// Backward pass of the sampler, fused: from the incoming gradient G and what the forward pass kept (z, 1-w, 1+w).
//
// With sigma = -sign(mu_0), d = 1 + |mu_0|, beta = (w - sigma z_0)/d, gamma = (sigma G_0 - G.mu)/d (docs/sampling.md):
//   grad mu    = beta G + gamma (z - beta mu)                    summed over the samples of a row
//   grad kappa = dw/dkappa (G.(mu - z) + (1-w) G.z)/(1-w^2)      likewise, and KL's and the correction's part
// A group of N rows shares the scalar work (lane = row). Few columns: all of it runs lane = row, with transposes.
#include <algorithm>

#include "cpu/kernels/rows.h"
#include "math/vmf_pathwise.h"
#include "math/wood.h"
#include "math/wood_gradients.h"
#include "simd/transpose.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

template <class S>
class SampleBackward {
  using V = RowVec<S>;
  static constexpr int kWidth = Lanes<V>::kWidth;

 public:
  explicit SampleBackward(const SampleBackwardRows<S>& task)
      : task_(task), table_(make_vmf_table<S>(task.m)), pathwise_(make_pathwise_table<S>(task.m)) {}

  void run(int64_t begin, int64_t end) {
    const S* grad_end = task_.grad_loc + end * task_.m;
    for (int64_t b = begin; b < end; b += kWidth) {
      const int n = static_cast<int>(std::min<int64_t>(kWidth, end - b));
      const V kappa = V::load_first(task_.kappa + b, n, S(1));
      V grad_kappa(0);
      if (task_.grad_kl != nullptr) {
        grad_kappa = V::load_first(task_.grad_kl + b, n, S(0)) *
                     evaluate_kappa_function<KappaFunction::kKlUniformGrad>(kappa, table_);
      }
      if (task_.m < 2 * kWidth) few_columns(b, n, kappa, &grad_kappa, const_cast<S*>(grad_end));
      else many_columns(b, n, kappa, &grad_kappa);
      grad_kappa.store_first(task_.grad_kappa + b, n);
    }
  }

 private:
  struct RowScalars {
    V w, below, along;  // along: (dw/dkappa)/(1 - w^2)
  };

  SVMF_INLINE RowScalars row_scalars(int64_t row, int n, V kappa, V* grad_kappa) {
    const Cosine<V> c{V::load_first(task_.below + row, n, S(1)), V::load_first(task_.above + row, n, S(1))};
    const V product = c.below * c.above;
    // m = 3 is drawn by inversion: the derivative through the proposal is the pathwise one, and nothing needs correction.
    const bool pathwise = task_.gradient == SampleGradient::kPathwise || task_.m == 3;
    const V derivative = pathwise
                             ? pathwise_derivative(c.below, c.above, kappa, table_, pathwise_)
                             : rejection_derivative(c.below, c.above, kappa, V(table_.nu));
    if (task_.grad_log_ratio != nullptr && task_.m != 3) {
      const V grad = V::load_first(task_.grad_log_ratio + row, n, S(0));
      *grad_kappa = mul_add(grad, log_ratio_derivative(c.below, c.above, kappa, table_), *grad_kappa);
    }
    // At a pole (w = +-1 exactly) z does not move with w to first order.
    return {cosine_value(c), c.below, select(product == V(0), V(0), derivative / product)};
  }

  SVMF_INLINE void few_columns(int64_t b, int n, V kappa, V* grad_kappa, S* grad_end) {
    const int64_t m = task_.m;
    V mu[2 * kWidth], total[2 * kWidth];
    load_columns(task_.loc, b, task_.batch, n, mu);
    for (int64_t j = 0; j < m; ++j) total[j] = V(0);
    const V d = V(1) + absolute(mu[0]);
    const auto negative = mu[0] < V(0);
    for (int64_t sample = 0; sample < task_.samples; ++sample) {
      const int64_t row = sample * task_.batch + b;
      V g[2 * kWidth], z[2 * kWidth];
      load_columns(task_.grad_z, row, task_.samples * task_.batch, n, g);
      load_columns(task_.z, row, task_.samples * task_.batch, n, z);
      V g_mu(0), g_z(0), g_step(0);
      for (int64_t j = 0; j < m; ++j) {
        g_mu = mul_add(g[j], mu[j], g_mu);
        g_z = mul_add(g[j], z[j], g_z);
        g_step = mul_add(g[j], mu[j] - z[j], g_step);
      }
      const RowScalars x = row_scalars(row, n, kappa, grad_kappa);
      *grad_kappa = mul_add(x.along, mul_add(x.below, g_z, g_step), *grad_kappa);
      const V beta = (x.w - select(negative, z[0], -z[0])) / d;
      const V gamma = (select(negative, g[0], -g[0]) - g_mu) / d;
      for (int64_t j = 0; j < m; ++j) {
        total[j] = mul_add(beta, g[j], mul_add(gamma, mul_add(-beta, mu[j], z[j]), total[j]));
      }
    }
    store_columns(total, b, n, grad_end);
  }

  // Columns of n rows as lanes; `rows` rows in all stand at `base`.
  SVMF_INLINE void load_columns(const S* base, int64_t row, int64_t rows, int n, V* out) {
    const int64_t m = task_.m;
    const S* end = base + rows * m;
    const int64_t second = m > kWidth ? m - kWidth : 0;
    V tile[kWidth];
    if (second != 0) {
      for (int j = 0; j < kWidth; ++j) tile[j] = V::load(base + (row + std::min(j, n - 1)) * m + second);
      transpose(tile);
      for (int j = 0; j < kWidth; ++j) out[second + j] = tile[j];
    }
    for (int j = 0; j < kWidth; ++j) tile[j] = load_row(base + (row + std::min(j, n - 1)) * m, m, end);
    transpose(tile);
    for (int j = 0; j < kWidth; ++j) out[j] = tile[j];
  }

  SVMF_INLINE void store_columns(const V* total, int64_t b, int n, S* grad_end) {
    const int64_t m = task_.m;
    S* out = task_.grad_loc + b * m;
    const int64_t second = m > kWidth ? m - kWidth : 0;
    V tile[kWidth];
    if (second != 0) {
      for (int j = 0; j < kWidth; ++j) tile[j] = total[second + j];
      transpose(tile);
      for (int j = 0; j < n; ++j) tile[j].store(out + j * m + second);
    }
    for (int j = 0; j < kWidth; ++j) tile[j] = j < m ? total[j] : V(0);
    transpose(tile);
    for (int j = 0; j < n; ++j) {
      if (second != 0) tile[j].store(out + j * m);
      else store_row<S>(tile[j], out + j * m, m, grad_end);
    }
  }

  void many_columns(int64_t b, int n, V kappa, V* grad_kappa) {
    const int64_t m = task_.m;
    for (int64_t sample = 0; sample < task_.samples; ++sample) {
      const int64_t first = sample * task_.batch + b;
      const RowScalars x = row_scalars(first, n, kappa, grad_kappa);
      alignas(64) S step[kWidth] = {};
      for (int r = 0; r < n; ++r) {
        const S *g = task_.grad_z + (first + r) * m, *z = task_.z + (first + r) * m, *mu = task_.loc + (b + r) * m;
        S g_mu, g_z, g_step;
        row_dots(g, z, mu, &g_mu, &g_z, &g_step);
        step[r] = mul_add(x.below[r], g_z, g_step);
        const S d = S(1) + absolute(mu[0]);
        const bool negative = mu[0] < S(0);
        const S beta = (x.w[r] - (negative ? z[0] : -z[0])) / d;
        const S gamma = ((negative ? g[0] : -g[0]) - g_mu) / d;
        row_update(g, z, mu, beta, gamma, sample == 0, task_.grad_loc + (b + r) * m);
      }
      *grad_kappa = mul_add(x.along, V::load(step), *grad_kappa);
    }
  }

  SVMF_INLINE void row_dots(const S* g, const S* z, const S* mu, S* g_mu, S* g_z, S* g_step) {
    const int64_t m = task_.m;
    V dot_mu(0), dot_z(0), dot_step(0);
    int64_t j = 0;
    for (; j + kWidth <= m; j += kWidth) {
      const V gj = V::load(g + j), zj = V::load(z + j), mj = V::load(mu + j);
      dot_mu = mul_add(gj, mj, dot_mu);
      dot_z = mul_add(gj, zj, dot_z);
      dot_step = mul_add(gj, mj - zj, dot_step);
    }
    *g_mu = sum_lanes(dot_mu);
    *g_z = sum_lanes(dot_z);
    *g_step = sum_lanes(dot_step);
    for (; j < m; ++j) {
      *g_mu = mul_add(g[j], mu[j], *g_mu);
      *g_z = mul_add(g[j], z[j], *g_z);
      *g_step = mul_add(g[j], mu[j] - z[j], *g_step);
    }
  }

  SVMF_INLINE void row_update(const S* g, const S* z, const S* mu, S beta, S gamma, bool fresh, S* out) {
    const int64_t m = task_.m;
    const V b(beta), c(gamma);
    int64_t j = 0;
    for (; j + kWidth <= m; j += kWidth) {
      const V old = fresh ? V(0) : V::load(out + j);
      const V tangent = mul_add(-b, V::load(mu + j), V::load(z + j));
      mul_add(b, V::load(g + j), mul_add(c, tangent, old)).store(out + j);
    }
    for (; j < m; ++j) {
      const S old = fresh ? S(0) : out[j];
      out[j] = mul_add(beta, g[j], mul_add(gamma, mul_add(-beta, mu[j], z[j]), old));
    }
  }

  const SampleBackwardRows<S>& task_;
  VmfTable<S> table_;
  PathwiseTable<S> pathwise_;
};

}  // namespace

template <class S>
void vmf_sample_backward_rows(const SampleBackwardRows<S>& task, int64_t begin, int64_t end) {
  SampleBackward<S>(task).run(begin, end);
}

template void vmf_sample_backward_rows(const SampleBackwardRows<float>&, int64_t, int64_t);
template void vmf_sample_backward_rows(const SampleBackwardRows<double>&, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
