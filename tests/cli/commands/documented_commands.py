"""The commands of documents: documented_commands.py FILE... prints "FILE:LINE<tab>COMMAND" for each command line of an
indented or fenced block, and for text between backticks that is a command of agon with flags "FILE:LINE<tab>`COMMAND".
A line of a block that names agon and is no command is an error, so that none is passed over."""
import re
import sys

FIRST_WORDS = r"(\./agon|\.\./agon|script/\w+|for|printf|echo|sqlite3|ctest|tensorboard|curl|python3?|git|cd)"


def blocks(lines):
    """(number, line) of the lines of indented and fenced blocks."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            yield number, line
        elif line.startswith("    "):
            yield number, line[4:]


for file in sys.argv[1:]:
    lines = open(file).read().split("\n")
    known, part_of = set(), None
    for number, line in blocks(lines):
        known.add(number)
        if part_of:
            start, text = part_of
            line, number = text + line.strip(), start
            part_of = None
        elif not re.match(rf"(\$ )?{FIRST_WORDS}( |$)", line):
            if re.match(r"\S*agon [a-z]", line):
                sys.exit(f"{file}:{number}: is this a command? Write ./agon: {line}")
            continue
        if line.endswith("\\"):
            part_of = number, line[:-1]
        else:
            print(f"{file}:{number}\t{line.removeprefix('$ ')}")
    for number, line in enumerate(lines, 1):
        if number not in known:
            for command in re.findall(r"`(?:\./)?(agon [a-z-]+ [^`]*--[^`]*)`", line):
                print(f"{file}:{number}\t`{command}")
