"""JUnit's XML, which most systems that run tests show: a suite a file, a failed case a finding.

The form is the one that Jenkins checks by its schema, junit-10.xsd; so places stand in the text, not in attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePath
from typing import Final
from xml.etree import ElementTree

from detlint.checks.finding import Finding
from detlint.report.json import text_of
from detlint.report.view import View
from detlint.visible import in_xml

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML has no way to write."""


def lines(view: View) -> Iterator[str]:
    """The document. Without findings it has one case, which has passed: some readers take an empty one for an error."""
    top = ElementTree.Element("testsuites", name="detlint")
    if not view.findings:
        suite = _suite(top, "detlint", 1, 0)
        ElementTree.SubElement(suite, "testcase", name="No problems found", classname="detlint")
    for path, group in groupby(view.findings, key=lambda finding: finding.path):
        found = [*group]
        suite = _suite(top, text_of(path), len(found), len(found))
        for finding in found:
            _case(suite, view, finding)
    count = str(len(view.findings))
    top.attrib.update(tests=str(len(view.findings) or 1), failures=count, errors="0")
    ElementTree.indent(top, "    ")
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield in_xml(ElementTree.tostring(top, "unicode"))


def _suite(top: ElementTree.Element, name: str, tests: int, failures: int) -> ElementTree.Element:
    return ElementTree.SubElement(
        top, "testsuite", name=_clean(name), tests=str(tests), failures=str(failures), errors="0", skipped="0",
        package="org.detlint",
    )  # fmt: skip


def _case(suite: ElementTree.Element, view: View, finding: Finding) -> None:
    start = view.at(finding)[0]
    classname = _clean(text_of(str(PurePath(finding.path).with_suffix(""))))
    case = ElementTree.SubElement(suite, "testcase", name=f"org.detlint.{finding.code}", classname=classname)
    message = _clean(finding.message)
    failure = ElementTree.SubElement(case, "failure", type=finding.severity, message=message)
    cell = f"cell {start.cell}, " if start.cell is not None else ""
    failure.text = f"{cell}line {start.line}, col {start.column}, {message}"


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
