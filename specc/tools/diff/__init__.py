"""What a change of a spec means for people who hold checkpoints: a verdict, and every reason for it."""
