"""./learn start: copies the exercises into the learner's own folder, and says where to begin."""

from learn import paths, ui
from learn.exercises import catalogue, record, show, workspace


def main(arguments):
    known = catalogue.everything()
    asked = [catalogue.find(word, known) for word in arguments.words]
    copied = [exercise for exercise in known if workspace.start(exercise)]
    if copied:
        ui.say("%d exercises are now in %s; they are yours, git ignores them." % (len(copied), folder()))
    elif not asked:
        ui.say("The exercises are in %s already; nothing was changed." % folder())
    if asked:
        record.choose(asked[-1])
    exercise = asked[-1] if asked else record.current(known)
    if exercise is None:
        ui.say("All %d exercises are done." % len(known))
        return 0
    ui.say()
    show.task(exercise)
    return 0


def folder():
    return paths.shown(workspace.FOLDER) + "/"
