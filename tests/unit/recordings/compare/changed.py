"""Sheets with one value changed, for tests of verdicts."""

import re


def changed_sheet(folder, text, **factors):
    """The file of a sheet in which values are multiplied; intervals, which no longer fit, are left out."""
    text = re.sub(r"\ninterval = .*", "", text)
    for name, factor in factors.items():
        pattern = rf"(\[{name.replace('__', '.')}\]\nvalue = )(\[.*?\]|\S+)"
        (found,) = re.findall(pattern, text, re.DOTALL)
        numbers = [repr(factor * float(number)) for number in re.findall(r"[-+\d.e]+", found[1])]
        value = f"[{', '.join(numbers)}]" if found[1].startswith("[") else numbers[0]
        text = text.replace(found[0] + found[1], found[0] + value)
    path = folder / "changed.toml"
    path.write_text(text)
    return path


def verdicts(found):
    """Verdicts by quantity; of several places the set of them."""
    return {
        row.real.quantity: {each.verdict for each in found.rows if each.real.quantity == row.real.quantity}
        for row in found.rows
    }
