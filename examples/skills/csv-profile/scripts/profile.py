#!/usr/bin/env python3
"""Profiles a CSV file column by column; prints the profile and writes report.md into the working directory."""

import argparse
import csv
import hashlib
import io
import json
import sys
from pathlib import Path
from string import Template

import stats

SKILL = Path(__file__).resolve().parent.parent
SAMPLE = SKILL / "assets" / "sales.csv"
TEMPLATE = SKILL / "assets" / "report.md.tmpl"
REPORT = Path("report.md")


class WrongOptions(Exception):
    """The question makes no sense: exit code 2."""


class NoTable(Exception):
    """The file is no CSV with a header: exit code 1."""


def command_line(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", help="the CSV file; without it the shipped sample")
    parser.add_argument("--top", type=int, help="how many of the most frequent values to list, 1 to 50")
    parser.add_argument("--format", choices=["json", "text"], help="how to print the profile")
    return parser.parse_args(arguments)


def json_input():
    """The JSON object on standard input, or None when there is none."""
    if sys.stdin is None or sys.stdin.isatty():
        return None
    text = sys.stdin.read()
    if not text.strip():
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise WrongOptions(f"standard input is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise WrongOptions("standard input is no JSON object")
    unknown = sorted(set(value) - {"path", "top", "format"})
    if unknown:
        raise WrongOptions(f"unknown in the JSON: {', '.join(unknown)}")
    return value


def options(arguments):
    """Path, top and format (the command line wins over JSON), and the JSON as it came in."""
    given = command_line(arguments)
    source = json_input()
    values = source or {}
    path = given.path or values.get("path")
    top = given.top if given.top is not None else values.get("top", 3)
    form = given.format or values.get("format") or ("json" if source else "text")
    if path is not None and not isinstance(path, str):
        raise WrongOptions("path is a text")
    if not isinstance(top, int) or isinstance(top, bool) or not 1 <= top <= 50:
        raise WrongOptions("top is a whole number from 1 to 50")
    if form not in ("json", "text"):
        raise WrongOptions("format is json or text")
    return (Path(path) if path else SAMPLE), top, form, source


def read_table(data):
    """The header and the rows of a CSV file; short rows are filled up with empty cells."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NoTable(f"the file is not UTF-8 text: {error}") from error
    if "\0" in text:
        raise NoTable("the file holds a NUL character")
    delimiter = max(",;\t|", key=text.split("\n", 1)[0].count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error as error:
        raise NoTable(f"the file is no CSV: {error}") from error
    if not rows:
        raise NoTable("the file is empty")
    header, rows = rows[0], rows[1:]
    ragged = sum(len(row) != len(header) for row in rows)
    return header, [(row + [""] * len(header))[: len(header)] for row in rows], ragged


def make_profile(path, top):
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WrongOptions(f"cannot read {path}: {error.strerror}") from error
    header, rows, ragged = read_table(data)
    columns = [
        {"name": name, **stats.profile_column([row[index] for row in rows], top)} for index, name in enumerate(header)
    ]
    return {
        "file": path.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "rows": len(rows),
        "ragged_rows": ragged,
        "columns": columns,
    }


def cell(value):
    if value is None:
        return ""
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def report_text(profile):
    lines = []
    for column in profile["columns"]:
        top = ", ".join(f"{entry['value']} ({entry['count']})" for entry in column["top"])
        keys = ("name", "type", "count", "missing", "distinct", "min", "max", "mean", "median")
        lines.append("| " + " | ".join([cell(column.get(key)) for key in keys] + [cell(top)]) + " |")
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        file=profile["file"],
        sha256=profile["sha256"],
        rows=profile["rows"],
        ragged_rows=profile["ragged_rows"],
        columns=len(profile["columns"]),
        table="\n".join(lines),
    )


def main(arguments):
    try:
        path, top, form, source = options(arguments)
        profile = make_profile(path, top)
    except WrongOptions as error:
        print(f"profile.py: {error}", file=sys.stderr)
        return 2
    except NoTable as error:
        print(f"profile.py: {error}", file=sys.stderr)
        return 1
    report = report_text(profile)
    try:
        REPORT.write_text(report, encoding="utf-8")
        profile["report"] = str(REPORT)
    except OSError as error:
        print(f"profile.py: {REPORT} was not written: {error.strerror}", file=sys.stderr)
        profile["report"] = None
    profile["input"] = source
    print(json.dumps(profile, ensure_ascii=False) if form == "json" else report)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
