"""Suggestions for a misspelt word."""

import difflib
from collections.abc import Iterable

# One error is allowed per this many letters
_LETTERS_A_SLIP = 4


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known words that are most like a given one, all that are equally so; none where none is near.

    Near is a word in other capitals, its plural or singular, one that begins with it or that it begins with, and one a
    few slips away.
    """
    given, forms = word.lower(), {each: each.lower() for each in known}
    found = [each for each, form in forms.items() if form == given]
    found = found or [each for each, form in forms.items() if _singular(form) == _singular(given)]
    if found:
        return found
    alike = difflib.get_close_matches(given, forms.values(), cutoff=0.5)
    begins = [form for form in alike if form.startswith(given) or given.startswith(form)]
    slips = {form: slips_between(given, form) for form in alike}
    least = min(slips.values(), default=0)
    near = begins[:1]
    if not near and least <= max(1, len(given) // _LETTERS_A_SLIP):
        near = [form for form, count in slips.items() if count == least]
    return [each for each, form in forms.items() if form in near]


def slips_between(word: str, other: str) -> int:
    """Letters to add, leave out, replace or swap with the next to get from one word to the other."""
    rows = [list(range(len(other) + 1))]
    for i in range(1, len(word) + 1):
        row = [i]
        for j in range(1, len(other) + 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (word[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and word[i - 2 : i] == other[j - 2 : j][::-1]:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


def _singular(word: str) -> str:
    """A word without the ending of its plural."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word.removesuffix("s") if len(word) > 3 else word
