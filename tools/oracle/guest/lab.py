"""Measures the guest's TCP: one switch, hosts in network namespaces, and the scenarios of a plan on it.

It runs in User-mode Linux with time travel: a processor costs no time, so that a transfer takes what links, queues and
timers make it take. Standard output gets one line "ANSWER {...}" for each scenario, in JSON.

The plan is a JSON file: {"boot", "rate", "access", "delay", "jitter", "hosts", "scenarios": [...]}. Rates are in bit/s,
delays in ns, sizes in bytes. A scenario has "name", "kind" (incast, stream), "cc", "buffer", "threshold" (0: none), and the
fields that the functions of its kind read below. Those read with get() are absent unless the scenario needs them.

What makes it a lab rather than a network of containers:

- gso_max_segs 1: without segmentation offload in the device TCP still builds trains, which netem delays as one packet.
- The switch port is a token bucket with room for one packet, over a queue in bytes. A packet counts in that queue until
  its last bit has left; the first packet of an idle port leaves at once. The bucket is as small as tc can make it, six
  bytes more than a packet: with more room the second packet of an idle port would leave early, too.
- Marking at a threshold is RED with weight 1, which tc cannot express: the queue is made by netlink.
- A late packet is one of a distribution of delays in the lower one of two queues, because a queue with a rate keeps
  packets in order. The others wait 1 us there: tc takes no delay of 0.
- A chosen segment is lost by a filter of the socket that would receive it: the kernel asks the filter before TCP sees the
  segment, and forgets the segment if the filter says so.
"""
import ctypes, json, mmap, os, random, select, signal, socket, struct, subprocess, sys, threading, time

PLAN = json.load(open(sys.argv[1]))
BOOT = PLAN["boot"]
RANDOM = random.Random(1000 + BOOT)
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
PR_SET_TIMERSLACK = 29
TC_LIB = "/run/tc"
FRAME = 1514
# Payload of a full segment with timestamps.
MSS = 1448


def enter(name):
    """Moves this process into a network namespace."""
    fd = os.open("/run/netns/" + name, os.O_RDONLY)
    assert LIBC.setns(fd, CLONE_NEWNET) == 0, name
    os.close(fd)


def run(command, lines=None):
    """Runs a command of the shell, with lines on its standard input; the measurement ends if it fails."""
    environment = dict(os.environ, TC_LIB_DIR=TC_LIB)
    done = subprocess.run(command, shell=True, input=lines, text=True, capture_output=True, env=environment)
    if done.returncode:
        sys.exit("FAILED %s: %s%s" % (command, done.stdout, done.stderr))
    return done.stdout


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


# --- hosts and their links

def make_network(hosts):
    names = ["rx"] + ["h%d" % i for i in range(hosts)]
    run("ip -batch -", "netns add s\n" + "".join("netns add %s\n" % name for name in names))
    run("ip -n s -batch -", "link add name sw0 type bridge\nlink set dev sw0 up\n")
    run("ip -batch -", "".join("link add e0 netns %s type veth peer name p%s netns s\n" % (n, n) for n in names))
    run("ip -n s -batch -", "".join("link set p%s master sw0\nlink set p%s up\n" % (n, n) for n in names))
    for index, name in enumerate(names):
        address = "10.0.0.1" if name == "rx" else "10.0.1.%d" % index
        run("ip -n %s -batch -" % name, "addr add %s/16 dev e0\nlink set dev e0 gso_max_segs 1\nlink set e0 up\n" % address)
        enter(name)
        run("ethtool -K e0 tso off gso off gro off")
        settings = {"tcp_no_metrics_save": 1, "tcp_slow_start_after_idle": 0}
        for key, value in settings.items():
            set_tcp(key, value)
        run("tc qdisc add dev e0 root handle 1: " + link())
        if PLAN["jitter"]:
            run(late_by_chance())
        enter("s")
        run("ethtool -K p%s tso off gso off gro off" % name)


def set_tcp(key, value):
    """A setting of TCP in the namespace of this process."""
    with open("/proc/sys/net/ipv4/" + key, "w") as file:
        file.write(str(value))


def apply_settings(scenario):
    """Sets what a scenario asks of its hosts. Returns what undoes it."""
    hosts = ["h%d" % i for i in range(PLAN["hosts"])]
    undo = []
    for name in ["rx"] + hosts:
        enter(name)
        receiver = scenario.get("receiver_min_rto_us") if name == "rx" else None
        set_tcp("tcp_rto_min_us", receiver or scenario["min_rto_us"])
        # The default asks for no ECN, which DCTCP needs. A connection that has it answers losses with CWR, which its
        # receiver acknowledges at once, and so on.
        set_tcp("tcp_ecn", 1 if scenario["cc"] == "dctcp" else 2)
        for key, value in scenario.get("sysctl", {}).items():
            with open("/proc/sys/net/ipv4/" + key) as file:
                undo.append((name, key, file.read()))
            set_tcp(key, value)
    route = scenario.get("route_min_rto_us")
    for name in hosts if route else []:
        enter(name)
        run("ip route replace 10.0.0.0/16 dev e0 rto_min %dms" % (route // 1000))
    if scenario.get("own_queue"):
        for name in hosts:
            put_own_queue(name)
    return undo


def undo_settings(scenario, undo):
    for name, key, value in undo:
        enter(name)
        set_tcp(key, value.strip())
    for name in ["h%d" % i for i in range(PLAN["hosts"])]:
        if scenario.get("route_min_rto_us"):
            enter(name)
            run("ip route replace 10.0.0.0/16 dev e0")
        if scenario.get("own_queue"):
            enter("s")
            run("tc qdisc del dev p%s root" % name)
            enter(name)
            run("tc qdisc replace dev e0 root handle 1: " + link())


def put_own_queue(name):
    """A host whose queue holds its packets until they leave, so that TCP's small queues see them: a token bucket at the
    host, and the delay of both directions on the way back. netem takes packets away from their sockets at once."""
    enter(name)
    run("tc qdisc replace dev e0 root handle 1: tbf rate %dbit burst 1520 limit 100000000" % PLAN["access"])
    enter("s")
    run("tc qdisc replace dev p%s root netem delay %dus limit 100000" % (name, PLAN["delay"] // 1000))


def link(loss=0.0):
    """The queue of a host that makes its link: rate and delay, and perhaps random loss."""
    lost = " loss %g%%" % (100 * loss) if loss else ""
    return "netem delay %dus limit 100000 rate %dbit%s" % (PLAN["delay"] // 1000, PLAN["access"], lost)


def late_by_chance():
    """Behind its link each packet waits for a random time, in order: a second netem whose rate, by far the highest of the
    lab, keeps the order. Without it everything keeps step to the nanosecond, and the same senders find room in a full
    queue again and again (Floyd and Jacobson, "On Traffic Phase Effects", 1992)."""
    half = PLAN["jitter"] / 2000
    return "tc qdisc add dev e0 parent 1:1 handle 2: netem delay %gus %gus limit 100000 rate 1tbit" % (half, half)


def disturb(scenario):
    """Puts the losses and late packets of a scenario into the link of the first sender."""
    enter("h0")
    run("tc qdisc del dev e0 root")
    run("tc qdisc add dev e0 root handle 1: " + link(scenario.get("loss", 0.0)))
    if scenario.get("reordering"):
        os.makedirs(TC_LIB, exist_ok=True)
        late = round(1 / scenario["reordering"])
        with open(TC_LIB + "/late.dist", "w") as file:
            file.write("8192\n" + "0\n" * (late - 1))
        run("tc qdisc add dev e0 parent 1:1 handle 2: netem delay 1us %dus distribution late limit 100000" % (scenario["late"] // 1000))
    elif PLAN["jitter"]:
        run(late_by_chance())


def link_drops():
    """Packets that the link of the first sender has lost, since disturb made it."""
    enter("h0")
    queues = json.loads(run("tc -s -j qdisc show dev e0"))
    return sum(queue["drops"] for queue in queues if queue.get("root"))


# --- the port of the switch

class Port:
    """The port towards rx, and its counters, by rtnetlink."""

    def __init__(self):
        enter("s")
        self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.netlink.bind((0, 0))
        self.index = socket.if_nametoindex("prx")

    def make(self, buffer, threshold):
        enter("s")
        subprocess.run("tc qdisc del dev prx root", shell=True, capture_output=True)
        run("tc qdisc add dev prx root handle 1: tbf rate %dbit burst 1520 limit 100000000" % PLAN["rate"])
        if not threshold:
            run("tc qdisc add dev prx parent 1:1 handle 2: bfifo limit %d" % buffer)
            return
        weight, ecn, certain = 0, 1, 0xFFFFFFFF
        parameters = struct.pack("IIIBBBB", buffer, threshold, threshold + 1, 0, 0, weight, ecn)
        options = attribute(1, parameters) + attribute(2, b"\x1f" * 256) + attribute(3, struct.pack("I", certain))
        body = self.qdisc(0x20000, 0x10001) + attribute(1, b"red\0") + attribute(2, options)
        answer = self.ask(36, 0x5 | 0x400 | 0x200, body)
        error = struct.unpack_from("i", answer, 16)[0]
        if error:
            sys.exit("FAILED red: error %d" % error)

    def counters(self):
        answer = self.ask(38, 0x9, self.qdisc(0x20000, 0))
        statistics = attributes(attributes(answer[36:])[7])
        _, backlog, drops, _, _ = struct.unpack_from("IIIII", statistics[3])
        marked = struct.unpack_from("IIII", statistics[4])[3] if 4 in statistics else 0
        return {"backlog": backlog, "drops": drops, "marks": marked}

    def qdisc(self, handle, parent):
        return struct.pack("BBHiIII", 0, 0, 0, self.index, handle, parent, 0)

    def ask(self, kind, flags, body):
        self.netlink.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        return self.netlink.recv(65536)


def attribute(kind, data):
    length = 4 + len(data)
    return struct.pack("HH", length, kind) + data + b"\0" * (-length % 4)


def attributes(data):
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, at)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[at + 4:at + length]
        at += (length + 3) & ~3
    return found


# --- counters of TCP

FILES = {}
STATES = {"TcpCurrEstab", "TcpRtoMin", "TcpRtoMax", "TcpRtoAlgorithm", "TcpMaxConn"}


def tcp_counters(names):
    """Counters of TCP, summed over namespaces. Their files stay open: a descriptor keeps its namespace."""
    total = {}
    for name in names:
        if name not in FILES:
            enter(name)
            FILES[name] = [os.open("/proc/self/net/" + file, os.O_RDONLY) for file in ("netstat", "snmp")]
        for fd in FILES[name]:
            text = b""
            while part := os.pread(fd, 65536, len(text)):
                text += part
            lines = text.decode().split("\n")
            for head, values in zip(lines[::2], lines[1::2]):
                family = head.split(":")[0]
                if family not in ("Tcp", "TcpExt"):
                    continue
                for key, value in zip(head.split()[1:], values.split()[1:]):
                    key = key if key.lower().startswith("tcp") else "Tcp" + key
                    if key not in STATES:
                        total[key] = total.get(key, 0) + int(value)
    return total


def since(before, after):
    return {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)}


# --- scenarios

NEXT_PORT = [5000]
# What is read goes here: memory that is new each time would cost more than the packet.
ROOM = bytearray(1 << 20)


def new_port():
    NEXT_PORT[0] += 1
    return NEXT_PORT[0]


def stream_socket(cc):
    new = socket.socket()
    new.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    return new


def incast(scenario, port):
    """Rounds on persistent connections: rx asks all senders, and again when all have answered."""
    # Each request leaves at a time of its own within the jitter. Else, as processors cost no time, all boots would do the
    # same until chance or a tick has parted them.
    senders, size, cc = scenario["senders"], scenario["size"], scenario["cc"]
    names = ["h%d" % i for i in range(senders)]
    number, children = new_port(), []
    for name in names:
        child = os.fork()
        if child == 0:
            serve(scenario, name, number)
        children.append(child)
    time.sleep(0.2 + RANDOM.random() * 0.01)
    order = list(range(senders))
    RANDOM.shuffle(order)
    enter("rx")
    connections = []
    for i in order:
        connection = stream_socket(cc)
        connection.connect(("10.0.1.%d" % (i + 1), number))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(scenario.get("nodelay", True)))
        connections.append(connection)
    first, first_rx = tcp_counters(names), tcp_counters(["rx"])
    before, queue, rounds, looks = first, port.counters(), [], Looks(scenario.get("look"))
    looks.begin()
    for turn in range(scenario["rounds"]):
        enter("rx")
        if turn and "think" in scenario:
            time.sleep(scenario["think"] / 1e9)
        looks.resume()
        left, poll = {}, select.poll()
        for connection in connections:
            left[connection.fileno()] = [connection, size]
            poll.register(connection, select.POLLIN)
        lose_segment(scenario, connections)
        begin = now()
        times = sorted((begin + RANDOM.randrange(scenario["jitter"]), place) for place in range(senders))
        asker = threading.Thread(target=ask, args=(scenario, connections, times))
        asker.start()
        if "read_late" in scenario:
            time.sleep((times[0][0] - now() + scenario["read_late"]) / 1e9)
        watcher = threading.Thread(target=watch_losses, args=(scenario, connections, times[0][0]))
        watcher.start()
        while left:
            for fd, _ in poll.poll():
                entry = left[fd]
                entry[1] -= entry[0].recv_into(ROOM)
                if entry[1] == 0:
                    del left[fd]
                    poll.unregister(fd)
        end = now()
        if "think" in scenario:
            looks.rest()
        asker.join()
        watcher.join()
        after, new = tcp_counters(names), port.counters()
        done = since(before, after)
        rounds.append([end - times[0][0], done.get("TCPTimeouts", 0)])
        before = after
    answer = {
        "rounds": rounds,
        "queue_mean": looks.mean(),
        "drops": new["drops"] - queue["drops"],
        "marks": new["marks"] - queue["marks"],
        "tx": since(first, before),
        "rx": since(first_rx, tcp_counters(["rx"])),
    }
    for connection in connections:
        connection.close()
    time.sleep(0.3)
    end_children(children)
    return answer


def serve(scenario, name, number):
    """A sender's process: it answers each request of its connection."""
    enter(name)
    listener = stream_socket(scenario["cc"])
    listener.bind(("0.0.0.0", number))
    listener.listen(1)
    connection, _ = listener.accept()
    reply(scenario, connection)
    os._exit(0)


def reply(scenario, connection):
    """Answers requests until the other side closes. The bytes of a segment of the answer are its number."""
    request, answer = scenario.get("request", 1), b"x" * scenario["size"]
    if scenario.get("lose", {}).get("what") == "segment":
        segments = range(1, scenario["size"] // MSS + 1)
        answer = b"".join(bytes([segment]) * MSS for segment in segments)
    left = request
    while part := connection.recv(left):
        left -= len(part)
        if left == 0:
            connection.sendall(answer)
            left = request


def ask(scenario, connections, times):
    """Sends requests at their times, in ns."""
    sleep_exactly()
    request, pieces = scenario.get("request", 1), scenario.get("pieces", 1)
    for at, place in times:
        time.sleep(max(0, at - now()) / 1e9)
        for _ in range(pieces):
            connections[place].send(b"g" * (request // pieces))


def sleep_exactly():
    """The kernel may make sleeps of a thread 50 us longer unless it is asked not to."""
    assert LIBC.prctl(PR_SET_TIMERSLACK, 1) == 0


# --- chosen segments are lost

SO_ATTACH_FILTER, SO_DETACH_FILTER, SO_MEMINFO, MEMINFO_DROPS = 26, 27, 55, 8
# What a filter asks, as instructions of classic BPF (code, jump if true, jump if false, operand). Offset 0 is the first
# byte of the header of TCP; the last two instructions lose the segment and let it pass.
LOSE, PASS = (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF)
# Byte 13 has the flags: SYN is 2.
SYNS = [(0x30, 0, 0, 13), (0x45, 0, 1, 2), LOSE, PASS]
AFTER_SYN = [(0x30, 0, 0, 13), (0x45, 1, 0, 2), LOSE, PASS]
# X = length of the header; A = length of the segment less X.
PAYLOAD = [(0x30, 0, 0, 12), (0x54, 0, 0, 0xF0), (0x74, 0, 0, 2), (0x07, 0, 0, 0), (0x80, 0, 0, 0), (0x1C, 0, 0, 0)]
BARE_ACKS = [(0x30, 0, 0, 13), (0x45, 8, 0, 2)] + PAYLOAD + [(0x15, 0, 1, 0), LOSE, PASS]


def numbered(segment):
    """Segments of this number: the first byte of their payload."""
    return PAYLOAD + [(0x15, 3, 0, 0), (0x50, 0, 0, 0), (0x15, 0, 1, segment), LOSE, PASS]


def attach(connection, instructions):
    code = b"".join(struct.pack("HBBI", *one) for one in instructions)
    memory = ctypes.create_string_buffer(code)
    program = struct.pack("HL", len(instructions), ctypes.addressof(memory))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def detach(connection):
    connection.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def lose_segment(scenario, connections):
    """From now on connections lose a segment of the answer."""
    if "lose" in scenario and scenario["lose"]["what"] == "segment":
        for connection in connections:
            attach(connection, numbered(scenario["lose"]["segment"]))


def drops_of(connection):
    return struct.unpack("9I", connection.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[MEMINFO_DROPS]


def watch_losses(scenario, connections, begin):
    """Ends the loss of a segment when as many copies are lost as are to be, before the next copy can come. It runs beside
    the reader: what nobody reads narrows the window, and the kernel then delays acknowledgements."""
    if "lose" not in scenario or scenario["lose"]["what"] != "segment":
        return
    time.sleep(max(0, begin - now()) / 1e9)
    copies = scenario["lose"]["copies"]
    pending = {connection: drops_of(connection) + copies for connection in connections}
    while pending:
        time.sleep(1e-5)
        for connection in [one for one, enough in pending.items() if drops_of(one) >= enough]:
            detach(connection)
            del pending[connection]


def opening(scenario, port):
    """Each round opens a connection, on which rx asks at once. The first copies of a segment of the handshake are lost."""
    size, cc, lose = scenario["size"], scenario["cc"], scenario["lose"]
    number, (go, gone) = new_port(), os.pipe()
    child = os.fork()
    if child == 0:
        serve_openings(scenario, number, go)
    time.sleep(0.2 + RANDOM.random() * 0.01)
    names = ["h0"]
    first, first_rx = tcp_counters(names), tcp_counters(["rx"])
    before, queue, rounds = tcp_counters(["h0", "rx"]), port.counters(), []
    for _ in range(scenario["rounds"]):
        enter("rx")
        connection = stream_socket(cc)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if lose["what"] == "syn_ack":
            attach(connection, SYNS)
            threading.Thread(target=detach_after, args=(connection, lose["copies"])).start()
        os.write(gone, b"g")
        begin, left = now(), size
        connection.connect(("10.0.1.1", number))
        connection.send(b"g")
        while left:
            left -= connection.recv_into(ROOM)
        end = now()
        after = tcp_counters(["h0", "rx"])
        rounds.append([end - begin, since(before, after).get("TCPTimeouts", 0)])
        connection.close()
        time.sleep(0.3 + RANDOM.random() * 0.1)
        before = tcp_counters(["h0", "rx"])
    new = port.counters()
    answer = {
        "rounds": rounds,
        "queue_mean": 0,
        "drops": new["drops"] - queue["drops"],
        "marks": new["marks"] - queue["marks"],
        "tx": since(first, tcp_counters(names)),
        "rx": since(first_rx, tcp_counters(["rx"])),
    }
    end_children([child])
    return answer


def losing_time(lose):
    """Until when copies of a segment are lost, in s: a SYN is sent again after 1 s and 2 s; the segments after the SYN at
    once, and again after two round trips and more than 0.2 s."""
    if lose["what"] == "ack":
        return 0.05 + 3 * PLAN["delay"] / 1e9
    return lose["copies"] - 0.5 + 2 * PLAN["delay"] / 1e9


def detach_after(connection, copies):
    """Ends the loss of SYN-ACKs when as many are lost as are to be. Both sides' timers bring a second one after 1 s."""
    sleep_exactly()
    time.sleep(0.5 if copies == 1 else 0.95)
    while drops_of(connection) < copies:
        time.sleep(2e-4)
    detach(connection)


def serve_openings(scenario, number, go):
    enter("h0")
    lose = scenario["lose"]
    listener = stream_socket(scenario["cc"])
    listener.bind(("0.0.0.0", number))
    listener.listen(1)
    filters = {"syn": SYNS, "ack": BARE_ACKS if lose["copies"] == 1 else AFTER_SYN}
    instructions = filters.get(lose["what"])
    while os.read(go, 1):
        if instructions:
            attach(listener, instructions)
            poll = select.poll()
            poll.register(listener, select.POLLIN)
            poll.poll(1000 * losing_time(lose))
            detach(listener)
        connection, _ = listener.accept()
        if instructions and lose["what"] == "ack":
            # A connection inherits the filter of its listener.
            try:
                detach(connection)
            except FileNotFoundError:
                pass
        reply(scenario, connection)
        connection.close()


class Looks:
    """Looks at the queue from a process of its own, every five packets of the port on average and at random, so that no
    look keeps step with packets. Whoever looked only when the receiver reads would miss the times in which a hole holds
    back what arrives. Without an interval nobody looks."""

    def __init__(self, interval):
        self.interval, self.resting = interval, False
        if not interval:
            return
        self.shared = mmap.mmap(-1, 24)
        self.wait, self.wake = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            sleep_exactly()
            self.watch(Port(), interval / 1e9)
        while not self.seen()[1]:
            time.sleep(0.001)

    def watch(self, port, interval):
        """The integral of the queue over time, and the time over which it goes, for whoever shares the memory."""
        area, total, last = 0, 0, now()
        while True:
            time.sleep(interval * (0.5 + RANDOM.random()))
            if self.shared[16]:
                os.read(self.wait, 1)
                last = now()
                continue
            at = now()
            area += port.counters()["backlog"] * (at - last)
            total += at - last
            last = at
            struct.pack_into("QQ", self.shared, 0, area, total)

    def rest(self):
        """Nobody looks until `resume`: a pause of seconds would cost a look each packet of it."""
        if self.interval:
            self.shared[16], self.resting = 1, True

    def resume(self):
        if self.interval and self.resting:
            self.shared[16], self.resting = 0, False
            os.write(self.wake, b"g")

    def seen(self):
        return struct.unpack_from("QQ", self.shared)

    def begin(self):
        if self.interval:
            self.first = self.seen()

    def mean(self):
        """The mean queue since `begin`, rests left out."""
        if not self.interval:
            return 0
        area, time = (new - old for new, old in zip(self.seen(), self.first))
        end_children([self.child])
        return area / max(1, time)


def stream(scenario, port):
    """Flows from senders to rx that begin one after the other."""
    starts, cc, duration = scenario["starts"], scenario["cc"], scenario["duration"]
    names = ["h%d" % i for i in range(len(starts))]
    number, children = new_port(), []
    time.sleep(RANDOM.random() * 0.01)
    enter("rx")
    listener = stream_socket(cc)
    listener.bind(("0.0.0.0", number))
    listener.listen(8)
    first, first_rx, queue = tcp_counters(names), tcp_counters(["rx"]), port.counters()
    looks = Looks(scenario["look"])
    enter("rx")
    looks.begin()
    begin = now()
    for index, start in enumerate(starts):
        child = os.fork()
        if child == 0:
            listener.close()
            send(scenario, "h%d" % index, begin + start, number)
        children.append(child)
    poll, sources = select.poll(), {}
    poll.register(listener, select.POLLIN)
    got, late, end = [0] * len(starts), None, begin
    while end < begin + duration:
        for fd, _ in poll.poll(1):
            if fd == listener.fileno():
                connection, address = listener.accept()
                sources[connection.fileno()] = (connection, int(address[0].split(".")[3]) - 1)
                poll.register(connection, select.POLLIN)
            else:
                connection, source = sources[fd]
                got[source] += connection.recv_into(ROOM)
        end = now()
        if late is None and end >= begin + scenario["late_from"]:
            late = (end, list(got))
    mean, last, lost = looks.mean(), port.counters(), link_drops()
    after, after_rx = tcp_counters(names), tcp_counters(["rx"])
    end_children(children)
    for connection, _ in sources.values():
        connection.close()
    listener.close()
    time.sleep(0.5)
    return {
        "seconds": (end - begin) / 1e9,
        "bytes": got,
        "late_seconds": (end - late[0]) / 1e9,
        "late_bytes": [new - old for new, old in zip(got, late[1])],
        "queue_mean": mean,
        "drops": last["drops"] - queue["drops"] + lost,
        "marks": last["marks"] - queue["marks"],
        "tx": since(first, after),
        "rx": since(first_rx, after_rx),
    }


def send(scenario, name, start, number):
    """A sender's process: everything at once, or writes by the clock."""
    enter(name)
    time.sleep(max(0, start - now()) / 1e9)
    connection = stream_socket(scenario["cc"])
    connection.connect(("10.0.0.1", number))
    begin, writes = now(), 0
    while True:
        connection.sendall(b"x" * scenario.get("write", 65536))
        writes += 1
        if "write_interval" in scenario:
            time.sleep(max(0, begin + writes * scenario["write_interval"] - now()) / 1e9)


def end_children(children):
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


KINDS = {"incast": incast, "opening": opening, "stream": stream}


def main():
    make_network(PLAN["hosts"])
    port = Port()
    for scenario in PLAN["scenarios"]:
        port.make(scenario["buffer"], scenario["threshold"])
        disturb(scenario)
        undo = apply_settings(scenario)
        answer = KINDS[scenario["kind"]](scenario, port)
        undo_settings(scenario, undo)
        answer.update(name=scenario["name"], boot=BOOT)
        print("ANSWER " + json.dumps(answer, separators=(",", ":")), flush=True)


main()
