"""What every specification is: validated data whose errors name the field, the value and the rule."""

from typing import Any, NoReturn, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from sensorium.errors import SpecError


class Spec(BaseModel):
    """Validated data: unknown keys, NaN and out-of-range values are refused with a SpecError, also on assignment."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_assignment=True)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            _refuse(type(self).__name__, error)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            _refuse(type(self).__name__, error)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """As pydantic's, with the library's own error."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            _refuse(cls.__name__, error)


def _refuse(owner: str, error: ValidationError) -> NoReturn:
    """Raise a SpecError with one sentence for each field that breaks a rule."""
    sentences = []
    for wrong in error.errors(include_url=False):
        path = ".".join(str(part) for part in (owner, *wrong["loc"]))
        if wrong["type"] == "extra_forbidden":
            sentences.append(f"{path} is not a field; {owner} has no such name")
        elif wrong["type"] == "missing":
            sentences.append(f"{path} is missing; it must be given")
        elif wrong["type"] == "value_error":
            # One of our own rules, which says value and rule itself
            sentences.append(f"{path}: {wrong['ctx']['error']}" if wrong["loc"] else str(wrong["ctx"]["error"]))
        else:
            rule = wrong["msg"].replace("Input should", "it should", 1)
            sentences.append(f"{path} is {wrong['input']!r}; {rule}")
    raise SpecError("; ".join(sentences)) from None
