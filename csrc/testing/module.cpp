// SPDX-License-Identifier: MIT
// csrc/math as seen by the tests: every function on NumPy arrays, in both lane types ("scalar": one
// value as on the device; "vector": a register as in the row kernels). Development only, never in
// the wheel.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "common/table_cache.h"
#include "math/log_bessel.h"
#include "math/normal.h"
#include "math/vmf_concentration.h"
#include "math/vmf_kappa.h"
#include "math/vmf_pathwise.h"
#include "math/wood.h"
#include "math/wood_gradients.h"
#include "simd/vec.h"

namespace py = pybind11;

namespace svmf {
inline namespace SVMF_ISA {
namespace {

template <class S>
using Array = py::array_t<S, py::array::c_style | py::array::forcecast>;

// out[i] = f(in[0][i], in[1][i], ...) lane by lane, or a register at a time.
template <int K, class S, class F>
Array<S> map_arrays(const Array<S> (&in)[K], bool vector, F f) {
  const py::ssize_t n = in[0].size();
  Array<S> out(n);
  S* y = out.mutable_data();
  const auto call = [&](auto lane, py::ssize_t i, int count) {
    using V = decltype(lane);
    V x[K];
    for (int k = 0; k < K; ++k) {
      if constexpr (Lanes<V>::kWidth == 1)
        x[k] = in[k].data()[i];
      else
        x[k] = V::load_first(in[k].data() + i, count, in[k].data()[i]);
    }
    const V result = [&] {
      if constexpr (K == 1) return f(x[0]);
      if constexpr (K == 2) return f(x[0], x[1]);
      if constexpr (K == 3) return f(x[0], x[1], x[2]);
    }();
    if constexpr (Lanes<V>::kWidth == 1)
      y[i] = result;
    else
      result.store_first(y + i, count);
  };
  constexpr int kWidth = Lanes<RowVec<S>>::kWidth;
  for (py::ssize_t i = 0; i < n; i += vector ? kWidth : 1) {
    if (vector)
      call(RowVec<S>{}, i, static_cast<int>(std::min<py::ssize_t>(kWidth, n - i)));
    else
      call(S{}, i, 1);
  }
  return out;
}

template <class S>
void define_for(py::module_& m, const char* suffix) {
  const auto name = [&](const char* base) { return std::string(base) + suffix; };
  const auto unary = [&](const char* base, auto f) {
    m.def(
        name(base).c_str(),
        [f](Array<S> x, bool vector) { return map_arrays<1, S>({x}, vector, f); }, py::arg("x"),
        py::arg("vector") = true);
  };
  unary("exp", [](auto x) { return exponential(x); });
  unary("exp_of_pair", [](auto x) {
    decltype(x) e, e1;
    exponential_pair(x, &e, &e1);
    return e;
  });
  unary("expm1_of_pair", [](auto x) {
    decltype(x) e, e1;
    exponential_pair(x, &e, &e1);
    return e1;
  });
  unary("log", [](auto x) { return logarithm(x); });
  unary("log1p_positive", [](auto x) { return log1p_positive(x); });
  unary("log1p_minus_argument", [](auto x) { return log1p_minus_argument(x); });
  unary("sin_turns", [](auto x) {
    decltype(x) s, c;
    sine_cosine_turns(x, &s, &c);
    return s;
  });
  unary("cos_turns", [](auto x) {
    decltype(x) s, c;
    sine_cosine_turns(x, &s, &c);
    return c;
  });

  // The pathwise derivative with 1-w and 1+w given apart.
  m.def(
      name("pathwise").c_str(),
      [](Array<S> below, Array<S> above, Array<S> kappa, int64_t dim, bool vector) {
        const VmfTable<S> table = make_vmf_table<S>(dim);
        const PathwiseTable<S> pathwise = make_pathwise_table<S>(dim);
        return map_arrays<3, S>({below, above, kappa}, vector, [&](auto t, auto u, auto k) {
          return pathwise_derivative(t, u, k, table, pathwise);
        });
      },
      py::arg("below"), py::arg("above"), py::arg("kappa"), py::arg("dim"),
      py::arg("vector") = true);
  m.def(
      name("log_ratio_derivative").c_str(),
      [](Array<S> below, Array<S> above, Array<S> kappa, int64_t dim, bool vector) {
        const VmfTable<S> table = make_vmf_table<S>(dim);
        return map_arrays<3, S>({below, above, kappa}, vector, [&](auto t, auto u, auto k) {
          return log_ratio_derivative(t, u, k, table);
        });
      },
      py::arg("below"), py::arg("above"), py::arg("kappa"), py::arg("dim"),
      py::arg("vector") = true);

  // The normals of the first n/draws blocks of a row, as the sampler draws them.
  m.def(name("normals").c_str(), [](uint64_t seed, uint64_t row, int64_t blocks) {
    constexpr int kDraws = kDrawsPerBlock<S>;
    Array<S> out(blocks * kDraws);
    for (int64_t b = 0; b < blocks; ++b) {
      using W = WordOf<S>;
      PhiloxBlock<W> block[1] = {
          {{static_cast<W>(static_cast<uint32_t>(row)), static_cast<W>(row >> 32),
            static_cast<W>(b), static_cast<W>(kPurposeDirection)}}};
      philox(block, seed);
      S values[kDraws];
      normals<S>(block[0], values);
      std::copy(values, values + kDraws, out.mutable_data() + b * kDraws);
    }
    return out;
  });

  // Proposals of Wood's sampler for one kappa: (1-w, 1+w, accepted) for rows 0 ... n, attempt 0.
  m.def(name("wood_proposals").c_str(), [](uint64_t seed, double kappa, int64_t dim, int64_t n) {
    const WoodDimension<S> dimension = make_wood_dimension<S>(dim);
    const WoodConcentration<S> row = prepare_wood(static_cast<S>(kappa), dimension);
    Array<S> below(n), above(n);
    py::array_t<bool> accepted(n);
    for (int64_t r = 0; r < n; ++r) {
      using W = WordOf<S>;
      PhiloxBlock<W> blocks[kBlocksPerProposal<S>];
      for (int b = 0; b < kBlocksPerProposal<S>; ++b) {
        blocks[b] = {{static_cast<W>(static_cast<uint32_t>(r)), static_cast<W>(r >> 32),
                      static_cast<W>(b), static_cast<W>(kPurposeProposal)}};
      }
      philox(blocks, seed);
      Cosine<S> c;
      accepted.mutable_data()[r] = wood_propose(blocks, row, dimension, &c);
      below.mutable_data()[r] = c.below;
      above.mutable_data()[r] = c.above;
    }
    return py::make_tuple(below, above, accepted);
  });
}

// A cache of two tables that writes down what it makes.
struct SmallCache {
  TableCache<int64_t, 2> cache;
  std::vector<int64_t> made;
  int64_t get(int64_t number) {
    return cache.get(number, [this](int64_t n) {
      made.push_back(n);
      return 10 * n;
    });
  }
};

template <class W>
std::vector<uint32_t> philox_words(std::array<uint32_t, 4> counter, uint64_t key) {
  PhiloxBlock<W> block[1];
  for (int i = 0; i < 4; ++i) block[0].word[i] = W(counter[i]);
  philox(block, key);
  std::vector<uint32_t> words;
  for (int i = 0; i < 4; ++i) {
    if constexpr (std::is_integral_v<W>)
      words.push_back(static_cast<uint32_t>(block[0].word[i]));
    else
      words.push_back(static_cast<uint32_t>(block[0].word[i][0]));
  }
  return words;
}

}  // namespace
}  // namespace SVMF_ISA
}  // namespace svmf

PYBIND11_MODULE(svmf_math, m, py::mod_gil_not_used()) {
  svmf::define_for<float>(m, "_f32");
  svmf::define_for<double>(m, "_f64");
  py::class_<svmf::SmallCache>(m, "SmallCache")
      .def(py::init<>())
      .def("get", &svmf::SmallCache::get)
      .def_readonly("made", &svmf::SmallCache::made);
  m.def("log_gamma_one_plus", &svmf::log_gamma_one_plus);
  // Nodes and weights in long double where it has more digits, and in two doubles.
  m.def("gauss_jacobi", [](int n, int64_t dim, bool two_doubles) {
    py::array_t<double> nodes(n), weights(n);
    const auto compute =
        two_doubles ? svmf::gauss_jacobi<svmf::TwoDoubles> : svmf::gauss_jacobi<svmf::GaussNumber>;
    compute(n, dim, nodes.mutable_data(), weights.mutable_data());
    return py::make_tuple(nodes, weights);
  });
  // Four random words, computed in each kind of lane.
  m.def("philox", [](std::array<uint32_t, 4> counter, uint64_t key, const std::string& lanes) {
    if (lanes == "scalar32") return svmf::philox_words<uint32_t>(counter, key);
    if (lanes == "scalar64") return svmf::philox_words<uint64_t>(counter, key);
    if (lanes == "vector32")
      return svmf::philox_words<svmf::WordOf<svmf::RowVec<float>>>(counter, key);
    return svmf::philox_words<svmf::WordOf<svmf::RowVec<double>>>(counter, key);
  });
}
