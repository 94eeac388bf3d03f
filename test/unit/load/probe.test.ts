import { test } from "vitest";
import { loadGymfile } from "../../../src/load/gymfile.ts";
import { synthApp } from "../../../constructs/synth.ts";
test("probe", async () => {
 for (const f of ["m","m2","m3","bad4"]) {
  try { const r = await loadGymfile(`/tmp/gf-a/${f}.ts`, {context:{k:"v"}, cacheDirectory: "/tmp/gf-cache2"}); console.log(f, r.files);
   console.log(JSON.stringify(synthApp(r.app), (k,v)=> v instanceof Map ? Object.fromEntries(v): v, 1)); console.log(synthApp(r.app)[0]!.sources.locate(["driver","benchmarks","b"]));}
  catch (e) { console.log(f, JSON.stringify((e as {problems:unknown}).problems), (e as Error).cause && String(((e as Error).cause as Error).message), (e as {problems:unknown}).problems ? "" : e); }
 }
});
