"""agon serve under real clients: the openai SDK, litellm, inspect_ai and lm_eval. Starts the server with
models/agon-tiny and models/agon-tiny-reward on a free port and prints a row for each check; exits with 1 if one fails.
The log-likelihoods of lm_eval are compared with those of transformers on the same folder.

Usage: PYTHON serve_clients.py [AGON, ./agon] [--only openai|litellm|inspect_ai|lm_eval]   (takes two minutes)
PYTHON has openai==3.57.0, litellm==1.110.2, inspect_ai==0.3.285, lm_eval[api]==0.4.13, transformers==5.17.0,
torch==2.11.0 and torchvision==0.26.0. Nothing is downloaded; files go to a temporary folder."""
import argparse
import asyncio
import base64
import json
import math
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = "agon-tiny"
KEY = "a-key"
LONG = {"temperature": 100, "n": 128}  # nearly even odds: many long answers
CHECKS = {"openai": [], "litellm": [], "inspect_ai": [], "lm_eval": []}


def check(client, what):
    def add(function):
        CHECKS[client].append((what, function))
        return function
    return add


def equal(found, wanted, what="answer"):
    assert found == wanted, f"{what}: {found!r}, not {wanted!r}"


def raises(kind, call, code=None):
    try:
        answer = call()
    except kind as error:
        if code is not None:
            equal(getattr(error, "code", None), code, f"code of {kind.__name__} ({error})")
        return error
    raise AssertionError(f"no {kind.__name__}, but {answer!r}"[:500])


def user(content):
    return [{"role": "user", "content": content}]


def png(red, green, blue, side=56):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = b"\0" + bytes((red, green, blue)) * side
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(row * side)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def with_picture(text, url):
    return user([{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}])


class Served:
    def __init__(self, agon, scratch):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.root = f"http://127.0.0.1:{port}"
        self.url = self.root + "/v1"
        self.scratch = scratch
        self.process = subprocess.Popen(
            [agon, "serve", "--port", str(port), "--policy", ROOT / "models/agon-tiny",
             "--reward-model", ROOT / "models/agon-tiny-reward"], env=os.environ | {"AGON_API_KEY": KEY},
            stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            sys.exit(f"serve_clients: {agon} serve ended with {self.process.wait()}")

    def metric(self, name):
        request = urllib.request.Request(self.root + "/metrics", headers={"Authorization": "Bearer " + KEY})
        text = urllib.request.urlopen(request, timeout=10).read().decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE).group(1))

    def wait_until_idle(self, seconds):
        end = time.monotonic() + seconds
        while running := self.metric("agon_batch_sequences") + self.metric("agon_waiting_sequences"):
            assert time.monotonic() < end, f"{running:g} sequences still run after {seconds} s"
            time.sleep(0.05)


def openai_client(served, **options):
    import openai
    return openai.OpenAI(**({"base_url": served.url, "api_key": KEY, "max_retries": 0, "timeout": 60} | options))


def chat(served, content="What is 2 + 2?", **options):
    return openai_client(served).chat.completions.create(
        **({"model": MODEL, "messages": user(content), "max_tokens": 40} | options))


def complete(served, prompt="The red bar is", **options):
    return openai_client(served).completions.create(**({"model": MODEL, "prompt": prompt, "max_tokens": 12} | options))


@check("openai", "models.list, models.retrieve")
def _(served):
    client = openai_client(served)
    equal([model.id for model in client.models.list()], [MODEL, "agon-tiny-reward"], "models")
    equal(client.models.retrieve(MODEL).id, MODEL)


@check("openai", "chat, whole")
def _(served):
    answer = chat(served, temperature=0)
    choice = answer.choices[0]
    assert choice.message.content and choice.message.role == "assistant", answer
    equal((answer.object, answer.model, len(answer.choices)), ("chat.completion", MODEL, 1))
    assert choice.finish_reason in ("stop", "length"), choice
    assert 0 < answer.usage.completion_tokens <= 40, answer.usage
    equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens, "total_tokens")


@check("openai", "chat, streamed with include_usage: the text and usage of the whole answer")
def _(served):
    whole = chat(served, seed=7)
    chunks = list(chat(served, seed=7, stream=True, stream_options={"include_usage": True}))
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]), whole.choices[0].message.content)
    equal(chunks[0].choices[0].delta.role, "assistant", "role")
    equal(chunks[-2].choices[0].finish_reason, whole.choices[0].finish_reason, "finish_reason")
    equal(chunks[-1].choices, [], "choices of the last chunk")
    equal(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens, "completion_tokens")
    equal(len({chunk.id for chunk in chunks}), 1, "number of ids")


@check("openai", "chat.completions.stream, the SDK's own accumulator, with log-probabilities")
def _(served):
    client = openai_client(served)
    with client.chat.completions.stream(
            model=MODEL, messages=user("What is 2 + 2?"), max_tokens=40, seed=7, logprobs=True, top_logprobs=2,
            stream_options={"include_usage": True}) as stream:
        kinds = {event.type for event in stream}
        answer = stream.get_final_completion()
    whole = chat(served, seed=7, logprobs=True, top_logprobs=2)
    assert {"chunk", "content.delta", "content.done", "logprobs.content.delta"} <= kinds, kinds
    equal(answer.choices[0].message.content, whole.choices[0].message.content)
    equal([token.logprob for token in answer.choices[0].logprobs.content],
          [token.logprob for token in whole.choices[0].logprobs.content], "log-probabilities")


@check("openai", "n=3, whole and streamed")
def _(served):
    whole = chat(served, seed=3, n=3)
    equal([choice.index for choice in whole.choices], [0, 1, 2], "indices")
    texts = [choice.message.content for choice in whole.choices]
    assert len(set(texts)) > 1, f"equal samples: {texts}"
    streamed = ["", "", ""]
    for chunk in chat(served, seed=3, n=3, stream=True):
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
    equal(streamed, texts, "streamed texts")


@check("openai", "stop: the text in front of it")
def _(served):
    whole = chat(served, temperature=0).choices[0].message.content
    stop = whole[5:8]
    stopped = chat(served, temperature=0, stop=[stop, "never written"]).choices[0]
    equal(stopped.message.content, whole[:whole.index(stop)])
    equal(stopped.finish_reason, "stop", "finish_reason")
    streamed = chat(served, temperature=0, stop=stop, stream=True)
    equal("".join(chunk.choices[0].delta.content or "" for chunk in streamed), whole[:whole.index(stop)], "streamed")


@check("openai", "seed: repeatable, alone and among 32 others")
def _(served):
    import openai

    def text(answer):
        return answer.choices[0].message.content
    alone = [text(chat(served, seed=seed)) for seed in range(8)]
    assert len(set(alone)) > 1, f"all seeds give {alone[0]!r}"

    async def together():
        async with openai.AsyncOpenAI(base_url=served.url, api_key=KEY, max_retries=0) as client:
            return await asyncio.gather(*(client.chat.completions.create(
                model=MODEL, messages=user("What is 2 + 2?"), max_tokens=40, seed=i % 8) for i in range(32)))
    equal([text(answer) for answer in asyncio.run(together())], alone * 4, "answers among others")


@check("openai", "chat: logprobs, top_logprobs")
def _(served):
    answer = chat(served, temperature=0, logprobs=True, top_logprobs=5)
    tokens = answer.choices[0].logprobs.content
    equal(len(tokens), answer.usage.completion_tokens, "number of log-probabilities")
    written = b"".join(bytes(token.bytes) for token in tokens).decode()
    assert written.startswith(answer.choices[0].message.content), (written, answer.choices[0].message.content)
    for token in tokens:
        likeliest = [other.logprob for other in token.top_logprobs]
        equal(len(likeliest), 5, "number of top_logprobs")
        equal(likeliest, sorted(likeliest, reverse=True), "order of top_logprobs")
        equal((token.token, token.logprob), (token.top_logprobs[0].token, likeliest[0]), "the greedy token")
        assert sum(map(math.exp, likeliest)) < 1.0001, likeliest


@check("openai", "a picture as data URL: read, and told from another")
def _(served):
    def logprobs(content):
        answer = chat(served, temperature=0, logprobs=True, max_tokens=8, messages=content)
        return answer.usage.prompt_tokens, [token.logprob for token in answer.choices[0].logprobs.content]
    question = "Which colour is this?"
    red, blue = (logprobs(with_picture(question, png(*colour))) for colour in ((255, 0, 0), (0, 0, 255)))
    assert red[0] == blue[0] > logprobs(user(question))[0], "the picture has no tokens"
    assert red[1] != blue[1], "a red and a blue picture give the same log-probabilities"


@check("openai", "completions: echo and logprobs")
def _(served):
    prompt = "The red bar is 9, the blue bar"
    answer = complete(served, prompt, echo=True, logprobs=3, temperature=0)
    choice = answer.choices[0]
    assert choice.text.startswith(prompt) and len(choice.text) > len(prompt), choice.text
    told = choice.logprobs
    equal([len(told.tokens), len(told.token_logprobs), len(told.top_logprobs), len(told.text_offset)],
          [answer.usage.total_tokens] * 4, "lengths")
    equal(told.token_logprobs[0], None, "the first log-probability")
    for i, token in enumerate(told.tokens):
        is_last = i == len(told.tokens) - 1  # the end of a turn is not in the text
        assert choice.text[told.text_offset[i]:].startswith(token) or is_last, (i, token, told.text_offset)
        if i > 0:
            assert len(told.top_logprobs[i]) >= 3, f"top_logprobs of token {i}: {told.top_logprobs[i]}"
    nothing = complete(served, prompt, echo=True, logprobs=0, max_tokens=0)
    equal(nothing.choices[0].text, prompt, "max_tokens=0")
    equal(nothing.choices[0].logprobs.token_logprobs, told.token_logprobs[:nothing.usage.prompt_tokens], "max_tokens=0")


@check("openai", "completions: several prompts, token ids, streamed")
def _(served):
    whole = complete(served, ["The red bar", "The blue bar"], seed=5, n=2)
    texts = [choice.text for choice in whole.choices]
    equal([choice.index for choice in whole.choices], [0, 1, 2, 3], "indices")
    streamed = [""] * 4
    for chunk in complete(served, ["The red bar", "The blue bar"], seed=5, n=2, stream=True):
        for choice in chunk.choices:
            streamed[choice.index] += choice.text
    equal(streamed, texts, "streamed")
    request = urllib.request.Request(served.root + "/tokenize", json.dumps({"prompt": "The red bar"}).encode(),
                                     {"Authorization": "Bearer " + KEY})
    ids = json.load(urllib.request.urlopen(request, timeout=10))["tokens"]
    of_text = complete(served, "The red bar", seed=5).choices[0].text
    equal(complete(served, ids, seed=5).choices[0].text, of_text, "answer to token ids")


@check("openai", "unknown model: NotFoundError, model_not_found")
def _(served):
    import openai
    raises(openai.NotFoundError, lambda: chat(served, model="another"), "model_not_found")


@check("openai", "prompt past the context: BadRequestError, context_length_exceeded")
def _(served):
    import openai
    raises(openai.BadRequestError, lambda: chat(served, "bar " * 3000), "context_length_exceeded")
    raises(openai.BadRequestError, lambda: chat(served, "bar " * 3000, stream=True), "context_length_exceeded")
    raises(openai.BadRequestError, lambda: complete(served, "bar " * 3000), "context_length_exceeded")


@check("openai", "response_format, tools, web pictures: BadRequestError")
def _(served):
    import openai
    import pydantic

    class Answer(pydantic.BaseModel):
        value: int
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
    parse = openai_client(served).chat.completions.parse
    for call in (lambda: chat(served, response_format={"type": "json_object"}),
                 lambda: parse(model=MODEL, messages=user("2?"), response_format=Answer),
                 lambda: chat(served, tools=[tool])):
        raises(openai.BadRequestError, call, "unsupported_parameter")
    of_web = with_picture("?", served.root + "/red.png")
    raises(openai.BadRequestError, lambda: chat(served, messages=of_web), "invalid_image")


@check("openai", "wrong key: AuthenticationError")
def _(served):
    import openai
    raises(openai.AuthenticationError, lambda: openai_client(served, api_key="wrong").models.list(), "invalid_api_key")


@check("openai", "a client that closes its stream: the request is cancelled, and nothing runs on")
def _(served):
    served.wait_until_idle(10)
    before = served.metric("agon_cancelled_requests_total")
    stream = chat(served, stream=True, max_tokens=1500, **LONG)
    next(iter(stream))
    assert served.metric("agon_batch_sequences") > 0, "no sequence runs during the stream"
    stream.close()
    served.wait_until_idle(1)
    equal(served.metric("agon_cancelled_requests_total"), before + 1, "agon_cancelled_requests_total")


@check("openai", "a client that times out waiting for a whole answer: cancelled too")
def _(served):
    import openai
    before = served.metric("agon_cancelled_requests_total")
    raises(openai.APITimeoutError, lambda: openai_client(served, timeout=0.3).chat.completions.create(
        model=MODEL, messages=user("?"), max_tokens=1500, **LONG))
    served.wait_until_idle(1)
    equal(served.metric("agon_cancelled_requests_total"), before + 1, "agon_cancelled_requests_total")


def lite(served, function="completion", **options):
    import litellm
    litellm.suppress_debug_info = True
    return getattr(litellm, function)(**({"model": "openai/" + MODEL, "api_base": served.url, "api_key": KEY,
                                          "max_retries": 0, "num_retries": 0} | options))


@check("litellm", "completion, whole and streamed")
def _(served):
    options = {"messages": user("What is 2 + 2?"), "max_tokens": 40, "seed": 7}
    whole = lite(served, **options)
    equal(whole.choices[0].message.content, chat(served, seed=7).choices[0].message.content)
    chunks = list(lite(served, **options, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    equal(text, whole.choices[0].message.content, "streamed")
    equal(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens, "completion_tokens")


@check("litellm", "completion with a picture, logprobs, n and stop")
def _(served):
    answer = lite(served, messages=with_picture("Which colour?", png(255, 0, 0)), max_tokens=8, logprobs=True,
                  top_logprobs=2, n=2, stop=["\n\n\n"], seed=1)
    equal(len(answer.choices), 2, "choices")
    assert len(answer.choices[0].logprobs.content[0].top_logprobs) == 2, answer.choices[0].logprobs


@check("litellm", "acompletion, 16 at a time")
def _(served):
    async def all_of_them():
        return await asyncio.gather(*(
            lite(served, "acompletion", messages=user("What is 2 + 2?"), max_tokens=40, seed=7) for _ in range(16)))
    texts = {answer.choices[0].message.content for answer in asyncio.run(all_of_them())}
    equal(texts, {chat(served, seed=7).choices[0].message.content}, "texts")


@check("litellm", "text_completion")
def _(served):
    answer = lite(served, "text_completion", model="text-completion-openai/" + MODEL, prompt="The red bar is",
                  max_tokens=12, seed=5)
    equal(answer.choices[0].text, complete(served, seed=5).choices[0].text)


@check("litellm", "rerank (hosted_vllm) by the reward model")
def _(served):
    documents = ["It is 5.", "It is 4.", {"text": "It is 400."}]
    answer = lite(served, "rerank", model="hosted_vllm/agon-tiny-reward", query="What is 2 + 2?", documents=documents,
                  top_n=2)
    scores = [result["relevance_score"] for result in answer.results]
    equal(scores, sorted(scores, reverse=True), "order")
    equal(len({result["index"] for result in answer.results}), 2, "documents")


@check("litellm", "errors: NotFoundError, ContextWindowExceededError, AuthenticationError")
def _(served):
    import litellm
    raises(litellm.NotFoundError, lambda: lite(served, messages=user("?"), model="openai/another"))
    raises(litellm.ContextWindowExceededError, lambda: lite(served, messages=user("bar " * 3000)))
    raises(litellm.AuthenticationError, lambda: lite(served, messages=user("?"), api_key="wrong"))


def inspect_eval(served, samples, streams=False, **options):
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.scorer import includes
    task = Task(dataset=samples, scorer=includes(), name="sums")
    return run(task, model="openai-api/agon/" + MODEL, model_base_url=served.url,
               model_args={"api_key": KEY, "stream": streams}, display="none", log_dir=str(served.scratch / "inspect"),
               max_retries=0, max_tokens=40, **options)[0]


def inspect_samples():
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
    picture = ChatMessageUser(content=[ContentImage(image=png(255, 0, 0)), ContentText(text="Which colour is this?")])
    return [Sample(input="What is 2 + 2?", target="4"), Sample(input="What is 3 + 4?", target="7"),
            Sample(input=[picture], target="red")]


def inspect_success(log, epochs=1):
    equal(log.status, "success", f"status ({log.error.message if log.error else ''})")
    equal(len(log.samples), 3 * epochs, "samples")
    for sample in log.samples:
        assert sample.scores and sample.error is None, sample.error
        assert sample.output.completion and sample.output.usage.output_tokens > 0, sample.output


@check("inspect_ai", "a task of 3 samples, one with a picture, by openai-api")
def _(served):
    inspect_success(inspect_eval(served, inspect_samples(), temperature=0))


@check("inspect_ai", "the same streamed, 2 epochs, with seed, logprobs, num_choices and stop_seqs")
def _(served):
    log = inspect_eval(served, inspect_samples(), epochs=2, seed=1, logprobs=True, top_logprobs=3, num_choices=2,
                       stop_seqs=["\n\n\n"], streams=True)
    inspect_success(log, epochs=2)
    for sample in log.samples:
        equal(len(sample.output.choices), 2, "choices")
        equal(len(sample.output.choices[0].logprobs.content[0].top_logprobs), 3, "top_logprobs")


@check("inspect_ai", "a prompt past the context: stop_reason model_length, no error")
def _(served):
    from inspect_ai.dataset import Sample
    log = inspect_eval(served, [Sample(input="bar " * 3000, target="?")])
    equal(log.status, "success", f"status ({log.error.message if log.error else ''})")
    equal(log.samples[0].output.stop_reason, "model_length", "stop_reason")


# Texts as models/agon-tiny writes them: the first continuation of the last two is the greedy one.
SUMS = [(f"What is {a} + {b}?\nThe sum is", [f" {a + b + wrong}" for wrong in (0, 1, 10)])
        for a, b in ((2, 2), (7, 5), (31, 17), (8, 80), (0, 9), (64, 36))]
SUMS += [("red is 9", ["\n\n", " red", " +"]), ("cyan is 1", ["\n\n", " red", " +"])]


def evaluated(served, output_type, **keys):
    import lm_eval
    from lm_eval.models.openai_completions import LocalCompletionsAPI
    os.environ["OPENAI_API_KEY"] = KEY
    data = served.scratch / "sums.jsonl"
    rows = [json.dumps({"question": question, "choices": choices}) for question, choices in SUMS]
    data.write_text("\n".join(rows))
    model = LocalCompletionsAPI(
        base_url=served.url + "/completions", model=MODEL, tokenizer=str(ROOT / "models/agon-tiny"),
        tokenizer_backend="huggingface", num_concurrent=4, batch_size=2, max_retries=1)
    task = {"task": "sums", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(data)}},
            "test_split": "test", "output_type": output_type, "doc_to_text": "{{question}}", "num_fewshot": 0, **keys}
    return lm_eval.simple_evaluate(model, tasks=[task], log_samples=True, bootstrap_iters=0, verbosity="ERROR")


_oracle = []


def oracle(context, continuation):
    """Sum of the continuation's log-probabilities by transformers, and whether it is the greedy one."""
    import torch
    from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration
    if not _oracle:
        folder = ROOT / "models/agon-tiny"
        _oracle.append(AutoTokenizer.from_pretrained(folder))
        _oracle.append(Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval())
    tokenizer, model = _oracle
    before = len(tokenizer.encode(context)) if context else 1
    ids = torch.tensor([tokenizer.encode(context + continuation) if context else
                        [tokenizer.eos_token_id] + tokenizer.encode(continuation)])
    with torch.inference_mode():
        logprobs = model(input_ids=ids).logits[0, before - 1:-1].log_softmax(-1)
    targets = ids[0, before:]
    return float(logprobs.gather(1, targets[:, None]).sum()), bool((logprobs.argmax(-1) == targets).all())


def agree(found, wanted, what):
    assert abs(found - wanted) < 1e-3, f"{what}: {found}, transformers {wanted}"


@check("lm_eval", "log-likelihoods of a multiple_choice task by local-completions: those of transformers")
def _(served):
    result = evaluated(served, "multiple_choice", doc_to_choice="{{choices}}", doc_to_target=0, target_delimiter="",
                       metric_list=[{"metric": "acc"}])
    samples = result["samples"]["sums"]
    equal(len(samples), len(SUMS), "samples")
    for sample in samples:
        for choice, ((found, _),) in zip(sample["doc"]["choices"], sample["resps"]):
            agree(float(found), oracle(sample["doc"]["question"], choice)[0], repr(sample["doc"]["question"] + choice))
    right = 0
    for question, choices in SUMS:
        right += choices[0] == max(choices, key=lambda choice: oracle(question, choice)[0])
    equal(result["results"]["sums"]["acc,none"], right / len(SUMS), "accuracy")


@check("lm_eval", "is_greedy of a loglikelihood task: that of transformers")
def _(served):
    result = evaluated(served, "loglikelihood", doc_to_target="{{choices[0]}}", target_delimiter="",
                       metric_list=[{"metric": "acc"}, {"metric": "perplexity"}])
    answers = set()
    for sample in result["samples"]["sums"]:
        question, choice = sample["doc"]["question"], sample["doc"]["choices"][0]
        found, greedy = sample["resps"][0][0]
        wanted = oracle(question, choice)
        agree(float(found), wanted[0], repr(question + choice))
        equal(str(greedy), str(wanted[1]), f"is_greedy of {question + choice!r}")
        answers.add(wanted[1])
    equal(answers, {True, False}, "both answers occur in the test")


@check("lm_eval", "loglikelihood_rolling (perplexities of texts): that of transformers")
def _(served):
    result = evaluated(served, "loglikelihood_rolling", doc_to_target="{{question}}", doc_to_text="",
                       metric_list=[{"metric": "bits_per_byte"}])
    for sample in result["samples"]["sums"]:
        agree(float(sample["resps"][0][0]), oracle("", sample["doc"]["question"])[0], repr(sample["doc"]["question"]))


@check("lm_eval", "generate_until")
def _(served):
    result = evaluated(served, "generate_until", doc_to_target="{{choices[0]}}",
                       generation_kwargs={"until": ["\n"], "max_gen_toks": 12, "temperature": 0},
                       metric_list=[{"metric": "exact_match"}])
    for sample in result["samples"]["sums"]:
        wanted = complete(served, sample["doc"]["question"], temperature=0, stop=["\n"]).choices[0].text
        equal(sample["resps"][0][0], wanted, repr(sample["doc"]["question"]))


def versions(client):
    from importlib.metadata import version
    names = [client] + (["transformers", "torch"] if client == "lm_eval" else [])
    return ", ".join(f"{name} {version(name)}" for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agon", nargs="?", default=ROOT / "agon")
    parser.add_argument("--only", choices=CHECKS)
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": scratch,
                       "TOKENIZERS_PARALLELISM": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                       "no_proxy": "127.0.0.1"}
        served = Served(arguments.agon, Path(scratch))
        try:
            for client, checks in CHECKS.items():
                if arguments.only not in (None, client):
                    continue
                print(f"# {versions(client)}", flush=True)
                for what, function in checks:
                    try:
                        function(served)
                        outcome = "ok"
                    except Exception as error:
                        failed += 1
                        outcome = f"FAILED: {type(error).__name__}: {error}"
                    print(f"{client} | {what} | {outcome}", flush=True)
        finally:
            served.process.terminate()
            served.process.wait()
    print(f"{failed} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
