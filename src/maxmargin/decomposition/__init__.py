"""Level 5: principal components in feature space."""

from maxmargin.decomposition.kernel_pca import KernelPCA

__all__ = ["KernelPCA"]
