# SPDX-License-Identifier: MIT
"""Clusters among the stars that the naked eye can see: a mixture of vMF distributions on S^2.

    python examples/star_clusters.py                     # the hundred brightest stars, kept here
    python examples/star_clusters.py stars.csv           # a catalogue: hip, ra_deg, dec_deg, ...
    python examples/star_clusters.py --map stars.png     # with a map of the sky

The stars are those of the Hipparcos catalogue (ESA 1997, SP-1200; table I/239/hip_main of CDS's
VizieR): right ascension and declination in degrees, epoch J1991.25. With all 5044 stars to
magnitude 6 the broad components follow the Milky Way and Gould's belt; the tight ones are open
clusters.
"""

import argparse
import math
from pathlib import Path

import torch

from svmf.mixture import VonMisesFisherMixture

# Right ascension and declination of the hundred brightest, brightest first.
BRIGHTEST = """
101.3,-16.7 96.0,-52.7 213.9,19.2 219.9,-60.8 279.2,38.8 79.2,46.0 78.6,-8.2 114.8,5.2
24.4,-57.2 88.8,7.4 211.0,-60.4 297.7,8.9 186.6,-63.1 69.0,16.5 201.3,-11.2 247.4,-26.4
116.3,28.0 344.4,-29.6 191.9,-59.7 310.4,45.3 219.9,-60.8 152.1,12.0 104.7,-29.0 113.6,31.9
187.8,-57.1 263.4,-37.1 81.3,6.3 81.6,28.6 138.3,-69.7 84.1,-1.2 332.1,-47.0 85.2,-1.9
122.4,-47.3 193.5,56.0 51.1,49.9 276.0,-34.4 165.9,61.8 107.1,-26.4 206.9,49.3 125.6,-59.5
264.3,-43.0 89.9,44.9 252.2,-69.0 99.4,16.4 131.2,-54.7 306.4,-56.7 38.0,89.3 95.7,-18.0
141.9,-8.7 31.8,23.5 155.0,19.8 10.9,-18.0 283.8,-26.3 211.7,-36.4 2.1,29.1 17.4,35.6 86.9,-9.7
222.7,74.2 340.7,-46.9 263.7,12.6 47.0,41.0 31.0,42.3 177.3,14.6 14.2,60.7 190.4,-49.0
120.9,-40.0 139.3,-59.3 233.7,26.7 137.0,-43.4 201.0,54.9 305.6,40.3 10.1,56.5 269.2,51.5
83.0,-0.3 2.3,59.1 205.0,-53.5 240.1,-22.6 252.5,-34.3 220.5,-47.4 218.9,-42.2 165.5,56.4
221.2,27.1 326.0,9.9 265.6,-39.0 6.6,-42.3 178.5,53.7 257.6,-15.7 345.9,28.1 111.0,-29.3
319.6,62.6 140.5,-55.0 311.6,34.0 346.2,15.2 45.6,4.1 249.3,-10.6 208.9,-47.3 168.5,20.5
241.4,-19.8 83.2,-17.8 182.1,-50.7
"""


def read_directions(path: Path) -> torch.Tensor:
    """Unit vectors [n, 3] of the stars in the catalogue."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return directions([line.split(",")[1:3] for line in lines])


def directions(positions: list[list[str]]) -> torch.Tensor:
    degrees = torch.tensor([[float(angle) for angle in pair] for pair in positions]).double()
    longitude, latitude = degrees.deg2rad().T
    across = latitude.cos()
    return torch.stack((across * longitude.cos(), across * longitude.sin(), latitude.sin()), -1)


def sky_position(direction: torch.Tensor) -> tuple[float, float]:
    """Right ascension and declination in degrees."""
    x, y, z = direction.tolist()
    return math.degrees(math.atan2(y, x)) % 360, math.degrees(math.asin(z))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "catalogue", type=Path, nargs="?", help="CSV with columns hip, ra_deg, dec_deg, ..."
    )
    parser.add_argument("--components", type=int, help="(16; 4 without a catalogue)")
    parser.add_argument("--map", type=Path, metavar="FILE", help="draw a map of the sky")
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    if arguments.catalogue is None:
        stars = directions([pair.split(",") for pair in BRIGHTEST.split()])
    else:
        stars = read_directions(arguments.catalogue)
    components = arguments.components or (4 if arguments.catalogue is None else 16)
    mixture = VonMisesFisherMixture(components, n_init=arguments.starts, seed=arguments.seed).fit(
        stars
    )
    uniform = -math.log(4 * math.pi)
    print(f"{len(stars)} stars, {components} components: {mixture.report_}")
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
    if arguments.map is not None:
        from svmf.plots import hammer

        ax = hammer(stars, mixture.predict(stars), title="Stars by component, equatorial map")
        ax.figure.savefig(arguments.map)
        print(f"map {arguments.map}")


if __name__ == "__main__":
    main()
