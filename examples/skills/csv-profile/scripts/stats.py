"""What can be said about one column of a table."""

import math
from collections import Counter
from datetime import date

MISSING = {"", "na", "n/a", "null", "none", "nan", "-"}
BOOLEANS = {"true", "false", "yes", "no"}


def is_missing(cell):
    return cell.strip().lower() in MISSING


def as_integer(text):
    digits = text[1:] if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 300 else None


def as_number(text):
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def as_date(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def type_of(values):
    """The narrowest type that every value has, and the values in it."""
    if not values:
        return "empty", []
    if all(value.lower() in BOOLEANS for value in values):
        return "boolean", [value.lower() for value in values]
    for name, read in (("integer", as_integer), ("number", as_number), ("date", as_date)):
        typed = [read(value) for value in values]
        if all(value is not None for value in typed):
            return name, typed
    return "text", values


def median(ordered):
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return ordered[middle - 1] / 2 + ordered[middle] / 2


def rounded(number):
    return number if isinstance(number, int) else float(f"{number:.6g}")


def most_frequent(values, top):
    """The most frequent values; equally frequent ones in the order of their text, so that runs are alike."""
    ranked = sorted(Counter(values).items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"value": value, "count": count} for value, count in ranked[:top]]


def profile_column(cells, top):
    values = [cell.strip() for cell in cells if not is_missing(cell)]
    name, typed = type_of(values)
    profile = {
        "type": name,
        "count": len(values),
        "missing": len(cells) - len(values),
        "distinct": len(set(values)),
    }
    if name in ("integer", "number"):
        try:
            profile["mean"] = rounded(math.fsum(typed) / len(typed))
            profile["median"] = rounded(median(sorted(typed)))
        except OverflowError:
            pass  # Beyond what a floating-point number holds; smallest and largest are still right.
        profile["min"], profile["max"] = min(typed), max(typed)
    elif name == "date":
        profile["min"], profile["max"] = min(typed).isoformat(), max(typed).isoformat()
    elif name == "text":
        profile["shortest"], profile["longest"] = min(map(len, values)), max(map(len, values))
    profile["top"] = most_frequent(values, top)
    return profile
