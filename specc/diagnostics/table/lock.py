"""LCK: specc.lock, and what is not as it says."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code(
            "LCK001",
            "no lock that can be read",
            "specc.lock lies beside pyproject.toml or at the root of the specs. `specc lock` writes it; it is missing, is no lock, or"
            " was written by a release that computes other fingerprints.",
        ),
        Code(
            "LCK002",
            "a spec that is not locked",
            "Every model of the files that are looked at stands in specc.lock. A new one is added by `specc lock`.",
        ),
        Code(
            "LCK003",
            "a locked spec that is gone",
            "specc.lock holds a file or a model that is no longer there. `specc lock` takes it out.",
        ),
        Code(
            "LCK004",
            "an architecture that has drifted",
            "The model computes other numbers than what was locked. `specc diff` says what that means for checkpoints.",
        ),
        Code(
            "LCK005",
            "a state dict that has drifted",
            "The model has other parameters, or tensors of other names or shapes, than what was locked.",
        ),
        Code(
            "LCK006",
            "a published layout that has drifted",
            "A `weights` section names or lays out the checkpoint's tensors otherwise than what was locked.",
        ),
    ]
