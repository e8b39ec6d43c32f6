"""./learn explain: runs a program on the simulator and prints its source with the counts."""

import os

from learn import build, chapters, install, paths, steps, trace, ui
from learn.commands.run import check_writable, forget
from learn.errors import LearnError, UsageError
from learn.machine import Machine
from learn.names import advice

NEITHER = "explain takes one chapter or one file that ends in .cu"


def main(arguments):
    if len(arguments.words) != 1:
        raise UsageError(NEITHER + "; see ./learn explain --help")
    launch = launch_number(arguments.launch)
    if arguments.json:
        check_writable(arguments.json)
    subject = arguments.words[0]
    chapter = as_chapter(subject)
    machine = Machine()
    if chapter:
        if chapter.problem:
            raise LearnError(chapter.problem)
        for rung in arguments.rung:
            chapters.check_rung(rung, [chapter])
        install.ensure(machine, "simulator")
        build.build("simulator", machine, "chapter %s for the simulator" % chapter.number, [chapter.name])
        command = [chapter.program("simulator")]
        for rung in arguments.rung:
            command += ["--rung", rung]
        main_source, label = chapter.source, chapter.key
    else:
        if arguments.rung:
            raise UsageError("--rung goes with a chapter; %s is a program of its own" % subject)
        check_source(subject)
        install.ensure(machine, "simulator")
        build.build("simulator", machine, "the simulator", ["simtcc", "simt"])
        main_source, label = subject, os.path.basename(subject)
        command = [compile_source(subject)]
    command += arguments.rest

    trace_file = os.path.join(output_folder(main_source), "trace.json")
    forget(trace_file)
    env = dict(os.environ, SIMT_JSON=trace_file, WARP_COMMIT=build.commit())
    code = steps.start(command, env=env)
    if not os.path.exists(trace_file):
        raise LearnError("%s ended with %s before it wrote a trace" % (label, steps.ended(code)))
    if arguments.json:
        import shutil

        shutil.copyfile(trace_file, arguments.json)
    recorded = trace.load(trace_file)
    ui.say()
    ui.say(
        trace.render(recorded, ui.palette(), ui.terminal_width(), main=main_source, launch=launch).rstrip("\n")
    )
    if trace.all_findings(recorded):
        return 1
    if code != 0:
        ui.say()
        ui.say("The program ended with %s." % steps.ended(code))
    return code if code >= 0 else 128 - code


def launch_number(text):
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError("--launch %s: legal is the index of a launch, counted from 0" % text)
    return int(text)


def as_chapter(subject):
    """The chapter that is meant, or None for a file of the reader's own."""
    known = chapters.all_chapters()
    inside = [
        c for c in known if os.path.realpath(subject) in (os.path.realpath(c.folder), os.path.realpath(c.source))
    ]
    if inside:
        return inside[0]
    if os.path.isfile(subject) or os.sep in subject or "." in subject:
        return None
    return chapters.find(subject, known)


def check_source(file):
    """UsageError unless `file` is a CUDA source that can be read."""
    if os.path.isdir(file):
        raise UsageError("%s is a folder; %s" % (file, NEITHER))
    if not file.endswith(".cu"):
        raise UsageError("%s does not end in .cu; %s" % (file, NEITHER))
    if not os.path.exists(file):
        folder = os.path.dirname(file) or "."
        try:
            others = [name for name in os.listdir(folder) if name.endswith(".cu")]
        except OSError:
            raise UsageError("there is no file %s" % file)
        raise UsageError("there is no file %s%s" % (file, advice(os.path.basename(file), others)))
    if not os.access(file, os.R_OK):
        raise UsageError("no right to read %s" % file)


def output_folder(source):
    """build/explain/NAME-HASH: one folder for each explained file, wherever it lies."""
    import zlib

    path = os.path.realpath(source)
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.join(paths.BUILD, "explain", "%s-%08x" % (stem, zlib.crc32(path.encode())))
    steps.make_folder(folder)
    return folder


def compile_source(source):
    """Compiles with simtcc, traced; returns the program. The compiler's messages reach the reader."""
    folder = output_folder(source)
    program = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
    simtcc = os.path.join(paths.build_folder("simulator"), "bin", "simtcc")
    command = [simtcc, "-std=c++20", "-I" + os.path.join(paths.ROOT, "common", "lab", "include")]
    command += ["-o", program, source]
    code, output = steps.run("Compiling " + paths.shown(source), command, "explain", check=False)
    if code != 0:
        error = LearnError("%s does not compile" % source)
        error.detail = output.rstrip()
        raise error
    if output.strip():
        ui.note(output.rstrip())
    return program
