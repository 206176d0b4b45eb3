"""SHP: sizes that do not fit one another."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code("SHP001", "a width that does not divide", "Without `head_dim` the width is shared evenly by the heads."),
        Code(
            "SHP002", "channels that do not pair", "Rotary and sinusoidal positions work on pairs of channels, within the width they have."
        ),
        Code("SHP003", "heads that cannot share keys", "Each key-value head serves the same number of query heads."),
        Code("SHP004", "widths that do not meet", "The terms of a sum are equally wide, and the embedding is as wide as the model."),
        Code(
            "SHP005", "a tied head without its table", "A tied head reads the token table, so there must be one, and as wide as the head."
        ),
        Code("SHP006", "layers that do not sum to the depth", "`layers` says which layer stands where, from the first to the last."),
        Code("SHP007", "factors that do not match the channels", "longrope has one factor for each pair of channels that rope turns."),
        Code("SHP008", "experts that do not add up", "A router chooses among the experts there are, and groups of experts are equally large."),
    ]
