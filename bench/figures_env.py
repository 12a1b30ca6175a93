"""Steps per second of every game: 256 environments, random actions; with packed bits, float planes or no observation written."""
import os


def figures(build, emit, run):
    for line in run(os.path.join(build, "bench", "bench_env")):
        emit(f"{line['game']}, {line['envs']} environments, {line['threads']} threads, observation: {line['observation']}",
             line["steps_per_second"], None, unit="steps/s", random_share=line["random_share"])
