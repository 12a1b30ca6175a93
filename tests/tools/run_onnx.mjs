// Runs models with onnxruntime-web, which `make onnxruntime` puts into build/onnxruntime: tasks as JSON on standard
// input, [{model, rows, observations: a file of floats}]; of each its outputs by name as JSON on standard output.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.ONNXRUNTIME + "/");
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const answers = [];
for (const task of JSON.parse(readFileSync(0, "utf8"))) {
  const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(task.model)), { executionProviders: ["wasm"] });
  const floats = new Float32Array(new Uint8Array(readFileSync(task.observations)).buffer);
  const tensor = new ort.Tensor("float32", floats, [task.rows, floats.length / task.rows]);
  const found = await session.run({ observation: tensor });
  answers.push(Object.fromEntries(Object.entries(found).map(([name, t]) => [name, Array.from(t.data, Number)])));
}
console.log(JSON.stringify(answers));
