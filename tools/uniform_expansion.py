# SPDX-License-Identifier: MIT
"""The uniform expansion in h = 1/nu of the functions E, W and V (docs/math.md), in exact rationals.

Polynomials in p = nu/s, s = sqrt(nu^2 + k^2), are lists of fractions, lowest power first.
"""

from __future__ import annotations

from fractions import Fraction

Polynomial = list[Fraction]


def add(*terms: Polynomial) -> Polynomial:
    total = [Fraction(0)] * max(map(len, terms))
    for term in terms:
        for i, a in enumerate(term):
            total[i] += a
    return total


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    total = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                total[i + j] += x * y
    return total


def times(a: Polynomial, factor: Fraction | int) -> Polynomial:
    return [factor * x for x in a]


def divide_by_p(a: Polynomial) -> Polynomial:
    assert a[0] == 0
    return a[1:]


def divide_by_one_plus(a: Polynomial, sign: int) -> Polynomial:
    """a/(1 + sign p), which must be exact."""
    quotient, carry = [], Fraction(0)
    for x in a:
        carry = x - sign * carry
        quotient.append(carry)
    assert quotient.pop() == 0
    return quotient


def uniform_expansion(orders: int) -> dict[str, list[Polynomial]]:
    """The coefficients of h^j in E (j >= 0), W and V (j >= 1), as polynomials in p.

    From the Riccati equation of A for e = sum h^j e_j and sqrt(a^2 + k^2) - s = sigma:
    sigma_j = p e_j + (p/2) sum_{i+l=j-1} (e_i e_l - sigma_i sigma_l),
    e_{j+1} = (p/2) (e_j + p (1-p^2) e_j' - 2 sum_{i<=j} e_i sigma_{j-i}), e_0 = p/2.
    """
    half, zero = Fraction(1, 2), Fraction(0)
    e: list[Polynomial] = [[zero, half]]
    sigma: list[Polynomial] = []
    for j in range(orders):
        squares = [zero]
        for i in range(j):
            squares = add(
                squares,
                multiply(e[i], e[j - 1 - i]),
                times(multiply(sigma[i], sigma[j - 1 - i]), -1),
            )
        sigma.append(add(multiply([zero, Fraction(1)], e[j]), multiply([zero, half], squares)))
        derivative = [i * a for i, a in enumerate(e[j])][1:]
        following = add(e[j], multiply([zero, Fraction(1), zero, Fraction(-1)], derivative))
        for i in range(j + 1):
            following = add(following, times(multiply(e[i], sigma[j - i]), -2))
        e.append(multiply([zero, half], following))
    E = [times(divide_by_p(e[j]), 2) for j in range(orders)]
    W, V = [[zero]], [[zero]]
    for j in range(1, orders):
        # d(xW)/dp = -((1-p) 2 e_{j+1}/p + [2 e (sigma - e)]_j) / (p (1-p^2)), x W = 0 at p = 1.
        rate = multiply([Fraction(1), Fraction(-1)], times(divide_by_p(e[j + 1]), 2))
        for i in range(j + 1):
            gap = add(sigma[j - i], times(e[j - i], -1))
            rate = add(rate, times(multiply(e[i], gap), 2))
        rate = divide_by_one_plus(divide_by_one_plus(divide_by_p(rate), -1), 1)
        remainder = [zero] + [-a / (i + 1) for i, a in enumerate(rate)]
        remainder[0] = -sum(remainder, zero)
        W.append(divide_by_one_plus(remainder, -1))
        # k A - d = sigma - e, hence x (W + V) = sigma - e.
        V.append(add(divide_by_one_plus(add(sigma[j], times(e[j], -1)), -1), times(W[j], -1)))
    return {"E": E, "W": W, "V": V}
