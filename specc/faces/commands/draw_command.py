"""`specc draw SPEC -o model.html`: the architecture as a picture. `specc draw OUT --attention`: what a built model looks at."""

from __future__ import annotations

import argparse

from specc.faces.image_options import add_preparation


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC|DIR", help="a spec; with --attention the folder that `specc build --to onnx --outputs attentions:...` wrote")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="a page (.html) or the picture alone (.svg); with --attention a .png")
    parser.add_argument("--model", help="which model of the file")
    maps = parser.add_argument_group("attention of a model of images, head by head over the image")
    maps.add_argument("--attention", action="store_true", help="draw what the class token takes of each patch")
    maps.add_argument("--image", metavar="FILE", help="the image, or its pixel values as an .npy file")
    maps.add_argument("--layer", type=int, metavar="N", help="which layer, counted from 0; the last that the graph shows if not given")
    maps.add_argument("--token", type=int, default=0, metavar="N", help="draw that of another token, counted from 0")
    add_preparation(maps)


def run(options: argparse.Namespace) -> int:
    return _attention(options) if options.attention else _architecture(options)


def _attention(options: argparse.Namespace) -> int:
    from pathlib import Path

    from specc.diagnostics.finding import fail
    from specc.faces.image_options import pictures
    from specc.tools.attention_picture import attention_of, drawn
    from specc.tools.output import write_whole
    from specc.tools.png import png
    from specc.tools.runtime.images import looks_of
    from specc.tools.runtime.session import open_graph

    out = Path(options.out)
    if out.suffix.lower() != ".png":
        raise fail("SYS003", f"an attention map is drawn as a .png, and the name is {out}")
    if options.image is None:
        raise fail("SYS022", "there is no image to look at", None, "give --image FILE")
    graph = open_graph(Path(options.spec), "cpu")
    (picture,) = pictures(graph, [options.image], options)
    maps = attention_of(graph, picture, options.layer, options.token)
    write_whole(out, png(drawn(picture, maps, looks_of(graph).patch)))
    print(out)
    return 0


def _architecture(options: argparse.Namespace) -> int:
    from pathlib import Path

    from specc.diagnostics.finding import fail
    from specc.faces.loading import one_model
    from specc.tools.draw.image import svg
    from specc.tools.draw.page import page
    from specc.tools.output import write_whole

    if given := [f"--{name}" for name in ("image", "layer", "size", "mean", "std") if getattr(options, name) is not None] + ["--token"] * bool(options.token):
        raise fail("SYS022", f"{', '.join(given)} belongs to --attention")
    out = Path(options.out)
    made = {".html": page, ".htm": page, ".svg": svg}.get(out.suffix.lower())
    if made is None:
        raise fail("SYS003", f"cannot tell from the name {out} what to draw", None, "it ends in .html or .svg")
    write_whole(out, made(one_model(options.spec, options.model).model))
    print(out)
    return 0
