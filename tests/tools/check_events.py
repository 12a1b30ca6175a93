"""Reads event files of TensorBoard by the published format and shares no code with the library: frames, masked CRC-32C,
then the messages. Prints a line per record: "version TEXT", "start STEP" or "STEP TAG VALUE"; exits with 1 at the first
byte that is not as the format has it. Usage: check_events.py FILE..."""
import struct
import sys

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """(number, value) of every field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(kind)
            if kind == 2:
                length, at = varint(data, at)
            assert length is not None and at + length <= len(data), f"wire type {kind}"
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def describe(event):
    known = dict(fields(event))
    assert len(known[1]) == 8, "wall_time"
    step = known.get(2, 0)
    if 3 in known:
        return "version " + known[3].decode()
    if 7 in known:
        assert dict(fields(known[7])) == {1: 1}, "SessionLog START"
        return f"start {step}"
    (number, point), = fields(known[5])
    assert number == 1
    point = dict(fields(point))
    return f"{step} {point[1].decode()} {struct.unpack('<f', point[2])[0]:.6g}"


for path in sys.argv[1:]:
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8]), f"{path}: checksum of the length at byte {at}"
        event = data[at + 12:at + 12 + length]
        assert len(event) == length, f"{path}: cut off at byte {at}"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(event), f"{path}: checksum at byte {at}"
        print(describe(event))
        at += 16 + length
