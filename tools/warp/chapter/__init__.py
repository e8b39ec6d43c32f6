"""A chapter as data: header, prose, code, predictions, bound numbers, results. Standard library only.

The runner, the site, CMake and the tests read chapters through this package and through nothing else.
"""
