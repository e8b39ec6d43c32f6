"""Runs Doxygen and reads what it extracted. Standard library only."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from warp.site.stage import BuildError


@dataclass
class Entity:
    """Something with a contract: a function, class, enum, type, variable or macro."""

    kind: str  # function, class, struct, enum, typedef, variable, define
    name: str  # qualified
    args: str  # "(int n)" of a function, "" of others
    file: Path
    line: int
    documented: bool


def run(doxyfile: Path, output: Path, inputs: list[Path]) -> Path:
    """Extracts `inputs` into `output`/xml and returns that folder."""
    if not shutil.which("doxygen"):
        raise BuildError("doxygen is not installed: ./learn setup --docs brings it, or 'apt-get install doxygen'")
    for path in inputs:
        if not path.exists():
            raise BuildError(f"{path}: there is nothing to document here")
    settings = doxyfile.read_text()
    settings += "".join(f'\nINPUT += "{path}"' for path in inputs)
    settings += f'\nOUTPUT_DIRECTORY = "{output}"\n'
    contents = "".join(path.read_text(encoding="utf-8") for path in inputs)
    digest = hashlib.sha256((settings + contents).encode()).hexdigest()
    stamp = stamp_of(output / "xml")
    if stamp.exists() and stamp.read_text() == digest:
        return output / "xml"  # as it was: its times say so to Breathe
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True)
    complaints = done.stderr.strip()
    if done.returncode != 0 or complaints:
        raise BuildError(f"doxygen exited {done.returncode} with these complaints:\n{complaints or '(none)'}")
    stamp.write_text(digest)
    return output / "xml"


def entities(xml: Path) -> list[Entity]:
    """Everything documented in `xml`, by file and line, each once."""
    stamp = stamp_of(xml)
    return _entities(xml, stamp.read_text() if stamp.exists() else "")


def stamp_of(xml: Path) -> Path:
    """The file that changes when what was extracted changes."""
    return xml.parent / "digest"


@functools.cache
def _entities(xml: Path, _digest: str) -> list[Entity]:
    found: dict[str, Entity] = {}
    files = [path for path in sorted(xml.glob("*.xml")) if path.name != "index.xml"]
    compounds = [one for path in files for one in ElementTree.parse(path).getroot().findall("compounddef")]
    inline = {  # namespaces whose members Doxygen lists with those of the one around them, and Breathe looks for there
        inner.text or "" for compound in compounds for inner in compound.findall("innernamespace[@inline='yes']")
    }
    scopes = {  # member -> namespace
        member.get("refid") or member.get("id"): compound.findtext("compoundname", "")
        for compound in compounds
        if compound.get("kind") == "namespace"
        for member in compound.iterfind("sectiondef/*")
    }

    def add(element: Element, name: str, args: str = "") -> None:
        place, identity = element.find("location"), element.get("id", "")
        if place is None or not name:
            return
        said = [element.find(f"{part}description") for part in ("brief", "detailed")]
        documented = any("".join(one.itertext()).strip() for one in said if one is not None)
        file, line = Path(place.get("file", "")), int(place.get("line", "0"))
        if identity not in found or documented:
            found[identity] = Entity(element.get("kind", ""), name, args, file, line, documented)

    for compound in compounds:
        kind = compound.get("kind")
        if kind in ("class", "struct", "union") and compound.get("prot") == "public":
            add(compound, compound.findtext("compoundname", ""))
        for member in compound.iter("memberdef") if kind in ("file", "namespace", "group") else ():
            name, scope = member.findtext("name", ""), scopes.get(member.get("id", ""))
            if member.get("kind") != "define":
                name = member.findtext("qualifiedname") or name
                if scope and not name.startswith(scope + "::"):
                    name = f"{scope}::{name}"
            for space in inline:
                if name.startswith(space + "::"):
                    name = space.rpartition("::")[0] + name[len(space) :]
            add(member, name, " ".join((member.findtext("argsstring") or "").split()))
    return sorted(found.values(), key=lambda e: (str(e.file), e.line, e.name))


def name_for_breathe(entity: Entity, among: list[Entity]) -> str:
    """Its name, of one that is overloaded with its parameters."""
    overloaded = sum(e.name == entity.name and e.kind == entity.kind for e in among) > 1
    return entity.name + (entity.args if overloaded else "")


def breathe_directive(entity: Entity, project: str, among: list[Entity]) -> str:
    """The MyST directive that shows an entity's contract."""
    lines = [f":::{{doxygen{entity.kind}}} {name_for_breathe(entity, among)}", f":project: {project}"]
    if entity.kind in ("class", "struct", "union"):
        lines.append(":members:")
    return "\n".join([*lines, ":::"])


def members(xml: Path, name: str) -> list[tuple[str, str]]:
    """Name and description of each member of a struct, in the order of its declaration."""
    struct = ElementTree.parse(xml / f"struct{name.replace('::', '_1_1')}.xml").getroot()
    found = []
    for member in struct.findall(".//memberdef[@kind='variable']"):
        said = (member.find(f"{part}description") for part in ("brief", "detailed"))
        words = " ".join(word for one in said if one is not None for word in "".join(one.itertext()).split())
        found.append((member.findtext("name", ""), words))
    return found
