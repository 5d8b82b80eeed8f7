"""json_schema.py SCHEMAS PRINTED: checks what commands printed against SCHEMAS/NAME.schema.json. A line of the file PRINTED
is a command's name, a file with its JSON, and its command line, with tabs between them."""
import copy
import json
import os
import sys

import jsonschema


def schemas_of(folder):
    """Each schema of the folder by its file name, by which others refer to it; checked."""
    schemas = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            schemas[name] = json.load(file)
        jsonschema.Draft7Validator.check_schema(schemas[name])
    return schemas


def faults_of(value, name, schemas):
    resolver = jsonschema.RefResolver(name, schemas[name], store=schemas)
    for error in jsonschema.Draft7Validator(schemas[name], resolver=resolver).iter_errors(value):
        error = jsonschema.exceptions.best_match([error])  # the cause behind an alternative
        yield f"{'/'.join(map(str, error.absolute_path)) or 'at the top'}: {error.message[:300]}"


def lets_pass(value, name, schemas):
    """What the schema ought to refuse and does not: a key too many and a key too few."""
    for slip in ("another key", "no first key"):
        slipped = copy.deepcopy(value)
        at = slipped[0] if isinstance(slipped, list) else slipped
        if slip == "another key":
            at[slip] = 1
        else:
            del at[next(iter(at))]
        if not any(faults_of(slipped, name, schemas)):
            yield f"the schema allows {slip}"


def main():
    failures = 0
    schemas = schemas_of(sys.argv[1])
    with open(sys.argv[2]) as printed:
        for line in printed:
            command, path, words = line.rstrip("\n").split("\t")
            with open(path) as file:
                value = json.load(file)
            name = command + ".schema.json"
            if name not in schemas:
                continue  # json_command.sh says so
            for fault in [*faults_of(value, name, schemas), *lets_pass(value, name, schemas)]:
                print(f"FAILED: {words}: {fault}")
                failures += 1
    sys.exit(failures > 0)


main()
