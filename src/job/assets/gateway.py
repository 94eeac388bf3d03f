"""The gateway: several vLLM servers behind one port.

Ray finds a node for each server, starts it through a small actor there and tells when it is gone. Requests do not go
through Ray: they go straight to the server with the fewest in flight, so that streams arrive piece by piece, a client
that leaves is noticed by the server, and it is known whether a request ever reached one.
"""

import argparse
import asyncio
import collections
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time

# Read by Ray when it is imported: equal lines of two servers are not merged into one, and nothing is sent out.
os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import aiohttp
import ray
from aiohttp import web
from multidict import CIMultiDict
from ray._private.state import available_resources_per_node
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from yarl import URL

# All in seconds.
JOIN = 600  # for the nodes to join Ray
GRACE = 10  # between TERM and KILL
PROBE = 1  # between two looks at a server that does not serve, and
WATCH = 5  # at one that does: each look may be a line of its log
CONNECT = 10  # for a connection to a server, and for its answer to a look
SILENT = 120  # without good health, after which a server that served counts as dead
STEADY = 600  # of good health, after which earlier failures of a replica are forgotten

# Failures in a row after which a replica is started once more; the pause before doubles from one second on.
RESTARTS = 4

# They belong to one connection, not to the request. `Expect` has been answered by then.
HOP_BY_HOP = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
    *("te", "trailer", "transfer-encoding", "upgrade", "expect"),
}

# Ends a server's process group once its standard input ends: when the actor asks for it, and also when the actor is
# killed and can no longer ask. In the background, so that it is not a child that Ray kills together with the actor.
GUARD = """trap '' TERM
exec 3<&0
{
    cat <&3
    kill -TERM "-$1" || exit
    while [ "$2" -gt 0 ] && kill -0 "-$1"; do
        sleep 1
        set -- "$1" $(($2 - 1))
    done
    kill -KILL "-$1"
} >/dev/null 2>&1 &"""


def say(text):
    print(f"gateway: {text}", flush=True)


class Server:
    """The actor: one vLLM server, on the node where the actor is."""

    def __init__(self, index):
        self.index = index

    def __repr__(self):
        # Ray puts it before each line of the server's log.
        return f"replica {self.index}"

    def start(self, model, words, env):
        """Starts the server and returns its URL; it does not answer yet."""
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        env = {**os.environ, **env}
        # Some versions of Ray hide all GPUs from an actor that asked for none; the server asks for its own.
        if env.get("CUDA_VISIBLE_DEVICES") == "":
            del env["CUDA_VISIBLE_DEVICES"]
        command = ["vllm", "serve", model, "--port", str(port), *words]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
        guard = ["sh", "-c", GUARD, "guard", str(self.process.pid), str(GRACE)]
        self.guard = subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True)
        self.guard.wait()
        return f"http://{ray.util.get_node_ip_address()}:{port}"

    def wait(self):
        """Returns the server's exit code once it ends."""
        return self.process.wait()

    def stop(self):
        """Ends the server and all that it started; returns when they are gone."""
        self.guard.stdin.close()
        self.process.wait()
        # Bounded: in a container that reaps no orphans, a group may keep dead members for ever.
        end = time.monotonic() + GRACE + 2
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < end:
                os.killpg(self.process.pid, 0)
                time.sleep(0.05)


class Replica:
    """A place for a server, which has one after another should they die."""

    def __init__(self, index):
        self.index = index
        self.node = None  # Ray's id of the node that its server is on
        self.url = None
        self.session = None  # HTTP client of the present server; closed with it, so that no request outlives it
        self.serving = False
        self.since = 0.0  # when its server was first healthy, and
        self.healthy = 0.0  # when last; both on the monotonic clock
        self.in_flight = 0
        self.taken = 0  # requests in all


class Fleet:
    """Starts the servers, watches them and starts dead ones again."""

    def __init__(self, options):
        self.options = options
        self.gpus = options.tensor_parallel_size * options.pipeline_parallel_size
        self.per_node = max(options.gpus_per_node // self.gpus, 1)
        self.replicas = [Replica(index) for index in range(options.number_of_instances)]
        # A server on several nodes may take GPUs anywhere: the next finds a node only when those are known.
        spans = self.gpus > options.gpus_per_node
        self.turn = asyncio.Lock() if spans else contextlib.nullcontext()

    def nodes(self):
        """GPUs of each living node that a server can be on, by the node's id."""
        gpus = {node["NodeID"]: node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]}
        least = min(self.gpus, self.options.gpus_per_node)
        return {node: count for node, count in gpus.items() if count >= least}

    async def room(self, seconds):
        """Waits until there is room for all replicas.

        Raises SystemExit when there is none after so many seconds.
        """
        end, told = time.monotonic() + seconds, None
        while True:
            nodes, count = self.nodes(), len(self.replicas)
            if len(nodes) * self.per_node >= count and sum(nodes.values()) >= count * self.gpus:
                return
            lack = (
                f"no room for {count} replicas of {self.gpus} GPUs, at most {self.per_node} a node: "
                f"Ray has {len(nodes)} nodes that fit, with {sum(nodes.values()):g} GPUs"
            )
            if time.monotonic() >= end:
                sys.exit(f"gateway: {lack}")
            if lack != told:
                say(f"{lack}; waiting for more")
                told = lack
            await asyncio.sleep(1)

    def place(self, replica):
        """Takes for a replica the node with the fewest others, then with the most free GPUs."""
        others = collections.Counter(other.node for other in self.replicas if other is not replica)
        free = available_resources_per_node()
        nodes = [node for node in self.nodes() if others[node] < self.per_node]
        if not nodes:
            raise RuntimeError("no node has room for it")
        replica.node = min(nodes, key=lambda node: (others[node], -free.get(node, {}).get("GPU", 0)))

    async def run(self):
        """Returns when every replica is given up."""
        await asyncio.gather(*map(self.keep, self.replicas))

    async def keep(self, replica):
        failures = 0
        while failures <= RESTARTS:
            try:
                end = await self.serve(replica)
            except (ray.exceptions.RayError, RuntimeError, OSError) as error:
                # What an actor raised is inside; Ray says more about a dead one than a line can hold.
                cause = getattr(error, "cause", None) or error
                end = f"could not run: {type(cause).__name__}: {str(cause).strip().partition('. ')[0]}"
            failures = 1 if replica.healthy - replica.since > STEADY else failures + 1
            say(f"replica {replica.index} {end}; failure {failures} of {RESTARTS + 1}")
            if failures <= RESTARTS:
                await asyncio.sleep(2 ** (failures - 1))
        say(f"replica {replica.index} is given up")

    async def serve(self, replica):
        """One server of a replica, from its start to its end; returns how it ended."""
        actor = None
        replica.since = replica.healthy = 0.0
        # A connection of its own for each request: if one cannot be made, the request was never sent, and none is sent
        # into a kept connection that the server is just closing.
        replica.session = aiohttp.ClientSession(
            auto_decompress=False,
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT),
        )
        # Or else aiohttp itself sends a GET twice.
        replica.session._retry_connection = False
        try:
            async with self.turn:
                self.place(replica)
                strategy = NodeAffinitySchedulingStrategy(replica.node, soft=False)
                # Calls at the same time, since one of them waits. The GPUs are taken by the server itself.
                kind = ray.remote(num_cpus=0, max_concurrency=3, scheduling_strategy=strategy)(Server)
                actor = kind.remote(replica.index)
                words, env = self.words(), self.environment()
                replica.url = await actor.start.remote(self.options.model, words, env)
                say(f"replica {replica.index} starts at {replica.url}")
                ended = asyncio.ensure_future(actor.wait.remote())
                await self.look(replica, ended, lambda: replica.serving)
            await self.look(replica, ended, lambda: time.monotonic() - replica.healthy > SILENT)
            return f"ended with exit code {await ended}" if ended.done() else f"was not healthy for {SILENT} s"
        finally:
            replica.serving = False
            await replica.session.close()
            if actor:
                await self.end(actor)
            replica.node = None

    async def look(self, replica, ended, enough):
        """Looks at a server's health until it ends or it is enough."""
        while not ended.done():
            try:
                limit = aiohttp.ClientTimeout(total=CONNECT)
                async with replica.session.get(f"{replica.url}/health", timeout=limit) as answer:
                    healthy = answer.status == 200
            except (aiohttp.ClientError, asyncio.TimeoutError):
                healthy = False
            if healthy != replica.serving and not ended.done():
                say(f"replica {replica.index} {'serves' if healthy else 'does not serve'}")
                replica.serving = healthy
            if replica.serving:
                replica.healthy = time.monotonic()
                replica.since = replica.since or replica.healthy
            if enough():
                return
            await asyncio.wait({ended}, timeout=WATCH if replica.serving else PROBE)

    async def end(self, actor):
        # The actor may be gone; its guard ends the server then.
        with contextlib.suppress(ray.exceptions.RayError, asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.ensure_future(actor.stop.remote()), GRACE + 10)
        ray.kill(actor)

    def words(self):
        """The servers' words, the user's last, so that they win."""
        options = self.options
        pipeline = options.pipeline_parallel_size
        return [
            *("--tensor-parallel-size", str(options.tensor_parallel_size)),
            *(("--pipeline-parallel-size", str(pipeline)) if pipeline > 1 else ()),
            *(("--served-model-name", options.served_model_name) if options.served_model_name else ()),
            *(("--trust-remote-code",) if options.trust_remote_code else ()),
            *("--distributed-executor-backend", "ray"),
            *options.extra_args,
        ]

    def environment(self):
        return {
            "RAY_ADDRESS": ray.get_runtime_context().gcs_address,
            "RAY_SERVE_QUEUE_LENGTH_RESPONSE_DEADLINE_S": "1.0",
        }


def passed(headers):
    """The headers that go on to the other side."""
    named = {name.strip().lower() for value in headers.getall("Connection", ()) for name in value.split(",")}
    return CIMultiDict((name, text) for name, text in headers.items() if name.lower() not in HOP_BY_HOP | named)


def refusal(status, message):
    return web.json_response(
        {"error": {"message": f"gateway: {message}", "type": "gateway_error", "code": status}}, status=status
    )


def joined_metrics(texts):
    """Joins Prometheus texts, each with its replica's number, so that each metric is described once."""
    metrics = {}
    for index, text in texts:
        described = None
        for line in filter(None, text.splitlines()):
            if head := re.match(r"# (?:HELP|TYPE) (\S+)", line):
                described = head[1]
                metrics.setdefault(described, ({}, []))[0][line] = None
            elif sample := re.match(r"([^#{\s]+)(\{?)(.*)", line):
                name, brace, rest = sample.groups()
                labels = f'{{replica="{index}"' + ("," if brace else "}")
                metrics.setdefault(described or name, ({}, []))[1].append(name + labels + rest)
    return "".join(f"{line}\n" for head, samples in metrics.values() for line in (*head, *samples))


class Gateway:
    """The HTTP side."""

    def __init__(self, replicas):
        self.replicas = replicas

    def serving(self):
        return [replica for replica in self.replicas if replica.serving]

    async def health(self, _request):
        return web.Response() if self.serving() else refusal(503, "no replica serves")

    async def metrics(self, _request):
        async def text(replica):
            with contextlib.suppress(aiohttp.ClientError, asyncio.TimeoutError):
                limit = aiohttp.ClientTimeout(total=CONNECT)
                async with replica.session.get(f"{replica.url}/metrics", timeout=limit) as answer:
                    return (replica.index, await answer.text()) if answer.status == 200 else None

        texts = list(filter(None, await asyncio.gather(*map(text, self.serving()))))
        if not texts:
            return refusal(503, "no replica tells its metrics")
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return web.Response(body=joined_metrics(texts).encode(), headers={"Content-Type": kind})

    async def proxy(self, request):
        refused = set()
        while True:
            free = [replica for replica in self.serving() if replica not in refused]
            if not free:
                return refusal(503, "no replica serves")
            replica = min(free, key=lambda each: (each.in_flight, each.taken))
            replica.in_flight += 1
            replica.taken += 1
            try:
                return await self.send(request, replica)
            except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError):
                # Never sent, so another may have it. The next look at its health tells whether this one is back.
                replica.serving = False
                refused.add(replica)
            except aiohttp.ClientError as error:
                why = str(error) or type(error).__name__
                return refusal(502, f"replica {replica.index} at {replica.url} failed before it answered: {why}")
            finally:
                replica.in_flight -= 1

    async def send(self, request, replica):
        """Passes a request on, and its answer back as it comes."""
        async with replica.session.request(
            request.method,
            URL(replica.url + request.rel_url.raw_path_qs, encoded=True),
            allow_redirects=False,
            data=request.content if request.can_read_body else None,
            headers=passed(request.headers),
        ) as answer:
            response = web.StreamResponse(
                status=answer.status, reason=answer.reason, headers=passed(answer.headers)
            )
            await response.prepare(request)
            try:
                async for piece in answer.content.iter_any():
                    await response.write(piece)
            except aiohttp.ClientError:
                # The client has seen a part: a connection that ends early is the only way left to say so.
                if request.transport:
                    request.transport.close()
            return response


def words_of(text):
    """The words of a text that bash quoted, as bash reads them."""
    if not text.strip():
        return []
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], stdout=subprocess.PIPE, check=True)
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]


def parse():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--model", required=True)
    for name in ("port", "tensor-parallel-size", "pipeline-parallel-size", "number-of-instances", "gpus-per-node"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--trust-remote-code", action="store_true")
    parser.add_argument("--served-model-name")
    parser.add_argument("--extra-args", type=words_of, default=[])
    return parser.parse_args()


def join():
    """Joins the job's Ray, else starts one here; returns the seconds that more nodes may take to join."""
    settings = {"logging_level": "WARNING"}
    # On a shared node, a running Ray may be some other job's: a step of one node has none to join.
    if os.environ.get("SLURM_STEP_NUM_NODES") != "1" or "RAY_ADDRESS" in os.environ:
        try:
            ray.init(address="auto", **settings)
            return JOIN
        except ConnectionError:
            if "RAY_ADDRESS" in os.environ:
                raise
    for name, what in (("num_cpus", "CPUS"), ("num_gpus", "GPUS")):
        count = next(filter(None, map(os.environ.get, (f"SLURM_{what}_PER_TASK", f"SLURM_{what}_ON_NODE"))), "")
        # Not a number when Slurm also tells the kind; Ray counts by itself then.
        if count.isdigit():
            settings[name] = int(count)
    ray.init(address="local", include_dashboard=False, **settings)
    return 0


async def main(options, seconds):
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    fleet = Fleet(options)
    gateway = Gateway(fleet.replicas)
    # A request's size is for the servers to judge, and its body goes on as it came.
    app = web.Application(client_max_size=0)
    app.router.add_get("/health", gateway.health)
    app.router.add_get("/metrics", gateway.metrics)
    app.router.add_route("*", "/{path:.*}", gateway.proxy)
    runner = web.AppRunner(
        app, access_log=None, auto_decompress=False, handler_cancellation=True, shutdown_timeout=1
    )
    await runner.setup()
    await web.TCPSite(runner, "0.0.0.0", options.port, backlog=4096).start()

    async def work():
        await fleet.room(seconds)
        await fleet.run()

    working, stopping = asyncio.ensure_future(work()), asyncio.ensure_future(stopped.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working
    await runner.cleanup()
    if stopped.is_set():
        return 128 + signal.SIGTERM
    say("all replicas are given up")
    return 1


if __name__ == "__main__":
    arguments = parse()
    wait = join()
    code = asyncio.run(main(arguments, wait))
    ray.shutdown()
    sys.exit(code)
