# SPDX-License-Identifier: MIT
"""What `svmf download` can fetch: files, mirrors, and the SHA-256 of each file's content. For a
gzipped file that is the content after decompression, since mirrors compress differently."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    name: str
    sha256: str
    content_bytes: int | None = None  # None: unknown; then MAX_CONTENT_BYTES bounds it


@dataclass(frozen=True)
class Collection:
    folder: str
    mirrors: tuple[str, ...]
    files: tuple[RemoteFile, ...]


MAX_CONTENT_BYTES = 64 << 20

_MNIST = (
    RemoteFile(
        "train-images-idx3-ubyte.gz",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        47_040_016,
    ),
    RemoteFile(
        "train-labels-idx1-ubyte.gz",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        60_008,
    ),
    RemoteFile(
        "t10k-images-idx3-ubyte.gz",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        7_840_016,
    ),
    RemoteFile(
        "t10k-labels-idx1-ubyte.gz",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        10_008,
    ),
)

PLANETOID = {
    "citeseer": {
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
    },
    "cora": {
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    },
    "pubmed": {
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    },
}

COLLECTIONS = {
    "mnist": Collection(
        "mnist",
        (
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ),
        _MNIST,
    ),
    "planetoid": Collection(
        "planetoid",
        (
            "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/",
            "https://github.com/kimiyoung/planetoid/raw/master/data/",
        ),
        tuple(
            RemoteFile(f"ind.{graph}.{part}", digest)
            for graph, parts in PLANETOID.items()
            for part, digest in parts.items()
        ),
    ),
}
