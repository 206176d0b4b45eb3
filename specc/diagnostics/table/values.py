"""VAL: a value that is missing, out of range, or contradicts itself."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code("VAL001", "a number out of range", "The field says which numbers it takes."),
        Code("VAL002", "a field that must be stated", "specc does not guess what decides the numbers of a model."),
        Code("VAL003", "a size that the component needs", "The component takes this size from the model, and the model does not state it."),
        Code("VAL004", "a factor that cancels everything", "A scale of 0 would make the part it scales vanish."),
        Code("VAL005", "defined by itself", "A field, or a chain of `extends`, leads back to itself."),
        Code("VAL006", "no arm fits", "`match` needs an arm that equals its subject, or an `else` arm."),
        Code("VAL007", "no such item", "The list is shorter than the index."),
        Code("VAL008", "arithmetic without a result", "Division by zero, and fractional powers of negative numbers, have none."),
        Code("VAL009", "not one of the choices", "The field takes one of a few words."),
        Code("VAL010", "a block that does nothing", "A block's value is the last value of its first input, so it has to bind that again."),
        Code("VAL011", "a family without a sample", "A family carries a `sample` config, so that it can be checked without a checkpoint."),
    ]
