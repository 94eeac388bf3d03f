import { test } from "vitest";
import { read, shown } from "./peer.ts";
test("x", () => { console.log(shown(read("Hydra", [["+a=1", "+b=1.0","+c=-0.0","+d={x: inf}","+e=nan"],["+a=${"]]))); });
