# SPDX-License-Identifier: MIT
"""A convolutional S-VAE under Lightning: the latent of svmf.models between networks of your own.

pip install lightning
python examples/conv_svae_lightning.py     # scikit-learn's digits, no download; under a minute
"""

import lightning
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from svmf.models import SphericalLatent


class ConvolutionalSVAE(lightning.LightningModule):
    """8 x 8 pictures, codes on S^d."""

    def __init__(self, d: int = 5) -> None:
        super().__init__()
        self.latent = SphericalLatent(d)
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(128, sum(self.latent.head_sizes)),
        )  # fmt: skip
        self.decoder = nn.Sequential(
            nn.Linear(self.latent.coordinates, 128), nn.ReLU(), nn.Unflatten(1, (32, 2, 2)),
            nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1),
        )  # fmt: skip

    def bound(self, x: Tensor) -> Tensor:
        """The ELBO of each picture."""
        z, kl, _ = self.latent.draw(self.latent.posterior(self.encoder(x)))
        log_p = -F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="none")
        return log_p.flatten(1).sum(1) - kl

    def training_step(self, batch: list[Tensor], _index: int) -> Tensor:
        return -self.bound(batch[0]).mean()

    def validation_step(self, batch: list[Tensor], _index: int) -> None:
        self.log("elbo", self.bound(batch[0]).mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=2e-3)


def main() -> None:
    lightning.seed_everything(0)
    torch.set_num_threads(1)
    x = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
    train = DataLoader(TensorDataset(x[:1500]), batch_size=64, shuffle=True)
    test = DataLoader(TensorDataset(x[1500:]), batch_size=297)
    trainer = lightning.Trainer(
        max_epochs=15, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    model = ConvolutionalSVAE()
    (before,) = trainer.validate(model, test, verbose=False)
    trainer.fit(model, train)
    (after,) = trainer.validate(model, test, verbose=False)
    print(f"ELBO of the test images: {before['elbo']:.1f} before, {after['elbo']:.1f} after")


if __name__ == "__main__":
    main()
