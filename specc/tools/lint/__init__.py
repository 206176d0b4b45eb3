"""What is allowed and still worth a word: lint rules, comments that ignore a finding, and what can be mended by itself."""
