// SPDX-License-Identifier: MIT
// Backward pass of the sampler, fused: from the incoming gradient G and what the forward pass kept
// (z, 1-w, 1+w).
//
// With sigma = -sign(mu_0) and d = 1 + |mu_0| (docs/sampling.md):
//     beta = (w - sigma z_0)/d,   gamma = (sigma G_0 - G.mu)/d,
//     grad mu    = beta G + gamma (z - beta mu),
//     grad kappa = dw/dkappa (G.(mu - z) + (1-w) G.z)/(1-w^2),
// both summed over the samples of a row; grad kappa also has the KL's and the correction's part. The
// families differ in dw/dkappa and in the KL alone (csrc/cpu/kernels/cosine_slopes.h).
//
// A group of 2N rows shares the scalar work (lane = row, two registers). Few columns: all of it
// runs lane = row, with transposes. Many columns: the vectors' part runs along the rows.
#include <algorithm>

#include "cpu/kernels/cosine_slopes.h"
#include "cpu/kernels/rows.h"
#include "cpu/kernels/tiles.h"
#include "math/reflection.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

template <class S>
class SampleBackward {
  using V = RowVec<S>;
  using Pair = Twin<V>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  static constexpr int kGroup = 2 * kWidth;

 public:
  SampleBackward(const SampleBackwardArguments<S>& task, const CosineSlopes<S>& slopes)
      : task_(task), slopes_(slopes) {}

  void run(int64_t begin, int64_t end) {
    with_columns<S>(task_.m, [&](auto columns) {
      S* grad_end = task_.grad_loc + end * task_.m;
      for (int64_t b = begin; b < end; b += kGroup) {
        run_group<decltype(columns)::value>(b, static_cast<int>(std::min<int64_t>(kGroup, end - b)),
                                            grad_end);
      }
    });
  }

 private:
  struct RowScalars {
    Pair w, below, along;  // along: (dw/dkappa)/(1 - w^2)
  };

  template <int kColumns>
  SVMF_INLINE void run_group(int64_t b, int n, S* grad_end) {
    const Pair kappa = Pair::load_first(task_.kappa + b, n, S(1));
    Pair grad_kappa(0);
    if (task_.grad_kl != nullptr) {
      Pair slope;
      slopes_.of_kl(kappa, &slope);
      grad_kappa = Pair::load_first(task_.grad_kl + b, n, S(0)) * slope;
    }
    if constexpr (kColumns != 0)
      few_columns<kColumns>(b, n, kappa, &grad_kappa, grad_end);
    else
      many_columns(b, n, kappa, &grad_kappa);
    grad_kappa.store_first(task_.grad_kappa + b, n);
  }

  // What a sample needs of its w; adds the correction's part to grad_kappa. One copy for all
  // numbers of columns.
  __attribute__((noinline)) RowScalars row_scalars(int64_t row, int n, Pair kappa,
                                                   Pair* grad_kappa) {
    const Cosine<Pair> c{Pair::load_first(task_.below + row, n, S(1)),
                         Pair::load_first(task_.above + row, n, S(1))};
    Pair along;
    slopes_.along_meridian(c, kappa, &along);
    if (task_.grad_log_ratio != nullptr) {
      const Pair grad = Pair::load_first(task_.grad_log_ratio + row, n, S(0));
      Pair slope;
      slopes_.of_log_ratio(c, kappa, &slope);
      *grad_kappa = mul_add(grad, slope, *grad_kappa);
    }
    return {cosine_value(c), c.below, along};
  }

  // Columns of the rows row ... row + n as lanes; `rows` rows in all stand at `base`.
  template <int kColumns>
  SVMF_INLINE void load_columns(const S* base, int64_t row, int64_t rows, int n, V* out) {
    Tiles<kColumns, S>::load(base + row * kColumns, n, base + rows * kColumns, out);
  }

  template <int kColumns>
  SVMF_INLINE void few_columns(int64_t b, int n, Pair kappa, Pair* grad_kappa, S* grad_end) {
    constexpr int kPadded = Tiles<kColumns, S>::kPadded;
    const int64_t rows = task_.samples * task_.batch;
    const int halves = n > kWidth ? 2 : 1;
    V mu[2][kPadded], total[2][kPadded];
    for (int h = 0; h < halves; ++h) {
      load_columns<kColumns>(task_.loc, b + h * kWidth, task_.batch, n - h * kWidth, mu[h]);
      for (int j = 0; j < kColumns; ++j) total[h][j] = V(0);
    }
    for (int64_t sample = 0; sample < task_.samples; ++sample) {
      const int64_t row = sample * task_.batch + b;
      const RowScalars x = row_scalars(row, n, kappa, grad_kappa);
      Pair step(0);
      for (int h = 0; h < halves; ++h) {
        V g[kPadded], z[kPadded];
        load_columns<kColumns>(task_.grad_z, row + h * kWidth, rows, n - h * kWidth, g);
        load_columns<kColumns>(task_.z, row + h * kWidth, rows, n - h * kWidth, z);
        const V part = accumulate<kColumns>(h == 0 ? x.w.a : x.w.b, h == 0 ? x.below.a : x.below.b,
                                            mu[h], g, z, total[h]);
        (h == 0 ? step.a : step.b) = part;
      }
      *grad_kappa = mul_add(x.along, step, *grad_kappa);
    }
    for (int h = 0; h < halves; ++h) {
      const int count = std::min(kWidth, n - h * kWidth);
      Tiles<kColumns, S>::store(total[h], task_.grad_loc + (b + h * kWidth) * kColumns, count,
                                grad_end);
    }
  }

  // Adds one sample's part to the gradient of mu; returns G.(mu - z) + (1-w) G.z.
  template <int kColumns>
  static SVMF_INLINE V accumulate(V w, V below, const V* mu, const V* g, const V* z, V* total) {
    V g_mu = g[0] * mu[0], g_z = g[0] * z[0], g_step = g[0] * (mu[0] - z[0]);
    for (int j = 1; j < kColumns; ++j) {
      g_mu = mul_add(g[j], mu[j], g_mu);
      g_z = mul_add(g[j], z[j], g_z);
      g_step = mul_add(g[j], mu[j] - z[j], g_step);
    }
    const ReflectionGradient<V> r = reflection_gradient(w, z[0], g[0], g_mu, mu[0]);
    for (int j = 0; j < kColumns; ++j)
      total[j] = add_reflection_gradient(r, g[j], z[j], mu[j], total[j]);
    return gradient_along_meridian(below, g_z, g_step);
  }

  void many_columns(int64_t b, int n, Pair kappa, Pair* grad_kappa) {
    const int64_t m = task_.m;
    if (task_.samples == 0) std::fill(task_.grad_loc + b * m, task_.grad_loc + (b + n) * m, S(0));
    for (int64_t sample = 0; sample < task_.samples; ++sample) {
      const int64_t first = sample * task_.batch + b;
      const RowScalars x = row_scalars(first, n, kappa, grad_kappa);
      alignas(64) S step[kGroup] = {};
      for (int r = 0; r < n; ++r) {
        const S *g = task_.grad_z + (first + r) * m, *z = task_.z + (first + r) * m,
                *mu = task_.loc + (b + r) * m;
        S g_mu, g_z, g_step;
        row_dots(g, z, mu, &g_mu, &g_z, &g_step);
        step[r] = gradient_along_meridian(x.below[r], g_z, g_step);
        const auto gradient = reflection_gradient(x.w[r], z[0], g[0], g_mu, mu[0]);
        S* grad_loc = task_.grad_loc + (b + r) * m;
        if (sample == 0)
          row_update<true>(g, z, mu, gradient, grad_loc);
        else
          row_update<false>(g, z, mu, gradient, grad_loc);
      }
      *grad_kappa = mul_add(x.along, Pair::load(step), *grad_kappa);
    }
  }

  SVMF_INLINE void row_dots(const S* g, const S* z, const S* mu, S* g_mu, S* g_z, S* g_step) {
    const int64_t m = task_.m;
    V dot_mu(0), dot_z(0), dot_step(0);
    const auto add = [&](V gj, V zj, V mj) {
      dot_mu = mul_add(gj, mj, dot_mu);
      dot_z = mul_add(gj, zj, dot_z);
      dot_step = mul_add(gj, mj - zj, dot_step);
    };
    int64_t j = 0;
    for (; j + kWidth <= m; j += kWidth) add(V::load(g + j), V::load(z + j), V::load(mu + j));
    if (j < m) {
      add(V::load_or_zero(g + j, m - j), V::load_or_zero(z + j, m - j),
          V::load_or_zero(mu + j, m - j));
    }
    *g_mu = sum_lanes(dot_mu);
    *g_z = sum_lanes(dot_z);
    *g_step = sum_lanes(dot_step);
  }

  // The first sample's part is written, those of the others are added.
  template <bool kFirst>
  SVMF_INLINE void row_update(const S* g, const S* z, const S* mu, const ReflectionGradient<S>& r,
                              S* out) {
    const int64_t m = task_.m;
    const ReflectionGradient<V> all{V(r.beta), V(r.gamma)};
    int64_t j = 0;
    for (; j + kWidth <= m; j += kWidth) {
      const V old = kFirst ? V(0) : V::load(out + j);
      add_reflection_gradient(all, V::load(g + j), V::load(z + j), V::load(mu + j), old)
          .store(out + j);
    }
    if (j < m) {
      const V old = kFirst ? V(0) : V::load_or_zero(out + j, m - j);
      add_reflection_gradient(all, V::load_or_zero(g + j, m - j), V::load_or_zero(z + j, m - j),
                              V::load_or_zero(mu + j, m - j), old)
          .store_first(out + j, m - j);
    }
  }

  const SampleBackwardArguments<S>& task_;
  const CosineSlopes<S>& slopes_;
};

}  // namespace

template <class S>
void vmf_sample_backward_rows(const SampleBackwardArguments<S>& task, int64_t begin, int64_t end) {
  with_slopes<S>(task.family, task.gradient, task.m, [&](const CosineSlopes<S>& slopes) {
    SampleBackward<S>(task, slopes).run(begin, end);
  });
}

template void vmf_sample_backward_rows(const SampleBackwardArguments<float>&, int64_t, int64_t);
template void vmf_sample_backward_rows(const SampleBackwardArguments<double>&, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
