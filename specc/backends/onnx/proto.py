"""The few protobuf messages that a graph is made of. The only file that fills them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto, ValueInfoProto

OPSET, IR_VERSION = 23, 11
TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float64": TensorProto.DOUBLE,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
    "bool": TensorProto.BOOL,
}


def node(kind: str, name: str, inputs: Sequence[str], outputs: Sequence[str], attributes: dict[str, Any], metadata: dict[str, str]) -> NodeProto:
    while inputs and not inputs[-1]:
        inputs = inputs[:-1]
    made = NodeProto(op_type=kind, name=name, input=inputs, output=outputs)
    made.attribute.extend(_attribute(key, value) for key, value in attributes.items())
    made.metadata_props.extend(StringStringEntryProto(key=key, value=value) for key, value in metadata.items())
    return made


def _attribute(name: str, value: Any) -> AttributeProto:
    if name == "to":
        return AttributeProto(name=name, type=AttributeProto.INT, i=TYPES[value])
    if isinstance(value, (bool, int)):
        return AttributeProto(name=name, type=AttributeProto.INT, i=int(value))
    if isinstance(value, float):
        return AttributeProto(name=name, type=AttributeProto.FLOAT, f=value)
    if isinstance(value, str):
        return AttributeProto(name=name, type=AttributeProto.STRING, s=value.encode())
    if isinstance(value, (tuple, list)):
        return AttributeProto(name=name, type=AttributeProto.INTS, ints=value)
    if isinstance(value, GraphProto):
        return AttributeProto(name=name, type=AttributeProto.GRAPH, g=value)
    raise TypeError(f"no ONNX attribute holds {value!r}")


def graph(name: str, nodes: Sequence[NodeProto], results: Sequence[str], dtype: str) -> GraphProto:
    """A branch, all of whose outputs are of one type."""
    made = GraphProto(name=name)
    made.node.extend(nodes)
    for result in results:
        made.output.add(name=result).type.tensor_type.elem_type = TYPES[dtype]
    return made


def external(name: str, dtype: str, shape: Sequence[int], location: str, offset: int, length: int) -> TensorProto:
    """A tensor whose bytes lie in another file."""
    made = TensorProto(name=name, data_type=TYPES[dtype], dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        made.external_data.add(key=key, value=value)
    return made


def inline(name: str, array) -> TensorProto:
    return TensorProto(name=name, data_type=TYPES[str(array.dtype)], dims=array.shape, raw_data=array.tobytes())


def narrow(name: str, array, dtype: str) -> TensorProto:
    """A float32 array of zeros or ones as `dtype`."""
    if dtype != "bfloat16":
        return inline(name, array.astype(dtype))
    bits = (array.view("uint32") >> 16).astype("uint16")
    return TensorProto(name=name, data_type=TYPES[dtype], dims=array.shape, raw_data=bits.tobytes())


def value_info(name: str, dtype: str, shape: Sequence[int | str]) -> ValueInfoProto:
    made = ValueInfoProto(name=name)
    made.type.tensor_type.elem_type = TYPES[dtype]
    made.type.tensor_type.shape.SetInParent()
    for extent in shape:
        made.type.tensor_type.shape.dim.add(**({"dim_value": extent} if isinstance(extent, int) else {"dim_param": extent}))
    return made


def model(name: str, doc: str, nodes, initializers, inputs, outputs, metadata: dict[str, str]) -> ModelProto:
    made = ModelProto(ir_version=IR_VERSION, producer_name="specc", doc_string=doc)
    made.opset_import.add(domain="", version=OPSET)
    graph = made.graph
    graph.name = name
    graph.node.extend(nodes)
    graph.initializer.extend(initializers)
    graph.input.extend(inputs)
    graph.output.extend(outputs)
    made.metadata_props.extend(StringStringEntryProto(key=key, value=value) for key, value in metadata.items())
    return made
