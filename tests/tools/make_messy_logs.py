#!/usr/bin/env python3
"""Writes tests/data/messy: one small log as people really have it, in many forms. tests/test_reading.c says what each
of them must read as, or why it is refused. Run it in the folder of the repository."""
import os, zipfile

OUT = "tests/data/messy"
os.makedirs(OUT, exist_ok=True)

# episode, hour, ward, severity, action, reward, next ward, next severity, end
ROWS = [
    (1, 0, "ICU", 2, "treat", 0.5, "ICU", 1, ""),
    (1, 1, "ICU", 1, "wait", 0.25, "home", 1, ""),
    (1, 2, "home", 1, "wait", 1.0, "home", 1, "terminal"),
    (2, 0, "ICU", 2, "wait", 0.0, "ICU", 2, ""),
    (2, 1, "ICU", 2, "treat", -1.5, "home", 2, ""),
    (2, 2, "home", 2, "wait", 1.0, "home", 2, "terminal"),
    (7, 0, "home", 1, "treat", 0.75, "ICU", 1, ""),
    (7, 1, "ICU", 1, "treat", 0.5, "ICU", 2, "cutoff"),
]


def state(ward, severity):
    return f"{ward}|{severity}"


def number(value):
    return f"{value:g}"


def write(name, lines, separator=",", encoding="utf-8", end="\n", head=b""):
    with open(f"{OUT}/{name}", "wb") as file:
        file.write(head)
        for fields in lines:
            file.write((separator.join(str(f) for f in fields) + end).encode(encoding))


HEADER = ["episode", "step", "state", "action", "reward", "next_state", "terminal", "truncated"]


def usual(row, of=number):
    e, t, w, s, a, r, w2, s2, end = row
    return [e, t, state(w, s), a, of(r), state(w2, s2), int(end == "terminal"), int(end == "cutoff")]


PLAIN = [usual(r) for r in ROWS]
write("plain.csv", [HEADER] + PLAIN)
write("semicolon.csv", [HEADER] + PLAIN, ";")
write("tab.tsv", [HEADER] + PLAIN, "\t")
write("decimal_comma.csv", [HEADER] + [usual(r, lambda x: number(x).replace(".", ",")) for r in ROWS], ";")
write("crlf_bom.csv", [HEADER] + PLAIN, end="\r\n", head=b"\xef\xbb\xbf")
write("upper.csv", [[h.upper() for h in HEADER]] + PLAIN)
write("gym.csv", [["ep", "t", "obs", "action", "reward", "next_obs", "terminated", "truncated"]] + PLAIN)
# done is also set where an episode is cut off
write("done.csv", [["Episode_ID", "Time Step", "State", "Action", "Reward", "Next State", "done", "timeout"]]
      + [f[:6] + [int(f[6] or f[7]), f[7]] for f in PLAIN])
write("pandas.csv", [[""] + HEADER] + [[i] + [f"{f[0]:.1f}"] + f[1:6] + [bool(f[6]), bool(f[7])] for i, f in enumerate(PLAIN)])
write("postgres.csv", [HEADER] + [f[:6] + ["ft"[f[6]], "ft"[f[7]]] for f in PLAIN])
write("own_names.csv", [["patient", "visit_no", "where", "drug", "outcome", "then", "died", "lost", "age"]]
      + [f + [40 + i] for i, f in enumerate(PLAIN)])
PARTS = ["patient", "hour", "ward", "severity", "drug", "outcome", "next_ward", "next_severity", "died", "lost"]
write("two_columns.csv", [PARTS] + [[r[0], r[1], r[2], r[3], r[4], number(r[5]), r[6], r[7], f[6], f[7]]
                                    for r, f in zip(ROWS, PLAIN)])
write("two_columns_float.csv", [PARTS] + [[r[0], r[1], r[2], f"{r[3]:.1f}", r[4], number(r[5]), r[6], f"{r[7]:.1f}", f[6],
                                           f[7]] for r, f in zip(ROWS, PLAIN)])
write("pipe_in_names.csv", [["patient", "ward", "severity", "action", "reward", "terminal"], [1, "a|b", 2, 0, 0, 1]], ";")
write("no_end_next.csv", [HEADER] + [f[:5] + ["" if f[6] else f[5]] + f[6:] for f in PLAIN])

# the next row tells the next state; the last row of a cut-off episode is there to tell it
SHORT = ["episode", "step", "state", "action", "reward", "terminal"]
LAST = [7, 2, state("ICU", 2), "wait", 9, 0]
ORDERED = [f[:5] + [f[6]] for f in PLAIN] + [LAST]
SHUFFLED = [ORDERED[i] for i in (8, 2, 5, 0, 3, 6, 1, 4, 7)]
write("no_next.csv", [SHORT] + ORDERED)
write("no_next_shuffled.csv", [SHORT] + SHUFFLED)
write("no_next_no_step.csv", [[SHORT[0]] + SHORT[2:]] + [[f[0]] + f[2:] for f in ORDERED])
write("no_next_no_ends.csv", [SHORT[:5]] + [f[:5] for f in ORDERED])
write("no_next_no_episode.csv", [SHORT[2:5] + ["terminal", "truncated"]] + [f[2:] + [int(f == LAST)] for f in ORDERED])
write("times.csv", [SHORT] + [[f[0], f"2024-02-{28 + f[1]:02d}T08:30:00" if f[1] < 2 else "2024-03-01 08:30:00+00:00"]
                              + f[2:] for f in SHUFFLED])
write("hours.csv", [SHORT] + [[f[0], f[1] / 2] + f[2:] for f in SHUFFLED])

# values that are missing
write("missing.csv", [HEADER] + PLAIN[:3] + [[3, 0, state("ICU", 1), "NA", "", state("ICU", 2), 0, 0]] + PLAIN[3:]
      + [[8, 0, "null", "wait", 0, state("ICU", 2), 0, 0]])
write("missing_reward.csv", [HEADER] + [f[:4] + ["NaN" if f[4] == "0.25" else f[4]] + f[5:] for f in PLAIN])
write("missing_inside.csv", [SHORT] + [f[:3] + (["" if f[0] == 2 and f[1] == 1 else f[3]]) + f[4:] for f in ORDERED])
write("missing_state_inside.csv", [SHORT] + [f[:2] + ["" if f[0] == 2 and f[1] == 1 else f[2]] + f[3:] for f in ORDERED])

# ids that are integers, in other clothes
IDS = ["state", "action", "reward", "next_state", "terminal"]
write("float_ids.csv", [IDS, ["0.0", "1.0", 0.5, "2.0", 0], ["2.0", "0.0", 1, "2.00", 1]])
write("negative_ids.csv", [IDS, [-1, 1, 0.5, 2, 0], ["2.0", 0, 1, -1, 1]])
write("large_ids.csv", [IDS, [10000000001, 1, 0.5, 2, 0], [2, 0, 1, 10000000001, 1]])

# refused
write("latin1.csv", [IDS, ["Zürich", "gehe", 1, "Köln", 1]], encoding="latin-1")
write("utf16.csv", [IDS, [0, 0, 1, 1, 1]], encoding="utf-16-le", head=b"\xff\xfe")
write("measurements.csv", [IDS, [0.3712, 0, 1, 0.5, 0]])
write("features.csv", [["patient", "age", "lactate", "action", "reward"], [1, 61, 2.5, 0, 1]])
write("mixed_rows.csv", [HEADER] + PLAIN[:2] + [[";".join(str(x) for x in PLAIN[2])]])
write("mixed_header.csv", [["state;action", "reward", "next_state"], [0, 0, 1]])
write("two_for_one.csv", [["obs", "observation", "action", "reward", "next_state"], [0, 0, 0, 1, 1]])
write("european_dates.csv", [["step"] + IDS, ["17.05.2024", 0, 0, 1, 1, 1]])
write("thousands.csv", [IDS, [0, 0, "1.234,5", 1, 1]], ";")
write("quoted_comma.csv", [IDS, [0, 0, 1, 1, 0], [1, 0, '"0,5"', 0, 1]])
write("workbook.xls", [["x"]], head=b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
with zipfile.ZipFile(f"{OUT}/workbook.xlsx", "w") as book:
    book.writestr(zipfile.ZipInfo("[Content_Types].xml"), "<Types/>")
    book.writestr(zipfile.ZipInfo("xl/workbook.xml"), "<workbook/>")
with open(f"{OUT}/rows.jsonl", "w") as file:
    import json
    for r, f in zip(ROWS, PLAIN):
        file.write(json.dumps(dict(zip(PARTS, [r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], bool(f[6]), bool(f[7])]))) + "\n")
with open(f"{OUT}/no_next.jsonl", "w") as file:
    for f in SHUFFLED:
        row = dict(zip(SHORT, f))
        row["reward"] = float(row["reward"])
        file.write(json.dumps(row) + "\n")
with open(f"{OUT}/missing.jsonl", "w") as file:
    for f in PLAIN:
        row = dict(zip(HEADER, f))
        row["reward"] = None if f[4] == "0.25" else float(f[4])
        row["next_state"] = None if f[6] else f[5]
        file.write(json.dumps(row) + "\n")

# The same files for fuzz/fuzz_reading.c: a first line says how they are read (last row, separator, decimal sign,
# encoding as digits, then the rule for missing values, '!' and the columns with '/' between them).
CORPUS = "tests/data/fuzz/reading"
os.makedirs(CORPUS, exist_ok=True)
OWN = "episode=patient/state=where/action=drug/reward=outcome/next_state=then/terminal=died/truncated=lost"
JOINED = "episode=patient/step=hour/state=ward,severity/action=drug/reward=outcome/next_state=next_ward,next_severity/terminal=died"
HEADS = {"own_names.csv": "0000!" + OWN, "two_columns.csv": "0000!" + JOINED, "two_columns_float.csv": "0000!" + JOINED,
         "missing.csv": "0000drop!", "missing_reward.csv": "0000drop,reward=0.25!", "missing_inside.csv": "0000drop!",
         "missing_state_inside.csv": "0000drop!", "no_next_no_ends.csv": "2000!", "latin1.csv": "0001!"}
for name in sorted(os.listdir(OUT)):
    if name.endswith((".csv", ".tsv")):
        with open(f"{OUT}/{name}", "rb") as source, open(f"{CORPUS}/{name.replace('.', '_')}", "wb") as target:
            target.write(HEADS.get(name, "0000!").encode() + b"\n" + source.read())
# levels with decimals: a scale of half points (0.5 and 0.50 are one), and doses
write("decimals.csv", [["state", "action", "reward", "next_state"], ["0.5", 0, 1, "1.0"], ["1.0", 1, 0, "1.5"], ["1.50", 0, 1, "0.50"]])
write("doses.csv", [["state", "action", "reward", "next_state"], [0, "2.5", 1, 1], [1, 5, 0, 0], [0, "0.5", 1, 1]])
