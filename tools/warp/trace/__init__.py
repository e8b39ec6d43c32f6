"""A trace of the simulator as data: launches, the counts of their lines, findings."""
