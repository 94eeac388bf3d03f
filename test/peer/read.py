"""What a reader of the peer makes of each given: `read.py READER`, stdin a JSON list, stdout one too.

A value is ["map", [[key, value], ...]], ["list", [value, ...]], ["text", t], ["int", digits], ["float", digits],
["word", true/false/null] or, when it is none of these or was refused, ["other", description].
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from unittest import mock

import yaml
from hydra import compose, initialize
from omegaconf import OmegaConf


def pyyaml(text):
    """PyYAML knows no interpolation: what is escaped for OmegaConf would still be escaped."""

    def plain(got):
        if isinstance(got, dict):
            return {key: plain(item) for key, item in got.items()}
        if isinstance(got, list):
            return [plain(item) for item in got]
        if isinstance(got, str):
            return re.sub(r"(\\*)\\\$\{", lambda found: found[1][: len(found[1]) // 2] + "${", got)
        return got

    return plain(yaml.safe_load(text))


def omegaconf(text):
    return OmegaConf.to_container(OmegaConf.create(text), resolve=True)


def submit(given):
    """What `gym eval submit -c FILE --resolve-only` prints, in a shell with these variables."""
    from nemo_gym.cli.main import main

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "submit.yaml")
        file.write_text(given["yaml"], encoding="utf-8")
        said, noted = io.StringIO(), io.StringIO()
        try:
            with (
                mock.patch.dict(os.environ, given["env"]),
                mock.patch.object(sys, "argv", ["gym", "eval", "submit", "-c", str(file), "--resolve-only"]),
                contextlib.redirect_stdout(said),
                contextlib.redirect_stderr(noted),
            ):
                main()
        except SystemExit as end:
            raise ValueError("exit %s: %s" % (end.code, said.getvalue() + noted.getvalue())) from end
    return yaml.safe_load(said.getvalue())


def record(text):
    """A submission's record, written again by the model that read it, and which of its benchmarks count as failed."""
    from nemo_gym.orchestration.jobs import SubmissionRecord

    read = SubmissionRecord.load(json.loads(text))
    return {"record": json.loads(read.dumps()), "failed": [job.benchmark for job in read.failed]}


def hydra(overrides):
    """The configuration that these overrides make. Interpolations stay as they are: nothing is there to refer to."""
    with initialize(version_base=None):
        return OmegaConf.to_container(compose(overrides=overrides), resolve=False)


READERS = {
    "PyYAML": pyyaml,
    "OmegaConf": omegaconf,
    "submit": submit,
    "record": record,
    "Hydra": hydra,
}


def typed(value):
    if isinstance(value, dict):
        return ["map", [[key, typed(item)] for key, item in value.items()]]
    if isinstance(value, list):
        return ["list", [typed(item) for item in value]]
    if isinstance(value, str):
        return ["text", value]
    if value is None or isinstance(value, bool):
        return ["word", value]
    if isinstance(value, (int, float)):
        return [type(value).__name__, repr(value)]
    return ["other", repr(value)]


def read(reader, given):
    try:
        return typed(reader(given))
    except Exception as error:  # noqa: BLE001
        return ["other", "%s: %s" % (type(error).__name__, error)]


print(json.dumps([read(READERS[sys.argv[1]], given) for given in json.load(sys.stdin)]))
