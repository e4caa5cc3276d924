"""What gpu_check.py tells: rows, lines of JSON with `row` (a name), `what` (words), `value`, `unit` and more; what they
should be; a table of them. A row with `failed` is something that went wrong; one with `detail` is in no table."""

import json
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    bound: float
    is_least: bool

    def is_met(self, value):
        return value >= self.bound if self.is_least else value <= self.bound

    def text(self, unit):
        return f"{'at least' if self.is_least else 'at most'} {self.bound:g} {unit}".strip()


def at_least(bound):
    return Goal(bound, True)


def at_most(bound):
    return Goal(bound, False)


# by the names of rows
GOALS = {
    "null_tasks": at_least(10),
    "range_points": at_least(1),
    "growth_points": at_least(0.5),
    "submit_to_complete_p50": at_most(6),
    "submit_to_complete_p99": at_most(15),
    "tasks_in_a_launch": at_least(15),
    "tasks_in_a_node": at_least(5),
    "efficiency_4000us": at_least(90),
    "efficiency_of_ranges_400us": at_least(90),
    "arena_10000": at_most(0.3),
    "ten_leaves": at_most(0.3),
    "ten_leaves_mathematics": at_most(1.5),
    "ten_leaves_kept": at_most(10),
    "lost_by_a_kill": at_most(2),
    "start_up": at_most(1.1),
    "differing_arguments": at_most(0),
    "differing_scripts": at_most(0),
}


def tell(row, what, value, unit="", **more):
    print(json.dumps({"row": row, "what": what, "value": value, "unit": unit, **more}), flush=True)


def tell_failed(what):
    print(json.dumps({"row": "failed", "what": what, "failed": True}), flush=True)


def is_failed(row):
    """Whatever a card can do, this is to be so."""
    return bool(row.get("failed")) or row["row"].startswith("differing_") and row["value"] != 0


def figures_of(rows, name):
    return [row["value"] for row in rows if row["row"] == name]


def tell_ratios(rows):
    """Rows that follow from those of several steps."""
    tasks = max(figures_of(rows, "null_tasks"), default=0)
    for each, name, what in (("launch", "tasks_in_a_launch", "one launch"), ("graph_node", "tasks_in_a_node", "one node of a graph")):
        for us in figures_of(rows, each) if tasks else []:
            yield {"row": name, "what": f"null tasks through the queues in the time of {what}", "value": tasks * us, "unit": ""}


def figure(value):
    if isinstance(value, int) or isinstance(value, float) and value.is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def columns_of(row):
    """Text of a row: what, figure, goal, whether it is met."""
    if row.get("failed"):
        return row["what"].replace("\n", "; ").replace("|", "\\|"), "", "", "FAILED"
    shown = f"{figure(row['value'])} {row['unit']}".strip()
    if "registers" in row:
        shown += f", {row['registers']} registers, {row['own_bytes']} bytes of each thread's own, {row['ptx_bytes']:,} bytes of PTX"
    if "points" in row:
        shown += f", {row['points']:,} points or calls on GPUs"
    goal = GOALS.get(row["row"])
    if goal is None:
        return row["what"], shown, "", ""
    return row["what"], shown, goal.text(row["unit"]), "yes" if goal.is_met(row["value"]) else "NO"


def print_table(rows):
    """@return how many rows tell of something that went wrong"""
    print("| step | what | figure | goal | met |\n|---|---|---|---|---|")
    last = None
    goals, failed = [], 0
    for row in rows:
        what, shown, goal, met = columns_of(row)
        failed += is_failed(row)
        if not row.get("detail") or is_failed(row):
            goals += [met] if goal else []
            print(f"| {row['step'] if row['step'] != last else ''} | {what} | {shown} | {goal} | {met} |")
            last = row["step"]
    print(f"\n{len(rows)} rows; {goals.count('yes')} of {len(goals)} goals met; {failed} failed")
    sys.stdout.flush()
    return failed
