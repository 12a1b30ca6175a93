"""--method auto beside the best method by name, on random processes of many structures; processor seconds of one thread."""
import os

METHODS = ("value-iteration", "modified-policy-iteration", "gauss-seidel", "inexact-policy-iteration", "policy-iteration")
LIMIT = 20  # seconds by the clock


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_auto")
    for index in range(run(program, "count")[0]["count"]):
        auto = min((run(program, str(index), "auto")[0] for _ in range(2)), key=lambda line: line["cpu_seconds"])
        limit = str(min(LIMIT, 10 * auto["cpu_seconds"] + 1))
        named = {method: run(program, str(index), method, limit)[0] for method in METHODS}
        done = {method: line for method, line in named.items() if line["outcome"] == "converged"}
        best = min(done, key=lambda method: done[method]["cpu_seconds"], default=None)
        emit(f"auto: {auto['problem']}, {auto['states']} states, {auto['actions']} actions, gamma {auto['gamma']}",
             auto["cpu_seconds"], done[best]["cpu_seconds"] if best else None, peer_name=best, method=auto["method"],
             outcome=auto["outcome"], largest_difference=max((abs(line["value"] - auto["value"]) for line in done.values()), default=0),
             seconds={method: line["cpu_seconds"] for method, line in done.items()})
