"""What every package stands on: errors, paths, words, processes, and what this machine has."""
