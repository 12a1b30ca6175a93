// Runs a model with onnxruntime-web, which `make onnxruntime` puts into build/onnxruntime: a task as JSON on standard
// input, {model, rows, observation}; the outputs by name as JSON on standard output.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.ONNXRUNTIME + "/");
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const task = JSON.parse(readFileSync(0, "utf8"));
const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(task.model)), { executionProviders: ["wasm"] });
const width = task.observation.length / task.rows;
const tensor = new ort.Tensor("float32", Float32Array.from(task.observation), [task.rows, width]);
const found = await session.run({ observation: tensor });
console.log(JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, t]) => [name, Array.from(t.data, Number)]))));
