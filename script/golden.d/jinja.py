"""Golden files of the Jinja interpreter: small templates that use one construct each, and chat templates in the style of
several families (written here) with random conversations, rendered by transformers' own environment of jinja2.
Usage: jinja.py OUTPUT_FOLDER. script/check_chat_templates imports the conversations."""
import json
import os
import random
import sys

import transformers
from transformers.utils.chat_template_utils import _compile_jinja_template

VARIABLES = {
    "s": "Hello, W\u00f6rld", "e": "", "l": [3, 1, 2], "d": {"b": 1, "A": 2, "items": [1]}, "n": None, "t": True,
    "f": 1.5, "z": 0, "u": "  x y  ",
    "m": [{"role": "user", "content": "hi", "n": 2}, {"role": "assistant", "content": None, "n": 1},
          {"role": "User", "content": "yo"}],
    "big": [[1, ["a", "it's"]], {"k": [None, True, 1.0]}], "j": "a\n\tb\"\\\u2028\x01\u00e9/<",
    "ws": "a\r\nb\n\nc\x0bd"}

CONSTRUCTS = [
    '{{ s }}|{{ e }}|{{ l }}|{{ d }}|{{ n }}|{{ t }}|{{ f }}|{{ x }}',
    '{{ s[0] }}{{ s[-1] }}{{ s[1:4] }}{{ s[::-1] }}{{ s[8:2:-2] }}{{ s[100:] }}|{{ s[99] }}|{{ s[:-3] }}',
    '{{ l[::-1] }}{{ l[5:] }}{{ l[-2:] }}{{ l[0:3:2] }}{{ l[::-2] }}{{ l[:n] }}{{ l[-100:100] }}{{ l[2:0:-1] }}',
    '{{ l[::0] }}',
    "{{ l['a':] }}",
    "{{ d.b }}{{ d['A'] }}{{ d.nope }}|{{ d['items'] }}|{{ d.get('b') }}{{ d.get('q') }}{{ d.get('q', 7) }}{{ d.keys()|list }}{{ d.values()|list }}{{ d.items()|list }}",
    '{{ x.y }}',
    "{{ x['y'] }}",
    '{{ x.y is defined }}',
    '{{ d.q.r }}',
    '{{ d.q.r is defined }}',
    '{{ x + 1 }}',
    "{{ x ~ 1 }}|{{ x == y }}|{{ x == none }}|{{ 'a' in x }}|{{ x|length }}|{{ x|default('d') }}|{{ n|default('d') }}|{{ n|default('d', true) }}|{{ e|d('q', boolean=true) }}",
    '{{ not x }}{% for a in x %}a{% else %}none{% endfor %}',
    '{% for a in n %}a{% endfor %}',
    '{% for a in 3 %}a{% endfor %}',
    '{{ 1 + 2 * 3 - 4 / 2 }}|{{ 7 // 2 }}|{{ -7 // 2 }}|{{ -7 % 3 }}|{{ 7 % -3 }}|{{ 2 ** 10 }}|{{ 2 ** -1 }}|{{ 2 ** 3 ** 2 }}|{{ -2 ** 2 }}|{{ 7.5 // 2 }}|{{ -7.5 % 2 }}|{{ 6 / 3 }}',
    '{{ 1 / 0 }}',
    '{{ 1 % 0 }}',
    "{{ true + 1 }}|{{ 1 == true }}|{{ 1.0 == 1 }}|{{ '1' == 1 }}|{{ none == false }}",
    "{{ 'a' + 1 }}",
    "{{ 'a' ~ 1 ~ none ~ 1.0 ~ true }}|{{ 'ab' * 3 }}|{{ 2 * 'ab' }}|{{ [1] * 2 }}|{{ [1] + [2] }}|{{ (1,) + (2,) }}|{{ 'ab' * -1 }}",
    '{{ [1] + (2,) }}',
    "{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 'a' < 'b' }}{{ [1,2] < [1,3] }}{{ 1 <= 1.0 }}{{ 2 >= 3 }}{{ 1 != 2 }}{{ 'a' in 'abc' }}{{ 'z' not in 'abc' }}{{ 1 in l }}{{ 'b' in d }}{{ 9 in l }}{{ none in [none] }}",
    "{{ 1 < 'a' }}",
    '{{ none < 1 }}',
    "{{ 1 in 'abc' }}",
    '{{ 1 in 5 }}',
    "{{ 'y' if t else 'n' }}{{ 'y' if z }}|{{ ('y' if z) is defined }}|{{ 1 if 0 else 2 if 0 else 3 }}",
    "{{ t and z }}{{ z or 'q' }}{{ not t or t }}{{ e or n or l }}{{ e and x.y }}",
    "{{ (1, 'a') }}{{ (1,) }}{{ () }}{{ [] }}{{ {} }}{{ {'a': 1, 'b': [1, 'x']} }}{{ [1.0, 1e16, 1e-5, 123456789012345680.0, 0.1, 1e22, 100000.0, 2.5e-8, 1e15] }}",
    '{{ ["it\'s", \'q"\', \'both\\\'"\', \'\\n\\t\\\\\', \'\\x01\\x7f\\xe9\\u200b\\U0001f600\\xad\'] }}',
    '{{ big }}{{ big|tojson }}{{ big|tojson(indent=2) }}{{ d|tojson(indent=4) }}{{ []|tojson(indent=2) }}{{ {}|tojson }}',
    '{{ j|tojson }}{{ j|tojson(ensure_ascii=true) }}{{ "\\U0001f600"|tojson(ensure_ascii=true) }}{{ d|tojson(separators=(\',\', \':\')) }}{{ d|tojson(sort_keys=true) }}{{ (1,2)|tojson }}{{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }}{{ l|tojson(indent=\'\\t\') }}{{ l|tojson(indent=0) }}',
    '{{ x|tojson }}',
    '{{ range(3)|list }}{{ range(1, 4)|list }}{{ range(5, 0, -2)|list }}{{ range(0)|list }}',
    '{{ range(200000)|list|length }}',
    "{{ u|trim }}|{{ u.strip() }}|{{ u.lstrip() }}|{{ u.rstrip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'abcba'.strip('ab') }}|{{ '\\u00a0\\u2003q\\u3000'.strip() }}|{{ 'xa'|trim('x') }}|{{ 5|trim }}|{{ '\\x1c\\x1fq\\x85'|trim }}",
    "{{ 'a,b,,c'.split(',') }}{{ 'a b  c '.split() }}{{ ' a b c'.split(none, 1) }}{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ ''.split(',') }}{{ ''.split() }}{{ 'a<|x|>b'.split('<|x|>')[-1] }}{{ 'abc'.split('') }}",
    "{{ 'a,b,,c'.split(',') }}{{ 'a b  c '.split() }}{{ ' a b c'.split(none, 1) }}{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ ''.split(',') }}{{ ''.split() }}{{ 'a b c '.split(maxsplit=1) }}{{ 'a--b--c'.rsplit('--', maxsplit=1) }}",
    "{{ ws.splitlines() }}{{ ''.splitlines() }}{{ 'a\\n'.splitlines() }}{{ 'a\\r\\n\\r\\nb'.splitlines() }}",
    "{{ 'a.b.c'.partition('.') }}{{ 'a.b.c'.rpartition('.') }}{{ 'abc'.partition('.') }}{{ 'abc'.rpartition('.') }}",
    "{{ s.startswith('He') }}{{ s.endswith(('x', 'ld')) }}{{ s.startswith('') }}{{ s.removeprefix('He') }}{{ s.removesuffix('ld') }}{{ s.removesuffix('q') }}{{ s.removeprefix('') }}{{ s.removesuffix('') }}",
    "{{ s.replace('l', 'L') }}{{ s.replace('l', 'L', 1) }}{{ 'abc'.replace('', '-') }}{{ 'abc'.replace('', '-', 2) }}{{ ''.replace('', '-') }}{{ s|replace('o', '0') }}{{ 'aaa'|replace('a', 'b', 2) }}{{ 5|replace('5', 'x') }}{{ 'h\\u00e9'.replace('', '.') }}",
    "{{ s.upper() }}{{ s|lower }}{{ 'hELLO wORLD it\\'s x-y'.title() }}{{ 'hELLO wORLD it\\'s x-y (z) <a {b [c'|title }}{{ 'hELLO w'.capitalize() }}{{ 'hELLO w'|capitalize }}{{ ''|capitalize }}{{ '\\u00e9t\\u00e9'|upper }}",
    "{{ s.find('W') }}{{ s.find('q') }}{{ s.rfind('l') }}{{ s.index('r') }}{{ s.count('l') }}{{ 'aaa'.count('aa') }}{{ 'ab\\u00e9'.count('') }}",
    "{{ s.index('q') }}",
    "{{ '12'.isdigit() }}{{ ''.isdigit() }}{{ 'ab'.isalpha() }}{{ 'a1'.isalnum() }}{{ ' \\n'.isspace() }}{{ 'AB'.isupper() }}{{ 'A b'.islower() }}{{ '1'.isupper() }}{{ 'a b'.isalpha() }}",
    "{{ ', '.join(['a', 'b']) }}{{ ''.join([]) }}{{ '-'.join('abc') }}{{ l|join }}{{ l|join(', ') }}{{ m|join('|', attribute='role') }}{{ [1, none, x]|join('+') }}{{ n|default([])|join }}",
    "{{ ','.join([1]) }}",
    '{{ l|first }}{{ l|last }}{{ []|first }}|{{ s|first }}{{ s|last }}{{ d|first }}{{ ([]|first) is defined }}',
    '{{ s|length }}{{ l|length }}{{ d|count }}{{ e|length }}',
    '{{ n|length }}',
    '{{ 5|length }}',
    "{{ l|sort }}{{ l|sort(reverse=true) }}{{ ['b', 'A', 'a', 'B']|sort }}{{ ['b', 'A', 'a', 'B']|sort(case_sensitive=true) }}{{ m|sort(attribute='role')|map(attribute='role')|list }}{{ l|max }}{{ l|min }}{{ l|sum }}{{ [[2, 'b'], [1, 'a']]|sort }}{{ l|reverse|list }}{{ 'abc'|reverse }}",
    "{{ [1, 'a']|sort }}",
    "{{ d|dictsort }}{{ d|dictsort(reverse=true) }}{{ {'b': 1, 'A': 2}|dictsort(true) }}{{ {'b': 1, 'A': 0}|dictsort(by='value') }}{{ d|items|list }}{{ x|items|list }}",
    "{{ [1,2,1,'a','A']|unique|list }}{{ [1,2,1,'a','A']|unique(true)|list }}",
    "{{ m|map(attribute='role')|list }}{{ m|map('length')|list }}{{ ['a','b']|map('upper')|join }}{{ [[1,2],[3]]|map('join', '-')|list }}{{ m|map(attribute='q', default='z')|list }}{{ m|map(attribute='content')|list }}{{ [[1,2],[3,4]]|map(attribute=1)|list }}{{ [['a']]|map(attribute='0')|list }}",
    "{{ m|selectattr('role', 'equalto', 'user')|list }}{{ m|rejectattr('role', '==', 'user')|map(attribute='role')|list }}{{ m|selectattr('content')|list|length }}{{ m|selectattr('n', 'defined')|list|length }}{{ l|select('odd')|list }}{{ l|reject('gt', 1)|list }}{{ [0, 1, '', 'a']|select|list }}{{ m|selectattr('role', 'in', ['user', 'x'])|list|length }}",
    "{{ l|map('nope')|list }}",
    "{{ l|select('nope')|list }}",
    "{{ '3'|int }}{{ '3.9'|int }}{{ 'x'|int }}{{ 'x'|int(5) }}{{ 3.9|int }}{{ none|int }}{{ true|int }}{{ ' 42 '|int }}{{ '-7'|int }}{{ '+7'|int }}{{ '2.5'|float }}{{ 'x'|float }}{{ 3|float }}{{ 'x'|float(1.5) }}{{ '1e3'|int }}",
    "{{ -3|abs }}{{ (-3)|abs }}{{ -2.5|abs }}{{ 2.567|round(2) }}{{ 2.5|round }}{{ 3.5|round }}{{ 2|round }}{{ 2.1|round(0, 'ceil') }}{{ 2.9|round(method='floor') }}",
    "{{ 'a\\nb\\n\\nc'|indent }}|{{ 'a\\nb\\n\\nc'|indent(2, true) }}|{{ 'a\\nb\\n\\nc\\n'|indent(2, blank=true) }}|{{ 'a\\nb'|indent('>>') }}|{{ ''|indent }}|{{ 'a\\nb'|indent(width=0, first=true) }}|{{ 'a\\n'|indent(first=true) }}",
    '{{ s|string }}{{ 5|string }}{{ l|string }}{{ none|string }}{{ s|safe }}{{ s|list }}{{ d|list }}{{ (1,2)|list }}',
    "{{ n is none }}{{ x is none }}{{ n is defined }}{{ s is string }}{{ d is mapping }}{{ l is mapping }}{{ l is iterable }}{{ s is iterable }}{{ 5 is iterable }}{{ n is iterable }}{{ x is iterable }}{{ l is sequence }}{{ d is sequence }}{{ 5 is sequence }}{{ x is sequence }}{{ 5 is number }}{{ true is number }}{{ '5' is number }}{{ t is boolean }}{{ 1 is boolean }}{{ 1 is integer }}{{ true is integer }}{{ 1.5 is float }}{{ t is true }}{{ 1 is true }}{{ false is false }}{{ 0 is false }}{{ x is undefined }}",
    "{{ 3 is odd }}{{ 3 is even }}{{ 9 is divisibleby 3 }}{{ 9 is divisibleby(2) }}{{ 1 is eq 1 }}{{ 1 is equalto(2) }}{{ 1 is ne 2 }}{{ 2 is gt 1 }}{{ 2 is lt 1 }}{{ 'a' is in ['a'] }}{{ 'a' is in 'abc' }}{{ 'A' is upper }}{{ 'A' is lower }}{{ none is sameas none }}{{ 1 is sameas true }}{{ not 3 is odd }}{{ 3 is not odd }}{{ s is string and l is not string }}{{ range is callable }}{{ s is callable }}{{ 1 is ge 1 }}{{ 1 is le 0 }}",
    '{% set a = 1 %}{% set b, c = 2, 3 %}{{ a }}{{ b }}{{ c }}{% set a = a + 1 %}{{ a }}{% set q = 1, 2 %}{{ q }}{% set (g, h) = [4, 5] %}{{ g }}{{ h }}',
    '{% set a, b = [1, 2, 3] %}',
    '{% set a, b = 5 %}',
    '{% set a = 1 %}{% for i in l %}{% set a = a + i %}{{ a }},{% endfor %}{{ a }}',
    '{% set a = 1 %}{% if true %}{% set a = 2 %}{% endif %}{{ a }}',
    "{% set ns = namespace(a=1, b=[]) %}{% for i in l %}{% set ns.a = ns.a + i %}{% set ns.b = ns.b + [i] %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.nope }}|{{ ns.nope is defined }}{{ ns['a'] }}",
    '{% set d.x = 1 %}',
    '{% set nope.x = 1 %}',
    "{% set ns = namespace({'a': 5}, b=6) %}{{ ns.a + ns.b }}{% set ns2 = namespace(x=namespace(y=1)) %}{{ ns2.x.y }}",
    "{% set a %}x {{ 1 + 1 }} y{% endset %}[{{ a }}]{% set a | upper | trim %}  q{{ s }} {% endset %}[{{ a }}]{% set a | replace('x', 'y') %}xx{% endset %}{{ a }}",
    '{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.depth }}{{ loop.depth0 }};{% endfor %}',
    '{% for i in l if i > 1 %}{{ i }}/{{ loop.length }}{{ loop.last }};{% else %}none{% endfor %}{% for i in l if i > 9 %}{{ i }}{% else %}none{% endfor %}',
    '{% for i in l %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}{% for i in [1,2,3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% else %}E{% endfor %}',
    '{% for i in [1,2] %}{% for j in [3,4] %}{% if j == 4 %}{% break %}{% endif %}{{ i }}{{ j }}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}',
    '{% for a, b in [[1, 2, 3]] %}{% endfor %}',
    '{% for i in [] %}{% else %}E{{ i }}{% endfor %}{{ i }}{{ loop }}',
    "{% macro f(a, b=2, c=a) %}({{ a }},{{ b }},{{ c }}){% endmacro %}{{ f(1) }}{{ f(1, c=5) }}{{ f() }}{{ f(b=1, a=0) }}{{ f(1)|length }}{{ f(1) ~ 'x' }}",
    '{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}',
    '{% macro f(a) %}{{ a }}{% endmacro %}{{ f(q=2) }}',
    '{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}',
    '{% macro f() %}{{ s }}{{ zz }}{% endmacro %}{% set zz = 1 %}{{ f() }}{% set zz = 2 %}{{ f() }}{% for zz in [7] %}{{ f() }}{% endfor %}',
    '{% macro f() %}{% set q = 1 %}{{ q }}{% endmacro %}{{ f() }}{{ q }}{% macro g() %}{{ f() }}!{% endmacro %}{{ g() }}',
    "{% if x %}a{% elif z %}b{% elif t %}c{% else %}d{% endif %}{% if not t %}a{% else %}d{% endif %}{% if l and d and s %}Y{% endif %}{% if (0,) %}Y{% endif %}{% if 0.0 %}N{% endif %}{% if '0' %}Y{% endif %}",
    '{% with a = 1, b = 2 %}{{ a }}{{ b }}{% set a = 3 %}{{ a }}{% endwith %}{{ a }}',
    "{% filter upper %}abc{{ s }}{% endfilter %}{% filter replace('a', 'b') | upper %}aa{% endfilter %}",
    '{% generation %}gen {{ s }}{% set q = 3 %}{% endgeneration %}{{ q }}',
    '{% raw %}{{ x }}{% if %}{% endraw %}|{%- raw -%}  {{ y }}  {%- endraw -%}  z',
    '  a',
    '  {% endraw %}',
    'b',
    'a {# comment {{ x }} #} b {#- c -#} d',
    '  {# whole line #}',
    'x',
    '  {% if t %}',
    '    a',
    '  {% endif %}',
    '  {%+ if t %}',
    'a',
    '{% endif +%}',
    'a  {%- if t -%}  b  {%- endif -%}  c',
    '  {{- s -}}',
    'b {{ s }} ',
    'c',
    'x {% if t %} y {% endif %}',
    ' z',
    '{{ \'a\' \'b\' "c" }}{{ \'a\\',
    '{{ \'a\' \'b\' "c" }}{{ "\\x41\\u0042\\103\\q\\\'" }}{{ 1_000 }}{{ 1.5e3 }}{{ 2e-3 }}{{ 1e3 }}',
    "{{ {'a': {'b': 1}}.a.b }}{{ {'a': {'b': 1}}['a'] }}{{ [[1, 2], [3]][0][1] }}{{ 'abc'[1] }}{{ l.0 }}{{ (1, 2)[1] }}{{ l[true] }}",
    '{{ none.x }}|{{ 5.x }}',
    "{{ none.x }}|{{ none['x'] }}|{{ t.x }}|{{ s.nope }}|{{ l.nope }}|{{ s['nope'] }}|{{ l['x'] }}|{{ l[1.5] }}",
    '{{ none.x.y }}',
    '{{ s.nope() }}',
    '{{ 5() }}',
    '{{ l.append(4) }}',
    "{{ d.update({'x': 1}) }}",
    "{{ d.pop('b') }}",
    '{{ l.index(1) }}{{ l.count(3) }}{{ d.copy() }}{{ l.index(9) }}',
    '{{ l.append is defined }}{{ d.items is defined }}{{ d.pop is defined }}{{ d.items is callable }}',
    "{{ raise_exception('no ' ~ s) }}",
    "{{ dict(a=1, b=2) }}{{ dict({'x': 1}, y=2) }}{{ dict() }}",
    '{{ nope() }}',
    '{{ s|nope }}',
    '{{ s is nope }}',
    '{% nope %}',
    '{% if t %}',
    '{% endif %}{% endif %}',
    '{% for i in l %}',
    '{{ s',
    '{{ 1 + }}',
    '{% break %}',
    '{{ (1 }}',
    '{{ [1, 2 }}',
    "{{ 'abc }}",
    '{% set x %}',
    '{% macro f( %}{% endmacro %}',
    '{{ 1 2 }}',
    '{{ 9223372036854775807 }}{{ -9223372036854775807 - 1 }}',
    "{{ u|trim|length }}{{ (u|trim)[0] }}{{ l|first|string ~ 'x' }}{{ -l[0] }}{{ +l[0] }}{{ not l[0] == 3 }}{{ -l|first|abs }}",
    "{{ 'a' if t else 'b' ~ 'c' }}{{ ('a' if z else 'b') ~ 'c' }}{{ 'x' ~ 1 + 2 }}{{ 1 ~ 2 * 3 }}{{ 1 + 1 ~ 1 + 1 }}",
    "{{ m[0].content.strip() + '!' + m[-1]['content'] }}{{ m[1].content is none }}{{ m[9] is defined }}{{ m[0]['nope'] is defined }}{{ (m|last).role }}",
    "{% set content = m[0].content if m[0].content is string else '' %}{{ content }}{%- if 'h' in content and content.startswith('h') -%}  yes{% endif %}",
    "{{ 1, 2 }}{{ (1, 2), }}{{ 'a', }}",
    "{{ d == {'A': 2, 'b': 1, 'items': [1]} }}{{ [1, [2]] == [1, [2]] }}{{ [1] == (1,) }}{{ {} == [] }}",
    "{{ 'ab' < 'b' and 'B' < 'a' }}{{ 'x' in {'x': 1}.keys() }}{{ 2 in range(3) }}{{ [1,2] in [[1,2]] }}",
    "{%- set a = namespace() -%}{%- set a.b = 'x' -%}{{ a.b }}{% if a.c is not defined %}nd{% endif %}{% if a.c %}{% endif %}",
    '{{ 1.0 * 3 }}|{{ 0.1 + 0.2 }}|{{ 1e300 * 1e300 }}|{{ 5 / 2 }}|{{ 1 - 1.0 }}|{{ -0.0 }}',
    "{{ '\xe9'.upper() }}{{ '\xc0B'|lower }}{{ 'stra\xdfe'|length }}{{ '\u65e5\u672c\u8a9e'[1:] }}{{ '\u65e5\u672c\u8a9e'|reverse }}",
    '{{ "a" }}{# {% raw %} #}{{ "b" }}',
    '{{ "{{ x }}" }}{{ \'%}\' }}{{ "#}" }}{{ \'}}\' }}',
    '{% raw %}\n  a\n  {% endraw %}\nb',
    'a {# comment {{ x }} #} b {#- c -#} d\n  {# whole line #}\nx',
    '  {% if t %}\n    a\n  {% endif %}\nb',
    '  {%+ if t %}\na\n{% endif +%}\nb\n',
    'a\n  {{- s -}}\nb {{ s }} \nc\n',
    'x {% if t %} y {% endif %}\n z\n\n',
    '{% if t %}\n{% endif %}{% endif %}',
    "{{ 'a\\\nb' }}",
    'a\r\nb{% if t %}\r\nc{% endif %}\r\n',
    '\n  {%- if t %}\n  x\n  {%- endif %}\n',
    '{% if t -%}\n\n x {% endif %}',
    '{#-\n multi\n line -#}\n  x',
    '{% set a %}\n  l1\n  l2\n{% endset %}[{{ a }}]',
    '{% for i in l %}\n  {{ i }}\n{% endfor %}\nend',
    '   {% for i in l -%}\n  {{ i }}\n {%- endfor %}\n\tend',
    '{{ s }}\n',
    '{{ s }}\n\n',
    'a\xa0{%- if t %}\u3000b{% endif -%}\u2003c',
    '\t{% if t %}x{% endif %}',
    'x\t{% if t %}x{% endif %}',
    '{% if t %}{% if t %}\n{% endif %}\n{% endif %}\nq',
    '  {{ s }}\n  {% if t %}\n',
    '{%-if t-%}a{%-endif-%}',
    '{{-s-}}',
    "{{ {'a':{'b':1}} }}",
    "{{ [{'a':1}][0]['a']}}",
    '{{\n  s\n  |\n  upper\n}}',
    '{% if t\n  and s %}\nx{% endif %}',
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for c in 'h\\u00e9y' %}[{{ c }}]{% endfor %}",
    "{% macro f(x) -%}   {{ x }}   {%- endmacro %}[{{ f('  a ') }}]",
    "{{ {'a': 1, 'b': 2, 'a': 3} }}{{ dict({'a': 1}, a=2) }}",
]

# Tools in a system message, earlier reasoning left out, neighbouring tool results in one turn.
TOOLS = r"""{%- set space = namespace(last=messages | length - 1, looking=true) -%}
{%- for message in messages[::-1] -%}
  {%- if space.looking and message.role == 'user' and message.content is string -%}
    {%- set space.looking = false -%}
    {%- set space.last = messages | length - loop.index -%}
  {%- endif -%}
{%- endfor -%}
{%- if tools -%}
  <|im_start|>system
{% if messages and messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}
These functions can be called:
  {%- for tool in tools %}

{{ tool | tojson }}
  {%- endfor %}
<|im_end|>
{% endif %}
{%- for message in messages -%}
  {%- set content = message.content if message.content is string else '' -%}
  {%- if message.role == 'system' and loop.first and tools -%}
    {%- continue -%}
  {%- elif message.role == 'assistant' -%}
    {%- set thought = '' -%}
    {%- if '</think>' in content -%}
      {%- set thought = content.split('</think>')[0].split('<think>')[-1].strip('\n') -%}
      {%- set content = content.split('</think>')[-1].lstrip('\n') -%}
    {%- endif -%}
    {{- '<|im_start|>' ~ message.role ~ '\n' -}}
    {%- if loop.index0 > space.last and (loop.last or thought) -%}
      {{- '<think>\n' + thought + '\n</think>\n\n' -}}
    {%- endif -%}
    {{- content -}}
    {%- for call in message.tool_calls or [] -%}
      {%- set call = call.function if call.function is defined else call -%}
      {{- '\n<call>' ~ call.name ~ ' ' -}}
      {{- call.arguments if call.arguments is string else call.arguments | tojson -}}
      {{- '</call>' -}}
    {%- endfor -%}
    {{- '<|im_end|>\n' -}}
  {%- elif message.role == 'tool' -%}
    {%- if loop.first or loop.previtem.role != 'tool' %}<|im_start|>user{% endif %}

<result>{{ content }}</result>
    {%- if loop.last or loop.nextitem.role != 'tool' %}<|im_end|>
{% endif %}
  {%- else -%}
    {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
  {%- if enable_thinking is defined and enable_thinking is false -%}
    {{- '<think>\n\n</think>\n\n' -}}
  {%- endif -%}
{%- endif -%}
"""

# Headers, a date, a call alone in its turn, texts without white space at their ends.
HEADERS = r"""{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = "1 Jan 2025" %}
{%- endif %}
{%- if messages and messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\nToday: " + date_string + "\n" }}
{%- if tools is not none and tools %}
    {{- "Functions:\n" }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=4) }}
        {{- "\n\n" }}
    {%- endfor %}
{%- endif %}
{{- system }}<|eot_id|>
{%- for message in messages %}
    {%- if not (message.role == 'tool' or message.tool_calls is defined) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls | length == 1 %}
            {{- raise_exception("one call a turn: " ~ message.tool_calls | length) }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
        {{- '{"name": "' + call.name + '", ' -}}
        {{- '"parameters": ' }}{{ call.arguments | tojson }}}<|eot_id|>
    {%- else %}
        {{- "<|start_header_id|>tool<|end_header_id|>\n\n" }}
        {%- if message.content is mapping or (message.content is iterable and message.content is not string) %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"""

# Pictures and videos, numbered on demand.
PICTURES = r"""{% set pictures = namespace(count=0) %}{% set videos = namespace(count=0) %}
{% for message in messages %}{% if loop.first and message['role'] != 'system' %}<|im_start|>system
Answer.<|im_end|>
{% endif %}<|im_start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}<|im_end|>
{% else %}{% for part in message['content'] %}
{% if part['type'] == 'image' or 'image' in part or 'image_url' in part %}
{% set pictures.count = pictures.count + 1 %}
{% if add_vision_id %}Image {{ pictures.count }}: {% endif %}<|vision_start|><|image_pad|><|vision_end|>{% elif part.type == 'video' %}
{% set videos.count = videos.count + 1 %}
{% if add_vision_id %}Video {{ videos.count }}: {% endif %}<|vision_start|><|video_pad|><|vision_end|>
{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}<|im_end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

# Macros over the schemas of tools, turns that have to alternate, {% generation %}.
MACROS = r"""{%- macro kind_of(schema) -%}
  {%- if schema.type is iterable and schema.type is not string -%}
    {{- schema.type | map('upper') | join(' | ') -}}
  {%- elif schema.type == 'array' -%}
    {%- if schema['items'] is mapping -%}{{ kind_of(schema['items']) }}[]{%- else -%}any[]{%- endif -%}
  {%- elif schema.type == 'object' and schema.properties is mapping and schema.properties -%}
    {{- '{' -}}
    {%- for name, inner in schema.properties | dictsort -%}
      {{- name ~ ('' if name in (schema.required or []) else '?') ~ ': ' ~ kind_of(inner) -}}
      {{- ', ' if not loop.last -}}
    {%- endfor -%}
    {{- '}' -}}
  {%- else -%}
    {{- schema.type | default('any') -}}
  {%- endif -%}
{%- endmacro -%}
{%- macro describe(tool, indentation=2) -%}
  {%- set function = tool.function -%}
  {{- '// ' ~ (function.description | default('', true) | indent(indentation)) ~ '\n' -}}
  {{- function.name ~ '(' ~ kind_of(function.parameters) ~ ')' -}}
  {%- if 'return' in function %} -> {{ kind_of(function['return']) }}{% endif -%}
{%- endmacro -%}
{%- set ns = namespace(expected='user', system='') -%}
{%- for message in messages -%}
  {%- if message.role in ('system', 'developer') -%}
    {%- set ns.system = (message.content if message.content is string else message.content | selectattr('type', 'equalto', 'text') | map(attribute='text') | join('\n')) | trim -%}
    {%- continue -%}
  {%- endif -%}
  {%- if message.role in ['user', 'assistant'] and not message.tool_calls -%}
    {%- if message.role != ns.expected and loop.previtem is defined and loop.previtem.role not in ['tool', 'system'] -%}
      {{- raise_exception('the turns do not alternate at ' ~ loop.index) -}}
    {%- endif -%}
    {%- set ns.expected = {'user': 'assistant', 'assistant': 'user'}[message.role] -%}
  {%- endif -%}
  {%- set body -%}
    {%- if message.content is string -%}
      {{- message.content | trim -}}
    {%- elif message.content is mapping -%}
      {%- for key, value in message.content.items() %}{{ key }}={{ value }}{% endfor -%}
    {%- else -%}
      {%- for part in message.content or [] if part.type == 'text' -%}{{ part.text }}{%- if not loop.last %} / {% endif -%}{%- endfor -%}
    {%- endif -%}
  {%- endset -%}
  {{- '<start_of_turn>' ~ (message.role | replace('assistant', 'model')) ~ '\n' -}}
  {%- if ns.system and message.role == 'user' -%}
    {{- ns.system ~ '\n\n' -}}
    {%- if tools -%}
      {%- for tool in tools -%}{{ loop.index ~ '. ' ~ describe(tool) ~ '\n' }}{%- endfor -%}
    {%- endif -%}
    {%- set ns.system = none -%}
  {%- endif -%}
  {%- if message.role == 'assistant' -%}
    {%- generation -%}{{ body }}{%- for call in message.tool_calls | default([], true) -%}[{{ (call.function or call).name | upper }}{%- if (call.function or call).arguments is mapping -%}{%- for key, value in (call.function or call).arguments | items %} {{ key }}={{ value if value is string else value | string }}{% endfor -%}{%- endif -%}]{%- endfor -%}{%- endgeneration -%}
  {%- else -%}
    {{- body -}}
  {%- endif -%}
  {{- '<end_of_turn>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif -%}
"""

TEMPLATES = {"tools": TOOLS, "headers": HEADERS, "pictures": PICTURES, "macros": MACROS}


WORDS = ["hello", "What is this?", "\n\n", " ", "  spaced  ", "caf\u00e9", "\u4f60\u597d", "\U0001f600", "<|im_end|>", "<|im_start|>system\n",
         "<think>", "</think>", "<think>\nreason\n</think>\n\n", "<tool_response>", "</tool_response>", "it's", '"quoted"', "a\\b", "\t", "{{ x }}",
         "{% raw %}", "<|eot_id|>", "[INST]", "1,2", "\u00a0", "\u2028", "\r\n", "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "&<>'", "", "\x7f", "\x01"]


def text(r):
    return "".join(r.choice(WORDS) for _ in range(r.randint(0, 5)))


def value(r, depth=0):
    k = r.randint(0, 7 if depth < 3 else 5)
    if k == 0: return r.randint(-10**6, 10**12)
    if k == 1: return r.choice([0.1, 1.0, 1e-5, 1e16, -2.5e-7, 123456.789, 1e22, 3.0, 1e15, 0.0001])
    if k == 2: return r.choice([True, False, None])
    if k <= 5: return text(r)
    if k == 6: return [value(r, depth + 1) for _ in range(r.randint(0, 3))]
    return {r.choice(["a", "b", "items", "keys", "type", "k\u00e9y", "x y", "get"]): value(r, depth + 1) for _ in range(r.randint(0, 3))}


def schema(r, depth=0):
    t = r.choice(["string", "integer", "number", "boolean", "array", "object"])
    s = {"type": r.choice([t, t, t, [t, "null"]])}
    if r.random() < .7: s["description"] = text(r)
    if r.random() < .2: s["enum"] = [text(r) for _ in range(2)]
    if r.random() < .2: s["default"] = value(r, 2)
    if r.random() < .2: s["nullable"] = r.random() < .5
    if t == "array" and depth < 2: s["items"] = schema(r, depth + 1)
    if t == "object" and depth < 2:
        s["properties"] = {n: schema(r, depth + 1) for n in r.sample(["p", "q", "R", "items", "s_t"], r.randint(0, 3))}
        s["required"] = list(s["properties"])[:1]
    return s


def tool(r):
    f = {"name": r.choice(["search", "get_weather", "f"]), "description": text(r),
         "parameters": {"type": "object", "properties": {n: schema(r) for n in r.sample(["city", "unit", "n", "Zed"], r.randint(0, 3))}, "required": r.sample(["city", "unit"], r.randint(0, 2))}}
    if r.random() < .3: f["return"] = schema(r)
    return {"type": "function", "function": f} 


def content(r, images, as_list):
    if not as_list: return text(r)
    parts = []
    for _ in range(r.randint(0, 4)):
        k = r.random()
        if images and k < .25: parts.append({"type": "image"})
        elif images and k < .3: parts.append({"type": "image", "image": "x.png"})
        elif images and k < .35: parts.append({"type": "image_url", "image_url": {"url": "u"}})
        elif images and k < .45: parts.append({"type": "video"})
        else: parts.append({"type": "text", "text": text(r)})
    return parts


def conversation(r):
    lists = r.random() < .35
    images = lists and r.random() < .8
    messages = []
    if r.random() < .5: messages.append({"role": r.choice(["system", "system", "system", "developer"]), "content": content(r, False, lists and r.random() < .5)})
    strict = r.random() < .7
    n = r.randint(0, 4)
    for i in range(n):
        messages.append({"role": "user", "content": content(r, images, lists)})
        if not strict and r.random() < .2: messages.append({"role": "user", "content": content(r, images, lists)})
        if i == n - 1 and r.random() < .5: break
        m = {"role": "assistant", "content": content(r, False, lists and r.random() < .3)}
        if r.random() < .2: m["reasoning_content"] = text(r)
        if r.random() < .1: m["thinking"] = text(r)
        if r.random() < .35:
            if r.random() < .3: m["content"] = r.choice(["", None])
            if r.random() < .1: del m["content"]
            m["tool_calls"] = []
            for j in range(1 if r.random() < .6 else 2):
                a = {k: value(r) for k in r.sample(["city", "n", "q"], r.randint(0, 3))}
                c = {"name": r.choice(["search", "f"]), "arguments": a if r.random() < .8 else r.choice(["{}", '{"a": 1}', text(r)])}
                c = {"type": "function", "function": c, "id": "call_%05d%d" % (i, j)} if r.random() < .8 else c
                m["tool_calls"].append(c)
            messages.append(m)
            for c in m["tool_calls"]:
                t = {"role": "tool", "content": content(r, images, lists and r.random() < .5)}
                if r.random() < .5: t["tool_call_id"] = c.get("id", "x")
                if r.random() < .5: t["name"] = "f"
                if r.random() < .1: t["content"] = {"result": value(r)}
                messages.append(t)
            if r.random() < .7: messages.append({"role": "assistant", "content": text(r)})
        else:
            messages.append(m)
    return messages


def variables(r):
    v = {"messages": conversation(r), "tools": None, "documents": None, "add_generation_prompt": r.random() < .5}
    if r.random() < .4: v["tools"] = [tool(r) for _ in range(r.randint(0, 3))]
    if r.random() < .4: v["enable_thinking"] = r.random() < .5
    if r.random() < .2: v["add_vision_id"] = r.random() < .7
    if r.random() < .8: v["bos_token"] = "<|begin_of_text|>"; v["eos_token"] = "</s>"
    if r.random() < .2: v["reasoning_effort"] = r.choice(["low", "high"])
    if r.random() < .1: v["preserve_thinking"] = True
    if r.random() < .1: v["tools_in_user_message"] = r.random() < .5
    if r.random() < .5: v["date_string"] = "26 Jul 2024"
    return v


def rendered(template, variables):
    """The text; None if the template refuses the variables, or is none."""
    try:
        return _compile_jinja_template(template).render(**json.loads(json.dumps(variables)))
    except Exception:
        return None


def chats(templates, count, seed):
    """What the C++ tests compare: conversations, and each template with what it makes of them."""
    rng = random.Random(seed)
    conversations = [variables(rng) for _ in range(count)]
    return {"conversations": conversations,
            "templates": [{"name": name, "jinja": jinja, "texts": [rendered(jinja, each) for each in conversations]}
                          for name, jinja in templates.items()]}


def main():
    row = {"versions": {"transformers": transformers.__version__}, "variables": VARIABLES,
           "constructs": [{"jinja": jinja, "text": rendered(jinja, VARIABLES)} for jinja in CONSTRUCTS],
           **chats(TEMPLATES, 40, 1)}
    with open(os.path.join(sys.argv[1], "expected.json"), "w") as file:
        json.dump(row, file)


if __name__ == "__main__":
    main()
