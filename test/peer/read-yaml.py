"""Reads documents with the readers named as arguments and compares: stdin is a JSON list of {yaml, want}, stdout the
differences.

`want` is ["map", [[key, want], ...]], ["list", [want, ...]], ["text", t], ["int", n], ["float", n] or ["word", true/false/null].
"""

import json
import re
import sys

import yaml
from omegaconf import OmegaConf


def same(got, want):
    kind, value = want
    if kind == "map":
        return isinstance(got, dict) and list(got) == [k for k, _ in value] and all(same(got[k], w) for k, w in value)
    if kind == "list":
        return isinstance(got, list) and len(got) == len(value) and all(map(same, got, value))
    if kind == "int":
        return type(got) is int and got == int(value)
    if kind == "float":
        return type(got) is float and repr(got) == repr(float(value))
    return type(got) is type(value) and got == value


def plain(got):
    """PyYAML knows no interpolation: what is escaped for OmegaConf is still escaped."""
    if isinstance(got, dict):
        return {k: plain(v) for k, v in got.items()}
    if isinstance(got, list):
        return [plain(v) for v in got]
    if isinstance(got, str):
        return re.sub(r"(\\*)\\\$\{", lambda m: m[1][: len(m[1]) // 2] + "${", got)
    return got


readers = {
    "PyYAML": lambda text: plain(yaml.safe_load(text)),
    "OmegaConf": lambda text: OmegaConf.to_container(OmegaConf.create(text), resolve=True),
}
different = []
for case in json.load(sys.stdin):
    for name in sys.argv[1:]:
        try:
            got = readers[name](case["yaml"])
        except Exception as error:  # noqa: BLE001
            got = "%s: %s" % (type(error).__name__, error)
        if not same(got, case["want"]):
            different.append({"reader": name, "yaml": case["yaml"], "got": repr(got)})
print(json.dumps(different[:20]))
