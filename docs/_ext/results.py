"""The former name of course.results and course.counted, for figures.py of chapters that still import it."""

from course.counted import *  # noqa: F403
from course.results import *  # noqa: F403
