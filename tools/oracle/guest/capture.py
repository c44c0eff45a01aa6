"""Writes what both ends of a lab's connections send and receive, as streams that an endpoint can be held against.

It runs beside lab.py, whose switch and interfaces it waits for, and ends with SIGTERM. A stream is a text file in the
folder of its second argument, for each connection of a sender and the receiver: HOST-PORT is the sender's, and
rx-HOST-PORT the receiver's. Its first line is "STREAM server|client T ISN CLOCK": the time and number of the SYN of this
end, and its timestamp less that time in ms. Then come, in the order of the switch, all times in ns:

  in T FLAGS SEQ ACK PAYLOAD WINDOW TSVAL TSECR MSS SCALE [START END]...   a segment that this end receives
  out T SEQ PAYLOAD                                                        one with data that it has sent
  ack T FLAGS ACK [START END]...                                           one without that the receiver has sent

FLAGS has the bits of TCP, and above them the two of ECN in the header of IP. The time of a segment sent is that of its
arrival at the switch less the delay and its time on the link: it has left TCP then or before. A packet that the link
lost is not there.
"""
import ctypes, json, os, select, signal, socket, struct, sys, time

PLAN = json.load(open(sys.argv[1]))
FOLDER = sys.argv[2]
HOSTS = ["rx"] + ["h%d" % i for i in range(PLAN["hosts"])]
SO_TIMESTAMPNS = 35
# Long enough for all packets of a tick.
SO_RCVBUFFORCE, ROOM = 33, 64 << 20


def sockets():
    """A socket for each host's interface of the switch, once they are there."""
    while True:
        time.sleep(0.001)
        try:
            fd = os.open("/run/netns/s", os.O_RDONLY)
            assert ctypes.CDLL(None, use_errno=True).setns(fd, 0x40000000) == 0
            return [watch("p" + name) for name in HOSTS]
        except OSError:
            continue


def watch(interface):
    new = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    new.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    new.bind((interface, 3))
    new.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    new.setblocking(False)
    return new


def segment(frame):
    """Numbers and options of a TCP segment over IPv4, or None."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return None
    head = 14 + (frame[14] & 15) * 4
    length = struct.unpack_from("!H", frame, 16)[0]
    source, destination, seq, ack, data, flags, window = struct.unpack_from("!HHIIBBH", frame, head)
    size = (data >> 4) * 4
    flags |= (frame[15] & 3) << 8
    found = {"ports": (source, destination), "hosts": (frame[29] - 1, frame[33] - 1),
             "seq": seq, "ack": ack, "flags": flags, "window": window,
             "payload": length + 14 - head - size, "length": length + 14, "stamps": (0, 0), "mss": 0, "scale": 0, "sack": ()}
    at = head + 20
    while at < head + size and frame[at]:
        kind = frame[at]
        if kind == 1:
            at += 1
            continue
        value = frame[at + 2:at + frame[at + 1]]
        if kind == 2:
            found["mss"] = struct.unpack("!H", value)[0]
        elif kind == 3:
            found["scale"] = value[0]
        elif kind == 5:
            found["sack"] = struct.unpack("!%dI" % (len(value) // 4), value)
        elif kind == 8:
            found["stamps"] = struct.unpack("!II", value)
        at += frame[at + 1]
    return found


def sent(time, one):
    """When a segment that has reached the switch at this time had left TCP at the latest."""
    return time - PLAN["delay"] - one["length"] * 8 * 10**9 // PLAN["access"]


def main():
    ends = []
    signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
    poll, watched, streams = select.poll(), {}, {}
    for name, one in zip(HOSTS, sockets()):
        watched[one.fileno()] = (name, one)
        poll.register(one, select.POLLIN)
    while not ends:
        for fd, _ in poll.poll(5):
            name, one = watched[fd]
            while True:
                try:
                    frame, extra, _, address = one.recvmsg(2048, 256)
                except BlockingIOError:
                    break
                found = segment(frame)
                if found:
                    seconds, rest = struct.unpack_from("qq", extra[0][2])
                    note(streams, name, seconds * 10**9 + rest, address[2] == socket.PACKET_OUTGOING, found)
    for (name, port), lines in streams.items():
        with open("%s/%s-%d" % (FOLDER, name, port), "w") as file:
            file.write("".join(lines))


def note(streams, name, time, outgoing, one):
    """Outgoing of the switch is what the host receives."""
    local, remote = one["ports"][::-1] if outgoing else one["ports"]
    receives = name == "rx"
    if receives:
        name = "rx-h%d" % one["hosts"][0 if outgoing else 1]
    # The lab's receiver has the ports that it counts up, whoever connects.
    key = (name, local if 5000 < local < 6000 else remote)
    lines = streams.setdefault(key, [])
    if not outgoing and one["flags"] & 2 and not lines_begin(lines):
        role = "client" if not one["flags"] & 16 else "server"
        left = sent(time, one)
        begins = "STREAM %s %d %d %d\n" % (role, left, one["seq"], one["stamps"][0] - left // 10**6)
        lines.insert(0, begins)
    if outgoing:
        numbers = [one["flags"], one["seq"], one["ack"], one["payload"], one["window"], *one["stamps"], one["mss"],
                   one["scale"], *one["sack"]]
        lines.append("in %d %s\n" % (time, " ".join(map(str, numbers))))
    elif one["payload"]:
        lines.append("out %d %d %d\n" % (sent(time, one), one["seq"], one["payload"]))
    elif receives and not one["flags"] & 3:
        numbers = [one["flags"], one["ack"], *one["sack"]]
        lines.append("ack %d %s\n" % (sent(time, one), " ".join(map(str, numbers))))


def lines_begin(lines):
    return lines and lines[0].startswith("STREAM")


main()
