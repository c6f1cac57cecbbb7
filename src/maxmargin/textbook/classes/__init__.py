"""More than two classes: one joint machine, several machines of two classes, and the generative model."""
