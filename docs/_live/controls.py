"""Controls of live figures: ordinary bound parameters, so that a chart works in a notebook too."""

from __future__ import annotations

import altair as alt

Params = list[alt.Parameter]

#: Twenty steps a decade (the preferred numbers of ISO 3); 0.1, 0.5 and 2 are among them.
STEPS = (1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8,
         3.15, 3.55, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9)  # fmt: skip


def ladder(low: float, high: float) -> list[float]:
    """Return the round numbers between two ends, evenly spaced on a logarithmic scale."""
    rungs = (float(f"{step}e{power}") for power in range(-3, 4) for step in STEPS)
    return [rung for rung in rungs if low <= rung <= high]


def slider(name: str, label: str, start: float, ends: tuple[float, float], step: float) -> Params:
    """Return a slider in even steps."""
    bind = alt.binding_range(min=ends[0], max=ends[1], step=step, name=label)
    return [alt.param(name=name, value=start, bind=bind)]


def rungs(name: str, label: str, start: float, values: list[float]) -> Params:
    """Return a slider over a list of numbers; what it moves is the place in the list."""
    bind = alt.binding_range(min=0, max=len(values) - 1, step=1, name=label)
    return [
        alt.param(name=f"{name}_step", value=values.index(start), bind=bind),
        alt.param(name=name, expr=f"{values}[{name}_step]"),
    ]


def choice(name: str, label: str, options: dict[str, str]) -> Params:
    """Return a drop-down list: what the parameter becomes, and what the reader sees."""
    bind = alt.binding_select(options=list(options), labels=list(options.values()), name=label)
    return [alt.param(name=name, value=next(iter(options)), bind=bind)]
