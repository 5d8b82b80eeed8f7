#!/usr/bin/env bash
# grade_command.sh AGON: agon grade on the command line, with answers whose right grade is known from how they were
# made.
agon=$1
. "$(dirname "$0")/helpers.sh"

# 1,000 answers: a right or wrong value, in one of the forms in which models write it.
python3 - "$scratch/answers.jsonl" "$scratch/right" <<'PY'
import json, random, sys
rng = random.Random(29)

def wrapped(text):
  return rng.choice(["{}", "<answer>{}</answer>", "\\boxed{{{}}}", "<answer>\\boxed{{{}}}</answer>", "**{}**", "The answer is {}.",
                     "Let me think.\n\nFinal answer: **{}**", "<think>Is it 1 or 2?</think>\nThe final answer is {}", "$\\boxed{{{}}}$"]).format(text)

def number_text(value):
  text = str(value)
  forms = [text, text + ".0", "x = " + text, text + " cm", text + "\\text{ cm}", text + "^\\circ", "\\(" + text + "\\)", text + "\u00a0%",
           text + " square meters", "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in text),
           "".join(chr(ord(c) - 48 + 0x660) if c.isdigit() else c for c in text), text.replace("-", "\u2212")]
  if value >= 1000:
    forms += [f"{value:,}", f"{value:,}".replace(",", " "), f"{value:,}".replace(",", "\u202f"), f"{value:,}".replace(",", "'"), f"US${value:,}"]
  return rng.choice(forms)

def number():
  value = rng.choice([rng.randint(-99, 99), rng.randint(1000, 9999999)])
  right = rng.random() < 0.5
  said = value if right else value + rng.choice([-1, 1, 10, -100])
  return {"grader": "number", "answer": value, "response": wrapped(number_text(said))}, right

def tolerant():
  value, share = rng.randint(100, 5000), 0.05
  factor = rng.choice([0.96, 1.04, 0.9, 1.1])
  return ({"grader": "number", "answer": value, "tolerance": share, "response": wrapped(f"{value * factor:.2f}")},
          abs(factor - 1) < share)

def fraction():
  above, below = rng.randint(1, 20), rng.choice([2, 4, 5, 8])
  right = rng.random() < 0.5
  said = above if right else above + 1
  text = rng.choice(["\\frac{%d}{%d}", "\\dfrac{%d}{%d}", "%d/%d", "\\tfrac{%d}{%d}"]) % (said, below)
  return {"grader": "number", "answer": above / below, "response": wrapped(text)}, right

ANIMALS = ["cat", "black dog", "horse", "hen", "cow", "pig", "goat", "duck", "fox"]
def choice():
  options = rng.sample(ANIMALS, rng.randint(3, 9))
  gold, said = rng.randrange(len(options)), rng.randrange(len(options))
  letter = chr(65 + said)
  text = rng.choice(["{0}", "({0})", "{0}.", "{0}. {1}", "{1}", "({0}) {1}", "option {0}"]).format(letter, options[said])
  sentence = rng.choice(["Option {} is correct.", "The correct option is {}.", "I think the answer is {}",
                         "The final answer is {}. Option (A) looked right at first."]).format(letter)
  answer = rng.choice([chr(65 + gold), options[gold]])
  return {"grader": "choice", "answer": answer, "options": options, "response": rng.choice([wrapped(text), sentence])}, gold == said

DAYS = ["Monday", "Tuesday", "New York", "caf\u00e9", "La Paz"]
def words():
  gold, said = rng.choice(DAYS), rng.choice(DAYS)
  text = rng.choice([said, said.upper(), "the " + said, "\\text{" + said + "}", said.replace("\u00e9", "e\u0301")])
  return {"grader": rng.choice(["normalized", "f1"]), "answer": gold, "response": wrapped(text)}, gold == said

def box_text(b):
  return rng.choice(["[{},{},{},{}]", "({},{}),({},{})", "[[{}, {}], [{}, {}]]", "<box>({},{}),({},{})</box>",
                     '{{"bbox_2d": [{}, {}, {}, {}]}}', "I see [1,2,3,4], but the answer is [{},{},{},{}]",
                     '{{"x1": {}, "y1": {}, "x2": {}, "y2": {}}}']).format(*b)
def box():
  x, y, w = rng.randint(0, 500), rng.randint(0, 500), rng.choice([100, 200, 400])
  kept = rng.choice([1, 0.75, 0.5, 0.25])  # of the height: the overlap
  return ({"grader": "iou", "answer": [x, y, x + w, y + w], "response": box_text([x, y, x + w, y + int(w * kept)])}, kept >= 0.5)

def point():
  x, y = rng.randint(100, 800), rng.randint(100, 800)
  right = rng.random() < 0.5
  px, py = (x + 5, y + 5) if right else (x + 50, y)
  text = rng.choice(["({}, {})", "[{},{}]", "<point>[[{},{}]]</point>", "click(start_box='({},{})')", "pyautogui.click(x={}, y={})",
                     "Thought: at (1, 2)?\nAction: click(start_box='({},{})')", '{{"point_2d": [{}, {}]}}']).format(px, py)
  return {"grader": "point_in_box", "answer": [x, y, x + 20, y + 20], "response": text}, right

def action():
  gold, forms = rng.choice([("SCROLL [UP]", ["scroll(direction='up')", "SCROLL [UP]", '{"action": "scroll", "direction": "up"}']),
                            ("TYPE [hi]", ["type(content='hi')", "TYPE [hi]", "Action: type(text=\"hi\")"]),
                            ("PRESS_HOME", ["press_home()", "PRESS_HOME"])])
  other = rng.choice(["wait()", "SCROLL [DOWN]", "type(content='bye bye')"])
  right = rng.random() < 0.5
  return {"grader": "gui_step", "answer": gold, "response": rng.choice(forms) if right else other}, right

def empty():
  return {"grader": rng.choice(["exact", "normalized", "f1"]), "answer": rng.choice(["A", "The The", "x"]), "response": rng.choice(["", "<answer></answer>", " \n"])}, False

makers = [number, number, tolerant, fraction, choice, choice, words, box, point, action, empty]
with open(sys.argv[1], "w") as lines, open(sys.argv[2], "w") as right:
  for i in range(1000):
    line, correct = rng.choice(makers)()
    lines.write(json.dumps({"id": i, **line}, ensure_ascii=rng.random() < 0.5) + "\n")
    right.write(f"{int(correct)}\n")
PY
"$agon" grade "$scratch/answers.jsonl" --explain >"$scratch/graded" || fail "grade"
python3 - "$scratch/answers.jsonl" "$scratch/graded" "$scratch/right" <<'PY' || fail "grades differ from what was made"
import json, sys
answers, grades = ([json.loads(line) for line in open(path)] for path in sys.argv[1:3])
right = [line.strip() == "1" for line in open(sys.argv[3])]
assert len(answers) == len(grades) == len(right) == 1000, len(grades)
wrong = 0
for answer, grade, wanted in zip(answers, grades, right):
  assert list(grade) == ["id", "reward", "correct", "extracted", "why", "steps"] and grade["why"] and grade["steps"], grade
  if grade["correct"] != wanted:
    wrong += 1
    print(wanted, json.dumps(answer), json.dumps(grade))
sys.exit(wrong > 0)
PY
"$agon" grade --json - <"$scratch/answers.jsonl" >"$scratch/json" || fail "grade --json -"
[ "$(value answers "$scratch/json")" = 1000 ] || fail "--json counts $(value answers "$scratch/json")"
[ "$(value results/0/id "$scratch/json")" = 0 ] || fail "--json lacks the results"

line='{"grader": "number", "answer": 3, "response": "3"}'
printf '%s\n\n%s\n' "$line" '{"grader": "number", "answer": 3}' >"$scratch/bad"
says 1 "$scratch/bad:3: no \"response\" (1 graded before it)" "$agon" grade "$scratch/bad"
refused() { printf '%s\n' "$2" >"$scratch/one"; refuses 1 "$1" "$agon" grade "$scratch/one"; }
refused "one:1: not JSON" '{"grader": '
refused "Did you mean 'number'" '{"grader": "numbr", "answer": 3, "response": "3"}'
refused 'did you mean "response"' '{"grader": "number", "answer": 3, "respons": "3"}'
refused 'did you mean "size"' '{"grader": "iou", "answer": [1, 2, 3, 4], "response": "[1, 2, 3, 4]", "coordinates": "pixels", "sizes": [9, 9]}'
refused 'did you mean "size"' '{"grader": "iou", "answer": [1, 2, 3, 4], "response": "[1, 2, 3, 4]", "coordinates": "pixels", "Size": [9, 9]}'
refused '"size" does nothing where neither "coordinates"' '{"grader": "iou", "answer": [1, 2, 3, 4], "response": "[1, 2, 3, 4]", "size": [9, 9]}'
refused '"tolerance" is {}' '{"grader": "number", "answer": 3, "response": "3", "tolerance": {}}'
refused 'option 2 is an empty text' '{"grader": "choice", "answer": "A", "options": ["x", ""], "response": "A"}'
refused "fits two options" '{"grader": "choice", "answer": "x", "options": ["x", "x"], "response": "A"}'
refused '"tolerance" does nothing' '{"grader": "exact", "answer": "x", "tolerance": 1, "response": "x"}'
refused '"response" is 3, not a text' '{"grader": "number", "answer": 3, "response": 3}'
refused 'the key "answer" occurs twice' '{"grader": "number", "answer": 3, "answer": 4, "response": "3"}'
refused 'jq -c .' '{'
refused 'read_csv' 'grader,answer,response'
# As tools export them: an array behind a byte-order mark, empty cells, whole numbers with a point, more digits than 64 bits.
printf '\xEF\xBB\xBF[\n%s,\n%s,\n%s]\n' '{"grader": "exact", "answer": 2.0, "response": "2", "options": null}' \
  '{"grader": "exact", "answer": 1e3, "response": "1000"}' \
  '{"grader": "exact", "answer": 18446744073709551617, "response": "18446744073709551617"}' >"$scratch/exported.json"
"$agon" grade "$scratch/exported.json" --json >"$scratch/json" || fail "grade of an array"
[ "$(value accuracy "$scratch/json")" = 1.0 ] || fail "exported: $(cat "$scratch/json")"
# A program that asks line by line is answered line by line.
coproc GRADE { "$agon" grade -; }
printf '%s\n' "$line" >&"${GRADE[1]}"
read -r -t 20 answer <&"${GRADE[0]}" || fail "grade - waits for the end of its input"
case $answer in *'"correct": true'* | *'"correct":true'*) ;; *) fail "line by line: $answer" ;; esac
exec {GRADE[1]}>&-
printf ' \n\n' >"$scratch/blank"
refuses 1 "holds no answers" "$agon" grade "$scratch/blank"
refuses 1 "$scratch/none" "$agon" grade "$scratch/none"
refuses 2 "FILE" "$agon" grade

finish
