"""CFG: a published config that cannot be taken over as it is."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import family

_HEAD = 'if task_of(config) == "CausalLM" then lm(tied: true) else hidden'


def codes() -> list[Code]:
    return [
        Code(
            "CFG001",
            "a mechanism that the family does not express",
            "The config asks for something that the family's `require` rules out.",
            family('require config.alibi != true else "ALiBi"', config={"alibi": "true"}),
            family('require config.alibi != true else "ALiBi"', config={"alibi": "false"}),
        ),
        Code("CFG002", "not a config", "A config is one JSON object of ordinary size and depth."),
        Code("CFG003", "no model type", "`model_type` names the family, and the config has none."),
        Code("CFG004", "no family", "specc has no family file for this model type."),
        Code(
            "CFG005",
            "a field that is always named",
            "Quantised weights change the numbers, and code of the model's own is not run. Neither is passed over in silence.",
        ),
        Code(
            "CFG006",
            "a field that would be dropped",
            "The family does not read a field that changes other families, so dropping it could change the numbers. `--allow` lets it"
            " pass and says so in the spec.",
        ),
        Code("CFG007", "an unknown field", "No family reads the field. It was not taken over."),
        Code(
            "CFG008",
            "a printed spec that means something else",
            "Every imported spec is read back and compared with what the family and the config mean. This one differs, which is a fault"
            " of specc: please report it.",
        ),
        Code(
            "CFG010",
            "rope scaling that cannot be expressed",
            "The kind of rope scaling is not one that specc has.",
            family(config={"rope_scaling": 'record(rope_type: "spiral", factor: 2.0)'}),
            family(config={"rope_scaling": 'record(rope_type: "linear", factor: 2.0)'}),
        ),
        Code(
            "CFG011",
            "an unknown rope setting",
            "A rope setting that specc does not know would be dropped.",
            family(config={"rope_scaling": 'record(rope_type: "linear", factor: 2.0, twist: 3)'}),
            family(config={"rope_scaling": 'record(rope_type: "linear", factor: 2.0)'}),
        ),
        Code(
            "CFG012",
            "no rope theta",
            "The config names no base for its rotary positions, and the family has no default.",
            family(config={"rope_theta": None}),
            family(config={"rope_theta": None}, position="rope_of(config, theta: 10_000.0)"),
        ),
        Code(
            "CFG013",
            "an unknown activation",
            "The config names an activation that specc does not have.",
            family(config={"hidden_act": '"sine"'}),
            family(config={"hidden_act": '"gelu_new"'}),
        ),
        Code(
            "CFG014",
            "no telling which head",
            "The head follows from `architectures`, which has to name one class, such as LlamaForCausalLM.",
            family(config={"architectures": '["LlamaForCausalLM", "LlamaModel"]'}, head=_HEAD),
            family(config={"architectures": '["LlamaForCausalLM"]'}, head=_HEAD),
        ),
        Code("CFG015", "a config without fields that decide the model", "The family has no default for these fields, as the published loader has none."),
    ]
