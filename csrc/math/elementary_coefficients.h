// SPDX-License-Identifier: MIT
// Polynomials of csrc/math/elementary.h, lowest coefficient first.
// Made by tools/make_elementary.py: do not edit.
#pragma once

#include "common/host_device.h"

// clang-format off
namespace svmf {
inline namespace SVMF_ISA {
namespace elementary {

template <class Scalar>
struct Exp;
template <>
struct Exp<float> {
  static constexpr int kCount = 5;
  SVMF_HOST_DEVICE static constexpr float at(int i) {
    constexpr float c[] = {
        0x1.0000000000000p-1f,
        0x1.5554dc0000000p-3f,
        0x1.55551a0000000p-5f,
        0x1.120b6e0000000p-7f,
        0x1.6d110a0000000p-10f};
    return c[i];
  }
};
template <>
struct Exp<double> {
  static constexpr int kCount = 11;
  SVMF_HOST_DEVICE static constexpr double at(int i) {
    constexpr double c[] = {
        0x1.0000000000000p-1,
        0x1.5555555555557p-3,
        0x1.5555555555556p-5,
        0x1.11111111100dcp-7,
        0x1.6c16c16c162d4p-10,
        0x1.a01a01abe7fe1p-13,
        0x1.a01a01a6d889cp-16,
        0x1.71de0231960ebp-19,
        0x1.27e4db646b17ep-22,
        0x1.af4de97ca4194p-26,
        0x1.1f730349868cep-29};
    return c[i];
  }
};

template <class Scalar>
struct Log;
template <>
struct Log<float> {
  static constexpr int kCount = 3;
  SVMF_HOST_DEVICE static constexpr float at(int i) {
    constexpr float c[] = {
        0x1.55555c0000000p-1f,
        0x1.997c2e0000000p-2f,
        0x1.2ee6560000000p-2f};
    return c[i];
  }
};
template <>
struct Log<double> {
  static constexpr int kCount = 8;
  SVMF_HOST_DEVICE static constexpr double at(int i) {
    constexpr double c[] = {
        0x1.5555555555555p-1,
        0x1.9999999999a38p-2,
        0x1.2492492476c87p-2,
        0x1.c71c720160b47p-3,
        0x1.745cf901605f7p-3,
        0x1.3b1c360763b8ap-3,
        0x1.0fbe83c2cbcf3p-3,
        0x1.0c04595972ab8p-3};
    return c[i];
  }
};

template <class Scalar>
struct LogTail;
template <>
struct LogTail<float> {
  static constexpr int kCount = 7;
  SVMF_HOST_DEVICE static constexpr float at(int i) {
    constexpr float c[] = {
        0x1.55558c0000000p-2f,
        -0x1.0001d80000000p-2f,
        0x1.9946e20000000p-3f,
        -0x1.5406100000000p-3f,
        0x1.2d22c80000000p-3f,
        -0x1.1f5a480000000p-3f,
        0x1.72a3620000000p-4f};
    return c[i];
  }
};

template <class Scalar>
struct SineTurns;
template <>
struct SineTurns<float> {
  static constexpr int kCount = 4;
  SVMF_HOST_DEVICE static constexpr float at(int i) {
    constexpr float c[] = {
        0x1.921fb60000000p+2f,
        -0x1.4abbba0000000p+5f,
        0x1.465ec40000000p+6f,
        -0x1.2d9b400000000p+6f};
    return c[i];
  }
};
template <>
struct SineTurns<double> {
  static constexpr int kCount = 8;
  SVMF_HOST_DEVICE static constexpr double at(int i) {
    constexpr double c[] = {
        0x1.921fb54442d18p+2,
        -0x1.4abbce625be53p+5,
        0x1.466bc6775aad9p+6,
        -0x1.32d2cce62ac22p+6,
        0x1.50783485cbd83p+5,
        -0x1.e3074b4ff3058p+3,
        0x1.e8eed12ee00a3p+1,
        -0x1.6c5b875d4e739p-1};
    return c[i];
  }
};

template <class Scalar>
struct CosineTurns;
template <>
struct CosineTurns<float> {
  static constexpr int kCount = 4;
  SVMF_HOST_DEVICE static constexpr float at(int i) {
    constexpr float c[] = {
        -0x1.3bd3cc0000000p+4f,
        0x1.03c1ea0000000p+6f,
        -0x1.55cb980000000p+6f,
        0x1.db64920000000p+5f};
    return c[i];
  }
};
template <>
struct CosineTurns<double> {
  static constexpr int kCount = 7;
  SVMF_HOST_DEVICE static constexpr double at(int i) {
    constexpr double c[] = {
        -0x1.3bd3cc9be45dep+4,
        0x1.03c1f081b5ac0p+6,
        -0x1.55d3c7e3cb241p+6,
        0x1.e1f5068688d5bp+5,
        -0x1.a6d1eef479be1p+4,
        0x1.f9ce245cada0bp+2,
        -0x1.b2f3eb054afcdp+0};
    return c[i];
  }
};

}  // namespace elementary
}  // namespace SVMF_ISA
}  // namespace svmf
// clang-format on
