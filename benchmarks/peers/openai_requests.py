"""Many requests to one server by other clients: aiohttp (the request by hand) and the openai SDK (AsyncOpenAI), each
with at most IN_FLIGHT under way. Prints one line of JSON, as benchmarks/perf/request_bench.cc does.
Needs aiohttp==3.12.15 and openai==2.8.1.   openai_requests.py aiohttp|openai URL [REQUESTS [IN_FLIGHT]]"""
import asyncio
import json
import resource
import sys
import time


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def messages(number):
    return [{"role": "user", "content": f"What is {number} + {number}?"}]


async def by_aiohttp(url, count, in_flight):
    import aiohttp
    connector = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=connector) as session:
        async def one(number):
            body = {"model": "slow", "messages": messages(number)}
            async with session.post(url + "/chat/completions", json=body) as reply:
                return (await reply.json())["choices"][0]["message"]["content"]
        return await timed(one, count)


async def by_openai(url, count, in_flight):
    import httpx
    import openai
    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    http = httpx.AsyncClient(limits=limits, timeout=600)
    async with openai.AsyncOpenAI(base_url=url, api_key="none", http_client=http) as client:
        gate = asyncio.Semaphore(in_flight)
        async def one(number):
            async with gate:
                reply = await client.chat.completions.create(model="slow", messages=messages(number))
            return reply.choices[0].message.content
        await one(0)  # what it imports and builds at its first request is not counted
        return await timed(one, count)


async def timed(one, count):
    cpu, wall = cpu_seconds(), time.monotonic()
    answers = await asyncio.gather(*(one(number) for number in range(count)))
    return answers, time.monotonic() - wall, cpu_seconds() - cpu


client, url = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
in_flight = int(sys.argv[4]) if len(sys.argv) > 4 else 512
answers, wall, cpu = asyncio.run({"aiohttp": by_aiohttp, "openai": by_openai}[client](url, count, in_flight))
right = answers.count("four")
print(json.dumps({"client": client, "requests": count, "in_flight": in_flight, "right": right,
                  "wall_s": round(wall, 3), "cpu_s": round(cpu, 3)}))
sys.exit(right != count)
