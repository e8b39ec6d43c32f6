"""The exercises as the learner meets them: their files in my/, checks, hints, progress.

tools/warp/exercise/exercises.py reads what an exercise is; here is what becomes of it. exercises/README.md has the form.
"""
