"""What new weights are drawn from: those whose own beginning is neither ones nor zeros."""

MEMBERS = {
    "normal": "normal:Normal",
}
