"""What a model reads where that is not text. A variant gives the sizes that the parts of the embedding ask for: `picture()`."""

MEMBERS = {
    "image": "image:Image",
}
