# SPDX-License-Identifier: MIT
"""Clusters among embeddings: a mixture of vMF distributions beside k-means.

    python examples/cluster_embeddings.py      # scikit-learn's digits as 20 principal directions

Embeddings are compared by their angle, so their length is divided away and the cluster model lives
on the sphere. Each component has a concentration of its own: how tight a cluster is.
"""

import torch
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from svmf.mixture import VonMisesFisherMixture

images, classes = load_digits(return_X_y=True)
embeddings = PCA(20, random_state=0).fit_transform(images)

torch.set_num_threads(1)
mixture = VonMisesFisherMixture(10, n_init=3, random_state=0, normalize=True).fit(embeddings)
means = KMeans(10, n_init=3, random_state=0).fit(embeddings)

for name, labels in (("mixture", mixture.labels_), ("k-means", means.labels_)):
    print(
        f"NMI of {name} with the true classes: {normalized_mutual_info_score(classes, labels):.3f}"
    )
print("cluster  rows  kappa  mostly")
for cluster in mixture.concentrations_.argsort(descending=True).tolist():
    members = classes[mixture.labels_ == cluster]
    digit = max(set(members.tolist()), key=members.tolist().count)
    share = (members == digit).mean()
    print(f"{cluster:7d} {len(members):5d} {mixture.concentrations_[cluster]:6.1f}  "
          f"{digit} ({share:.0%})")  # fmt: skip
