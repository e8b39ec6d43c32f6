"""The runner behind ./learn: it builds, starts, compares and explains; it computes nothing.

Standard library only, Python 3.9 or later, and every import that costs time is made where it is
needed: `./learn list` must answer before a reader notices that it was asked.
"""
