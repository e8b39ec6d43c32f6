"""The former name of course.maps, for figures.py of chapters that still import it."""

from course.maps import *  # noqa: F403
