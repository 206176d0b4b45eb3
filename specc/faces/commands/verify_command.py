"""`specc verify SPEC`: the proof that PyTorch, ONNX Runtime and the published model compute the same numbers."""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import fill
from typing import Any


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", help="a spec; or a published config.json, or a folder that holds one")
    parser.add_argument("--model", help="which model or adapter of the file")
    parser.add_argument("--weights", metavar="DIR", help="also the model in its own size, with the weights of this checkpoint")
    parser.add_argument("--against", choices=("transformers",), help="also against the class that the published config names")
    parser.add_argument("--config", metavar="FILE", help="the published config of the spec, for --against without --weights")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn weights")
    parser.add_argument("--since", metavar="REV", help="every spec below SPEC (or here) that changed since this git revision")
    parser.add_argument("--cache", metavar="DIR", help="for --since: where proofs are kept; .specc_cache at the root of the repository if not given")


def run(options: argparse.Namespace) -> int:
    import json

    from specc.faces.idle_options import refuse_idle

    if options.since is not None:
        from specc.faces.since_output import run as run_since

        idle = {"model": None, "weights": None, "against": None, "config": None}
        refuse_idle(options, idle, "--since proves every model of the specs that changed, each over its miniature")
        return run_since(options, as_text, _data)
    if options.spec is None:
        from specc.diagnostics.finding import fail

        raise fail("SYS003", "there is nothing to verify", None, "name a spec, or give --since REV")
    refuse_idle(options, {"cache": None}, "proofs are kept for --since only")
    if options.against is None:
        refuse_idle(options, {"config": None}, "a config is read for --against transformers")
    proofs = _proofs(options)
    if options.format == "json":
        print(json.dumps([_data(proof) for proof in proofs], indent=2, allow_nan=False))
    else:
        print("\n\n".join(as_text(proof) for proof in proofs))
    return 0 if all(proof.ok for proof in proofs) else 1


def _proofs(options: argparse.Namespace) -> list[Any]:
    from specc.diagnostics.finding import fail
    from specc.faces.loading import one_subject
    from specc.resolve.adapter import ResolvedAdapter
    from specc.tools.verify.run import verify_checkpoint, verify_miniature

    source, config = Path(options.spec), options.config and Path(options.config)
    weights, against = options.weights and Path(options.weights), options.against is not None
    if published := source.is_dir() or source.suffix == ".json":
        from specc.tools.verify.published import imported

        model, config, against = imported(source), source, True
        if weights is None and source.is_dir() and any(source.glob("*.safetensors")):
            weights = source
    else:
        found = one_subject(options.spec, options.model)
        if isinstance(found, ResolvedAdapter):
            return [_adapter(found.adapter, options)]
        model = found.model
    if against and weights is None and config is None:
        raise fail("SYS007", f"{options.spec} does not say which published model it is", None, "give --weights DIR, or --config FILE")
    proofs = [verify_miniature(model, options.seed)]
    if against and config is not None:
        from specc.tools.verify.published import verify_published

        proofs.append(verify_published(config, None if published else model, options.seed))
    if weights is not None:
        reference = None
        if against:
            from specc.tools.verify.by_transformers import ByTransformers

            reference = ByTransformers(weights, tuple(model.outputs), model.stack.causal)
        proofs.append(verify_checkpoint(model, weights, reference))
    return proofs


def _adapter(adapter: Any, options: argparse.Namespace) -> Any:
    from specc.diagnostics.finding import fail
    from specc.tools.adapters.verify import verify_adapter

    if options.against or options.weights or options.config:
        raise fail("SYS006", f"`{adapter.name}` is an adapter, which is proved over the miniature of its model", None, "leave --weights and --against out")
    return verify_adapter(adapter, options.seed)


def as_text(proof: Any) -> str:
    """A table: one line for each comparison, and for each field what its change did."""
    title = f"{proof.model}: {proof.subject}"
    lines = [("check", "of", "against", "error", "allowed", "")]
    lines += [(r.check, r.got, r.want, _number(r.error), _number(r.tolerance), "ok" if r.ok else "WRONG") for r in proof.rows]
    text = [title, "", *_aligned(lines)]
    if proof.parted:
        text += ["", f"the back ends first differ in {proof.parted}"]
    if proof.fields:
        text += ["", *_fields(proof.fields)]
    return "\n".join(text)


def _fields(fields: Any) -> list[str]:
    seen = [f for f in fields if f.verdict not in ("shapes", "not perturbable")]
    lines = [("field", "change", "moves by", "ONNX error", "")]
    verdicts = {"moves": "ok", "still": "WRONG: moves nothing", "differs": "WRONG: the back ends differ", "fails": "WRONG: fails"}
    lines += [(f.name, f.change, _number(f.moved), _number(f.error), verdicts[f.verdict]) for f in seen]
    text = _aligned(lines)
    if shapes := [f.name for f in fields if f.verdict == "shapes"]:
        listed = fill(", ".join(shapes), 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        text += ["", f"changes shapes ({len(shapes)}), so that other weights are needed:", listed]
    if others := [f for f in fields if f.verdict == "not perturbable"]:
        text += ["", f"not perturbable ({len(others)}):", *(f"  {f.name}: {f.change}" for f in others)]
    still = [f.name for f in fields if not f.ok]
    return text + (["", f"WRONG: {', '.join(still)}"] if still else [])


def _aligned(lines: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _number(value: float) -> str:
    return "all" if value == float("inf") else f"{value:.1e}" if value else "0"


def _data(proof: Any) -> dict[str, Any]:
    """The proof as plain values; null stands for a distance without bound (other shapes or outputs)."""

    def finite(value: float) -> float | None:
        return None if value == float("inf") else value

    rows = [
        {"check": r.check, "of": r.got, "against": r.want, "error": finite(r.error), "tolerance": r.tolerance, "ok": r.ok}
        for r in proof.rows
    ]
    fields = [
        {"field": f.name, "verdict": f.verdict, "change": f.change, "moved": finite(f.moved), "error": finite(f.error), "ok": f.ok}
        for f in proof.fields
    ]
    return {"model": proof.model, "subject": proof.subject, "ok": proof.ok, "parted": proof.parted, "rows": rows, "fields": fields}
