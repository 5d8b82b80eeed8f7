"""Prompts for a folder: fixed ones, or drawn at random with pictures and a video."""

import random

from PIL import Image, ImageDraw

from comparison import Prompt
from pictures import draw_picture, draw_video

TEXTS = ["What is 12 + 30?", "a  b\tc 12345 é日本語 \U0001f600", "x", "def f(x):\n    return [x, 1999]\n\n\n# done",
         "Which bar is higher, and isn't it red? " * 3]
SYSTEMS = ["", "", "You tap through screens.", "Réponds en un mot."]
LONG = "The red bar is 4, the blue bar is 7, and it's 11. "  # many times: read in several pieces


def picture(width, height):
    image = Image.new("RGB", (width, height), (240, 240, 235))
    draw = ImageDraw.Draw(image)
    draw.rectangle((width // 8, height // 4, width // 2, height - 9), fill=(200, 40, 40))
    draw.ellipse((width // 2, 5, width - 7, height // 2), fill=(40, 60, 190), outline=(0, 0, 0))
    return image


QUESTIONS = [
    "What is the capital of France?", "a  b\tc 12345 <box> é日本語", "Explain in one sentence why the sky is blue.",
    "Name three planets, one a line.", "A shop sells 3 boxes of 4 eggs, and 5 eggs break. How many are whole?",
    "Traduis en anglais : « Il pleut depuis hier. »", "Return JSON with the keys name and age for Anna, who is 31.",
    "Write a Python function that tells whether a number is prime.", "1 1 2 3 5 8 13 21",
    "Repeat the word blue 30 times.",
    "Write the alphabet backwards.", "Who wrote Faust, and when?", "x", "Was kostet ein Zug von Köln nach Wien?",
    "Give a regular expression for a date such as 2026-11-30.", "List the steps of making tea, numbered.",
    "What comes first, the question or the answer?", "日本の首都はどこですか。"]


def fixed_prompts(sees):
    """20 texts, and what a model that sees is asked of pictures."""
    texts = [Prompt(text, new_tokens=64) for text in QUESTIONS] + [
        Prompt("Write a haiku about rain.", "Answer in English.", new_tokens=64),
        Prompt("Go on: " + LONG * 20, "You count.", new_tokens=64)]
    if not sees:
        return texts
    return texts + [Prompt("What is the value of the red bar?", pictures=[picture(112, 112)]),
                    Prompt("Which picture shows a circle?", pictures=[picture(140, 84), picture(56, 112)]),
                    Prompt("a  b\tc 12345 <box> é日本語", pictures=[picture(333, 97)])]


def drawn_prompts(model):
    rng = random.Random(f"prompts {model['architecture']} {model['seed']}")
    context, vision = model["text"]["max_position_embeddings"], model["vision"]
    draw = lambda **parts: Prompt(rng.choice(TEXTS), rng.choice(SYSTEMS), **parts)
    if not vision:
        # To the end of a small context; through a prompt of many tokens in a large one.
        rest = Prompt("Go on.", new_tokens=context) if context < 1000 else Prompt(LONG * 40)
        return [draw(), draw(), rest]
    block = vision["patch_size"] * vision["spatial_merge_size"]
    several = [draw_picture(rng, block) for _ in range(rng.randint(2, 4))]
    return [draw(), draw(pictures=[draw_picture(rng, block)]), draw(pictures=several),
            draw(video=draw_video(rng, block), shown_rate=rng.choice([1, 2, 5, 25]),
                 pictures=several[: rng.randint(0, 1)])]
