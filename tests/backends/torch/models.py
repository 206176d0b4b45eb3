"""Small models that between them print every template, and what the tests need to compile and fill them."""

from __future__ import annotations

import sys
import types
from functools import cache
from pathlib import Path

import torch

from specc.backends.torch.emit import emit
from specc.diagnostics import Report
from specc.ir.model import Model
from specc.resolve.model import resolve
from specc.resolve.program import load, load_source
from specc.source import Source

torch.set_num_threads(1)  # models this small are slower on many

SPECS = {
    "llama": """
        vocab = 97  dim = 48  depth = 3  context = 64
        position = rope(theta: 10_000)  mask = causal  norm = rms(eps: 1e-5)
        attention = attention(heads: 6, kv_heads: 2)  ffn = gated(hidden: 80, activation: silu)
        block = pre_norm  head = lm(tied: false)
    """,
    "gemma2": """
        vocab = 97  dim = 48  depth = 4  context = 64
        embed = tokens(scale: sqrt(dim))  norm = rms(eps: 1e-6, offset: 1)  position = rope(theta: 10_000)
        attention = attention(heads: 4, kv_heads: 2, head_dim: 16, scale: 24 ** -0.5, softcap: 5)
        ffn = gated(hidden: 64, activation: gelu_tanh)  block = sandwich_norm  head = lm(tied: true, softcap: 3)
        layer local { mask = sliding(3) }  layer global { mask = causal }  layers = repeat [local, global]
    """,
    "gemma3": """
        vocab = 97  dim = 48  depth = 5  context = 64
        norm = rms(eps: 1e-6, offset: 1)
        attention = attention(heads: 4, kv_heads: 1, head_dim: 16, qk_norm: rms(eps: 1e-6, offset: 1))
        ffn = gated(hidden: 64, activation: gelu_tanh)  block = sandwich_norm  head = lm(tied: true)
        layer local { mask = sliding(3)  position = rope(theta: 10_000) }
        layer global { mask = causal  position = rope(theta: 1_000_000) }
        layers = repeat [2 * local, global]
    """,
    "gpt2": """
        vocab = 97  dim = 48  depth = 3  context = 64
        embed = tokens() + learned_position()  norm = layer(eps: 1e-5)  mask = causal
        attention = attention(heads: 4, bias: true, scale: 12 ** -0.5 / (layer.index + 1))
        ffn = mlp(hidden: 4 * dim, activation: gelu_tanh, bias: true)  block = pre_norm  head = lm(tied: true)
    """,
    "bert_mlm": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = norm.embed(tokens() + learned_position() + segments(2))  norm = layer(eps: 1e-12)  mask = bidirectional
        attention = attention(heads: 4, bias: true)  ffn = mlp(hidden: 96, activation: gelu, bias: true)
        block = post_norm  head = mlm(tied: true, activation: gelu, norm: norm, bias: true)
    """,
    "albert": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = project(norm.embed(tokens(width: 16) + learned_position(width: 16) + segments(2, width: 16)), bias: true)
        norm = layer(eps: 1e-12)  mask = bidirectional  attention = attention(heads: 4, bias: true)
        ffn = mlp(hidden: 96, activation: quick_gelu, bias: true)
        block = post_norm  head = mlm(tied: true, activation: gelu, norm: norm, bias: true, width: 16)
    """,
    "bert_pooled": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = norm.embed(tokens() + learned_position() + segments(2))  norm = layer(eps: 1e-12)  mask = bidirectional
        attention = attention(heads: 4, bias: true)  ffn = mlp(hidden: 96, activation: gelu, bias: true)
        block = post_norm  head = pooled(tanh_first)
    """,
    "mean_pooled": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = layer(eps: 1e-12, bias: false)  mask = bidirectional  position = rope(theta: 10_000)
        attention = attention(heads: 4, softcap: 4)  ffn = gated(hidden: 96, activation: gelu)
        block = pre_norm  head = pooled(mean)
    """,
    "classify": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = tokens() + sinusoidal_position()  norm = layer(eps: 1e-5)  mask = bidirectional
        attention = attention(heads: 4)  ffn = mlp(hidden: 96, activation: relu)
        block = pre_norm  head = classify(5, pool: mean, activation: tanh)
    """,
    "classify_last": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = tokens() + sinusoidal_position(layout: half, offset: 2)  norm = layer(eps: 1e-5)  mask = causal
        attention = attention(heads: 4)  ffn = mlp(hidden: 96, activation: relu2)
        block = pre_norm  head = classify(5, pool: last)
    """,
    "classify_tokens": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = tokens() + learned_position(offset: 2)  norm = layer(eps: 1e-5)  mask = bidirectional
        attention = attention(heads: 4, bias: [q, v])  ffn = mlp(hidden: 96, activation: relu)
        block = post_norm  head = classify_tokens(5)
    """,
    "phi": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = layer(eps: 1e-5)  mask = causal  position = rope(theta: 10_000, partial: 6)
        attention = attention(heads: 4, bias: true)  ffn = mlp(hidden: 96, activation: gelu_tanh, bias: true)
        block = parallel  head = lm(tied: false, bias: true)
    """,
    "gptj": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = layer(eps: 1e-5)  mask = causal  position = rope(theta: 10_000, partial: 4, layout: interleaved)
        attention = attention(heads: 4)  ffn = mlp(hidden: 96, activation: gelu_tanh, bias: true)
        block = parallel_norms  head = lm(tied: true, bias: true, scale: 0.5)
    """,
    "olmo2": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = rms(eps: 1e-6)  mask = causal  position = rope(theta: 500_000, layout: interleaved)
        attention = attention(heads: 4, kv_heads: 2, qk_norm: norm, qk_norm_over: width)
        ffn = gated(hidden: 96, activation: silu)  block = inner_norm  head = lm(tied: false)
    """,
    "per_head_norm": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = layer(eps: 1e-5)  mask = sliding(4)  position = rope(theta: 10_000)
        attention = attention(heads: 4, kv_heads: 2, qk_norm: layer(eps: 1e-6, bias: false), qk_norm_over: each_head)
        ffn = gated(hidden: 96, activation: silu, bias: true)  block = pre_norm  head = hidden
    """,
    "opt": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = project(tokens(width: 24)) + learned_position(offset: 2)  norm = layer(eps: 1e-5)  mask = causal
        attention = attention(heads: 4, bias: true)  ffn = mlp(hidden: 96, activation: relu, bias: true)
        block = post_norm  final_norm = none  head = lm(tied: true, width: 24)
    """,
    "no_rope_layers": """
        vocab = 97  dim = 48  depth = 5  context = 64  dropout = 0.1  attention_dropout = 0.2
        norm = rms(eps: 1e-6)  mask = causal
        attention = attention(heads: 4, kv_heads: 2)  ffn = gated(hidden: 96, activation: silu)
        block = pre_norm  head = lm(tied: true)
        layer turned { position = rope(theta: 10_000) }  layer plain { position = none }
        layers = repeat [2 * turned, plain]
    """,
    "unlike_layers": """
        vocab = 97  dim = 48  depth = 5  context = 64
        mask = causal  position = rope(theta: 10_000)  block = pre_norm  head = lm(tied: true)  norm = rms(eps: 1e-6)
        layer narrow { attention = attention(heads: 4)                 ffn = mlp(hidden: 64, activation: relu)  norm = rms(eps: 1e-5) }
        layer wide   { attention = attention(heads: 6, kv_heads: 2)    ffn = gated(hidden: 96 + layer.index, activation: silu) }
        layer capped { attention = attention(heads: 4, softcap: 3)     ffn = mlp(hidden: 32, activation: relu, bias: true)
                       position = rope(theta: 500, layout: interleaved)  norm.attention = none }
        layers = [2 * narrow, wide, capped, wide]
    """,
    "scaled_branches": """
        vocab = 97  dim = 48  depth = 2  context = 64  dropout = 0.1
        embed = 0.5 * tokens() + norm.table(learned_position())
        norm = rms(eps: 1e-6)  mask = causal  attention = attention(heads: 4)  ffn = gated(hidden: 96, activation: silu)
        final_norm = norm  block = twice  head = lm(tied: true)
        block twice(h) {
          mask = norm.first(h)
          attended = attention.first(mask) + 0.25 * ffn(mask)
          h = h + 0.22 * attended
          h = h + 0.5 * (attention.second(norm.second(h)) + h)
        }
    """,
    "llama31": """
        vocab = 97  dim = 48  depth = 2  context = 64
        position = rope(theta: 10_000, scaling: llama3(factor: 8, low: 1, high: 4, original: 16))  mask = causal  norm = rms(eps: 1e-5)
        attention = attention(heads: 6, kv_heads: 1)  ffn = gated(hidden: 80, activation: silu)
        block = pre_norm  head = lm(tied: false)
    """,
    "scaled_ropes": """
        vocab = 97  dim = 48  depth = 6  context = 64
        mask = causal  norm = rms(eps: 1e-5)  attention = attention(heads: 4)  ffn = gated(hidden: 80, activation: silu)
        block = pre_norm  head = lm(tied: true)
        layer stretched { position = rope(scaling: linear(4)) }
        layer yarned    { position = rope(scaling: yarn(factor: 4, original: 8)) }
        layer deepseek  { position = rope(scaling: yarn(factor: 40, original: 8, mscale: 1.0, mscale_all_dim: 0.7, truncate: false)) }
        layer growing   { position = rope(scaling: dynamic(factor: 2, original: 4)) }
        layer long      { position = rope(scaling: longrope(short: [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], long: [1.5, 2.5, 3.5, 4.5, 5.5, 6.5], original: 8)) }
        layer share     { position = rope(scaling: proportional(share: 0.5, factor: 2)) }
        layers = [stretched, yarned, deepseek, growing, long, share]
    """,
    "olmo": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = rms(eps: 1e-5)  mask = sliding(4)  position = rope(theta: 10_000)  attention = attention(heads: 4, kv_heads: 2, clip: 0.5)
        ffn = gated(hidden: 80, activation: swish(1.7), clamp: 0.4, up_offset: 1)  block = pre_norm  head = lm(tied: false)
    """,
    "gpt_oss": """
        vocab = 97  dim = 48  depth = 4  context = 64
        norm = rms(eps: 1e-5)  position = rope(theta: 10_000)  attention = attention(heads: 4, kv_heads: 2, sinks: true, bias: true)
        ffn = mlp(hidden: 80, activation: swish(layer.index + 1))  block = pre_norm  head = lm(tied: false)
        layer local { mask = sliding(4) }  layer global { mask = causal }  layers = repeat [local, global]
    """,
    "nemotron": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = tokens() + sinusoidal_position(inclusive: true)  norm = layer(eps: 1e-5, offset: 1)  mask = causal
        attention = attention(heads: 4, qk_norm: layer(eps: 1e-5, weight: false, bias: false))
        ffn = mlp(hidden: 96, activation: relu2)  block = pre_norm  head = lm(tied: false)
        norm.ffn = layer(eps: 1e-5, weight: false)
    """,
    "twice_called": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = layer(eps: 1e-5)  mask = bidirectional  attention = attention(heads: 4)
        ffn = gated(hidden: 96, activation: silu)  final_norm = none  block = again  head = hidden
        block again(the_residual_stream_of_it) {
          ffn_shared_out = ffn.shared(the_residual_stream_of_it)
          the_residual_stream_of_it = 0.5 * (ffn.shared(norm.shared(the_residual_stream_of_it)) + ffn.shared(attention(the_residual_stream_of_it)) + the_residual_stream_of_it)
          the_residual_stream_of_it = the_residual_stream_of_it + ffn_shared_out
        }
    """,
    "long_formula": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = layer(eps: 1e-5)  mask = bidirectional  attention = attention(heads: 4)
        ffn = gated(hidden: 96, activation: silu)  final_norm = none  block = long  head = classify(3, pool: first)
        block long(the_residual_stream) {
          the_residual_stream = the_residual_stream + 0.5 * ffn.macaron_before(norm.macaron_before(the_residual_stream)) + attention(norm.attention(the_residual_stream))
          the_residual_stream = norm.after_everything_else(the_residual_stream + 0.5 * ffn.macaron_after(norm.macaron_after(the_residual_stream)))
        }
    """,
    "modernbert": """
        vocab = 97  dim = 48  depth = 4  context = 64
        embed = norm.embed(tokens())  norm = layer(eps: 1e-5, bias: false)  attention = attention(heads: 4)
        ffn = gated(hidden: 64, activation: gelu)  block = pre_norm
        head = mlm(tied: true, activation: gelu, norm: norm, dense_bias: false)
        layer first  { mask = bidirectional  position = rope(theta: 160_000)  norm.attention = none }
        layer local  { mask = window(3, 3)   position = rope(theta: 10_000) }
        layer global { mask = bidirectional  position = rope(theta: 160_000) }
        layers = [first, repeat [2 * local, global]]
    """,
    "llama4": """
        vocab = 97  dim = 48  depth = 4  context = 64
        norm = rms(eps: 1e-5)  attention = attention(heads: 4, kv_heads: 2)  ffn = gated(hidden: 64, activation: silu)
        block = pre_norm  head = lm(tied: false)
        layer local { mask = chunked(4)  position = rope(theta: 10_000) }  layer global { mask = causal  position = none }
        layers = repeat [3 * local, global]
    """,
    "kept_tokens": """
        vocab = 97  dim = 48  depth = 2  context = 64
        norm = rms(eps: 1e-5)  attention = attention(heads: 4)  ffn = gated(hidden: 64, activation: silu)  position = alibi
        block = pre_norm  head = lm(tied: false)
        layer local { mask = sliding(3, keep_first: 2) }  layer looser { mask = sliding(4, keep_first: 1) }  layers = [local, looser]
    """,
    "prefix_lm": """
        vocab = 97  dim = 48  depth = 2  context = 64
        embed = tokens() + segments(2)  mask = prefix  norm = rms(eps: 1e-5)  position = rope(theta: 10_000)
        attention = attention(heads: 4)  ffn = gated(hidden: 64, activation: silu)  block = pre_norm  head = lm(tied: false)
    """,
    "packed": """
        vocab = 97  dim = 48  depth = 3  context = 64
        embed = tokens() + learned_position()  norm = rms(eps: 1e-5)
        attention = attention(heads: 4, softcap: 3)  ffn = gated(hidden: 64, activation: silu)  block = pre_norm  head = lm(tied: false)
        layer local { mask = documents(sliding(3, keep_first: 1)) }  layer global { mask = documents(causal) }  layer open { mask = causal }
        layers = [local, global, open]
    """,
}


def model(body: str, name: str = "tiny") -> Model:
    """The IR of a model with this body."""
    report = Report()
    text = f"specc 1\n## A tiny model\nmodel {name} {{\n{body}\n}}\n"
    program = load_source(Source(f"{name}.specc", text), Path(f"{name}.specc"))
    return resolve(program.models[name], program, report).model


@cache
def first(path: Path) -> Model:
    """The IR of the first model of a file."""
    program = load(path)
    return resolve(program.models[program.own[0]], program, Report()).model


@cache
def named(name: str) -> Model:
    return model(SPECS[name], name)


CAUSAL = [name for name in SPECS if named(name).stack.causal]


def python(text: str, name: str = "generated") -> types.ModuleType:
    """The generated file as a module."""
    module = types.ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


@cache
def generated(name: str) -> types.ModuleType:
    return python(emit(named(name)), f"generated_{name}")


def filled(name: str, seed: int = 0) -> torch.nn.Module:
    """The generated model, its weights random enough that each of them tells."""
    torch.manual_seed(seed)
    made = generated(name).Model().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.1 if parameter.dim() > 1 else 0.3))
    return made


def result(output) -> torch.Tensor:
    """What a model's head gives, the first of it."""
    return output.logits if hasattr(output, "logits") else output.last_hidden_state
