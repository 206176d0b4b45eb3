"""CFG: a published config that cannot be taken over as it is."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code(
            "CFG001", "a mechanism that the family does not express", "The config asks for something that the family states it cannot say."
        ),
        Code("CFG002", "not a config", "A config is one JSON object of ordinary size."),
        Code("CFG003", "no model type", "`model_type` names the family."),
        Code("CFG004", "no family", "specc has no family file for this model type."),
        Code("CFG005", "a field that is always named", "Quantised weights and code of its own are never passed over in silence."),
        Code(
            "CFG006",
            "a field that would be dropped",
            "The family does not read a field that changes other families, so dropping it could change the numbers.",
        ),
        Code("CFG007", "an unknown field", "No family reads the field; it was not taken over."),
        Code("CFG008", "a printed spec that means something else", "Every import is read back and compared; this is a fault of specc."),
        Code("CFG010", "rope scaling that cannot be expressed", "The kind of rope scaling is not one that specc has."),
        Code("CFG011", "an unknown rope setting", "A rope setting that specc does not know would be dropped."),
        Code("CFG012", "no rope theta", "The config names no base for its rotary positions, and the family has no default."),
        Code("CFG013", "an unknown activation", "The config names an activation that specc does not have."),
    ]
