"""Writes docs/results/NAME.md from what is kept of the runs: page.py NAME... | --all. Nothing is run.

A page has the comment of experiments/NAME.table, the commits and machines of the runs, the tables of table.py, those of
experiments/results/NAME/tables.json (figures that no table of runs holds, kept as they were measured), and the curves."""

import collections
import contextlib
import io
import json
import pathlib
import sys
import textwrap

import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPERIMENTS, PAGES = ROOT / "experiments", ROOT / "docs" / "results"


def machine_of(result, name, machines):
    machine = result.get("provenance", {}).get("machine")
    if machine:
        return f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
    return machines.get(name, machines["default"])


def counted(words):
    runs = collections.Counter(words)
    return "; ".join(f"{word} ({count} run{'s' if count > 1 else ''})" for word, count in runs.items())


def origin(name, folder):
    machines = json.loads((EXPERIMENTS / "results" / "machines.json").read_text())
    results = [json.loads(file.read_text()) for file in sorted(folder.glob("*-[0-9]*.json"))]
    if not results:
        return f"Figures kept by hand in experiments/results/{name}/tables.json."
    commits = [result["version"].split("commit ")[1].rstrip(")") for result in results]
    return (f"Written by `script/experiments {name}` from experiments/results/{name}/. "
            f"Commits: {counted(commits)}. Machine: {counted(machine_of(result, name, machines) for result in results)}.")


def wrapped(text):
    return "\n\n".join(textwrap.fill(part, 120, break_long_words=False, break_on_hyphens=False) for part in text.split("\n\n"))


def markdown(title, head, rows):
    lines = [f"\n{title}\n"] if title else [""]
    lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def page(name):
    folder, definition = EXPERIMENTS / "results" / name, EXPERIMENTS / f"{name}.table"
    kept = folder / "tables.json"
    held = json.loads(kept.read_text()) if kept.exists() else {"about": "", "tables": []}
    about, tables = held["about"], ""
    if definition.exists():
        lines = definition.read_text().splitlines()
        about = " ".join(line[1:].strip() for line in lines if line.startswith("#")) + ("\n\n" + about if about else "")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            table.main(definition, folder)
        tables = printed.getvalue().rstrip("\n")
    parts = [f"# {name}\n", wrapped(about) + "\n", wrapped(origin(name, folder))]
    if tables:
        parts.append(tables)
    if held["tables"] and definition.exists():
        parts.append("\n## Kept by hand")
    parts += [markdown(one["title"], one["head"], one["rows"]) for one in held["tables"]]
    if (EXPERIMENTS / "results" / f"{name}.svg").exists():
        parts.append(f"\n![Curves of the training runs](../../experiments/results/{name}.svg)")
    return "\n".join(parts) + "\n"


def main(*names):
    if names == ("--all",):
        names = sorted(folder.name for folder in (EXPERIMENTS / "results").iterdir() if folder.is_dir())
    PAGES.mkdir(exist_ok=True)
    for name in names:
        (PAGES / f"{name}.md").write_text(page(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
