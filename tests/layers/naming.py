#!/usr/bin/env python3
"""Usage: naming.py FILE... - the names that C++ files declare, against the rules of the house.

Types are CamelCase. Namespaces, functions, variables, parameters, members and enumerators are lower_case; private and
protected members end with '_'. Constants of a namespace or a class are kCamelCase; other variables may be. A line with
NOLINT(readability-identifier-naming) is left alone. `.clang-tidy` has the same rules for editors. clang-tidy itself
takes minutes for all files, because it parses the headers of libraries.

No compiler is needed: in the layout of clang-format, '*', '&' and '<' stand at the type and operators between spaces,
so a name that follows the end of a type and a space is declared there.
"""
import re
import sys

TOKEN = re.compile(
    r'(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*)'  # comments and directives
    r'|(?P<text>(?:u8|[uUL])?(?:R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'))'
    r'|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.\'])*)|(?P<sign>::|->|&&|\.\.\.|\S)', re.S | re.M)
LOWER = re.compile(r'[a-z][a-z0-9_]*|_'), 'lower_case'
MEMBER = re.compile(r'[a-z][a-z0-9_]*_'), "lower_case with '_' at its end"
CAMEL = re.compile(r'([A-Z][a-z0-9]*)+'), 'CamelCase'
CONSTANT = re.compile(r'k([A-Z][a-z0-9]*)+'), 'kCamelCase'
VARIABLE = re.compile(LOWER[0].pattern + '|' + CONSTANT[0].pattern), 'lower_case or kCamelCase'

BUILT_IN = set('''auto bool char char8_t char16_t char32_t double float int long short signed unsigned void
    wchar_t'''.split())
CLASSES = {'class', 'struct', 'union'}
LOOPS = {'constexpr', 'for', 'if', 'switch', 'while'}
OTHERS = set('''__attribute__ alignas alignof asm break case catch co_await co_return co_yield concept const
    consteval constexpr constinit continue decltype default delete do else enum explicit export extern false final
    for friend goto if inline mutable namespace new noexcept nullptr operator override private protected public
    register requires return sizeof static static_assert switch template this thread_local throw true try typedef
    typename using virtual volatile while'''.split()) | CLASSES


class Token:
    def __init__(self, match, attached):
        self.kind, self.text, self.start, self.attached = match.lastgroup, match.group(), match.start(), attached
        self.closes = False  # template arguments or decltype: the end of a type

    def is_name(self):
        return self.kind == 'word' and self.text not in BUILT_IN and self.text not in OTHERS


class Frame:
    """What stands between two brackets, or the file.

    kind: namespace, class, enum, code, value (an initializer), ( (parameters and arguments), <, template (parameters),
    [, capture or binding. private: members are, from here on.
    """
    def __init__(self, kind, private=False):
        self.kind, self.private = kind, private
        self.begin()

    def begin(self):
        """A statement begins: its words so far, whether it has declared a name, the kind of class it defines."""
        self.words, self.declares, self.defines = [], False, None


def tokens_of(source):
    tokens, end = [], -1
    for match in TOKEN.finditer(source):
        if match.lastgroup != 'skip':
            tokens.append(Token(match, match.start() == end))
            end = match.end()
    return tokens


def opened(frame, before, token):
    """The frame that a bracket opens in `frame`; before: the two tokens before it."""
    if token.text == '<':
        return Frame('template' if before[1].text in ('template', ']') else '<')
    if token.text == '(':
        return Frame({'decltype': '<'}.get(before[1].text, 'code' if before[1].text in LOOPS else '('))
    if token.text == '[':
        binds = 'auto' in (before[1].text, before[0].text) and before[1].text in ('auto', '&', '&&')
        indexes = token.attached and (before[1].kind == 'word' or before[1].text in (')', ']'))
        return Frame('binding' if binds else '[' if indexes else 'capture')
    if 'namespace' in frame.words:
        return Frame('namespace')
    if 'enum' in frame.words and not frame.declares:
        return Frame('enum')
    if frame.defines or before[1].text in CLASSES or (before[1].closes and CLASSES & set(frame.words[:1])):
        return Frame('class', 'class' in (frame.defines, frame.words[0]))
    # clang-format sets the brace of an initializer at what it initializes
    return Frame('value' if token.attached or before[1].text == '=' else 'code')


def ends_type(before, token):
    """Whether a name after these two tokens follows a type."""
    if token.kind == 'word':
        if token.text == 'const':
            return before.text == '*' and before.attached
        return token.text not in OTHERS
    return token.closes or (token.text in ('*', '&', '&&', '...') and token.attached)


def rule_of(outer, frame, name, before, after, beyond):
    """What holds for a name between three tokens and two; None: it is not declared. outer: what `frame` is in."""
    last = before[2]
    classes = [word for word in frame.words if word in CLASSES or word == 'enum']
    heads_class = classes and not frame.declares and not frame.defines
    if last.text in CLASSES or last.text == 'enum' or (heads_class and last.text in ('::', ')', ']')):
        if after.text in ('{', ':', 'final') and frame.kind != 'template':
            frame.defines = classes[0]
            return CAMEL
        return None
    if last.text == 'using' and after.text == '=':
        return CAMEL
    if 'namespace' in frame.words and 'using' not in frame.words:
        return LOWER if last.text in ('namespace', '::') and '=' not in frame.words else None
    if frame.kind == 'enum':
        return LOWER if last.text in ('{', ',') else None
    if frame.kind == 'binding':
        return VARIABLE
    if frame.kind == 'capture':
        return VARIABLE if after.text == '=' else None
    if after.text not in ('=', ';', ',', ')', '(', '{', '[', ':') or frame.kind == 'template':
        return None
    if last.text in ('*', '&') and before[1].text == '(' and not before[1].attached:  # `void (*act)(int)`
        frame = outer
        declared = ends_type(None, before[0])
    elif last.text in ('*', '&') and name.attached:  # `const char *first, *second;`, `int Range::*end`
        declared = (before[1].text == '::' or (not last.attached and ends_type(before[0], before[1])) or
                    (before[1].text == ',' and frame.declares))
    elif last.text == '}':  # `enum class Place { here, there } place;`
        declared = bool(classes)
    elif last.text == ',':
        declared = frame.declares and frame.kind in ('code', 'class', 'namespace')
    else:
        declared = ends_type(before[1], last) and not (last.kind == 'sign' and name.attached)
    if not declared:
        return None
    if frame.kind == '(':
        return LOWER
    frame.declares = True
    if after.text == '(' and frame.kind != 'code' and beyond.kind not in ('text', 'number'):
        return LOWER
    constant = 'constexpr' in frame.words or ('const' in frame.words and last.text not in ('*', '&', '&&'))
    if constant and (frame.kind == 'namespace' or (frame.kind == 'class' and 'static' in frame.words)):
        return CONSTANT
    if frame.kind == 'class':
        return MEMBER if frame.private and not {'static', 'friend', 'using', 'typedef'} & set(frame.words) else LOWER
    return VARIABLE


def faults_in(path):
    with open(path, encoding='utf-8') as file:
        source = file.read()
    lines = source.split('\n')
    edge = Token(TOKEN.match(';'), False)
    tokens = tokens_of(source) + [edge] * 2
    before = [edge] * 3
    frames = [Frame('namespace')]
    for token, after, beyond in zip(tokens, tokens[1:], tokens[2:]):
        frame = frames[-1]
        if token.is_name():
            rule = rule_of(frames[-2:][0], frame, token, before, after, beyond)
            line = source.count('\n', 0, token.start) if rule and not rule[0].fullmatch(token.text) else None
            if line is not None and 'NOLINT(readability-identifier-naming)' not in lines[line]:
                yield f'{path}:{line + 1}: {token.text} is not {rule[1]}'
        text = token.text
        holds_types = before[2].text == 'template' or (token.attached and before[2].text != 'operator' and
                                                       (before[2].kind == 'word' or before[2].text == ']'))
        if text in ('(', '[', '{') or (text == '<' and holds_types):
            frames.append(opened(frame, before[1:], token))
            frame.words.append(text)
        elif len(frames) > 1 and (text in (')', ']') or (text == '>' and frame.kind in ('<', 'template'))):
            frames.pop()
            token.closes = frame.kind == '<'
        elif text == '}' and len(frames) > 1:
            frames.pop()
            if frame.kind in ('namespace', 'code') and after.text not in (',', ';', ')', '.', '('):
                frames[-1].begin()
        elif text == ';':
            frame.begin()
        elif text == ':' and before[2].text in ('public', 'private', 'protected'):
            frame.private = before[2].text != 'public'
            frame.begin()
        else:
            frame.words.append(text)
        before = [before[1], before[2], token]


def main():
    faults = [fault for path in sys.argv[1:] for fault in faults_in(path)]
    print('\n'.join(faults + [f'naming: {len(sys.argv) - 1} files, {len(faults)} faults']))
    sys.exit(bool(faults))


main()
