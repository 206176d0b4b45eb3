"""A model as a picture, and as a page with the picture in it."""
