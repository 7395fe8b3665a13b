# SPDX-License-Identifier: MIT
"""Clusters among the stars that the naked eye can see: a mixture of vMF distributions on S^2.

    python examples/star_clusters.py DATA/sphere/stars_hipparcos_mag6.csv

The catalogue has right ascension and declination in degrees in its second and third columns. The
broad components follow the Milky Way and Gould's belt; the tight ones are open clusters.
"""

import argparse
import math
from pathlib import Path

import torch

from svmf.mixture import VonMisesFisherMixture


def read_directions(path: Path) -> torch.Tensor:
    """Unit vectors [n, 3] of the stars in the catalogue."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    degrees = torch.tensor(
        [[float(field) for field in line.split(",")[1:3]] for line in lines], dtype=torch.float64
    )
    longitude, latitude = degrees.deg2rad().T
    across = latitude.cos()
    return torch.stack((across * longitude.cos(), across * longitude.sin(), latitude.sin()), -1)


def sky_position(direction: torch.Tensor) -> tuple[float, float]:
    """Right ascension and declination in degrees."""
    x, y, z = direction.tolist()
    return math.degrees(math.atan2(y, x)) % 360, math.degrees(math.asin(z))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("catalogue", type=Path, help="CSV with columns hip, ra_deg, dec_deg, ...")
    parser.add_argument("--components", type=int, default=16)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    stars = read_directions(arguments.catalogue)
    mixture = VonMisesFisherMixture(
        arguments.components, n_init=arguments.starts, seed=arguments.seed
    ).fit(stars)
    uniform = -math.log(4 * math.pi)
    print(f"{len(stars)} stars, {arguments.components} components: {mixture.report_}")
    print(f"mean log density {mixture.score(stars):.4f}; of a uniform sky {uniform:.4f}")
    print(f"{'stars':>6} {'kappa':>9} {'radius':>7} {'RA':>6} {'Dec':>6}   (degrees)")
    for j in mixture.concentrations_.argsort(descending=True).tolist():
        kappa = mixture.concentrations_[j].item()
        # Half of a vMF cluster lies within the angle whose cosine is 1 + log(1/2 + ...) / kappa.
        median = 1 + math.log(0.5 + 0.5 * math.exp(-2 * kappa)) / kappa
        ra, dec = sky_position(mixture.locs_[j])
        count = mixture.weights_[j].item() * len(stars)
        radius = math.degrees(math.acos(median))
        print(f"{count:6.0f} {kappa:9.1f} {radius:7.1f} {ra:6.1f} {dec:6.1f}")


if __name__ == "__main__":
    main()
