"""Writes the files beside it with NumPy: python3 make.py"""
import numpy as np

rows = 7
plain = {
    "observations": np.stack([np.arange(rows), 10.0 * np.arange(rows)], axis=1),
    "actions": np.array([0, 1, 2, 0, 1, 2, 0], dtype=np.int32),
    "rewards": np.arange(rows, dtype=np.float32),
    "terminals": np.arange(rows) == 2,
    "timeouts": np.arange(rows) == 4,
}


def write(name, **changes):
    arrays = {**plain, **changes}
    np.savez(name + ".npz", **{key: value for key, value in arrays.items() if value is not None})


write("plain")
bits = np.unpackbits(np.arange(rows, dtype=np.uint8)[:, None], axis=1).astype(bool)
bits = np.concatenate([bits, bits[:, -1:]], axis=1)
np.savez_compressed("everything.npz", observations=bits, next_observations=np.roll(bits, 1, axis=0),
                    actions=plain["actions"][:, None].astype(np.int64), rewards=plain["rewards"].astype(np.float64),
                    terminations=plain["terminals"].astype(np.uint8), truncations=plain["timeouts"],
                    probabilities=np.array([1, 0.25, 0.5, 0.5, 0.5, 1, 1]))
pictures = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
np.savez("pictures.npz", observations=pictures, next_observations=pictures[::-1].copy(), actions=np.array([0, 1]),
         rewards=np.ones(2), terminals=np.array([False, True]))
last = np.arange(48, dtype=np.uint8).reshape(2, 3, 4, 2)  # two pictures of 3 rows, 4 columns and 2 channels
for name, turn in [("first", lambda a: np.ascontiguousarray(a.transpose(0, 3, 1, 2))), ("last", np.ascontiguousarray),
                   ("fortran", np.asfortranarray)]:
    np.savez(f"pictures_{name}.npz", observations=turn(last), next_observations=turn(last[::-1]),
             actions=np.array([0, 1]), rewards=np.ones(2), terminals=np.array([False, True]))
nan = plain["observations"].astype(np.float32)
nan[3, 1] = np.nan
write("nan", observations=nan)
write("no_ends", terminals=None, timeouts=None)
write("no_actions", actions=None)
write("short", rewards=plain["rewards"][:6])
write("fraction", actions=np.array([0, 0.5, 1, 0, 0, 0, 0]))
write("continuous", actions=np.zeros((rows, 2)))
write("fortran", observations=np.asfortranarray(plain["observations"]))
write("text", observations=np.array([["a", "b"]] * rows))
write("other_next", next_observations=plain["observations"][:, :1])
write("probability", probabilities=np.array([1, 1, 0, 1, 1, 1, 1.0]))
