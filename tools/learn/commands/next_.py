"""./learn next: goes on to the next exercise that is open."""

from learn import ui
from learn.errors import UsageError
from learn.exercises import catalogue, record, show, updates, workspace


def main(arguments):
    if len(arguments.words) > 1:
        raise UsageError("next takes one exercise or chapter to go to, or none")
    known = catalogue.everything()
    if arguments.words:
        exercise = record.one(arguments.words[0], known, onwards=True)
    else:
        here = record.current(known)
        done = here is not None and record.all_records([here])[here.key].is_done()
        exercise = (
            here
            if here is not None and not done and not workspace.is_started(here)
            else (record.first_open(known, after=here))
        )
        if here is not None and not done and exercise is not None and exercise.key != here.key:
            ui.say(f"{here.name} is still open; ./learn next {here.name} comes back to it.")
            ui.say()
    if exercise is None:
        ui.say(f"All {len(known)} exercises are done.")
        return 0
    updates.bring([exercise])
    record.choose(exercise)
    show.task(exercise)
    return 0
